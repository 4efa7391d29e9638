//! `ack-subscription`, `nak-subscription`, `release-subscription`: the outcome of deliveries.

use super::{
    DELAY_MS_MAX, Retry, SubscriptionFiles, SubscriptionState, WINDOW_MAX, fenced, micros,
};
use crate::handle::settlements::{Settlement, SettlementOutcome};
use crate::operation::prelude::*;

operation! {
    /// Acknowledge delivered events of a subscription; the answer means that the acks are durable
    "ack-subscription": Reads(AckSubscription {
        /// Name of the subscription
        name: String,
        /// Epoch of the consumer's lease
        epoch: u64,
        /// Seqs of the handled events, 1 to 256
        seqs: Vec<u64>,
    }) -> SettledAnswer = |team, asked| team.ack_subscription(&asked),
    refuses = [
        SubscriptionNotFound, SubscriptionFenced, SubscriptionDamaged, EventNotDelivered, ActorMismatch,
    ],
    scope = Act
}

operation! {
    /// Report that a delivered event could not be handled; it is delivered again later, or parked after its last attempt
    "nak-subscription": Reads(NakSubscription {
        /// Name of the subscription
        name: String,
        /// Epoch of the consumer's lease
        epoch: u64,
        /// Seq of the event
        seq: u64,
        /// Reason, for people; at most 500 characters are stored
        reason: Option<String>,
        /// Milliseconds until the next delivery, at most a day; if absent, 1 s that doubles with each attempt, at most 5 min
        #[schemars(range(max = 86_400_000))]
        delay_ms: Option<u64>,
    }) -> NakAnswer = |team, asked| team.nak_subscription(&asked),
    refuses = [
        SubscriptionNotFound, SubscriptionFenced, SubscriptionDamaged, EventNotDelivered, ActorMismatch,
    ],
    scope = Act
}

operation! {
    /// End the lease of a subscription, so that another consumer can take it at once
    "release-subscription": Reads(ReleaseSubscription {
        /// Name of the subscription
        name: String,
        /// Epoch of the consumer's lease
        epoch: u64,
    }) -> SettledAnswer = |team, asked| team.release_subscription(&asked),
    refuses = [SubscriptionNotFound, SubscriptionFenced, SubscriptionDamaged, ActorMismatch],
    scope = Act
}

/// The answer `{team, name, position}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettledAnswer {
    /// The team
    pub team: String,
    /// Name of the subscription
    pub name: String,
    /// The lowest unsettled seq minus one
    pub position: u64,
}

/// The answer of `nak-subscription`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NakAnswer {
    /// The team
    pub team: String,
    /// Name of the subscription
    pub name: String,
    /// Seq of the event
    pub seq: u64,
    /// Number of failed deliveries of the event
    pub attempts: u32,
    /// True if the event was given up: it is delivered again only by a replay
    pub parked: bool,
    /// Time of the next delivery; absent if the event is parked
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
}

