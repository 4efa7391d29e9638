//! Last activity of an agent, and its last report of being idle.

use crate::event::message::MessageType;
use crate::event::worker::{WorkerAct, WorkerState};
use crate::prelude::*;

/// Namespace of activities; key: actor.
const ACTIVITY: u8 = 0x14;

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// Last activity of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Last event of the agent.
    pub seq: u64,
    /// Time of the agent's last event.
    pub at: Timestamp,
    /// True if the agent's last report said that the agent is idle. An `idle_notification` and a status are such reports.
    pub said_idle: bool,
}

row!(Activity);

/// Folds an event of any kind: notes that its actor was active and, for a message, that its sender was active.
pub(crate) fn note(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let actor: &str = &recorded.event.actor;
    match recorded.fact {
        Fact::Worker(fact) => match &fact.act {
            WorkerAct::Status(status) => {
                let idle = status.state == WorkerState::Idle;
                said(tx, recorded, &fact.worker, idle)
            }
            _ => touch(tx, recorded, actor, None),
        },
        // A stored response is not an action of the agent.
        Fact::Response(_) => Ok(()),
        fact => match fact.sent() {
            Some(sent) => {
                let idle = sent.kind == MessageType::IdleNotification;
                said(tx, recorded, &sent.from, idle)
            }
            None => touch(tx, recorded, actor, None),
        },
    }
}

/// Notes if an agent reported to be idle. Another agent may have recorded the report.
fn said(tx: &mut Tx<'_>, recorded: Recorded<'_>, agent: &str, idle: bool) -> Result<()> {
    let actor: &str = &recorded.event.actor;
    touch(tx, recorded, agent, Some(idle))?;
    match agent == actor {
        true => Ok(()),
        false => touch(tx, recorded, actor, None),
    }
}

fn touch(
    tx: &mut Tx<'_>,
    recorded: Recorded<'_>,
    agent: &str,
    said_idle: Option<bool>,
) -> Result<()> {
    let key = key_of(ACTIVITY, agent.as_bytes());
    let before: Activity = tx.get(&key)?.unwrap_or_default();
    let row = Activity {
        seq: recorded.event.seq,
        at: recorded.event.created_at,
        said_idle: said_idle.unwrap_or(before.said_idle),
    };
    tx.put(&key, &row);
    Ok(())
}

impl TeamState {
    /// Returns the last activity of an agent; `None` if the agent never acted.
    pub fn activity(&self, agent: &str) -> Result<Option<Activity>> {
        self.rows().get(&key_of(ACTIVITY, agent.as_bytes()))
    }
}
