//! Checks that a claim is still live before the stored answer with its token is repeated. Otherwise an invalid token would look
//! valid.
//!
//! The claim is parsed from the text of the stored answer, because the answer's row does not refer to the event of the claim, and a
//! decision must not read the log.

use crate::claim::holding::{ClaimCheck, TaskDecision};
use crate::command::authority::ClaimProof;
use crate::command::{Ctx, mismatch};
use crate::prelude::*;

/// The fields that an answer to a claim has on each surface.
#[derive(Deserialize)]
struct Granted {
    task: Option<Claimed>,
}

#[derive(Deserialize)]
struct Claimed {
    id: String,
    epoch: u64,
}

/// The body of a stored exchange that answered a claim.
#[derive(Deserialize)]
struct Exchanged {
    body: Granted,
}

/// Refuses to repeat an answer if its claim is no longer live, or if the authenticated agent is not its holder. Records no event.
pub(crate) fn check_live(ctx: &Ctx, live: &Live, stored: &str) -> Result<()> {
    let Some(claimed) = claimed(stored) else {
        return Ok(());
    };
    let decision = TaskDecision::load(live, &claimed.id, ctx.now)?;
    let proof = ClaimProof {
        task_id: &claimed.id,
        token: None,
        epoch: Some(claimed.epoch),
        force: false,
        worker: None,
    };
    let why = match decision.check_claim(proof) {
        Ok(ClaimCheck::Holds(claim)) => {
            let authenticated = ctx.control.authenticated.as_deref();
            return match authenticated.filter(|agent| claim.owner != **agent) {
                Some(agent) => Err(mismatch(agent, &claim.owner).into()),
                None => Ok(()),
            };
        }
        Err(refusal) if refusal.code == Code::LeaseExpired => {
            return Err(Failure::Refused(advised(refusal)));
        }
        Err(_) => format!(
            "was claimed again, as epoch {}",
            decision.task.governed.epoch
        ),
        Ok(_) => format!("is {}", decision.task.status.name()),
    };
    let message = format!(
        "the claim under this key (epoch {} of task {}) has ended: the task {why}",
        claimed.epoch, claimed.id
    );
    let refusal = decision.refusal(Code::ClaimConflict, message);
    Err(Failure::Refused(advised(refusal)))
}

/// Returns the task and the claim in an answer; `None` if the answer granted no claim.
fn claimed(stored: &str) -> Option<Claimed> {
    let exchanged = serde_json::from_str(stored).map(|exchanged: Exchanged| exchanged.body);
    let granted = exchanged.or_else(|_| serde_json::from_str(stored));
    granted.ok()?.task
}

/// Adds a hint about a key whose claim has ended.
fn advised(refusal: Refusal) -> Refusal {
    let refusal = refusal.field("key");
    refusal
        .hint("this key was used for the earlier claim; to claim the task again, use another key")
}
