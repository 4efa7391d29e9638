//! Scripted projections: the declared scripts. Their rows are no part of the state: readers fold them into runs of their own.

pub use crate::event::script as event;

use crate::agent_token::ActorAndTime;
use crate::event::script::{ProjectionDeclared, ScriptFact};
use crate::prelude::*;

/// Namespace of scripted projections; key: name.
const SCRIPT: u8 = 0x6F;

/// A declared projection.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct ScriptedProjection {
    /// Event of the last declaration.
    pub seq: u64,
    /// Actor and time of the last declaration.
    pub declared_by: ActorAndTime,
    /// The last declaration.
    pub declared: ProjectionDeclared,
}
row!(ScriptedProjection);

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Script(fact) = recorded.fact else {
        return Ok(());
    };
    let event = recorded.event;
    match &**fact {
        ScriptFact::Declared(declared) => {
            let row = ScriptedProjection {
                seq: event.seq,
                declared_by: ActorAndTime {
                    by: event.actor.to_string(),
                    at: event.created_at,
                },
                declared: declared.clone(),
            };
            tx.put(&key_of(SCRIPT, declared.name.as_bytes()), &row);
        }
        ScriptFact::Removed(removed) => tx.delete(&key_of(SCRIPT, removed.name.as_bytes())),
    }
    Ok(())
}

impl TeamState {
    /// Returns the declared projection with this name.
    pub fn scripted_projection(&self, name: &str) -> Result<Option<ScriptedProjection>> {
        let found: Option<ScriptedProjection> =
            self.rows().get(&key_of(SCRIPT, name.as_bytes()))?;
        Ok(found.map(|found| found.named(name)))
    }

    /// Returns all declared projections, sorted by name.
    pub fn scripted_projections(&self) -> Result<Vec<ScriptedProjection>> {
        let rows = self.rows().prefix(&[SCRIPT], false);
        rows.map(|entry| {
            let entry = entry?;
            let found: ScriptedProjection = entry.row()?;
            Ok(found.named(&entry.name(1)))
        })
        .collect()
    }
}

impl ScriptedProjection {
    fn named(mut self, name: &str) -> ScriptedProjection {
        name.clone_into(&mut self.declared.name);
        self
    }
}
