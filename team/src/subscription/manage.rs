//! `subscribe`, `list-subscriptions`, `show-subscription`, `replay-subscription`, `delete-subscription`.

use super::runner::{SubscriptionRunner, shown_runner};
use super::state::{Subscription, SubscriptionState};
use super::{
    ATTEMPTS, ATTEMPTS_MAX, Anchor, SUBSCRIPTIONS_MAX, SubscriptionFiles, SubscriptionFilter,
    WINDOW, WINDOW_MAX, misfit, unknown,
};
use crate::log::events::{Events, ahead};
use crate::operation::prelude::*;

operation! {
    /// Create a subscription, or check that it exists with this filter
    "subscribe": Reads(Subscribe {
        /// Name of the subscription
        #[arg(value_name = "NAME")]
        name: String,
        /// Only events of this kind, or of several kinds separated by commas
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// Only events with this tag; with several, only events that have all of them
        #[arg(long, value_name = "NAME=VALUE")]
        tag: Option<Vec<String>>,
        /// Only events that name this task
        #[arg(long = "task", value_name = "TASK")]
        task_id: Option<String>,
        /// Only events that name this agent
        #[arg(long = "about", value_name = "AGENT")]
        agent: Option<String>,
        /// Only events of this trace
        #[arg(long = "trace", value_name = "TRACE")]
        trace_id: Option<String>,
        /// Only events of this actor
        #[arg(id = "by", long = "by", value_name = "ACTOR")]
        actor: Option<String>,
        /// Only messages of this type, or of several types separated by commas
        #[serde(rename = "type")]
        #[arg(long = "type", value_name = "TYPE")]
        message_type: Option<String>,
        /// Leaves out events with these values: FIELD:VALUE, several separated by commas
        #[arg(long, value_name = "FIELD:VALUE")]
        not: Option<String>,
        /// First events of a new subscription: `start` for all events, `now` for new events, or a seq for the events after it;
        /// `now` if absent. `start` and `now` change no existing subscription. On the command line, a seq also moves an existing
        /// subscription: events up to it count as settled, and later events are delivered (again)
        #[arg(long, value_name = "start|now|SEQ")]
        from: Option<String>,
        /// Maximum number of events that are delivered and not settled, 1 to 256; 1 if absent. With more than 1, events of
        /// different tasks can be settled in any order
        #[schemars(range(min = 1, max = 256))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        window: Option<usize>,
        /// Number of failed deliveries of an event after which it is parked, 1 to 100; 5 if absent
        #[schemars(range(min = 1, max = 100))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u32>)]
        max_attempts: Option<u32>,
    }) -> SubscriptionAnswer = |team, asked| team.subscribe(&asked),
    refuses = [SubscriptionExists, SubscriptionDamaged, CursorAhead, TooLarge, ActorMismatch],
    scope = Act
}

operation! {
    /// List the subscriptions of a team
    "list-subscriptions": Reads(SubscriptionList {}) -> SubscriptionListAnswer = |team, _| team.subscriptions()
}

operation! {
    /// Show a subscription: filter, position, failing and parked events
    "show-subscription": Reads(ShowSubscription {
        /// Name of the subscription
        #[arg(value_name = "NAME")]
        name: String,
    }) -> SubscriptionAnswer = |team, asked| team.subscription(&asked.name),
    refuses = [SubscriptionNotFound, SubscriptionDamaged]
}

operation! {
    /// Deliver parked events of a subscription again, one at a time
    "replay-subscription": Reads(ReplaySubscription {
        /// Name of the subscription
        #[arg(value_name = "NAME")]
        name: String,
        /// Seq of the parked event; all parked events if absent
        #[arg(long, value_name = "SEQ", value_parser = crate::argv::whole::<u64>)]
        seq: Option<u64>,
    }) -> SubscriptionAnswer = |team, asked| team.replay_subscription(&asked),
    refuses = [
        SubscriptionNotFound, SubscriptionDamaged, EventNotParked, CursorAhead, LogReplaced, ActorMismatch,
    ],
    scope = Act
}

