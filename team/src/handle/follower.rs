//! Going along with a log: what is there, then what is appended, by whichever process.
//!
//! A follower holds no lock. It knows the last event that it read by place and id, so it notices when another log, or
//! another history of the same log, takes the place of the one it follows.

use crate::handle::prelude::*;
use teamlog_engine::{Identity, Place, Watch};

/// Where a follower stands.
#[derive(Debug)]
pub struct Follower {
    watch: Watch,
    /// The last event read.
    last: Option<(u64, EventId, Place)>,
}

impl Follower {
    /// Begins at the head of this moment, or where `start` says: it gets the state and its reader, and gives the seq of
    /// the last event that counts as read.
    pub fn start(
        team: &mut Team,
        mut start: impl FnMut(&Live, &Reader) -> Result<u64>,
    ) -> Result<Follower> {
        // Before the first look at the log, so that nothing falls between.
        let watch = team.log.watch()?;
        let last = team.survey(|live, reader| {
            let seq = start(live, reader)?;
            let found = live.event(reader, seq)?.zip(live.place(seq)?);
            Ok(found.map(|(event, place)| (seq, event.id, place)))
        })?;
        Ok(Follower { watch, last })
    }

    /// The seq of the last event read.
    pub fn seq(&self) -> u64 {
        self.last.map_or(0, |(seq, ..)| seq)
    }

    /// Shows every event behind the last one read, until `each` breaks off.
    ///
    /// # Errors
    /// `log_replaced`; the log's.
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

    /// Waits until there may be more to read, at most `timeout`, and for less where other hosts record in the team too. Whether
    /// there may.
    pub fn wait(&mut self, team: &mut Team, timeout: Option<Duration>) -> Result<bool> {
        team.watched(&mut self.watch, timeout)
    }

    /// A reader of the log that was followed so far.
    fn reader(&self, team: &Team) -> Result<Reader> {
        self.check_identity(team)?;
        let reader = team.reader().or_else(|failure| {
            // It may have been replaced between two looks.
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
            // Between the moments when the old one is taken away and the new one is put there, there is none.
            Ok(_) | Err(Error::NoLog { .. }) => Err(self.replaced(team)),
            Err(error) => Err(error.into()),
        }
    }

    fn replaced(&self, team: &Team) -> Failure {
        let (name, seq) = (team.name(), self.seq());
        let message = format!(
            "the log of {name} was replaced, cut or taken away while it was followed, behind event {seq}"
        );
        Refusal::new(Code::LogReplaced, message)
            .detail("last_seq", seq)
            .into()
    }
}
