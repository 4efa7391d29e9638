//! `tail` and other ways to follow a log: shows the newest events, then new events.

use crate::handle::follower::Follower;
use crate::log::replay::Replay;
use crate::log::replay::{EventVisitor, Output, each};
use crate::operation::prelude::*;

/// Options of `tail`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tail {
    /// Filter of events.
    pub filter: Replay,
    /// Number of newest events to show first; `None` means all events.
    pub last: Option<u64>,
}

/// Default number of newest events.
pub const LAST: u64 = 10;

impl Team {
    /// Passes the newest matching events to `each`, in order. Returns the number of events passed.
    pub fn tail(&mut self, tail: &Tail, each: EventVisitor<'_>) -> Result<u64> {
        tail.filter.check()?;
        let mut output = Output::new(&tail.filter, each);
        self.survey(|live, reader| tail.run(live, reader, &mut output))?;
        Ok(output.given)
    }

    /// Like [`Team::tail`], but then also passes on each matching new event, until `each` or `idle` breaks. Calls `idle` before
    /// each wait. Takes no lock, and ends if the log is replaced or removed.
    ///
    /// # Errors
    /// `invalid_input` if the filter has an end or is newest first; `log_replaced`; errors of the log.
    pub fn follow(
        &mut self,
        tail: &Tail,
        each: EventVisitor<'_>,
        idle: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<u64> {
        let filter = &tail.filter;
        filter.check()?;
        check_endless(filter)?;
        let deadline = self.control.deadline.clone();
        let mut output = Output::new(filter, each);
        let mut follower = Follower::start(self, |live, reader| {
            tail.run(live, reader, &mut output)?;
            Ok(reader.head().last_seq)
        })?;
        while !output.done && idle().is_continue() {
            follower.wait(self, deadline.step(None))?;
            let _ = follower.read(self, |event| {
                let early = filter.from_seq.is_some_and(|first| event.seq < first)
                    || filter.since.is_some_and(|since| event.created_at < since);
                Ok(match early {
                    true => ControlFlow::Continue(()),
                    false => output.give(event),
                })
            })?;
        }
        Ok(output.given)
    }
}

impl Tail {
    fn run(&self, live: &Live, reader: &Reader, output: &mut Output<'_>) -> Result<()> {
        let Some(last) = self.last else {
            return self.filter.run_on_state(live, reader, output);
        };
        let mut seqs = Vec::new();
        if last > 0 {
            let newest = Replay {
                reverse: true,
                limit: Some(last),
                ..self.filter.clone()
            };
            let mut note = |event: &Event<'_>, _: &[u8]| {
                seqs.push(event.seq);
                ControlFlow::Continue(())
            };
            newest.run_on_state(live, reader, &mut Output::new(&newest, &mut note))?;
        }
        each(live, reader, seqs.into_iter().rev(), output)
    }
}

fn check_endless(filter: &Replay) -> Result<()> {
    for (field, set) in [
        ("to_seq", filter.to_seq.is_some()),
        ("until", filter.until.is_some()),
        ("reverse", filter.reverse),
    ] {
        if set {
            let message = format!("{field} cannot be used when following a log");
            let refusal = Refusal::new(Code::InvalidInput, message);
            return Err(refusal.field(field).into());
        }
    }
    Ok(())
}
