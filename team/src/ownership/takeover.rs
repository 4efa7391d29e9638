//! Changes of a task that another agent holds: who may make them, and the message that tells the holder.

use crate::message::send::{NewMessage, Send};
use crate::task::prelude::*;

/// The holder of a task that another agent changes. The flag is true if the change uses force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Overridden {
    pub holder: String,
    pub forced: bool,
}

/// Returns the holder of a task; `None` if the acting agent is the holder or no agent holds the task. Refuses a caller that is not the
/// leader and does not use force.
pub(crate) fn check(
    ctx: &Ctx,
    decision: &TaskDecision,
    named: Option<&str>,
    force: bool,
) -> Result<Option<Overridden>, Refusal> {
    let Some(claim) = decision.task.claim() else {
        return Ok(None);
    };
    let by = ctx.control.caller();
    let who = named.or(by.name);
    if who == Some(&*claim.owner) {
        return Ok(None);
    }
    let leads = who == Some(LEADER);
    let may_force = !by.authenticated || by.name == Some(LEADER);
    if !(leads || force && may_force) {
        let who = who.unwrap_or("this caller");
        return Err(decision.not_holder(claim, "task_id", who, may_force));
    }
    Ok(Some(Overridden {
        holder: claim.owner.clone(),
        forced: force && !leads,
    }))
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
