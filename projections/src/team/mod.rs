//! The team itself: settings, members, and event counts.

pub use crate::event::team as event;
mod query;
pub mod settings;
pub(crate) mod view;

use crate::event::team::{AgentRetired, ConfigChanged, TeamFact};
use crate::prelude::*;
use crate::team::settings::Setting;
use crate::worker::activity;

const INFO: u8 = 0x10;
const MEMBER: u8 = 0x11;
const COUNT: u8 = 0x12;
/// Namespace of retired agents; key: name.
const RETIRED: u8 = 0x15;

/// Namespace of former names; key: name after a renaming.
const FORMER: u8 = 0x16;

/// The team and its settings.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct TeamInfo {
    /// Creation time.
    pub created_at: Timestamp,
    /// True if agents join by acting.
    pub open: bool,
    /// True if view files are kept.
    pub views: bool,
    /// Number of members.
    pub members: u64,
    /// Last event that changed the team, its settings or its members.
    pub seq: u64,
    /// Value of `open` at creation. Unsetting the setting restores this value.
    pub(crate) born_open: bool,
    /// Value of `views` at creation. Unsetting the setting restores this value.
    pub(crate) born_views: bool,
    /// Closing time; `None` while the team is open.
    pub closed_at: Option<Timestamp>,
    /// The agent that created the team and leads it, under its present name; `None` if a person created the team, or if the agent
    /// was retired.
    pub leader: Option<String>,
}
row!(TeamInfo);

/// An agent that was retired.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) struct Retired {
    /// The agent that gets the later messages to this agent, if this agent was renamed.
    pub successor: Option<String>,
}
row!(Retired);

/// Counts of a team's log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of events, including foreign events.
    pub events: u64,
    /// Number of sent messages.
    pub messages: u64,
    /// Number of acknowledged messages.
    pub acks: u64,
    /// Number of tasks.
    pub tasks: u64,
}

impl TeamInfo {
    /// Returns true if the team has view files: the setting `views` says so, and the team is not closed.
    pub fn keeps_views(&self) -> bool {
        self.views && self.closed_at.is_none()
    }
}

/// Folds an event. Only the first `team_created` counts; no command records a second one.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let event = recorded.event;
    tx.increment(&key_of(COUNT, event.kind.as_bytes()))?;
    activity::note(tx, recorded)?;
    let info: Option<TeamInfo> = tx.get(&[INFO])?;
    let Fact::Team(fact) = recorded.fact else {
        return Ok(());
    };
    match (&**fact, info) {
        (TeamFact::Created(created), None) => {
            let info = TeamInfo {
                created_at: event.created_at,
                open: created.open,
                views: created.views,
                members: 0,
                seq: event.seq,
                born_open: created.open,
                born_views: created.views,
                closed_at: None,
                leader: created.leader.clone(),
            };
            add_members(tx, info, &created.members, event.seq)
        }
        (TeamFact::MembersAdded(added), Some(info)) => {
            add_members(tx, info, &added.members, event.seq)
        }
        (TeamFact::Retired(retired), Some(info)) => retire(tx, info, retired, event.seq),
        (TeamFact::ConfigChanged(changed), Some(info)) => {
            configure(tx, info, changed, event.seq);
            Ok(())
        }
        (TeamFact::Closed(_), Some(mut info)) if info.closed_at.is_none() => {
            info.closed_at = Some(event.created_at);
            info.seq = event.seq;
            tx.put(&[INFO], &info);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn add_members(tx: &mut Tx<'_>, mut info: TeamInfo, names: &[String], seq: u64) -> Result<()> {
    for name in names {
        let key = key_of(MEMBER, name.as_bytes());
        if !tx.has(&key)? {
            tx.mark(&key);
            info.members += 1;
            info.seq = seq;
        }
        tx.delete(&key_of(RETIRED, name.as_bytes()));
    }
    tx.put(&[INFO], &info);
    Ok(())
}

/// Removes a member. The agent is retired until the agent becomes a member again.
fn retire(tx: &mut Tx<'_>, mut info: TeamInfo, retired: &AgentRetired, seq: u64) -> Result<()> {
    let name = retired.agent.as_bytes();
    let key = key_of(MEMBER, name);
    if tx.has(&key)? {
        tx.delete(&key);
        info.members = info.members.saturating_sub(1);
    }
    let successor = retired.successor.clone();
    if info.leader.as_ref() == Some(&retired.agent) {
        info.leader.clone_from(&successor);
    }
    info.seq = seq;
    tx.put(&[INFO], &info);
    if let Some(successor) = &successor {
        tx.put(&key_of(FORMER, successor.as_bytes()), &retired.agent);
    }
    tx.put(&key_of(RETIRED, name), &Retired { successor });
    Ok(())
}

fn configure(tx: &mut Tx<'_>, mut info: TeamInfo, changed: &ConfigChanged, seq: u64) {
    settings::change(tx, changed);
    for (setting, value) in &changed.changes {
        let switch = |born| value.as_ref().map_or(born, settings::Value::switch);
        match setting {
            Setting::MembersOpen => info.open = switch(info.born_open),
            Setting::Views => info.views = switch(info.born_views),
            _ => {}
        }
    }
    info.seq = seq;
    tx.put(&[INFO], &info);
}
