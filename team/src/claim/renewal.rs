//! Automatic renewal of leases. Each command of an agent renews the agent's claims, so that an agent at work does not lose its task.

use crate::claim::holding;
use crate::command::Ctx;
use crate::prelude::*;
use crate::projections::task::Claim;
use crate::projections::task::event::{Lease, TaskAct};

/// Maximum number of claims of one agent that a command examines.
const CLAIMS_MAX: usize = 16;

/// Adds a renewal for each live claim that the acting agent made in this session, if the share of the lease that is left is below the
/// setting. Adds no renewal if the command records no event. Adds no renewal for a task that the command itself changes.
pub(crate) fn renew_own(ctx: &Ctx, live: &Live, events: &mut Vec<NewEvent>) -> Result<()> {
    let Some(session) = ctx.control.origin.claim_session.as_deref() else {
        return Ok(());
    };
    let Some(agent) = events.first().map(|event| event.actor.clone()) else {
        return Ok(());
    };
    let filter = TaskFilter {
        owner: Some(agent.to_string()),
        status: Some(Status::InProgress),
        ..TaskFilter::default()
    };
    let held = live.tasks(&filter, None, CLAIMS_MAX)?.tasks;
    for task in &held {
        let Some(claim) = task.claim() else {
            continue;
        };
        let is_own = claim.session.as_deref() == Some(session) && *claim.owner == *agent;
        let is_changed = changes(events, &task.task_id);
        if !is_own || is_changed || !is_due(ctx, live, claim)? {
            continue;
        }
        let lease = Lease {
            held: holding::holder(task, claim),
            leased_until: ctx.now.plus_micros(length(claim)),
        };
        let act = TaskAct::Renewed(lease);
        events.push(holding::follows(task, act, &claim.owner, Some(0)));
    }
    Ok(())
}

/// Returns the length of the claim's lease in microseconds.
fn length(claim: &Claim) -> i64 {
    claim.leased_until.micros() - claim.leased_at.micros()
}

fn changes(events: &[NewEvent], task_id: &str) -> bool {
    let is_of_task = |event: &NewEvent| {
        event.kind.starts_with("task_") && event.refs.get(RefKind::Task) == Some(task_id)
    };
    events.iter().any(is_of_task)
}

/// Returns true if the lease has not expired and its remaining share is below the setting.
fn is_due(ctx: &Ctx, live: &Live, claim: &Claim) -> Result<bool> {
    let left = claim.leased_until.micros() - ctx.now.micros();
    let percent = live.setting(Setting::ClaimsRenewBelow)?.0.number();
    // A percent is at most 100, and a lease at most a day.
    Ok(left > 0 && left * 100 < length(claim) * percent as i64)
}