operation! {
    /// Delete a subscription with its position and its parked events
    "delete-subscription": Reads(DeleteSubscription {
        /// Name of the subscription
        #[arg(value_name = "NAME")]
        name: String,
    }) -> SubscriptionDeleted = |team, asked| team.delete_subscription(&asked),
    refuses = [SubscriptionNotFound, ActorMismatch],
    scope = Act
}

/// The answer about one subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionAnswer {
    /// The team
    pub team: String,
    /// The subscription
    pub subscription: SubscriptionShown,
    /// Events whose last delivery failed, and that are delivered again
    pub failing: Vec<FailingEvent>,
    /// Events that were given up after their last attempt
    pub parked: Vec<ParkedShown>,
}

/// The answer with all subscriptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionListAnswer {
    /// The team
    pub team: String,
    /// The subscriptions, sorted by name
    pub subscriptions: Vec<SubscriptionShown>,
    /// Names of the subscriptions whose file is damaged
    pub damaged: Vec<String>,
    /// Number of the subscriptions that can be read
    pub count: usize,
}

/// A subscription
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionShown {
    /// Name of the subscription
    pub name: String,
    /// The events that the subscription delivers
    pub filter: SubscriptionFilter,
    /// Agent whose token created the subscription; only this agent and programs on this machine can use it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Time when the subscription was created
    pub created_at: Timestamp,
    /// Maximum number of events that are delivered and not settled
    pub window: usize,
    /// Number of failed deliveries of an event after which it is parked
    pub max_attempts: u32,
    /// The lowest unsettled seq minus one: all matching events up to here are settled
    pub position: u64,
    /// Seq of the last event of the log
    pub last_seq: u64,
    /// Number of events after the position, including events that do not match
    pub behind: u64,
    /// Number of the last lease
    pub epoch: u64,
    /// Consumer with the lease
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumer: Option<String>,
    /// End of the lease
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased_until: Option<Timestamp>,
    /// Number of events that were delivered to the consumer and are not settled
    pub unsettled_count: usize,
    /// Number of events that are delivered again after a failure
    pub failing_count: usize,
    /// Number of events that were given up
    pub parked_count: usize,
    /// Reason why the subscription delivers nothing: the log does not have the history in which its events were settled
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Daemon that handles the events; absent for an agent with a token
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_by: Option<SubscriptionRunner>,
}

/// An event whose last delivery failed
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailingEvent {
    /// Seq of the event
    pub seq: u64,
    /// Number of failed deliveries
    pub attempts: u32,
    /// Time of the next delivery
    pub next_at: Timestamp,
    /// Error of the last delivery
    pub error: String,
}

/// An event that was given up after its last attempt
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParkedShown {
    /// Seq of the event
    pub seq: u64,
    /// Task of the event
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Number of failed deliveries
    pub attempts: u32,
    /// Error of the last delivery
    pub error: String,
    /// Time when the event was given up
    pub parked_at: Timestamp,
    /// True if the event waits to be delivered again
    pub replaying: bool,
}

/// The answer of `delete-subscription`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionDeleted {
    /// The team
    pub team: String,
    /// Name of the deleted subscription
    pub name: String,
}

/// First position of a new subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FirstPosition {
    Start,
    Now,
    After(u64),
}

impl Subscribe {
    fn filter(&self) -> SubscriptionFilter {
        SubscriptionFilter {
            kind: self.kind.clone(),
            tag: self.tag.clone().unwrap_or_default(),
            task_id: self.task_id.clone(),
            agent: self.agent.clone(),
            trace_id: self.trace_id.clone(),
            actor: self.actor.clone(),
            message_type: self.message_type.clone(),
            not: self.not.clone(),
        }
    }

