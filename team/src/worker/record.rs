//! `write-worker-identity`, `update-worker-heartbeat`, `write-worker-inbox`: register a worker, record its heartbeat,
//! replace its instructions.

use crate::doubts::RecipientDoubts;
use crate::operation::prelude::*;
use crate::projections::worker::HeartbeatShown;
use crate::projections::worker::event::{Heartbeat, Identity, Instructions, WorkerAct};

operation! {
    /// Register a worker, or replace its identity
    "write-worker-identity": Records(WriteIdentity {
        /// The worker
        worker: String,
        /// Number of the worker, from 1
        index: u32,
        /// Role of the worker
        role: String,
        /// Tasks that are assigned to the worker
        #[serde(default)]
        assigned_tasks: Vec<String>,
        /// Process id of the worker
        pid: Option<u32>,
        /// Pane of the worker in a terminal multiplexer
        pane_id: Option<String>,
        /// Working directory of the worker
        working_dir: Option<String>,
        /// Worktree of the worker
        worktree_path: Option<String>,
        /// Branch of the worktree
        worktree_branch: Option<String>,
        /// True if the worktree is on no branch
        worktree_detached: Option<bool>,
        /// Directory in which the worker expects the team's state
        team_state_root: Option<String>,
        /// Language model of the worker
        model: Option<String>,
    }) -> WorkerAnswer as write_identity,
    refuses = [WorkerNotFound]
}

operation! {
    /// Read a worker's last heartbeat
    "read-worker-heartbeat": Reads(ReadHeartbeat {
        /// The worker
        worker: String,
    }) -> HeartbeatAnswer = Team::read_heartbeat,
    empty = |asked, _| HeartbeatAnswer {
            worker: asked.worker.clone(),
            heartbeat: None,
        }
}

operation! {
    /// Record a heartbeat of a worker
    "update-worker-heartbeat": Records(UpdateHeartbeat {
        /// The worker
        worker: String,
        /// Process id of the worker
        pid: u32,
        /// Number of the worker's turns so far
        turn_count: u32,
        /// True if the worker is alive
        alive: bool,
    }) -> WorkerAnswer as update_heartbeat,
    refuses = [WorkerNotFound]
}

operation! {
    /// Replace a worker's instructions
    "write-worker-inbox": Records(WriteInbox {
        /// The worker
        worker: String,
        /// New instructions of the worker, which replace the old ones
        content: String,
    }) -> WorkerAnswer as write_inbox,
    refuses = [WorkerNotFound]
}

/// The answer `{worker}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerAnswer {
    /// Name of the worker
    pub worker: String,
    /// Warnings about the worker's name
    #[serde(flatten)]
    pub doubts: RecipientDoubts,
}

/// The answer `{worker, heartbeat}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatAnswer {
    /// Name of the worker
    pub worker: String,
    /// The worker's last heartbeat; `null` if there is none
    pub heartbeat: Option<HeartbeatShown>,
}

impl Team {
    /// Returns a worker's last heartbeat.
    pub fn read_heartbeat(&mut self, read: ReadHeartbeat) -> Result<HeartbeatAnswer> {
        names::check_known("worker", &read.worker)?;
        self.query(|live, _| {
            Ok(HeartbeatAnswer {
                worker: read.worker.clone(),
                heartbeat: live.heartbeat(&read.worker)?.map(HeartbeatShown::from),
            })
        })
    }
}

impl WorkerAnswer {
    pub(crate) fn new(worker: &str) -> WorkerAnswer {
        WorkerAnswer {
            worker: worker.to_owned(),
            doubts: RecipientDoubts::default(),
        }
    }
}

impl WriteIdentity {
    fn identity(&self) -> Result<Identity> {
        if self.worker == LEADER {
            let message = format!("{LEADER:?} is the leader, which is not a worker");
            let refusal = Refusal::new(Code::WorkerNotFound, message).field("worker");
            return Err(refusal.into());
        }
        for task in &self.assigned_tasks {
            names::check_known("assigned_tasks", task)?;
        }
        Ok(Identity {
            index: self.index,
            role: names::filled("role", &self.role)?.to_owned(),
            assigned_tasks: self.assigned_tasks.clone(),
            pid: self.pid,
            pane_id: self.pane_id.clone(),
            working_dir: self.working_dir.clone(),
            worktree_path: self.worktree_path.clone(),
            worktree_branch: self.worktree_branch.clone(),
            worktree_detached: self.worktree_detached,
            team_state_root: self.team_state_root.clone(),
            model: self.model.clone(),
        })
    }
}

impl Command for WriteIdentity {
    type Decided = ();
    type Answer = WorkerAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let identity = self.identity()?;
        let mut events = membership::enter(live, "worker", &self.worker)?;
        events.push(WorkerAct::Identity(identity).event(&self.worker, &self.worker));
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), _: &After<'_>) -> Result<WorkerAnswer> {
        Ok(WorkerAnswer::new(&self.worker))
    }
}

impl Command for UpdateHeartbeat {
    type Decided = ();
    type Answer = WorkerAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let mut events = membership::enter(live, "worker", &self.worker)?;
        let heartbeat = WorkerAct::Heartbeat(Heartbeat {
            pid: self.pid,
            turn_count: self.turn_count,
            alive: self.alive,
        });
        events.push(heartbeat.event(&self.worker, &self.worker));
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), _: &After<'_>) -> Result<WorkerAnswer> {
        Ok(WorkerAnswer::new(&self.worker))
    }
}

impl Command for WriteInbox {
    type Decided = RecipientDoubts;
    type Answer = WorkerAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<RecipientDoubts>> {
        membership::check(live, "worker", &self.worker)?;
        let content = names::filled("content", &self.content)?;
        let content = content.to_owned();
        let instructions = WorkerAct::Inbox(Instructions { content });
        let event = instructions.event(DEFAULT_ACTOR, &self.worker);
        let doubts = RecipientDoubts::of_recipient(live, &self.worker, "")?;
        Ok(Decision::Granted(doubts, vec![event]))
    }

    fn answer(&self, doubts: &RecipientDoubts, _: &After<'_>) -> Result<WorkerAnswer> {
        Ok(WorkerAnswer {
            doubts: doubts.clone(),
            ..WorkerAnswer::new(&self.worker)
        })
    }
}