impl Team {
    /// Settles delivered events. The acks are durable when this function returns. An ack of a settled event changes nothing.
    ///
    /// # Errors
    /// `subscription_fenced` if another consumer took over; `event_not_delivered` if one of the events was not delivered under
    /// this lease, in which case no event is settled; `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn ack_subscription(&mut self, asked: &AckSubscription) -> Result<SettledAnswer> {
        self.changeable()?;
        let count = asked.seqs.len();
        if !(1..=WINDOW_MAX).contains(&count) {
            let message = format!("seqs must name 1 to {WINDOW_MAX} events, but names {count}");
            return Err(Refusal::new(Code::InvalidInput, message)
                .field("seqs")
                .into());
        }
        if asked.seqs.contains(&0) {
            let rule = "must be seqs of events, from 1";
            return Err(Refusal::invalid("seqs", 0, rule).into());
        }
        names::check_known("name", &asked.name)?;
        let settlement = Settlement {
            epoch: asked.epoch,
            seqs: asked.seqs.clone(),
        };
        let position = match &self.options.settlements {
            Some(settlements) => {
                self.check_ack(&asked.name)?;
                let all = |acks: &[Settlement]| self.ack_all(&asked.name, acks);
                settlements.run((self, &asked.name), settlement, all)?
            }
            None => {
                let mut positions = self.ack_all(&asked.name, &[settlement])?;
                positions.pop().unwrap_or(Ok(0))?
            }
        };
        Ok(self.settled(&asked.name, position))
    }

    /// Carries out acks of one subscription, with one write. Returns the outcome of each ack.
    fn ack_all(&self, name: &str, acks: &[Settlement]) -> Result<Vec<SettlementOutcome>> {
        let (files, mut state) = self.open_subscription(name)?;
        let now = self.options.clock.now();
        let outcomes: Vec<_> = acks
            .iter()
            .map(|ack| settle(&mut state, (name, ack), now))
            .collect();
        // Also writes a repeated ack, because the process of the first ack may have ended before its sync.
        if outcomes.iter().any(Result::is_ok) {
            renew(&mut state, now);
            files.keep(&state)?;
        }
        let position = state.kept.position;
        let outcomes = outcomes.into_iter();
        Ok(outcomes.map(|done| done.map(|()| position)).collect())
    }

    /// Refuses an ack for a subscription of another agent. Checks the owner before the ack is queued, because another caller may write
    /// the queued ack.
    fn check_ack(&self, name: &str) -> Result<()> {
        match SubscriptionFiles::new(self).read(name)? {
            Some(state) => Ok(self.check_owner(&state)?),
            // Opening the subscription reports that it is missing.
            None => Ok(()),
        }
    }

    /// Reports a failed delivery.
    ///
    /// # Errors
    /// `subscription_fenced`, `event_not_delivered`, `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn nak_subscription(&mut self, asked: &NakSubscription) -> Result<NakAnswer> {
        if let Some(delay) = asked.delay_ms.filter(|delay| *delay > DELAY_MS_MAX) {
            let rule = format!("must be at most {DELAY_MS_MAX}");
            return Err(Refusal::invalid("delay_ms", delay, rule).into());
        }
        let (files, mut state) = self.open_subscription(&asked.name)?;
        let now = self.options.clock.now();
        check_epoch(&state, (&asked.name, asked.epoch), now)?;
        if !state.delivery.delivered.contains(&asked.seq) {
            return Err(not_delivered(&asked.name, "seq", asked.seq).into());
        }
        let reason = asked
            .reason
            .as_deref()
            .unwrap_or("the consumer gave no reason");
        let Retry { attempts, next_at } = state.fail(asked.seq, now, reason, asked.delay_ms);
        renew(&mut state, now);
        files.keep(&state)?;
        Ok(NakAnswer {
            team: self.name().to_owned(),
            name: asked.name.clone(),
            seq: asked.seq,
            attempts,
            parked: next_at.is_none(),
            next_at,
        })
    }

    /// Ends the lease. The unsettled events are delivered to the next consumer.
    ///
    /// # Errors
    /// `subscription_fenced`, `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn release_subscription(&mut self, asked: &ReleaseSubscription) -> Result<SettledAnswer> {
        let (files, mut state) = self.open_subscription(&asked.name)?;
        let now = self.options.clock.now();
        check_epoch(&state, (&asked.name, asked.epoch), now)?;
        state.release();
        files.keep(&state)?;
        Ok(self.settled(&asked.name, state.kept.position))
    }

    fn settled(&self, name: &str, position: u64) -> SettledAnswer {
        SettledAnswer {
            team: self.name().to_owned(),
            name: name.to_owned(),
            position,
        }
    }
}

fn settle(
    state: &mut SubscriptionState,
    (name, ack): (&str, &Settlement),
    now: Timestamp,
) -> Result<(), Refusal> {
    check_epoch(state, (name, ack.epoch), now)?;
    let is_known = |seq: &u64| state.is_settled(*seq) || state.delivery.delivered.contains(seq);
    if let Some(seq) = ack.seqs.iter().find(|seq| !is_known(seq)) {
        return Err(not_delivered(name, "seqs", *seq));
    }
    let open = ack.seqs.iter().copied();
    let open: Vec<u64> = open.filter(|seq| !state.is_settled(*seq)).collect();
    state.settle(&open);
    Ok(())
}

fn check_epoch(
    state: &SubscriptionState,
    (name, epoch): (&str, u64),
    now: Timestamp,
) -> Result<(), Refusal> {
    match epoch == state.kept.epoch {
        true => Ok(()),
        false => Err(fenced(name, epoch, state, now)),
    }
}

/// Extends the lease of a consumer that settles events, if less than half of the lease is left.
fn renew(state: &mut SubscriptionState, now: Timestamp) {
    let lease_ms = state.delivery.lease_ms;
    let half = now.plus_micros(micros(lease_ms / 2));
    if state.holder(now).is_some() && state.delivery.until < half {
        state.extend(now, lease_ms);
    }
}

fn not_delivered(name: &str, field: &str, seq: u64) -> Refusal {
    let message = format!("event {seq} was not delivered to this consumer of {name}");
    let refusal = Refusal::new(Code::EventNotDelivered, message).field(field);
    let refusal = refusal.detail("name", name).detail("seq", seq);
    refusal.hint("fetch again: unsettled events are delivered again")
}