    fn first(&self) -> Result<FirstPosition, Refusal> {
        match self.from.as_deref() {
            None | Some("now") => Ok(FirstPosition::Now),
            Some("start") => Ok(FirstPosition::Start),
            Some(text) => {
                let seq = text.parse().map_err(|_| {
                    Refusal::invalid("from", text, "must be start, now or a seq of the log")
                })?;
                Ok(FirstPosition::After(seq))
            }
        }
    }
}

impl SubscriptionFilter {
    /// Returns the request for a page of matching events.
    pub(super) fn events(&self, after: u64, limit: usize) -> Events {
        let kinds = self.kind.as_deref().unwrap_or_default();
        let names_bookkeeping = kinds.split(',').any(|kind| kind == "response_stored");
        Events {
            after: Some(after),
            limit: Some(limit),
            kind: self.kind.clone(),
            tag: self.tag.clone(),
            agent: self.agent.clone(),
            task_id: self.task_id.clone(),
            trace_id: self.trace_id.clone(),
            actor: self.actor.clone(),
            message_type: self.message_type.clone(),
            not: self.not.clone(),
            bookkeeping: Some(names_bookkeeping),
            ..Events::default()
        }
    }
}

impl Team {
    /// Creates a subscription. For an existing name, checks that the filter is equal, and sets window and attempts if they are
    /// given.
    ///
    /// # Errors
    /// `subscription_exists` for another filter; `cursor_ahead`; `too_large` for too many subscriptions; I/O.
    pub fn subscribe(&mut self, asked: &Subscribe) -> Result<SubscriptionAnswer> {
        self.changeable()?;
        names::check_new("name", &asked.name)?;
        let filter = asked.filter();
        filter.events(0, 1).filter().check()?;
        let kinds = filter.kind.as_deref().map(|kinds| kinds.split(','));
        if let Some(kind) = kinds
            .into_iter()
            .flatten()
            .find(|kind| !names::is_kind(kind))
        {
            return Err(Refusal::invalid("kind", kind, "must match ^[a-z][a-z0-9_]*$").into());
        }
        let window = page::within("window", asked.window, WINDOW, WINDOW_MAX)?;
        let most = ATTEMPTS_MAX as usize;
        let attempts = asked.max_attempts.map(|attempts| attempts as usize);
        page::within("max_attempts", attempts, ATTEMPTS as usize, most)?;
        let (position, anchor) = self.first_position(asked.first()?)?;
        let now = self.options.clock.now();
        let files = SubscriptionFiles::new(self).lock(&asked.name)?;
        let state = match files.read()? {
            Some(mut known) => {
                self.check_owner(&known)?;
                if known.kept.filter != filter {
                    return Err(exists(&asked.name, &known.kept.filter).into());
                }
                let kept = &mut known.kept;
                kept.window = asked.window.unwrap_or(kept.window);
                kept.max_attempts = asked.max_attempts.unwrap_or(kept.max_attempts);
                known
            }
            None => {
                if files.names()?.len() >= SUBSCRIPTIONS_MAX {
                    let message = format!("a team has at most {SUBSCRIPTIONS_MAX} subscriptions");
                    return Err(Refusal::new(Code::TooLarge, message).field("name").into());
                }
                let owner = self.options.authenticated.as_ref();
                let kept = Subscription {
                    owner: owner.map(|known| known.agent.clone()),
                    created_at: now,
                    filter,
                    window,
                    max_attempts: asked.max_attempts.unwrap_or(ATTEMPTS),
                    epoch: files.last_epoch()?,
                    position,
                    anchor,
                    settled: BTreeSet::new(),
                    failures: BTreeMap::new(),
                    parked: BTreeMap::new(),
                };
                SubscriptionState::new(kept, None)
            }
        };
        // Also writes an unchanged subscription, because the process that created it may have ended before its sync.
        files.keep(&state)?;
        drop(files);
        self.described(&asked.name, &state)
    }

