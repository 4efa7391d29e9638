//! Authorization: decides which agents may run a command. Every command passes this check before its decision.

use crate::budget;
use crate::command::{Authority, CommandTerms, Ctx, mismatch};
use crate::handle::prelude::*;
use crate::membership;

/// Refuses a command that the caller has no permission to run. Records nothing.
pub(super) fn authorize(terms: &CommandTerms<'_>, ctx: &Ctx, live: &Live) -> Result<()> {
    let by = ctx.control.caller();
    if let Some(name) = by.name {
        membership::check_active(live, "actor", name)?;
        check_member(terms, ctx, live, name)?;
    }
    match terms.authority {
        Authority::Anyone => Ok(()),
        Authority::WithinBudget => budget::check(live, by.name),
        Authority::Agent(agent) => match by.name.filter(|_| by.authenticated) {
            Some(name) if name != agent => Err(mismatch(name, agent).into()),
            _ => Ok(()),
        },
        Authority::Holder(proof) => proof.authorize(live, by),
        Authority::HolderOrLeader(proof) => proof.authorize_with_leader(live, by, ctx.now),
    }
}

/// Refuses an agent that does not belong to the team, if the command is for members only. The user of the operating system passes.
pub(super) fn check_member(
    terms: &CommandTerms<'_>,
    ctx: &Ctx,
    live: &Live,
    agent: &str,
) -> Result<()> {
    if !terms.members_only || ctx.control.user.as_deref() == Some(agent) {
        return Ok(());
    }
    membership::check_acting(live, agent)
}
