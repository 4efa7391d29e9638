//! `read-config`, `read-manifest`: the team's configuration, computed from the log: members, registered workers and settings. Fields about
//! which the log has no data have fixed values.

use crate::operation::prelude::*;
use crate::projections::worker::WorkerShown;
use crate::projections::worker::event::Identity;

operation! {
    /// Read the team's configuration and its workers
    "read-config": Reads(ReadConfig {}) -> ConfigAnswer as read_config
}

operation! {
    /// Read the team's manifest: leader, policy, governance, workers
    "read-manifest": Reads(ReadManifest {}) -> ManifestAnswer as read_manifest,
    refuses = [ManifestNotFound],
    without_team = |missing| Refusal {
        code: Code::ManifestNotFound,
        ..missing
    }
}

/// Role of a worker that never registered.
const ROLE: &str = "executor";
/// Fixed `max_workers` of every team.
const WORKERS_MAX: usize = 20;

/// The answer `{config}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigAnswer {
    /// The configuration
    pub config: TeamConfig,
}

/// The answer `{manifest}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestAnswer {
    /// The manifest
    pub manifest: Manifest,
}

/// Fields that configuration and manifest have in common
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Roster {
    /// Number of members except the leader
    pub worker_count: usize,
    /// Members except the leader, ordered by index; a member that never registered has the next free index and a default role
    pub workers: Vec<WorkerShown>,
    /// Time when the team was created
    pub created_at: String,
    /// Name of the team's terminal session
    pub tmux_session: String,
    /// Number of the next task
    pub next_task_id: u64,
    /// Always `null`
    pub leader_pane_id: Option<String>,
    /// Always `null`
    pub hud_pane_id: Option<String>,
    /// Always `null`
    pub resize_hook_name: Option<String>,
    /// Always `null`
    pub resize_hook_target: Option<String>,
    /// Index of the next worker
    pub next_worker_index: u32,
}

/// A team's configuration
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamConfig {
    /// The team
    pub name: String,
    /// Always empty
    pub task: String,
    /// Role of the first worker
    pub agent_type: String,
    /// Way in which workers are launched
    pub worker_launch_mode: Cow<'static, str>,
    /// Always `default`
    pub lifecycle_profile: Cow<'static, str>,
    /// Always 20; no limit is enforced
    pub max_workers: usize,
    /// Members and counters
    #[serde(flatten)]
    pub roster: Roster,
}

/// A team's manifest
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of this record
    pub schema_version: u32,
    /// The team
    pub name: String,
    /// Always empty
    pub task: String,
    /// The leader
    pub leader: Leader,
    /// Settings for display and dispatch
    pub policy: Policy,
    /// Rules of the team
    pub governance: Governance,
    /// Always `default`
    pub lifecycle_profile: Cow<'static, str>,
    /// Permissions of workers; teamlog does not know them
    pub permissions_snapshot: Permissions,
    /// Members and counters
    #[serde(flatten)]
    pub roster: Roster,
}

/// The leader of a team
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Leader {
    /// Always empty, because teamlog does not know the session
    pub session_id: String,
    /// The leader's name as a worker
    pub worker_id: Cow<'static, str>,
    /// Always `coordinator`
    pub role: Cow<'static, str>,
}

/// Settings of a team for display and dispatch
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// Display mode
    pub display_mode: Cow<'static, str>,
    /// Way in which workers are launched
    pub worker_launch_mode: Cow<'static, str>,
    /// Way in which workers are notified of mail
    pub dispatch_mode: Cow<'static, str>,
    /// Timeout of a notification, in milliseconds
    pub dispatch_ack_timeout_ms: u32,
}

/// Rules of a team
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Governance {
    /// True if the leader only delegates
    pub delegation_only: bool,
    /// True if plans must be approved
    pub plan_approval_required: bool,
    /// True if a team may contain teams
    pub nested_teams_allowed: bool,
    /// True if a leader has one team at a time
    pub one_team_per_leader_session: bool,
    /// True if the team cannot be closed while work is unfinished
    pub cleanup_requires_all_workers_inactive: bool,
}

