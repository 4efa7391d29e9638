//! Writes that the guard refused: the newest writes of the team, and the recent writes of each agent, so that a repeated refusal
//! is not recorded again. Refused writes change no other state.

pub use crate::event::refused as event;

use crate::event::refused::RefusedFact;
use crate::prelude::*;

/// Namespace of the last refused paths; key: agent.
const LAST: u8 = 0x46;
/// Series of all refused writes, under the empty name.
const ALL: u8 = 0xB4;

/// Largest number of stored paths per agent. The newest paths are kept.
pub const KEPT_MAX: usize = 16;

/// A refused path.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct RefusedPath {
    /// The path.
    pub path: String,
    /// Time of the refusal.
    pub at: Timestamp,
}

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct Last {
    /// Paths, newest last, each once.
    paths: Vec<RefusedPath>,
}
row!(Last);

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Refused(fact) = recorded.fact else {
        return Ok(());
    };
    let RefusedFact::Write(refused) = &**fact;
    tx.mark(&numbered(ALL, "", recorded.event.seq));
    let agent = recorded.event.refs.get(RefKind::Agent).unwrap_or_default();
    tx.change(&key_of(LAST, agent.as_bytes()), |last: &mut Last| {
        last.paths.retain(|known| known.path != refused.path);
        last.paths.push(RefusedPath {
            path: refused.path.clone(),
            at: refused.refused_at,
        });
        let surplus = last.paths.len().saturating_sub(KEPT_MAX);
        last.paths.drain(..surplus);
    })
}

impl TeamState {
    /// Returns the last refused paths of an agent, at most [`KEPT_MAX`], newest last.
    pub fn refused_paths(&self, agent: &str) -> Result<Vec<RefusedPath>> {
        let last: Option<Last> = self.rows().get(&key_of(LAST, agent.as_bytes()))?;
        Ok(last.unwrap_or_default().paths)
    }

    /// Returns the newest `limit` refused writes before event `before`.
    pub fn refused_writes(&self, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        self.rows().page(&numbered_prefix(), before, limit)
    }
}

fn numbered_prefix() -> Vec<u8> {
    teamlog_engine::internals::derived::key::series(ALL, b"")
}
