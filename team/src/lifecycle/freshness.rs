//! How new what is here is, where other hosts record in the team too.

use crate::operation::prelude::*;
use teamlog_engine::Watch;

/// `{seq, checked_at?}`: what other hosts recorded behind that event after that time is not in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AsOf {
    /// The last event that is here
    pub seq: u64,
    /// When the journal was last read here
    #[schemars(with = "String", extend("format" = "date-time"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<String>,
}

/// While anybody on this host waits for events, the journal is asked so often, by one of them for all.
const FOLLOW: Duration = Duration::from_millis(100);

/// What keeps whoever waits from asking, and passes: it is asked again.
const PASSES: [&str; 6] = [
    "locked",
    "journal_busy",
    "journal_unreachable",
    "journal_unknown",
    "journal_not_durable",
    "adoption_unfinished",
];

impl Team {
    /// Waits until the log grows, at most `timeout`. What other hosts record comes here only when it is asked for: then it is
    /// waited for less long, and asked. Whether it grew.
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

    /// Takes in what the team's journal has and this host lacks, where it has one. Returns the last event's seq.
    ///
    /// # Errors
    /// `Journal`, `Locked`, I/O.
    pub fn catch_up(&mut self) -> Result<u64> {
        if self.log.identity().journal.is_some() {
            // A round that records nothing is confirmed by the journal.
            let terms = CommandTerms::of(Authority::Anyone).when_closed();
            self.execute_unkeyed(act(terms, |_, _| Ok(((), Vec::new()))))?;
        }
        Ok(self.reader()?.head().last_seq)
    }

    /// Takes in what is needed to know that event, and returns the last event's seq: nothing where it is known.
    ///
    /// # Errors
    /// `point_unknown` where no host recorded as much; those of [`Team::catch_up`].
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

    /// How new what is here is; `None` for a team that lives on this host alone.
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

    /// Whether this host took in what others recorded no longer ago than that. A team that lives on this host alone is always as
    /// new as can be.
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

    /// Takes in what others recorded, unless that was done no longer ago than that.
    ///
    /// # Errors
    /// Those of [`Team::catch_up`].
    pub fn keep_up(&mut self, most: Duration) -> Result<()> {
        match self.is_newer_than(most) {
            true => Ok(()),
            false => self.catch_up().map(drop),
        }
    }
}