/// Permissions of workers
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Permissions {
    /// A fixed value that means "unknown"
    pub approval_mode: Cow<'static, str>,
    /// A fixed value that means "unknown"
    pub sandbox_mode: Cow<'static, str>,
    /// True if workers may use the network
    pub network_access: bool,
}

impl Roster {
    fn new(live: &Live) -> Result<Roster> {
        let workers = workers(live)?;
        let created = live.team()?.map(|team| team.created_at).unwrap_or_default();
        let highest = workers.iter().map(|worker| worker.identity.index).max();
        Ok(Roster {
            worker_count: workers.len(),
            workers,
            created_at: created.to_string(),
            tmux_session: format!("rcs-team-{}", live.team_name()),
            next_task_id: live.next_task_number()?,
            leader_pane_id: None,
            hud_pane_id: None,
            resize_hook_name: None,
            resize_hook_target: None,
            next_worker_index: highest.unwrap_or(0).saturating_add(1),
        })
    }
}

/// Returns all workers, ordered by index and name.
fn workers(live: &Live) -> Result<Vec<WorkerShown>> {
    let (mut known, mut strangers) = (Vec::new(), Vec::new());
    for name in membership::workers(live)? {
        match live.identity(&name)? {
            Some(noted) => known.push(WorkerShown {
                name,
                identity: noted.what,
            }),
            None => strangers.push(name),
        }
    }
    let taken: BTreeSet<u32> = known.iter().map(|worker| worker.identity.index).collect();
    let free = (1..).filter(|index| !taken.contains(index));
    let unregistered = strangers
        .into_iter()
        .zip(free)
        .map(|(name, index)| WorkerShown {
            name,
            identity: Identity::unregistered(index, ROLE),
        });
    let mut all: Vec<WorkerShown> = unregistered.collect();
    all.append(&mut known);
    all.sort_by(|a, b| (a.identity.index, &a.name).cmp(&(b.identity.index, &b.name)));
    Ok(all)
}

impl ReadConfig {
    fn answer(&self, live: &Live) -> Result<ConfigAnswer> {
        let roster = Roster::new(live)?;
        let first = roster.workers.first();
        let role = first.map_or(ROLE, |worker| &worker.identity.role);
        let config = TeamConfig {
            name: live.team_name().to_owned(),
            task: String::new(),
            agent_type: role.to_owned(),
            worker_launch_mode: "interactive".into(),
            lifecycle_profile: "default".into(),
            max_workers: roster.worker_count.max(WORKERS_MAX),
            roster,
        };
        Ok(ConfigAnswer { config })
    }
}

impl ReadManifest {
    fn answer(&self, live: &Live) -> Result<ManifestAnswer> {
        let gated = live.setting(Setting::CleanupGate)?.0.switch();
        let manifest = Manifest {
            schema_version: 2,
            name: live.team_name().to_owned(),
            task: String::new(),
            leader: Leader {
                session_id: String::new(),
                worker_id: LEADER.into(),
                role: "coordinator".into(),
            },
            policy: Policy {
                display_mode: "auto".into(),
                worker_launch_mode: "interactive".into(),
                dispatch_mode: "hook_preferred_with_fallback".into(),
                dispatch_ack_timeout_ms: 2_000,
            },
            governance: Governance {
                delegation_only: false,
                plan_approval_required: false,
                nested_teams_allowed: false,
                one_team_per_leader_session: true,
                cleanup_requires_all_workers_inactive: gated,
            },
            lifecycle_profile: "default".into(),
            permissions_snapshot: Permissions {
                approval_mode: "unknown".into(),
                sandbox_mode: "unknown".into(),
                network_access: true,
            },
            roster: Roster::new(live)?,
        };
        Ok(ManifestAnswer { manifest })
    }
}
