//! `read-stall-state`: tells if the team makes progress, and which decision its leader has to make. Unlike
//! `get-summary`, this operation changes no baseline.

use crate::operation::prelude::*;
use crate::worker::attention::{self, AttentionShown};
use crate::worker::idle::{IdleAnswer, IdleSource, TeamEventBrief, idle};
use crate::worker::summary::{Polled, TaskNumbers, poll, recorded};

operation! {
    /// Read if the team makes progress, and which decision its leader has to make
    "read-stall-state": Reads(ReadStall {}) -> StallAnswer = Team::stall_state
}

/// Phases in which the leader has no decision to make.
const TERMINAL_PHASES: [&str; 3] = ["complete", "failed", "cancelled"];

/// Progress of a team
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StallAnswer {
    /// Name of the team
    pub team_name: String,
    /// True if the team makes no progress
    pub team_stalled: bool,
    /// True if the leader was seen to stop and has recorded nothing since
    pub leader_stale: bool,
    /// True if the leader has something to attend to
    pub leader_attention_pending: bool,
    /// Decision that the leader has to make
    pub leader_decision_state: Decision,
    /// Workers that are alive and at work, but make no progress
    pub stalled_workers: Vec<String>,
    /// Workers without a heartbeat, and workers whose last heartbeat says "not alive"; a worker with a live lease is not listed
    pub dead_workers: Vec<String>,
    /// Workers that are not dead
    pub live_workers: Vec<String>,
    /// Number of unfinished tasks
    pub pending_task_count: u64,
    /// Number of the leader's undelivered messages
    pub unread_leader_message_count: u64,
    /// Number of open dispatch requests for the leader
    pub pending_leader_dispatch_count: u64,
    /// True if the team has workers and all of them are idle
    pub all_workers_idle: bool,
    /// The idle workers
    pub idle_workers: Vec<String>,
    /// Reasons for the stall or for the decision
    pub reasons: Vec<String>,
    /// Last observation of the leader; `null` if there is none
    pub leader_attention_state: Option<AttentionShown>,
    /// The last report that all workers were idle
    pub last_all_workers_idle_event: Option<TeamEventBrief>,
    /// The last report that the leader was nudged
    pub last_team_leader_nudge_event: Option<TeamEventBrief>,
    /// The last report that a notification of the leader was deferred
    pub last_leader_notification_deferred_event: Option<TeamEventBrief>,
    /// Data that the stall state is based on
    pub source: StallSource,
}

/// Data that a stall state is based on
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StallSource {
    /// Data that the idle state is based on
    #[serde(flatten)]
    pub idle: IdleSource,
    /// True if a phase of the team was recorded
    pub phase_available: bool,
}

words! {
    /// Decision that a leader has to make
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Decision {
        /// No decision: some work can be done now
        StillActionable = "still_actionable",
        /// Decision on the next step: all work is done
        DoneWaitingOnLeader = "done_waiting_on_leader",
        /// Decision on how to continue: all remaining work is blocked
        StuckWaitingOnLeader = "stuck_waiting_on_leader",
    }
}

impl Decision {
    fn new(tasks: &TaskNumbers, all_idle: bool, anybody_lives: bool) -> Decision {
        let startable = tasks.open() - tasks.blocked;
        match tasks.open() {
            0 if all_idle && anybody_lives => Decision::DoneWaitingOnLeader,
            1.. if all_idle && startable == 0 => Decision::StuckWaitingOnLeader,
            _ => Decision::StillActionable,
        }
    }
}

/// Facts about the workers and about the leader's mail.
struct Findings {
    stalled: Vec<String>,
    dead: Vec<String>,
    live: Vec<String>,
    tasks: TaskNumbers,
    unread: u64,
    dispatches: u64,
    stopped: bool,
    terminal: bool,
    decision: Decision,
}