    /// Returns the position that a caller names, with the event at that position.
    fn first_position(&mut self, first: FirstPosition) -> Result<(u64, Option<Anchor>)> {
        let head = self.query(|_, reader| Ok(reader.head().last_seq))?;
        match first {
            FirstPosition::Start => Ok((0, None)),
            FirstPosition::Now => self.anchored(head),
            FirstPosition::After(seq) if seq > head => Err(ahead("from", seq, head).into()),
            FirstPosition::After(seq) => self.anchored(seq),
        }
    }

    /// Returns a position with the event at that position.
    pub(super) fn anchored(&mut self, seq: u64) -> Result<(u64, Option<Anchor>)> {
        let id = self.query(|live, reader| Ok(live.event(reader, seq)?.map(|event| event.id)))?;
        let anchor = id.map(|id| Anchor {
            seq,
            id: id.to_string(),
        });
        Ok((seq, anchor))
    }

    /// Lists the subscriptions. A damaged subscription is listed by name.
    ///
    /// # Errors
    /// I/O.
    pub fn subscriptions(&mut self) -> Result<SubscriptionListAnswer> {
        let last_seq = self.query(|_, reader| Ok(reader.head().last_seq))?;
        let now = self.options.clock.now();
        let names = SubscriptionFiles::new(self).names()?;
        let (mut subscriptions, mut damaged) = (Vec::new(), Vec::new());
        for name in names {
            match SubscriptionFiles::new(self).read(&name) {
                Ok(Some(state)) => subscriptions.push(SubscriptionShown {
                    run_by: self.runner((&name, &state), now),
                    refused: self.misfit_text((&name, &state))?,
                    ..shown_state(&name, &state, last_seq, now)
                }),
                Ok(None) => {}
                Err(Failure::Refused(_)) => damaged.push(name),
                Err(failed) => return Err(failed),
            }
        }
        Ok(SubscriptionListAnswer {
            team: self.name().to_owned(),
            count: subscriptions.len(),
            subscriptions,
            damaged,
        })
    }

