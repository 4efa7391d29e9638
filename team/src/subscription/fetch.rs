//! `fetch-subscription`: takes or renews the lease, and delivers the next events. Waits until an event is due.

use super::{
    Candidate, Due, LEASE_MS_MAX, SubscriptionFiles, SubscriptionState, WINDOW_MAX, fenced, micros,
};
use crate::log::events::ahead;
use crate::log::recorded::Recorded;
use crate::operation::prelude::*;
use std::thread;
use teamlog_engine::Watch;

/// Default length of a lease, in milliseconds.
pub const LEASE_MS: u64 = 30_000;
/// Shortest lease, in milliseconds.
const LEASE_MS_MIN: u64 = 100;
/// Number of payload bytes after which an answer ends.
const ANSWER_BYTES: usize = 4 << 20;
/// Shortest time between two looks of a consumer that waits for the lease, because every ack of the other consumer wakes it.
const HELD_PAUSE: Duration = Duration::from_millis(20);
/// Shortest time between two durable writes of a position that moves only because events do not match, in microseconds.
const SKIP_MICROS: i64 = 1_000_000;

operation! {
    /// Take or renew the lease of a subscription, and get its next events
    "fetch-subscription": Waits(FetchSubscription {
        /// Name of the subscription
        name: String,
        /// Name of the consumer, for people; the token's agent, or `consumer` if absent
        consumer: Option<String>,
        /// Epoch of the consumer's lease: `epoch` of its first answer. If absent, takes the lease as soon as it is free
        epoch: Option<u64>,
        /// Seqs of delivered events that the consumer still works on. All other unsettled events are delivered again
        holding: Option<Vec<u64>>,
        /// Largest number of events, at most the window; 0 only renews the lease
        #[schemars(range(max = 256))]
        limit: Option<usize>,
        /// Length of the lease in milliseconds, 100 to 3600000; 30000 if absent. A fetch renews the lease if less than half is left; an ack or nak leaves at least half
        #[schemars(range(min = 100, max = 3_600_000))]
        lease_ms: Option<u64>,
        /// Replaces the stored position when the lease is taken: for a consumer that stores the seq in its own transactions
        from_seq: Option<u64>,
        /// Longest wait in milliseconds; 30000 if absent
        timeout_ms: Option<u64>,
    }) -> FetchAnswer = |team, asked| team.fetch_subscription(&asked),
    refuses = [
        SubscriptionNotFound, SubscriptionFenced, SubscriptionDamaged, CursorAhead, LogReplaced, ActorMismatch,
    ],
    scope = Act
}

/// Result of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FetchStatus {
    /// Events are delivered
    Events,
    /// The consumer has the lease, but no event is due
    Empty,
    /// Another consumer has the lease
    Held,
}

/// The answer of `fetch-subscription`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FetchAnswer {
    /// The team
    pub team: String,
    /// Name of the subscription
    pub name: String,
    /// Result of the fetch
    pub status: FetchStatus,
    /// Epoch of the caller's lease, for acks and for the next fetch; absent if another consumer has the lease
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Consumer with the lease
    pub consumer: String,
    /// End of the lease
    pub leased_until: Timestamp,
    /// The lowest unsettled seq minus one
    pub position: u64,
    /// Seq of the last event of the log
    pub last_seq: u64,
    /// The events in order of seq; replayed events come first
    pub events: Vec<DeliveredEvent>,
}

/// A delivered event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveredEvent {
    /// 1 plus the number of failed deliveries of this event. A delivery that ended with its lease is not a failure
    pub attempt: u32,
    /// True if the event was parked and is replayed
    pub replayed: bool,
    /// The event
    pub event: Recorded,
}

/// A pass over the files of a subscription.
struct Pass {
    answer: FetchAnswer,
    /// True if further events must be compared with the filter.
    more: bool,
    /// Time until a retry is due or the lease of another consumer ends.
    wake: Option<Duration>,
}

