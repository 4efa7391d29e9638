//! Freshness of the local log in a team with several hosts.

use crate::operation::prelude::*;
use teamlog_engine::Watch;

/// The JSON object `{seq, checked_at?}`. The answer contains the events up to `seq`, and was current at `checked_at`. Events that other
/// hosts recorded later may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AsOf {
    /// Seq of the last local event
    pub seq: u64,
    /// Time when this host last read the journal
    #[schemars(with = "String", extend("format" = "date-time"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<String>,
}

/// Interval between reads of the journal while processes on this host wait for events. One process
/// reads for all waiting processes.
const FOLLOW: Duration = Duration::from_millis(100);

/// Codes of temporary failures. A waiting process ignores these failures, and reads the journal again later.
const PASSES: [&str; 6] = [
    "locked",
    "journal_busy",
    "journal_unreachable",
    "journal_unknown",
    "journal_not_durable",
    "adoption_unfinished",
];

impl Team {
    /// Waits until the log grows, at most `timeout`. In a team with a journal, waits a shorter time and then reads the journal,
    /// because events of other hosts only arrive when the journal is read. Returns true if the log grew.
    pub(crate) fn watched(&mut self, watch: &mut Watch, timeout: Option<Duration>) -> Result<bool> {
        if self.log.identity().journal.is_none() {
            return Ok(watch.wait(timeout)?);
        }
        let grew = watch.wait(Some(timeout.map_or(FOLLOW, |most| most.min(FOLLOW))))?;
        match self.keep_up(FOLLOW) {
            Err(failure) if !PASSES.contains(&failure.code()) => Err(failure),
            _ => Ok(grew),
        }
    }

    /// Fetches the events that the team's journal has and this host lacks. Returns the seq of the last local event.
    ///
    /// # Errors
    /// `Journal`, `Locked`, I/O.
    pub fn catch_up(&mut self) -> Result<u64> {
        if self.log.identity().journal.is_some() {
            // Runs a command without events. Like any command, this command confirms the head with
            // the journal. The confirmation fetches new events.
            let terms = CommandTerms::new(Authority::Anyone).when_closed();
            self.execute_unkeyed(act(terms, |_, _| Ok(((), Vec::new()))))?;
        }
        Ok(self.reader()?.head().last_seq)
    }

    /// Fetches events if this host does not have event `seq`. Returns the seq of the last local event.
    ///
    /// # Errors
    /// `point_unknown` if no host has recorded that event; errors of [`Team::catch_up`].
    pub fn know(&mut self, seq: u64) -> Result<u64> {
        let mut last_seq = self.reader()?.head().last_seq;
        if last_seq < seq {
            last_seq = self.catch_up()?;
        }
        if last_seq >= seq {
            return Ok(last_seq);
        }
        let message =
            format!("at_least must be an event of the log, 0 to {last_seq}, but is {seq}");
        Err(Refusal::new(Code::PointUnknown, message)
            .field("at_least")
            .into())
    }

    /// Returns the freshness of the local log; `None` for a team without a journal.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn as_of(&self) -> Result<Option<AsOf>> {
        if self.log.identity().journal.is_none() {
            return Ok(None);
        }
        let read_at = self.log.journal_read_at();
        Ok(Some(AsOf {
            seq: self.reader()?.head().last_seq,
            checked_at: read_at.map(|at| at.to_string()),
        }))
    }

    /// Returns true if this host read the journal within the time `most`. Always true for a team without a journal.
    #[must_use]
    pub fn is_newer_than(&self, most: Duration) -> bool {
        if self.log.identity().journal.is_none() {
            return true;
        }
        let most = i64::try_from(most.as_micros()).unwrap_or(i64::MAX);
        let now = self.options.clock.now();
        let is_new = |at: Timestamp| (0..=most).contains(&(now.micros() - at.micros()));
        self.log.journal_read_at().is_some_and(is_new)
    }

    /// Fetches events of other hosts, unless this host read the journal within the time `most`.
    ///
    /// # Errors
    /// Errors of [`Team::catch_up`].
    pub fn keep_up(&mut self, most: Duration) -> Result<()> {
        match self.is_newer_than(most) {
            true => Ok(()),
            false => self.catch_up().map(drop),
        }
    }
}