impl Findings {
    fn collect(live: &Live, idle: &IdleAnswer, stopped: bool, now: Timestamp) -> Result<Findings> {
        let mut polled = poll(live, |worker| recorded(live, worker))?;
        // A live lease proves that its holder is alive, even if the heartbeat says otherwise.
        let holders = live.lease_holders(now)?;
        for polled in &mut polled {
            polled.summary.alive |= holders.contains(&polled.summary.name);
        }
        let names = |of: &dyn Fn(&Polled) -> bool| -> Vec<String> {
            let picked = polled.iter().filter(|polled| of(polled));
            picked.map(|polled| polled.summary.name.clone()).collect()
        };
        let tasks = TaskNumbers::from_counts(&live.task_counts()?);
        let mail = live.mail_counts(LEADER)?;
        let phase = live.phase()?.map(|noted| noted.what);
        let closed = live.is_closed()?;
        let terminal = closed || phase.is_some_and(|phase| TERMINAL_PHASES.contains(&&*phase));
        let alive = names(&|polled| polled.summary.alive);
        Ok(Findings {
            stalled: names(&Polled::is_stalled),
            dead: names(&|polled| !polled.summary.alive),
            unread: mail.undelivered,
            dispatches: mail.open_dispatches,
            decision: match terminal {
                true => Decision::StillActionable,
                false => Decision::new(&tasks, idle.all_workers_idle, !alive.is_empty()),
            },
            live: alive,
            stopped: stopped && !terminal,
            tasks,
            terminal,
        })
    }

    fn attention(&self) -> bool {
        !self.terminal && (self.unread > 0 || self.dispatches > 0 || self.stopped)
    }

    fn dead_with_work(&self) -> bool {
        !self.dead.is_empty() && self.tasks.open() > 0
    }

    fn reasons(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if !self.stalled.is_empty() {
            reasons.push(format!("workers_non_reporting:{}", self.stalled.join(",")));
        }
        if self.dead_with_work() {
            let dead = self.dead.join(",");
            reasons.push(format!("dead_workers_with_pending_work:{dead}"));
        }
        if self.decision != Decision::StillActionable {
            reasons.push(format!("leader_decision_pending:{}", self.decision.name()));
        }
        if self.attention() && self.unread > 0 {
            reasons.push("leader_attention_pending:unread_leader_mailbox".to_owned());
        }
        if self.attention() && self.dispatches > 0 {
            reasons.push("leader_attention_pending:leader_dispatch_pending".to_owned());
        }
        if self.stopped {
            reasons.push("leader_attention_pending:leader_session_stopped".to_owned());
        }
        reasons
    }
}

fn stall(live: &Live, reader: &Reader, now: Timestamp) -> Result<StallAnswer> {
    let idle = idle(live, reader)?;
    let (attention, stopped) = attention::last(live, reader)?.unzip();
    let found = Findings::collect(live, &idle, stopped.unwrap_or_default(), now)?;
    let last = |kind: &str| TeamEventBrief::at(live, reader, live.last_reported(kind)?);
    Ok(StallAnswer {
        team_stalled: !found.stalled.is_empty() || found.attention() || found.dead_with_work(),
        leader_stale: found.stopped,
        leader_attention_pending: found.attention(),
        leader_decision_state: found.decision,
        reasons: found.reasons(),
        pending_task_count: found.tasks.open(),
        unread_leader_message_count: found.unread,
        pending_leader_dispatch_count: found.dispatches,
        stalled_workers: found.stalled,
        dead_workers: found.dead,
        live_workers: found.live,
        leader_attention_state: attention,
        last_team_leader_nudge_event: last("team_leader_nudge")?,
        last_leader_notification_deferred_event: last("leader_notification_deferred")?,
        last_all_workers_idle_event: idle.last_all_workers_idle_event,
        source: StallSource {
            idle: idle.source,
            phase_available: live.phase()?.is_some(),
        },
        team_name: idle.team_name,
        all_workers_idle: idle.all_workers_idle,
        idle_workers: idle.idle_workers,
    })
}

impl Team {
    /// Returns the team's progress.
    pub fn stall_state(&mut self, _: ReadStall) -> Result<StallAnswer> {
        let now = self.now();
        self.query(|live, reader| stall(live, reader, now))
    }
}
