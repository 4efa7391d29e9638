//! Changes of a task that another agent holds: who may make them, and the message that tells the holder.

use crate::command::authority::ClaimProof;
use crate::message::send::{NewMessage, Send};
use crate::task::prelude::*;

/// The holder of a task that another agent changes. The flag is true if the change uses force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overridden {
    pub holder: String,
    pub forced: bool,
}

/// The caller of a change, as its input names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Presented<'a> {
    /// The agent that makes the change, if the input names it.
    pub worker: Option<&'a str>,
    /// Epoch of the agent's claim.
    pub epoch: Option<u64>,
    /// True if the input has `force`. The leader needs no force.
    pub force: bool,
}

impl Presented<'_> {
    /// Returns the holder of a task; `None` if the acting agent is the holder or no agent holds the task. Refuses another session of
    /// the holder. Refuses any other caller that neither is the leader nor uses force; with authentication, only the leader may
    /// use force. A caller without an agent's name needs force.
    pub fn check(
        self,
        ctx: &Ctx,
        live: &Live,
        decision: &TaskDecision,
    ) -> Result<Option<Overridden>> {
        let Some(claim) = decision.task.claim() else {
            return Ok(None);
        };
        let by = ctx.control.caller();
        let named = by.name.into_iter().chain(self.worker);
        let other = named.clone().find(|name| *name != claim.owner);
        if other.is_none() && named.count() > 0 {
            check_session(ctx, decision, claim, self.epoch)?;
            return Ok(None);
        }
        let may_force = by.may_force(live, self.worker)?;
        let passes = match self.force {
            true => may_force,
            false => other.is_some() && by.leads(live, self.worker)?,
        };
        if !passes {
            let who = other.unwrap_or("this caller");
            let refusal = decision.not_holder(claim, "task_id", who, may_force);
            return Err(refusal.into());
        }
        Ok(Some(Overridden {
            holder: claim.owner.clone(),
            forced: self.force,
        }))
    }
}

/// Refuses a session that did not make the claim of its agent. The epoch of the claim suffices. A caller without a session, and a
/// claim that was made without one, pass.
pub(crate) fn check_session(
    ctx: &Ctx,
    decision: &TaskDecision,
    claim: &Claim,
    epoch: Option<u64>,
) -> Result<(), Refusal> {
    if let Some(epoch) = epoch {
        let proof = ClaimProof {
            task_id: &decision.task.task_id,
            token: None,
            epoch: Some(epoch),
            force: false,
            worker: None,
        };
        return decision.claim_of(proof).map(drop);
    }
    let session = ctx.control.origin.claim_session.as_deref();
    match claim.is_of_other_session(session) {
        true => {
            let maker = format!("another session of {}", claim.owner);
            Err(decision.other_session(claim, &maker))
        }
        false => Ok(()),
    }
}

/// Checks that a named agent may act in the team.
pub(crate) fn check_member(live: &Live, worker: Option<&str>) -> Result<()> {
    worker.map_or(Ok(()), |worker| membership::check(live, "worker", worker))
}

/// Appends a message to an agent about the task. The cause of the message is the event at index `cause`.
pub(crate) fn tell(
    live: &Live,
    ctx: &Ctx,
    decision: &mut TaskDecision,
    (from, to, cause): (&str, &str, usize),
    body: &str,
) -> Result<()> {
    membership::check(live, "actor", from)?;
    let new = NewMessage {
        send: Send {
            from: from.to_owned(),
            to: to.to_owned(),
            kind: MessageType::Message.name().to_owned(),
            task_id: Some(decision.task.task_id.clone()),
            trace_id: decision.task.trace_id.clone(),
            payload: Some(json!({ "body": body }).to_string()),
            ..Send::default()
        },
        random: ctx.ids.random()?,
        first: None,
    };
    decision.events.extend(membership::joining(live, from)?);
    let message = new.message(live, ctx.now)?;
    let sent = message.sent_without(ctx.now, &[]);
    let mut event = sent.map_err(Refusal::from)?;
    event.cause = Some(Cause::Earlier(cause));
    decision.events.push(event);
    Ok(())
}

/// Returns the agent in whose name a message about a change is sent.
pub(crate) fn sender<'a>(ctx: &'a Ctx, named: Option<&'a str>) -> &'a str {
    named.or(ctx.control.actor.as_deref()).unwrap_or(LEADER)
}