impl Team {
    /// Takes or renews the lease, and delivers the events that are due. Waits if no event is due.
    ///
    /// # Errors
    /// `subscription_fenced` if another consumer took over; `cursor_ahead` or `log_replaced` if the position does not fit the
    /// log; `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn fetch_subscription(&mut self, asked: &FetchSubscription) -> Result<FetchAnswer> {
        let mut asked = asked.clone();
        self.changeable()?;
        self.check_fetch(&asked)?;
        let deadline = self.control.deadline.clone();
        let end = Instant::now().checked_add(deadline.wait(asked.timeout_ms)?);
        names::check_known("name", &asked.name)?;
        // The watch starts before the first read of the log, so that no event is missed. It also wakes after a change of the
        // subscription: an ack, a released lease, a replay.
        let file = SubscriptionFiles::new(self).durable_file(&asked.name);
        let mut watch = self.log.watch_with(vec![file])?;
        loop {
            let pass = self.fetch_pass(&asked)?;
            asked.epoch = pass.answer.epoch;
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let is_over = left == Some(Duration::ZERO) || deadline.is_over();
            let is_renewal = asked.limit == Some(0) && asked.epoch.is_some();
            if pass.answer.status == FetchStatus::Events || is_over || is_renewal {
                return Ok(pass.answer);
            }
            if !pass.more {
                let wait = left.into_iter().chain(pass.wake).min();
                self.wait_for_change(&mut watch, wait)?;
                if pass.answer.status == FetchStatus::Held {
                    thread::sleep(HELD_PAUSE);
                }
            }
        }
    }

    /// Waits until the log grows or the subscription changes, at most `wait`. Reads no file of the subscription meanwhile.
    fn wait_for_change(&mut self, watch: &mut Watch, wait: Option<Duration>) -> Result<()> {
        let (started, deadline) = (Instant::now(), self.control.deadline.clone());
        loop {
            let left = wait.map(|wait| wait.saturating_sub(started.elapsed()));
            let is_over = left == Some(Duration::ZERO) || deadline.is_over();
            if is_over || self.watched(watch, deadline.step(left))? {
                return Ok(());
            }
        }
    }

    fn check_fetch(&self, asked: &FetchSubscription) -> Result<()> {
        if let Some(consumer) = &asked.consumer {
            names::check_free("consumer", consumer)?;
        }
        let longest = usize::try_from(LEASE_MS_MAX).unwrap_or(usize::MAX);
        let lease = asked.lease_ms.unwrap_or(LEASE_MS);
        if !(LEASE_MS_MIN..=LEASE_MS_MAX).contains(&lease) {
            let rule = format!("must be {LEASE_MS_MIN} to {longest}");
            return Err(Refusal::invalid("lease_ms", lease, rule).into());
        }
        let most = |field: &'static str, number: usize| match number > WINDOW_MAX {
            true => Err(Refusal::invalid(
                field,
                number,
                format!("must be at most {WINDOW_MAX}"),
            )),
            false => Ok(()),
        };
        most("limit", asked.limit.unwrap_or_default())?;
        Ok(most("holding", asked.holding.as_ref().map_or(0, Vec::len))?)
    }

    fn fetch_pass(&mut self, asked: &FetchSubscription) -> Result<Pass> {
        let mut reading = self.sibling();
        let pass = self.fetch_with(&mut reading, asked);
        self.live = reading.live.take();
        pass
    }

    /// Carries out one pass under the lock of the subscription. `reading` is a second handle for reading the log, because `files`
    /// borrows this handle.
    fn fetch_with(&self, reading: &mut Team, asked: &FetchSubscription) -> Result<Pass> {
        let (files, mut state) = self.open_subscription(&asked.name)?;
        let now = self.options.clock.now();
        let last_seq = reading.query(|_, reader| Ok(reader.head().last_seq))?;
        if state.kept.position > last_seq {
            reading.check_history(&asked.name, &state)?;
        }
        if state.delivery.scanned > last_seq {
            // The log lost events that were compared with the filter, but not settled.
            state.delivery.scanned = state.kept.position;
            state.delivery.candidates.clear();
        }
        let before = state.clone();
        if !take_lease(reading, asked, &mut state, now)? {
            return Ok(held(self.name(), asked, &state, now, last_seq));
        }
        let more = scan(reading, &mut state)?;
        state.advance();
        let holding = asked.holding.iter().flatten().copied().collect();
        let limit = asked.limit.unwrap_or(WINDOW_MAX);
        let due = state.due(now, &holding, limit);
        let events = delivered(reading, due)?;
        let seqs = events.iter().map(|event| event.event.event.seq);
        state.delivery.delivered.extend(seqs);
        let is_due = now >= before.delivery.skipped_at.plus_micros(SKIP_MICROS);
        let is_new = state.kept.epoch != before.kept.epoch;
        if is_new || (state.kept.position > before.kept.position && is_due) {
            state.delivery.skipped_at = now;
            files.keep(&state)?;
        } else {
            // The stored position may be lower: no unsettled event is between it and the new position.
            if state.delivery != before.delivery {
                files.deliver(&state)?;
            }
        }
        let status = match events.is_empty() {
            true => FetchStatus::Empty,
            false => FetchStatus::Events,
        };
        let wake = state.next_retry().map(|at| until(now, at));
        Ok(Pass {
            answer: FetchAnswer {
                team: self.name().to_owned(),
                name: asked.name.clone(),
                status,
                epoch: Some(state.kept.epoch),
                consumer: state.delivery.consumer.clone(),
                leased_until: state.delivery.until,
                position: state.kept.position,
                last_seq,
                events,
            },
            more,
            wake,
        })
    }
}

