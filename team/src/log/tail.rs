//! `tail` and every other way to follow: the newest events, then those to come.

use crate::handle::follower::Follower;
use crate::log::replay::Replay;
use crate::log::replay::{Output, Sink, each};
use crate::operation::prelude::*;

/// Which events.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tail {
    /// Which of them at all.
    pub filter: Replay,
    /// How many of those that are there, the newest; `None` is all.
    pub last: Option<u64>,
}

/// Events of those that are there, unless the caller says otherwise.
pub const LAST: u64 = 10;

impl Team {
    /// Hands the newest of the chosen events to `each`, in order. Returns how many it was given.
    pub fn tail(&mut self, tail: &Tail, each: Sink<'_>) -> Result<u64> {
        tail.filter.check()?;
        let mut output = Output::new(&tail.filter, each);
        self.survey(|live, reader| tail.run(live, reader, &mut output))?;
        Ok(output.given)
    }

    /// As [`Team::tail`], and then hands on every chosen event as it is appended, until one of the two breaks off;
    /// `idle` is asked before each wait. Takes no lock, and ends where the log it follows is no longer there.
    ///
    /// # Errors
    /// `invalid_input` for a filter that has an end or runs backward, `log_replaced`; the log's.
    pub fn follow(
        &mut self,
        tail: &Tail,
        each: Sink<'_>,
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
            let message = format!("{field} must not be set where a log is followed: it has no end");
            let refusal = Refusal::new(Code::InvalidInput, message);
            return Err(refusal.field(field).into());
        }
    }
    Ok(())
}
