//! A reader that follows a log: reads the present events, then the events that any process appends.
//!
//! A follower holds no lock. The follower remembers the place and the id of the event that it read last. Place and id show if another log,
//! or another history of the log, has replaced the followed log.

use crate::handle::prelude::*;
use teamlog_engine::{Identity, Place, Watch};

/// Position of a reader that follows a log.
#[derive(Debug)]
pub struct Follower {
    watch: Watch,
    /// Seq, id and place of the last event that was read.
    last: Option<(u64, EventId, Place)>,
}

impl Follower {
    /// Starts at the current head. If `start` returns a seq, starts after that event; `start` gets the state and its reader.
    pub fn start(
        team: &mut Team,
        mut start: impl FnMut(&Live, &Reader) -> Result<u64>,
    ) -> Result<Follower> {
        // The watch starts before the first read of the log, so that no event is missed.
        let watch = team.log.watch()?;
        let last = team.survey(|live, reader| {
            let seq = start(live, reader)?;
            let found = live.event(reader, seq)?.zip(live.place(seq)?);
            Ok(found.map(|(event, place)| (seq, event.id, place)))
        })?;
        Ok(Follower { watch, last })
    }

    /// Returns the seq of the last event that was read.
    pub fn seq(&self) -> u64 {
        self.last.map_or(0, |(seq, ..)| seq)
    }

    /// Passes every event after the last event that was read to `each`, until `each` breaks off.
    ///
    /// # Errors
    /// `log_replaced`; errors of the log.
    pub fn read(
        &mut self,
        team: &Team,
        mut each: impl FnMut(&Event<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let reader = self.reader(team)?;
        if reader.head().last_seq <= self.seq() {
            return Ok(ControlFlow::Continue(()));
        }
        let behind = self.last.map(|(_, _, place)| place);
        let broken = reader.each(behind, |located| {
            let event = &located.frame.event;
            self.last = Some((event.seq, event.id, located.place));
            each(event)
        })?;
        Ok(page::goes_on(broken.is_none()))
    }

    /// Waits until there are possibly new events, at most `timeout`. If other hosts record in the team, waits a shorter time.
    /// Returns true if there are possibly new events.
    pub fn wait(&mut self, team: &mut Team, timeout: Option<Duration>) -> Result<bool> {
        team.watched(&mut self.watch, timeout)
    }

    /// Returns a reader of the followed log.
    fn reader(&self, team: &Team) -> Result<Reader> {
        self.check_identity(team)?;
        let reader = team.reader().or_else(|failure| {
            // Checks again, because the log may have been replaced after the first check.
            self.check_identity(team)?;
            Err(failure)
        })?;
        let Some((seq, id, place)) = self.last else {
            return Ok(reader);
        };
        let known = reader.frame_at(place)?;
        match known.is_some_and(|(event, _)| (event.seq, event.id) == (seq, id)) {
            true => Ok(reader),
            false => Err(self.replaced(team)),
        }
    }

    fn check_identity(&self, team: &Team) -> Result<()> {
        let log = &team.log;
        match Identity::load(log.storage().as_ref(), log.dir()) {
            Ok(now) if now.log == log.identity().log => Ok(()),
            // During a replacement the log is missing for a moment.
            Ok(_) | Err(Error::NoLog { .. }) => Err(self.replaced(team)),
            Err(error) => Err(error.into()),
        }
    }

    fn replaced(&self, team: &Team) -> Failure {
        let (name, seq) = (team.name(), self.seq());
        let message = format!(
            "the log of {name} was replaced, cut or removed while it was followed, after event {seq}"
        );
        Refusal::new(Code::LogReplaced, message)
            .detail("last_seq", seq)
            .into()
    }
}