/// Renews the lease of the presented epoch, or takes a free lease. Returns false if another consumer has the lease.
fn take_lease(
    team: &mut Team,
    asked: &FetchSubscription,
    state: &mut SubscriptionState,
    now: Timestamp,
) -> Result<bool> {
    let lease = asked.lease_ms.unwrap_or(LEASE_MS);
    let authenticated = team.options.authenticated.as_ref();
    let agent = authenticated.map(|known| known.agent.clone());
    let consumer = asked.consumer.clone().or(agent);
    let consumer = consumer.unwrap_or_else(|| "consumer".to_owned());
    if let Some(epoch) = asked.epoch {
        if epoch != state.kept.epoch {
            return Err(fenced(&asked.name, epoch, state, now).into());
        }
        renew(state, &consumer, now, lease);
        return Ok(true);
    }
    if state.holder(now).is_some() {
        return Ok(false);
    }
    team.check_history(&asked.name, state)?;
    state.grant(&consumer, now, lease);
    if let Some(seq) = asked.from_seq {
        let head = team.query(|_, reader| Ok(reader.head().last_seq))?;
        if seq > head {
            return Err(ahead("from_seq", seq, head).into());
        }
        let (position, anchor) = team.anchored(seq)?;
        state.seek(position, anchor);
    }
    Ok(true)
}

/// Renews a lease if less than half of it is left, so that not every fetch writes the file.
fn renew(state: &mut SubscriptionState, consumer: &str, now: Timestamp, lease_ms: u64) {
    let half = now.plus_micros(micros(lease_ms / 2));
    let latest = now.plus_micros(micros(lease_ms));
    if state.delivery.until < half || state.delivery.until > latest {
        state.extend(now, lease_ms);
    }
    if state.delivery.consumer.is_empty() {
        consumer.clone_into(&mut state.delivery.consumer);
    }
}

/// Compares further events with the filter until the window is full. Returns true if the scan stopped at its limit
/// although the window has room; the caller then scans again.
fn scan(team: &mut Team, state: &mut SubscriptionState) -> Result<bool> {
    let room = state.room();
    if room == 0 {
        return Ok(false);
    }
    let asked = state.kept.filter.events(state.delivery.scanned, room);
    let page = team.events(&asked)?;
    let found = page.events.iter().map(|found| &found.event);
    state
        .delivery
        .candidates
        .extend(found.map(|event| Candidate {
            seq: event.seq,
            id: event.id.to_string(),
            task: event.refs.get(RefKind::Task).map(str::to_owned),
        }));
    state.delivery.scanned = page.next_after;
    Ok(page.more && state.room() > 0)
}

/// Reads the events that are due, up to a number of bytes.
fn delivered(team: &mut Team, due: Vec<Due>) -> Result<Vec<DeliveredEvent>> {
    if due.is_empty() {
        return Ok(Vec::new());
    }
    team.query(|live, reader| {
        let (mut events, mut bytes) = (Vec::new(), 0);
        for due in &due {
            let event = page::event(live, reader, due.seq)?;
            bytes += event.payload.len();
            events.push(DeliveredEvent {
                attempt: due.attempt,
                replayed: due.replayed,
                event: Recorded::marked(live, event)?,
            });
            if bytes >= ANSWER_BYTES {
                break;
            }
        }
        Ok(events)
    })
}

/// Returns the pass of a consumer that waits for the lease.
fn held(
    team: &str,
    asked: &FetchSubscription,
    state: &SubscriptionState,
    now: Timestamp,
    last_seq: u64,
) -> Pass {
    let leased_until = state.delivery.until;
    Pass {
        answer: FetchAnswer {
            team: team.to_owned(),
            name: asked.name.clone(),
            status: FetchStatus::Held,
            epoch: None,
            consumer: state.delivery.consumer.clone(),
            leased_until,
            position: state.kept.position,
            last_seq,
            events: Vec::new(),
        },
        more: false,
        wake: Some(until(now, leased_until)),
    }
}

/// Returns the time from `now` to `at`, at least a millisecond.
fn until(now: Timestamp, at: Timestamp) -> Duration {
    let micros = at.micros().saturating_sub(now.micros());
    let micros = u64::try_from(micros).unwrap_or_default();
    Duration::from_micros(micros.max(1_000))
}
