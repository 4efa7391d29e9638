//! Writes that the guard refused: which came last, and what an agent was refused a moment ago, so that it is not said again.
//! They move no other state.

pub use crate::event::refused as event;

use crate::event::refused::RefusedFact;
use crate::prelude::*;

/// By agent: what it was refused last.
const LAST: u8 = 0x46;
/// Series under the empty name: all of them.
const ALL: u8 = 0xB4;

/// Paths of an agent that are kept, the newest.
pub const KEPT_MAX: usize = 16;

/// A path that an agent was refused.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
)]
pub struct RefusedPath {
    /// The path.
    pub path: String,
    /// By what time.
    pub at: Timestamp,
}

#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct Last {
    /// The newest at the end, each path once.
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
    /// The paths that an agent was refused last, at most [`KEPT_MAX`], the newest at the end.
    pub fn refused_paths(&self, agent: &str) -> Result<Vec<RefusedPath>> {
        let last: Option<Last> = self.rows().get(&key_of(LAST, agent.as_bytes()))?;
        Ok(last.unwrap_or_default().paths)
    }

    /// The newest `limit` refused writes before event `before`.
    pub fn refused_writes(&self, before: Option<u64>, limit: usize) -> Result<SeqPage> {
        self.rows().page(&numbered_prefix(), before, limit)
    }
}

fn numbered_prefix() -> Vec<u8> {
    teamlog_engine::internals::derived::key::series(ALL, b"")
}