    /// Shows a subscription.
    ///
    /// # Errors
    /// `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn subscription(&mut self, name: &str) -> Result<SubscriptionAnswer> {
        names::check_known("name", name)?;
        let files = SubscriptionFiles::new(self);
        let Some(state) = files.read(name)? else {
            return Err(unknown(name, &files.names()?).into());
        };
        self.described(name, &state)
    }

    fn described(&mut self, name: &str, state: &SubscriptionState) -> Result<SubscriptionAnswer> {
        let last_seq = self.query(|_, reader| Ok(reader.head().last_seq))?;
        let now = self.options.clock.now();
        let failing = state.kept.failures.iter();
        let failing = failing.map(|(seq, failure)| FailingEvent {
            seq: *seq,
            attempts: failure.attempts,
            next_at: failure.next_at,
            error: failure.error.clone(),
        });
        let parked = state.kept.parked.iter().map(|(seq, parked)| ParkedShown {
            seq: *seq,
            task_id: parked.task.clone(),
            attempts: parked.attempts,
            error: parked.error.clone(),
            parked_at: parked.at,
            replaying: parked.replaying,
        });
        Ok(SubscriptionAnswer {
            team: self.name().to_owned(),
            subscription: SubscriptionShown {
                run_by: self.runner((name, state), now),
                refused: self.misfit_text((name, state))?,
                ..shown_state(name, state, last_seq, now)
            },
            failing: failing.collect(),
            parked: parked.collect(),
        })
    }

    /// Returns the reason why a subscription does not fit the log.
    fn misfit_text(&mut self, subscription: (&str, &SubscriptionState)) -> Result<Option<String>> {
        let misfit = self.query(|live, reader| misfit(live, reader, subscription))?;
        Ok(misfit.map(|refusal| refusal.message))
    }

    /// Returns the daemon that runs a subscription. Agents with a token do not see the programs of the host.
    fn runner(
        &self,
        subscription: (&str, &SubscriptionState),
        now: Timestamp,
    ) -> Option<SubscriptionRunner> {
        match self.options.authenticated {
            Some(_) => None,
            None => shown_runner(&SubscriptionFiles::new(self), subscription, now),
        }
    }

    /// Marks parked events for replay. The next fetches deliver them, one at a time and in order of seq.
    ///
    /// # Errors
    /// `event_not_parked`, `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn replay_subscription(
        &mut self,
        asked: &ReplaySubscription,
    ) -> Result<SubscriptionAnswer> {
        self.check_history_of(&asked.name)?;
        let (files, mut state) = self.open_subscription(&asked.name)?;
        if let Some(seq) = asked.seq.filter(|seq| !state.kept.parked.contains_key(seq)) {
            let message = format!("event {seq} is not parked in subscription {}", asked.name);
            let refusal = Refusal::new(Code::EventNotParked, message).field("seq");
            return Err(refusal.detail("name", asked.name.as_str()).into());
        }
        for (seq, parked) in &mut state.kept.parked {
            if asked.seq.is_none_or(|asked| asked == *seq) && !parked.replaying {
                parked.replaying = true;
                state.kept.failures.remove(seq);
            }
        }
        files.keep(&state)?;
        drop(files);
        self.described(&asked.name, &state)
    }

    /// Deletes a subscription. A damaged subscription can be deleted, too.
    ///
    /// # Errors
    /// `subscription_not_found`; I/O.
    pub fn delete_subscription(
        &mut self,
        asked: &DeleteSubscription,
    ) -> Result<SubscriptionDeleted> {
        self.changeable()?;
        names::check_known("name", &asked.name)?;
        let files = SubscriptionFiles::new(self);
        let known = files.names()?;
        if !known.contains(&asked.name) {
            return Err(unknown(&asked.name, &known).into());
        }
        let files = files.lock(&asked.name)?;
        let epoch = match files.read() {
            Ok(Some(state)) => {
                self.check_owner(&state)?;
                state.kept.epoch
            }
            // The epoch is lost. No number of leases reaches the time in milliseconds.
            Ok(None) | Err(Failure::Refused(_)) => {
                let now = self.options.clock.now().micros() / 1_000;
                u64::try_from(now).unwrap_or_default()
            }
            Err(failed) => return Err(failed),
        };
        files.remove(epoch)?;
        Ok(SubscriptionDeleted {
            team: self.name().to_owned(),
            name: asked.name.clone(),
        })
    }
}

fn exists(name: &str, filter: &SubscriptionFilter) -> Refusal {
    let known = serde_json::to_value(filter).unwrap_or_default();
    let message = format!("subscription {name} exists with another filter: {known}");
    let refusal = Refusal::new(Code::SubscriptionExists, message).field("name");
    let refusal = refusal.detail("name", name).detail("filter", known);
    refusal.hint("use another name, or delete the subscription first")
}

fn shown_state(
    name: &str,
    state: &SubscriptionState,
    last_seq: u64,
    now: Timestamp,
) -> SubscriptionShown {
    let (kept, delivery) = (&state.kept, &state.delivery);
    let holder = state.holder(now);
    SubscriptionShown {
        name: name.to_owned(),
        filter: kept.filter.clone(),
        owner: kept.owner.clone(),
        created_at: kept.created_at,
        window: kept.window,
        max_attempts: kept.max_attempts,
        position: kept.position,
        last_seq,
        behind: last_seq.saturating_sub(kept.position),
        epoch: kept.epoch,
        consumer: holder.map(|(consumer, _)| consumer.to_owned()),
        leased_until: holder.map(|(_, until)| until),
        unsettled_count: delivery.delivered.len(),
        failing_count: kept.failures.len(),
        parked_count: kept.parked.len(),
        refused: None,
        run_by: None,
    }
}
