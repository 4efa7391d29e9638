//! The live claim that an agent made in its session: a command line presents this claim if its caller names neither a token
//! nor an epoch.

use crate::Team;
use crate::claim::holding::{ClaimCheck, TaskDecision};
use crate::command::authority::ClaimProof;
use crate::log::recorded::Recorded;
use crate::prelude::*;
use crate::projections::task::Claim;

/// Number of events of the task that are read together.
const PAGE: usize = 100;

/// A request for the live claim of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClaim {
    /// Id of the task.
    pub task_id: String,
    /// The agent that presents the claim.
    pub worker: String,
    /// The session of the agent.
    pub session: String,
}

/// The live claim of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClaimAnswer {
    /// Epoch of the claim.
    pub epoch: u64,
    /// Epoch of the session's previous claim of the task, if the agent did not end that claim itself: its lease expired, or
    /// another agent took the task. The session possibly still works on that claim.
    pub earlier: Option<u64>,
}

impl Team {
    /// Returns the live claim that the agent made in the session; if there is no such claim,
    /// refuses with the reason.
    pub fn session_claim(&mut self, asked: &SessionClaim) -> Result<SessionClaimAnswer> {
        let now = self.options.clock.now();
        let may_force = self.options.authenticated.is_none();
        self.query(|live, reader| {
            let decision = TaskDecision::load(live, &asked.task_id, now)?;
            decision.check_open()?;
            let claim = live_claim(&decision, asked, may_force)?;
            check_session(&decision, claim, asked)?;
            let epoch = decision.task.governed.epoch;
            Ok(SessionClaimAnswer {
                epoch,
                earlier: earlier(live, reader, asked, epoch)?,
            })
        })
    }
}

fn live_claim<'a>(
    decision: &'a TaskDecision,
    asked: &SessionClaim,
    may_force: bool,
) -> Result<&'a Claim, Refusal> {
    let proof = ClaimProof {
        task_id: &asked.task_id,
        token: None,
        epoch: None,
        force: false,
        worker: Some(&asked.worker),
    };
    match decision.check_claim(proof) {
        Ok(ClaimCheck::Holds(claim)) if claim.owner == asked.worker => Ok(claim),
        Ok(ClaimCheck::Holds(claim)) => {
            Err(decision.not_holder(claim, "worker", &asked.worker, may_force))
        }
        // Only the agent that lost the claim learns when the claim ended.
        Err(refusal) if refusal.details.get("holder") == Some(&json!(asked.worker)) => Err(refusal),
        _ => {
            let (id, status) = (&decision.task.task_id, decision.task.status.name());
            let message = format!("task {id} is not claimed: its status is {status}");
            let refusal = decision.refusal(Code::ClaimConflict, message);
            Err(refusal.hint("claim the task first"))
        }
    }
}

/// Refuses a claim of another session of the agent.
fn check_session(
    decision: &TaskDecision,
    claim: &Claim,
    asked: &SessionClaim,
) -> Result<(), Refusal> {
    let maker = match claim.session.as_deref() {
        Some(session) if session == asked.session => return Ok(()),
        Some(_) => format!("another session of {}", claim.owner),
        None => format!("{} without a session", claim.owner),
    };
    Err(decision.other_session(claim, &maker))
}

/// Returns the epoch of the previous claim of the task by this agent in this session, unless the agent released the task or failed it
/// under that claim. Other agents may share the session's terminal. Reads the events of the task, newest first.
fn earlier(live: &Live, reader: &Reader, asked: &SessionClaim, epoch: u64) -> Result<Option<u64>> {
    // The first claim of a task has epoch 1.
    if epoch <= 1 {
        return Ok(None);
    }
    let mut before = None;
    let mut ended = BTreeSet::new();
    loop {
        let page = live.with_ref(RefKind::Task, &asked.task_id, before, PAGE)?;
        before = page.seqs.iter().min().copied();
        for event in Recorded::all(live, reader, page.seqs)?.iter().rev() {
            let event = &event.event;
            if event.refs.get(RefKind::Agent) != Some(&*asked.worker) {
                continue;
            }
            let claimed: Claimed = serde_json::from_str(&event.payload).unwrap_or_default();
            let is_own = claimed.session.as_ref() == Some(&asked.session);
            match &*event.kind {
                "task_released" | "task_failed" if event.actor == *asked.worker => {
                    ended.insert(claimed.epoch);
                }
                "task_claimed" if is_own && claimed.epoch < epoch => {
                    let is_ended = ended.contains(&claimed.epoch);
                    return Ok((!is_ended).then_some(claimed.epoch));
                }
                _ => {}
            }
        }
        if !page.older {
            return Ok(None);
        }
    }
}

/// The part of an event that names a claim and its session.
#[derive(Default, Deserialize)]
struct Claimed {
    epoch: u64,
    #[serde(default)]
    session: Option<String>,
}
