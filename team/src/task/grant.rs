//! A claim that was answered under a key, and whether it may be answered again: a token that counts no longer must not look
//! like one that does.

use crate::handle::command::mismatch;
use crate::task::prelude::*;

/// What every surface's answer to a claim says of the task that was claimed.
#[derive(Deserialize)]
struct Granted {
    task: Option<Claimed>,
}

#[derive(Deserialize)]
struct Claimed {
    id: String,
    epoch: u64,
}

/// The same in an exchange.
#[derive(Deserialize)]
struct Exchanged {
    body: Granted,
}

/// Whether the claim that a stored answer hands out is live at `now`. Records nothing, as a repetition does.
/// Another agent than its holder is not given it, where callers have to prove who they are.
pub(crate) fn check_live(
    live: &Live,
    stored: &str,
    authenticated: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let Some(claimed) = claimed(stored) else {
        return Ok(());
    };
    let draft = Draft::of(live, &claimed.id, now)?;
    let hold = Hold {
        token: None,
        epoch: Some(claimed.epoch),
        force: false,
    };
    let why = match draft.standing(hold) {
        Ok(Standing::Holds(claim)) => {
            return match authenticated.filter(|agent| claim.owner != **agent) {
                Some(agent) => Err(mismatch(agent, &claim.owner).into()),
                None => Ok(()),
            };
        }
        Err(refusal) if refusal.code == Code::LeaseExpired => {
            return Err(Failure::Refused(advised(refusal)));
        }
        Err(_) => format!("was claimed again, as epoch {}", draft.task.governed.epoch),
        Ok(_) => format!("is {}", draft.task.status.name()),
    };
    let message = format!(
        "the claim that the key was answered with, epoch {} of task {}, must be live, but the task {why}",
        claimed.epoch, claimed.id
    );
    let refusal = draft.refusal(Code::ClaimConflict, message);
    Err(Failure::Refused(advised(refusal)))
}

/// The task and the number of its claim; nothing where nothing was claimed.
fn claimed(stored: &str) -> Option<Claimed> {
    let exchanged = serde_json::from_str(stored).map(|exchanged: Exchanged| exchanged.body);
    let granted = exchanged.or_else(|_| serde_json::from_str(stored));
    granted.ok()?.task
}

/// The key stands for the claim that is over for good.
fn advised(refusal: Refusal) -> Refusal {
    let refusal = refusal.field("key");
    refusal.hint(
        "the request was carried out; to claim the task again, if it is free, use another key",
    )
}
