//! A log that was rolled back: what shows it, and how an operator accepts it.

use super::{LockedLog, Log};
use crate::error::Rollback;
use crate::lock;
use crate::prelude::*;
use crate::reader::Reader;
use crate::recovery::Quarantined;
use crate::recovery::cut::Cut;
use crate::witness::Witness;

/// No more lost events than this are listed.
pub const LOST_EVENTS_MAX: usize = 1_000;

/// The payload of the event with which a log goes on after a rollback was accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceptedRollback {
    /// The last event that is known to have been acknowledged.
    pub known_seq: u64,
    /// Its id; `null` where no file says it.
    pub known_id: Option<String>,
    /// The last event of the log before this one.
    pub last_seq: u64,
    /// The file that knew it, relative to the log's directory.
    pub witness: String,
    /// The lost events that derived files still knew, in order; at most 1,000, the newest.
    pub lost: Vec<LostEvent>,
    /// How many more they knew.
    pub lost_omitted: u64,
}

/// What is known of a lost event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostEvent {
    /// Its seq.
    pub seq: u64,
    /// Its id, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its kind, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A log under its lock, recovered, before the check of its witness. The events of recovery are still to be recorded.
pub(super) struct Unchecked {
    pub exclusive: LockedLog,
    pub unnamed: Vec<Quarantined>,
    pub cut: Option<Cut>,
}

impl Unchecked {
    /// The rollback that the witness shows. An event that is looked up is so only after a crash, or after a program that
    /// writes no witness.
    pub fn rollback(&self) -> Result<Option<Rollback>> {
        match self.exclusive.witness {
            // A cut takes events away as an operator wanted.
            Some(witness) if self.cut.is_none() => shown_by(&witness, &self.exclusive.reader()),
            _ => Ok(None),
        }
    }

    /// Records what recovery did.
    pub fn finish(self) -> Result<LockedLog> {
        self.finish_with(Vec::new())
    }

    fn finish_with(mut self, before: Vec<NewEvent>) -> Result<LockedLog> {
        let core = &self.exclusive.core;
        if self.cut.is_some()
            && let Some(witness) = Witness::of_head(&core.identity, &core.head)
        {
            // Before the head forgets that the log was cut.
            core.lock.replace_witness(&witness)?;
        }
        self.exclusive.record(before, &self.unnamed, self.cut)?;
        Ok(self.exclusive)
    }
}

/// Compares all of a log with a witness: its end, or the event at that seq.
pub(crate) fn shown_by(witness: &Witness, reader: &Reader) -> Result<Option<Rollback>> {
    let (identity, head) = (reader.identity(), reader.head());
    if !witness.counts_for(identity, head) || head.last_seq <= witness.seq {
        return Ok(witness.against(identity, head));
    }
    let found = reader.find_seq(witness.seq);
    let found = found.and_then(|place| place.map(|place| reader.at(place)).transpose());
    match found {
        Ok(Some(event)) if (event.seq, event.id) == (witness.seq, witness.id) => Ok(None),
        Ok(_) => Ok(Some(witness.rollback(head))),
        // Readers report damage themselves.
        Err(Error::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A log under its lock that an operator may take as it is, though events are missing.
pub struct RolledBackLog(Unchecked);

impl Log {
    /// Takes the lock of a log that may have been rolled back, which [`Log::lock`] refuses. Nothing can be recorded before
    /// [`RolledBackLog::accept`].
    ///
    /// # Errors
    /// The errors of [`Log::lock`], except `RolledBack`.
    pub fn lock_rolled_back(&self) -> Result<RolledBackLog> {
        self.identity.check_alone()?;
        let (storage, deadline) = (self.storage.as_ref(), self.options.lock_deadline);
        let lock = lock::acquire(storage, &self.dir, deadline)?;
        self.unchecked(lock).map(RolledBackLog)
    }

    /// The error of a log that was rolled back.
    pub fn rolled_back(&self, rollback: Rollback) -> Error {
        Error::RolledBack {
            path: self.dir.clone(),
            rollback,
        }
    }
}

impl RolledBackLog {
    /// The rollback that the witness shows; `None` where it shows none.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn rollback(&self) -> Result<Option<Rollback>> {
        self.0.rollback()
    }

    /// Returns `true` if the log has a witness of its end or follows a journal: other files then prove nothing.
    pub fn is_end_known(&self) -> bool {
        self.0.exclusive.is_end_known()
    }

    /// Reads up to the head.
    pub fn reader(&self) -> Reader {
        self.0.exclusive.reader()
    }

    /// Records that the log goes on without what was lost, and makes its end the witness.
    ///
    /// # Errors
    /// I/O. The log is then as it was, or has the event; in either case accepting it again is right.
    pub fn accept(self, actor: &str, accepted: &AcceptedRollback) -> Result<LockedLog> {
        let event = NewEvent::of(crate::layout::ROLLED_BACK, actor, accepted)?;
        let exclusive = self.0.finish_with(vec![event])?;
        let core = &exclusive.core;
        if let Some(witness) = Witness::of_head(&core.identity, &core.head) {
            core.lock.replace_witness(&witness)?;
        }
        Ok(exclusive)
    }
}
