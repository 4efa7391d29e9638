//! Runs of the bootstrap contract, which starts a team step by step.
//!
//! A run is one row, from which its view file and its answers are built. Further rows index the runs by their first
//! event and by their next timeout.

pub mod checklist;
mod evidence;
mod query;
mod run;
mod shown;
pub(crate) mod view;

pub use crate::event::bootstrap as event;
pub use crate::event::bootstrap::{
    Case, Core, CoreReadyAck, DELIVERY_MICROS, Evidence, HANDSHAKE_MICROS, Method, Outcome, State,
    Verdict,
};
use crate::prelude::*;
pub use checklist::{Step, StepStatus};
pub use evidence::LAUNCH_MODE;
pub(crate) use query::all;
pub use run::{Delivery, Domain, Gate, Handshake, LastBreach, Run};
pub use shown::{CoreReady, DomainShown, RunShown};

use crate::event::bootstrap::{BootstrapAct, BootstrapFact};

/// Namespace of runs; key: run id.
const RUN: u8 = 0x78;
/// Namespace of timeouts; key: time and run id.
const DUE: u8 = 0x79;
/// Single row: the largest number used as a run id.
const NUMBERED: u8 = 0x7A;
/// Namespace of runs; key: first event.
const BEGUN: u8 = 0xD0;
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    match recorded.fact {
        Fact::Bootstrap(fact) => fold(tx, recorded, fact),
        _ => Ok(()),
    }
}

/// A run is stored as JSON, because there are few runs, and each is read and written whole.
impl Row for Run {
    fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        // Writing to memory cannot fail.
        out.extend(serde_json::to_vec(self).unwrap_or_default());
    }
    fn decode(bytes: &[u8]) -> Option<Run> {
        serde_json::from_slice(bytes).ok()
    }
}

/// Id of a run, stored as bytes.
struct Id(String);

impl Row for Id {
    fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(self.0.as_bytes());
    }
    fn decode(bytes: &[u8]) -> Option<Id> {
        String::from_utf8(bytes.to_vec()).ok().map(Id)
    }
}

fn fold(tx: &mut Tx<'_>, recorded: Recorded<'_>, fact: &BootstrapFact) -> Result<()> {
    let event = recorded.event;
    let (at, seq) = (event.created_at.micros(), event.seq);
    let key = key_of(RUN, fact.run.as_bytes());
    let old: Option<Run> = tx.get(&key)?;
    let mut new = match (&old, &fact.act) {
        (Some(run), _) => run.clone(),
        (None, BootstrapAct::Started { domains }) => {
            begin(tx, &fact.run, seq)?;
            Run::new(&fact.run, domains, at, seq)
        }
        // Events of an unknown run are ignored.
        (None, _) => return Ok(()),
    };
    new.apply(&fact.act, at, seq);
    if new.seq == seq && new.trace_id.is_none() {
        new.trace_id = event.refs.get(RefKind::Trace).map(str::to_owned);
    }
    let due = (old.as_ref().and_then(Run::due), new.due());
    if due.0 != due.1 {
        if let Some(was) = due.0 {
            tx.delete(&timed(DUE, was, fact.run.as_bytes()));
        }
        if let Some(is) = due.1 {
            tx.mark(&timed(DUE, is, fact.run.as_bytes()));
        }
    }
    if old.as_ref() != Some(&new) {
        tx.put(&key, &new);
    }
    Ok(())
}

fn begin(tx: &mut Tx<'_>, run: &str, seq: u64) -> Result<()> {
    tx.put(&numbered(BEGUN, "", seq), &Id(run.to_owned()));
    let canonical = |number: &u64| number.to_string() == run;
    if let Some(number) = run.parse::<u64>().ok().filter(canonical) {
        let largest: u64 = tx.get(&[NUMBERED])?.unwrap_or_default();
        tx.put(&[NUMBERED], &largest.max(number));
    }
    Ok(())
}
