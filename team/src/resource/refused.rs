//! Writes that the guard refused. Refused writes are recorded after the guard's answer, at most once a minute per agent and path.
//!
//! The state keeps a limited number of refused paths per agent. At most that number of refusals is recorded per agent and minute,
//! so that a runaway agent cannot fill the log.

use crate::operation::prelude::*;
use crate::projections::fact::Fact;
use crate::projections::refused::event::{RefusedFact, WriteRefused};
use crate::projections::refused::{KEPT_MAX, RefusedPath};
use crate::resource::can_write::WriteReason;

/// Time during which a refused path is not recorded a second time.
const MINUTE_MICROS: i64 = 60_000_000;
/// Maximum length of a path and of a tool's name, in bytes.
const BYTES_MAX: usize = 1_024;

operation! {
    /// Record writes that the guard refused, each path of an agent at most once a minute
    "record-refused-writes": Records(RefusedWrites {
        /// Agent whose writes were refused
        agent: String,
        /// Subagent that acts for the agent
        subagent: Option<String>,
        /// Refused writes
        writes: Vec<RefusedWrite>,
    }) -> RefusedWritesRecorded as record_refused_writes,
    refuses = [WorkerNotFound]
}

/// A write that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedWrite {
    /// Path of the write, relative to the repository for paths inside the repository
    pub path: String,
    /// The tool that would have written the path
    pub tool: String,
    /// Reason of the refusal
    pub reason: WriteReason,
    /// The agent that holds the path
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

/// The JSON object `{recorded}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RefusedWritesRecorded {
    /// Number of recorded refusals; repetitions are not recorded, and nothing is recorded if the setting `guard.record` is off
    pub recorded: usize,
}

/// A refused write in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRefusal {
    /// Seq of the event.
    pub seq: u64,
    /// The agent whose write was refused.
    pub agent: String,
    /// The refused write.
    pub refused: WriteRefused,
}

impl Team {
    /// Returns true if at least one of the refusals should be recorded.
    pub fn wants_refused_writes(&mut self, refused: &RefusedWrites) -> Result<bool> {
        let now = self.now();
        self.query(|live, _| Ok(!refused.events(live, now)?.is_empty()))
    }

    /// Returns the newest refused writes, newest first.
    pub fn refused_writes(&mut self, limit: usize) -> Result<Vec<RecordedRefusal>> {
        self.query(|live, reader| newest(live, reader, limit))
    }
}

/// Returns the newest refused writes, newest first. Reads up to `limit` events.
pub(crate) fn newest(live: &Live, reader: &Reader, limit: usize) -> Result<Vec<RecordedRefusal>> {
    let page = live.refused_writes(None, limit)?;
    let mut found = Vec::with_capacity(page.seqs.len());
    for seq in page.seqs.into_iter().rev() {
        let event = page::event(live, reader, seq)?;
        if let Fact::Refused(fact) = Fact::decode(&event)? {
            let RefusedFact::Write(refused) = *fact;
            found.push(RecordedRefusal {
                seq,
                agent: event
                    .refs
                    .get(RefKind::Agent)
                    .unwrap_or_default()
                    .to_owned(),
                refused,
            });
        }
    }
    Ok(found)
}

impl RefusedWrites {
    fn events(&self, live: &Live, now: Timestamp) -> Result<Vec<NewEvent>> {
        membership::check(live, "agent", &self.agent)?;
        if !live.setting(Setting::GuardRecord)?.0.switch() {
            return Ok(Vec::new());
        }
        let mut known: Vec<RefusedPath> = live.refused_paths(&self.agent)?;
        known.retain(|known| {
            now.micros().abs_diff(known.at.micros()) < MINUTE_MICROS.unsigned_abs()
        });
        let mut events = Vec::new();
        for write in &self.writes {
            let path = cut(&write.path);
            if known.len() >= KEPT_MAX || known.iter().any(|known| known.path == path) {
                continue;
            }
            let refused = WriteRefused {
                path: path.clone(),
                tool: cut(&write.tool),
                reason: write.reason.name().to_owned(),
                holder: write.holder.clone(),
                subagent: self.subagent.clone(),
                refused_at: now,
            };
            events.push(refused.event(DEFAULT_ACTOR, &self.agent));
            known.push(RefusedPath { path, at: now });
        }
        Ok(events)
    }
}

impl Command for RefusedWrites {
    type Decided = ();
    type Answer = RefusedWritesRecorded;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Agent(&self.agent))
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        Ok(Decision::Granted((), self.events(live, ctx.now)?))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<RefusedWritesRecorded> {
        Ok(RefusedWritesRecorded {
            recorded: after.events.len(),
        })
    }
}

fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(BYTES_MAX))
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_long_path_is_cut_between_letters() {
        assert_eq!(super::cut("src/a"), "src/a");
        assert_eq!(super::cut(&format!("x{}", "ü".repeat(600))).len(), 1_023);
    }
}
