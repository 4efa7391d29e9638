//! `read-stall-state`: whether the team gets on, and what its leader has to decide. It moves no baseline.

use crate::operation::prelude::*;
use crate::worker::attention::{self, AttentionShown};
use crate::worker::idle::{IdleAnswer, IdleSource, Told, idle};
use crate::worker::summary::{Polled, TaskNumbers, poll, recorded};

operation! {
    /// Read whether the team gets on, and what its leader has to decide
    "read-stall-state": Reads(ReadStall {}) -> StallAnswer = Team::stall_state
}

/// Phases in which nothing is left to decide.
const TERMINAL_PHASES: [&str; 3] = ["complete", "failed", "cancelled"];

/// Whether the team gets on
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StallAnswer {
    /// The team
    pub team_name: String,
    /// Whether it does not
    pub team_stalled: bool,
    /// Whether its leader was seen to stop, and did nothing since
    pub leader_stale: bool,
    /// Whether something waits for the leader
    pub leader_attention_pending: bool,
    /// What the leader has to decide
    pub leader_decision_state: Decision,
    /// Workers that live and work, and do not get on
    pub stalled_workers: Vec<String>,
    /// Workers without a sign of life, or whose last one said that they end; none that holds a live lease
    pub dead_workers: Vec<String>,
    /// The others
    pub live_workers: Vec<String>,
    /// Tasks that are not over
    pub pending_task_count: u64,
    /// The leader's mail that is not delivered
    pub unread_leader_message_count: u64,
    /// Requests to tell the leader something that led to nothing yet
    pub pending_leader_dispatch_count: u64,
    /// Whether there are workers and all of them are idle
    pub all_workers_idle: bool,
    /// Who is idle
    pub idle_workers: Vec<String>,
    /// Why the team does not get on, or what is to be decided
    pub reasons: Vec<String>,
    /// What was last seen of the leader; `null` where nobody recorded it
    pub leader_attention_state: Option<AttentionShown>,
    /// The last report that all were idle
    pub last_all_workers_idle_event: Option<Told>,
    /// The last report that the leader was nudged
    pub last_team_leader_nudge_event: Option<Told>,
    /// The last report that the leader was to be told later
    pub last_leader_notification_deferred_event: Option<Told>,
    /// What this rests on
    pub source: StallSource,
}

/// What a stall state rests on
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StallSource {
    /// What its idle state rests on
    #[serde(flatten)]
    pub idle: IdleSource,
    /// Whether somebody said how far the team is
    pub phase_available: bool,
}

words! {
    /// What the leader has to decide
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Decision {
        /// Nothing: there is work that somebody can do
        StillActionable = "still_actionable",
        /// What is next: all is done
        DoneWaitingOnLeader = "done_waiting_on_leader",
        /// How to go on: all that is left is blocked
        StuckWaitingOnLeader = "stuck_waiting_on_leader",
    }
}

impl Decision {
    fn of(tasks: &TaskNumbers, all_idle: bool, anybody_lives: bool) -> Decision {
        let startable = tasks.open() - tasks.blocked;
        match tasks.open() {
            0 if all_idle && anybody_lives => Decision::DoneWaitingOnLeader,
            1.. if all_idle && startable == 0 => Decision::StuckWaitingOnLeader,
            _ => Decision::StillActionable,
        }
    }
}

/// What was found of the workers and of the leader's mail.
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
    fn of(live: &Live, idle: &IdleAnswer, stopped: bool, now: Timestamp) -> Result<Findings> {
        let mut polled = poll(live, |worker| recorded(live, worker))?;
        // A lease that runs is a sign of life, whatever the heartbeats say.
        let holders = live.lease_holders(now)?;
        for polled in &mut polled {
            polled.summary.alive |= holders.contains(&polled.summary.name);
        }
        let names = |of: &dyn Fn(&Polled) -> bool| -> Vec<String> {
            let picked = polled.iter().filter(|polled| of(polled));
            picked.map(|polled| polled.summary.name.clone()).collect()
        };
        let tasks = TaskNumbers::of(&live.task_counts()?);
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
                false => Decision::of(&tasks, idle.all_workers_idle, !alive.is_empty()),
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
    let found = Findings::of(live, &idle, stopped.unwrap_or_default(), now)?;
    let last = |kind: &str| Told::at(live, reader, live.last_reported(kind)?);
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
    /// Whether the team gets on.
    pub fn stall_state(&mut self, _: ReadStall) -> Result<StallAnswer> {
        let now = self.now();
        self.query(|live, reader| stall(live, reader, now))
    }
}
