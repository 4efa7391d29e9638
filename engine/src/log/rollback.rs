//! Detects that a log was rolled back, and lets an operator accept the rollback.

use super::{LockedLog, Log};
use crate::error::Rollback;
use crate::lock;
use crate::prelude::*;
use crate::reader::Reader;
use crate::recovery::Quarantined;
use crate::recovery::cut::Cut;
use crate::witness::Witness;

/// Largest number of lost events in the list.
pub const LOST_EVENTS_MAX: usize = 1_000;

/// Payload of the first event after a rollback was accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AcceptedRollback {
    /// Seq of the last event that was acknowledged.
    pub known_seq: u64,
    /// Id of the last acknowledged event; `null` if no file has it.
    pub known_id: Option<String>,
    /// Seq of the last event of the log before this event.
    pub last_seq: u64,
    /// The file that proves the rollback, relative to the log's directory.
    pub witness: String,
    /// Lost events that are known from derived files, in order; the newest 1,000.
    pub lost: Vec<LostEvent>,
    /// Number of further lost events.
    pub lost_omitted: u64,
}

/// A lost event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostEvent {
    /// Seq of the event.
    pub seq: u64,
    /// Id of the event, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Kind of the event, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A recovered log under its lock, before the check of its witness. The events about the recovery are not recorded yet.
pub(super) struct Unchecked {
    pub exclusive: LockedLog,
    pub unnamed: Vec<Quarantined>,
    pub cut: Option<Cut>,
}

impl Unchecked {
    /// Returns the rollback that the witness shows. Looks up the event of the witness only after a crash, or if the last writer
    /// was a program that writes no witness.
    pub fn rollback(&self) -> Result<Option<Rollback>> {
        match self.exclusive.witness {
            // A cut removes events on an operator's request, so missing events are no rollback.
            Some(witness) if self.cut.is_none() => shown_by(&witness, &self.exclusive.reader()),
            _ => Ok(None),
        }
    }

    /// Records recovery's actions.
    pub fn finish(self) -> Result<LockedLog> {
        self.finish_with(Vec::new())
    }

    fn finish_with(mut self, before: Vec<NewEvent>) -> Result<LockedLog> {
        let core = &self.exclusive.core;
        if self.cut.is_some()
            && let Some(witness) = Witness::from_head(&core.identity, &core.head)
        {
            // The witness is replaced before the head clears its flag for the cut.
            core.lock.replace_witness(&witness)?;
        }
        self.exclusive.record(before, &self.unnamed, self.cut)?;
        Ok(self.exclusive)
    }
}

/// Detects a rollback. Compares the witness with the log's event at the same seq. If the log ends before the witness, compares
/// the witness with the end of the log.
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
        // A reader reports the damage of the log itself.
        Err(Error::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A log under its lock that an operator may accept although events are missing.
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

    /// Creates the error of a log that was rolled back.
    pub fn rolled_back(&self, rollback: Rollback) -> Error {
        Error::RolledBack {
            path: self.dir.clone(),
            rollback,
        }
    }
}

impl RolledBackLog {
    /// Returns the rollback that the witness shows; `None` if the witness shows no rollback.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn rollback(&self) -> Result<Option<Rollback>> {
        self.0.rollback()
    }

    /// Returns a reader up to the head.
    pub fn reader(&self) -> Reader {
        self.0.exclusive.reader()
    }

    /// Records that the log continues without the lost events, and sets the witness to the log's end.
    ///
    /// # Errors
    /// I/O. The log is then unchanged, or has the event; in both cases accept the rollback again.
    pub fn accept(self, actor: &str, accepted: &AcceptedRollback) -> Result<LockedLog> {
        let event = NewEvent::for_payload(crate::layout::ROLLED_BACK, actor, accepted)?;
        let exclusive = self.0.finish_with(vec![event])?;
        let core = &exclusive.core;
        if let Some(witness) = Witness::from_head(&core.identity, &core.head) {
            core.lock.replace_witness(&witness)?;
        }
        Ok(exclusive)
    }
}
