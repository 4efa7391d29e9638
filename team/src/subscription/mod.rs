//! Durable subscriptions: a program gets the events of a team in order, acknowledges each, and continues after a crash at the
//! first event that it has not acknowledged.
//!
//! A subscription records no event, so no consumer receives events about itself. Its state is in small files beside the log
//! (`store.rs`). `fetch-subscription` delivers events to the consumer with the lease, `ack-subscription` settles them, and
//! `nak-subscription` delivers an event again later, or parks it after the last attempt. An ack is answered after it is
//! durable.
//!
//! The files belong to this host: no backup, export or journal has them.

pub mod fetch;
mod history;
pub mod manage;
pub mod runner;
pub mod settle;
mod state;
mod store;

pub use state::{
    ATTEMPTS, ATTEMPTS_MAX, DELAY_MS_MAX, LEASE_MS_MAX, PARKED_MAX, SubscriptionFilter, WINDOW_MAX,
};
pub use store::SUBSCRIPTIONS_DIR;

pub(crate) use history::misfit;
pub(crate) use state::{Anchor, Candidate, Due, Retry, SubscriptionState, micros};
pub(crate) use store::{LockedFiles, SubscriptionFiles, unknown};

use crate::operation::prelude::*;

/// Maximum number of subscriptions of a team.
pub const SUBSCRIPTIONS_MAX: usize = 100;
/// Default window of a subscription.
pub const WINDOW: usize = 1;

impl Team {
    /// Refuses an authenticated agent that uses a subscription of another agent, or of a program on this machine.
    fn check_owner(&self, state: &SubscriptionState) -> Result<(), Refusal> {
        let Some(known) = &self.options.authenticated else {
            return Ok(());
        };
        if state.kept.owner.as_ref() == Some(&known.agent) {
            return Ok(());
        }
        let agent = &known.agent;
        let message = match &state.kept.owner {
            Some(owner) => format!("the subscription belongs to {owner}, not to {agent}"),
            None => format!(
                "the subscription was created without an agent token, so {agent} cannot use it"
            ),
        };
        Err(Refusal::new(Code::ActorMismatch, message).field("name"))
    }

    /// Locks a subscription and reads it, for a caller that changes it.
    fn open_subscription<'a>(
        &'a self,
        name: &'a str,
    ) -> Result<(LockedFiles<'a>, SubscriptionState)> {
        self.changeable()?;
        let (files, state) = SubscriptionFiles::new(self).open(name)?;
        self.check_owner(&state)?;
        Ok((files, state))
    }
}

/// Returns the refusal for an epoch that is not the epoch of the present lease.
fn fenced(name: &str, presented: u64, state: &SubscriptionState, now: Timestamp) -> Refusal {
    let epoch = state.kept.epoch;
    let holder = state.holder(now);
    let by = holder.map_or_else(String::new, |(consumer, until)| {
        format!(": {consumer} has the lease until {until}")
    });
    let state = match presented > epoch {
        true => "was never granted",
        false => "is out of date",
    };
    let message = format!(
        "epoch {presented} of subscription {name} {state}; the last lease has epoch {epoch}{by}"
    );
    Refusal::new(Code::SubscriptionFenced, message)
        .field("epoch")
        .detail("name", name)
        .detail("epoch", epoch)
        .detail("presented", presented)
        .hint("drop the unsettled events, and fetch without epoch to wait for the lease")
}
