//! The state of a subscription, and its rules. The functions are pure: time and events are arguments.

use crate::prelude::*;
use std::collections::VecDeque;

/// Maximum number of events after the position that can be delivered and unsettled at the same time.
pub const WINDOW_MAX: usize = 256;
/// Default number of deliveries of an event before the event is parked.
pub const ATTEMPTS: u32 = 5;
/// Maximum number of deliveries of an event before the event is parked.
pub const ATTEMPTS_MAX: u32 = 100;
/// Maximum number of parked events. Further events that fail are delivered again instead of being parked.
pub const PARKED_MAX: usize = 1_000;
/// Longest lease of a consumer, in milliseconds.
pub const LEASE_MS_MAX: u64 = 60 * 60 * 1_000;
/// Longest delay of a retry, in milliseconds.
pub const DELAY_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
/// Maximum number of characters of a stored error.
const ERROR_MAX: usize = 500;
/// Delay before the first retry, in microseconds. Each further retry doubles the delay.
const BACKOFF: i64 = 1_000_000;
/// Longest delay before a retry without a given delay, in microseconds.
const BACKOFF_MAX: i64 = 300 * 1_000_000;

/// The events that a subscription delivers. An absent field matches every event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SubscriptionFilter {
    /// Kind, or several kinds separated by commas
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Tags that the event has, each NAME=VALUE
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tag: Vec<String>,
    /// Task that the event names
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Agent that the event names
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Trace of the event
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Actor of the event
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Type of the message, or several types separated by commas
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub message_type: Option<String>,
    /// Values that the event must not have: FIELD:VALUE, several separated by commas
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<String>,
}

/// An event by its seq and its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    pub seq: u64,
    pub id: String,
}

/// The durable part of a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subscription {
    /// The authenticated agent that created the subscription; `None` for a caller on this machine.
    pub owner: Option<String>,
    pub created_at: Timestamp,
    pub filter: SubscriptionFilter,
    /// Maximum number of delivered and unsettled events.
    pub window: usize,
    /// Number of deliveries before an event is parked.
    pub max_attempts: u32,
    /// Number of the present or last lease. Each new lease has a higher number.
    pub epoch: u64,
    /// The lowest unsettled seq minus one.
    pub position: u64,
    /// The last settled event, or the event at the first position. It shows if another history replaced the log.
    pub anchor: Option<Anchor>,
    /// Settled events after the position.
    pub settled: BTreeSet<u64>,
    /// Failed deliveries of unsettled events.
    pub failures: BTreeMap<u64, DeliveryFailure>,
    /// Events that were given up.
    pub parked: BTreeMap<u64, ParkedEvent>,
}

/// The failed deliveries of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DeliveryFailure {
    pub attempts: u32,
    /// Time of the next delivery.
    pub next_at: Timestamp,
    pub error: String,
}

/// An event that was given up after its last attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ParkedEvent {
    pub task: Option<String>,
    pub attempts: u32,
    pub error: String,
    pub at: Timestamp,
    /// True if the event waits for its replay.
    pub replaying: bool,
}

/// The part of a subscription that may be lost in a power loss: the lease and the delivered events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Delivery {
    /// Epoch of the lease to which this part belongs.
    pub epoch: u64,
    pub consumer: String,
    pub until: Timestamp,
    /// Length of the lease, in milliseconds.
    #[serde(default)]
    pub lease_ms: u64,
    /// Seq of the last event that was compared with the filter.
    pub scanned: u64,
    /// The first matching events after the position, in order.
    pub candidates: VecDeque<Candidate>,
    /// Unsettled events that were delivered under this lease.
    pub delivered: BTreeSet<u64>,
    /// Time at which the position was last written only because events did not match.
    pub skipped_at: Timestamp,
}

/// A matching event after the position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Candidate {
    pub seq: u64,
    pub id: String,
    pub task: Option<String>,
}

/// Both parts of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubscriptionState {
    pub kept: Subscription,
    pub delivery: Delivery,
}

/// An event that is due for delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    pub seq: u64,
    pub attempt: u32,
    /// True if the event was parked and is delivered again.
    pub replayed: bool,
}

/// Result of a refused delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retry {
    pub attempts: u32,
    /// Time of the next delivery; `None` if the event is parked.
    pub next_at: Option<Timestamp>,
}

impl Delivery {
    /// Returns the delivery part of a subscription without a lease.
    fn new(kept: &Subscription) -> Delivery {
        Delivery {
            epoch: kept.epoch,
            consumer: String::new(),
            until: Timestamp::default(),
            lease_ms: 0,
            scanned: kept.position,
            candidates: VecDeque::new(),
            delivered: BTreeSet::new(),
            skipped_at: Timestamp::default(),
        }
    }
}

impl SubscriptionState {
    /// Joins the two parts. A delivery part of another epoch counts as empty. Of a part that is older than the durable part, only the
    /// lease counts.
    pub fn new(kept: Subscription, delivery: Option<Delivery>) -> SubscriptionState {
        let empty = Delivery::new(&kept);
        let Some(stored) = delivery.filter(|stored| stored.epoch == kept.epoch) else {
            return SubscriptionState {
                kept,
                delivery: empty,
            };
        };
        let first = stored.candidates.front();
        let is_older =
            stored.scanned < kept.position || first.is_some_and(|first| first.seq <= kept.position);
        let delivery = match is_older {
            false => stored,
            true => Delivery {
                consumer: stored.consumer,
                until: stored.until,
                lease_ms: stored.lease_ms,
                ..empty
            },
        };
        SubscriptionState { kept, delivery }
    }

    /// Returns the consumer with a live lease. A lease that ends later than the longest lease was granted before the clock was
    /// set back, and counts as expired.
    pub fn holder(&self, now: Timestamp) -> Option<(&str, Timestamp)> {
        let until = self.delivery.until;
        let latest = now.plus_micros(micros(LEASE_MS_MAX));
        (until > now && until <= latest).then_some((self.delivery.consumer.as_str(), until))
    }

    /// Grants a new lease, which fences the consumer before.
    pub fn grant(&mut self, consumer: &str, now: Timestamp, lease_ms: u64) {
        self.kept.epoch += 1;
        self.delivery.epoch = self.kept.epoch;
        self.delivery.delivered.clear();
        consumer.clone_into(&mut self.delivery.consumer);
        self.extend(now, lease_ms);
    }

    /// Extends the lease to its whole length from `now`.
    pub fn extend(&mut self, now: Timestamp, lease_ms: u64) {
        self.delivery.lease_ms = lease_ms;
        self.delivery.until = now.plus_micros(micros(lease_ms));
    }

    /// Ends the lease. The delivered events are delivered again under the next lease.
    pub fn release(&mut self) {
        self.delivery.until = Timestamp::default();
        self.delivery.delivered.clear();
    }

    /// Sets the position: `anchor` is the last event that the consumer has. Parked events after the position are ordinary
    /// events again.
    pub fn seek(&mut self, position: u64, anchor: Option<Anchor>) {
        let kept = &mut self.kept;
        (kept.position, kept.anchor) = (position, anchor);
        kept.settled.clear();
        kept.failures.clear();
        kept.parked.retain(|seq, _| *seq <= position);
        let before = std::mem::replace(&mut self.delivery, Delivery::new(kept));
        self.delivery.consumer = before.consumer;
        self.delivery.until = before.until;
        self.delivery.lease_ms = before.lease_ms;
    }

    /// Returns the number of further matching events to look for.
    pub fn room(&self) -> usize {
        let window = self.kept.window;
        window.saturating_sub(self.delivery.candidates.len())
    }

    /// Returns the events to deliver now, in order. `holding` are the events that the consumer still works on. An event is not
    /// due while an earlier event of its task is unsettled. At most one replayed event is due, before all other events.
    pub fn due(&self, now: Timestamp, holding: &BTreeSet<u64>, limit: usize) -> Vec<Due> {
        let mut tasks = BTreeSet::new();
        let held = |seq: u64| holding.contains(&seq) && self.delivery.delivered.contains(&seq);
        let outstanding = holding.iter().filter(|seq| held(**seq)).count();
        let room = self.kept.window.saturating_sub(outstanding).min(limit);
        let mut due = Vec::new();
        for (seq, task, replayed) in self.unsettled() {
            let is_first = task.is_none_or(|task| tasks.insert(task));
            let failure = self.kept.failures.get(&seq);
            let is_time = failure.is_none_or(|failure| failure.next_at <= now);
            if due.len() < room && is_first && is_time && !held(seq) {
                due.push(Due {
                    seq,
                    attempt: 1 + failure.map_or(0, |failure| failure.attempts),
                    replayed,
                });
            }
        }
        due
    }

    /// Returns the time of the next retry, if an event waits for one.
    pub fn next_retry(&self) -> Option<Timestamp> {
        let waiting = self.unsettled();
        let failures = waiting.filter_map(|(seq, ..)| self.kept.failures.get(&seq));
        failures.map(|failure| failure.next_at).min()
    }

    /// Returns the unsettled events: the first event to replay, then the candidates.
    fn unsettled(&self) -> impl Iterator<Item = (u64, Option<&str>, bool)> {
        let parked = self.kept.parked.iter();
        let replay = parked.filter(|(_, parked)| parked.replaying).take(1);
        let replay = replay.map(|(seq, parked)| (*seq, parked.task.as_deref(), true));
        let open = self.delivery.candidates.iter();
        let open = open.filter(|candidate| !self.kept.settled.contains(&candidate.seq));
        replay.chain(open.map(|event| (event.seq, event.task.as_deref(), false)))
    }

    /// Returns true if an ack of the event would change nothing.
    pub fn is_settled(&self, seq: u64) -> bool {
        let is_replaying = self.is_replaying(seq);
        !is_replaying && (seq <= self.kept.position || self.kept.settled.contains(&seq))
    }

    fn is_replaying(&self, seq: u64) -> bool {
        let parked = self.kept.parked.get(&seq);
        parked.is_some_and(|parked| parked.replaying)
    }

    /// Settles delivered events.
    pub fn settle(&mut self, seqs: &[u64]) {
        for seq in seqs {
            if self.is_replaying(*seq) {
                self.kept.parked.remove(seq);
            } else if *seq > self.kept.position {
                self.kept.settled.insert(*seq);
            }
            self.kept.failures.remove(seq);
            self.delivery.delivered.remove(seq);
        }
        self.advance();
    }

    /// Records a failed delivery. Parks the event after its last attempt.
    pub fn fail(&mut self, seq: u64, now: Timestamp, error: &str, delay_ms: Option<u64>) -> Retry {
        let before = self.kept.failures.get(&seq);
        let attempts = 1 + before.map_or(0, |failure| failure.attempts);
        let error: String = error.chars().take(ERROR_MAX).collect();
        self.delivery.delivered.remove(&seq);
        let is_replaying = self.is_replaying(seq);
        let has_place = is_replaying || self.kept.parked.len() < PARKED_MAX;
        if attempts >= self.kept.max_attempts && has_place {
            self.park(seq, now, attempts, error, is_replaying);
            let next_at = None;
            return Retry { attempts, next_at };
        }
        let delay = delay_ms.map_or_else(|| backoff(attempts), micros);
        let next_at = now.plus_micros(delay);
        let failure = DeliveryFailure {
            attempts,
            next_at,
            error,
        };
        self.kept.failures.insert(seq, failure);
        Retry {
            attempts,
            next_at: Some(next_at),
        }
    }

    fn park(&mut self, seq: u64, at: Timestamp, attempts: u32, error: String, again: bool) {
        let candidate = self.delivery.candidates.iter();
        let candidate = candidate.filter(|candidate| candidate.seq == seq);
        let own = candidate
            .filter_map(|candidate| candidate.task.clone())
            .next();
        let before = self.kept.parked.get(&seq);
        let task = own.or_else(|| before.and_then(|parked| parked.task.clone()));
        let replaying = false;
        let parked = ParkedEvent {
            task,
            attempts,
            error,
            at,
            replaying,
        };
        self.kept.parked.insert(seq, parked);
        self.kept.failures.remove(&seq);
        if !again {
            self.kept.settled.insert(seq);
        }
        self.advance();
    }

    /// Moves the position over settled events, and over events that do not match. Returns true if the position moved.
    pub fn advance(&mut self) -> bool {
        let (kept, delivery) = (&mut self.kept, &mut self.delivery);
        let before = kept.position;
        while let Some(first) = delivery.candidates.front() {
            if !kept.settled.remove(&first.seq) {
                break;
            }
            kept.position = first.seq;
            kept.anchor = delivery.candidates.pop_front().map(|settled| Anchor {
                seq: settled.seq,
                id: settled.id,
            });
        }
        let first = delivery.candidates.front();
        let open = first.map_or(delivery.scanned, |first| first.seq.saturating_sub(1));
        kept.position = kept.position.max(open);
        kept.settled = kept.settled.split_off(&kept.position.saturating_add(1));
        kept.position > before
    }
}

/// Returns the delay before the next delivery after a number of failed deliveries.
fn backoff(attempts: u32) -> i64 {
    let doubled = 1_i64.checked_shl(attempts.saturating_sub(1).min(32));
    let delay = doubled.and_then(|times| BACKOFF.checked_mul(times));
    delay.unwrap_or(BACKOFF_MAX).min(BACKOFF_MAX)
}

pub(crate) fn micros(millis: u64) -> i64 {
    i64::try_from(millis.saturating_mul(1_000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000).unwrap()
    }

    /// Returns a subscription with a lease until second 30, and with candidates. Each candidate has a seq and a task.
    fn state(window: usize, candidates: &[(u64, Option<&str>)]) -> SubscriptionState {
        let kept = Subscription {
            owner: None,
            created_at: at(0),
            filter: SubscriptionFilter::default(),
            window,
            max_attempts: 3,
            epoch: 0,
            position: 0,
            anchor: None,
            settled: BTreeSet::new(),
            failures: BTreeMap::new(),
            parked: BTreeMap::new(),
        };
        let mut state = SubscriptionState::new(kept, None);
        state.grant("one", at(0), 30_000);
        state.delivery.candidates = candidates
            .iter()
            .map(|(seq, task)| Candidate {
                seq: *seq,
                id: format!("id-{seq}"),
                task: task.map(str::to_owned),
            })
            .collect();
        state.delivery.scanned = candidates.last().map_or(0, |(seq, _)| *seq);
        state
    }

    fn due(state: &SubscriptionState, now: i64, holding: &[u64]) -> Vec<(u64, u32)> {
        let holding = holding.iter().copied().collect();
        let due = state.due(at(now), &holding, 100).into_iter();
        due.map(|due| (due.seq, due.attempt)).collect()
    }

    fn deliver(state: &mut SubscriptionState, now: i64, holding: &[u64]) -> Vec<u64> {
        let seqs: Vec<u64> = due(state, now, holding).iter().map(|due| due.0).collect();
        state.delivery.delivered.extend(&seqs);
        seqs
    }

    #[test]
    fn the_position_is_the_lowest_unsettled_seq_minus_one() {
        let mut state = state(3, &[(4, None), (6, None), (9, None)]);
        state.delivery.scanned = 12;
        assert!(state.advance());
        assert_eq!(state.kept.position, 3);
        assert_eq!(deliver(&mut state, 0, &[]), [4, 6, 9]);
        state.settle(&[6]);
        assert_eq!((state.kept.position, state.kept.settled.len()), (3, 1));
        state.settle(&[4]);
        assert_eq!((state.kept.position, state.kept.settled.len()), (8, 0));
        assert_eq!(state.kept.anchor.as_ref().unwrap().seq, 6);
        assert!(state.is_settled(4) && state.is_settled(8) && !state.is_settled(9));
        state.settle(&[9]);
        assert_eq!(state.kept.position, 12);
    }

    #[test]
    fn a_task_has_one_unsettled_event_at_a_time() {
        let mut state = state(
            4,
            &[(1, Some("a")), (2, Some("a")), (3, Some("b")), (4, None)],
        );
        assert_eq!(deliver(&mut state, 0, &[]), [1, 3, 4]);
        assert_eq!(due(&state, 0, &[1, 3, 4]), []);
        state.settle(&[3]);
        assert_eq!(due(&state, 0, &[1, 4]), []);
        state.settle(&[1]);
        assert_eq!(due(&state, 0, &[4]), [(2, 1)]);
        // A consumer that holds nothing gets all unsettled events again.
        assert_eq!(due(&state, 0, &[]), [(2, 1), (4, 1)]);
    }

    #[test]
    fn a_failed_event_waits_longer_each_time_and_is_parked_after_its_last_attempt() {
        let mut state = state(1, &[(1, Some("a"))]);
        deliver(&mut state, 0, &[]);
        let retry = state.fail(1, at(0), "exit 1", None);
        assert_eq!((retry.attempts, retry.next_at), (1, Some(at(1))));
        assert_eq!(state.next_retry(), Some(at(1)));
        assert_eq!(due(&state, 0, &[]), []);
        assert_eq!(due(&state, 1, &[]), [(1, 2)]);
        assert_eq!(state.fail(1, at(1), "exit 1", None).next_at, Some(at(3)));
        assert_eq!(state.kept.position, 0);
        assert_eq!(state.fail(1, at(3), &"x".repeat(900), None).next_at, None);
        assert_eq!(state.kept.position, 1);
        let parked = &state.kept.parked[&1];
        assert_eq!((parked.attempts, parked.error.len()), (3, ERROR_MAX));
        assert_eq!(parked.task.as_deref(), Some("a"));
        assert!(state.kept.failures.is_empty());
        assert_eq!(backoff(40), BACKOFF_MAX);
    }

    #[test]
    fn parked_events_are_replayed_one_at_a_time_and_before_later_events_of_their_task() {
        let mut state = state(2, &[(1, Some("a")), (2, Some("b"))]);
        state.kept.max_attempts = 1;
        deliver(&mut state, 0, &[]);
        state.fail(1, at(0), "no", None);
        state.fail(2, at(0), "no", None);
        assert_eq!(state.kept.position, 2);
        for parked in state.kept.parked.values_mut() {
            parked.replaying = true;
        }
        state.delivery.candidates.push_back(Candidate {
            seq: 3,
            id: "id-3".into(),
            task: Some("a".into()),
        });
        state.delivery.scanned = 3;
        assert_eq!(deliver(&mut state, 0, &[]), [1]);
        assert!(!state.is_settled(1));
        state.settle(&[1]);
        assert_eq!(deliver(&mut state, 0, &[]), [2, 3]);
        state.fail(2, at(5), "again", None);
        assert!(!state.kept.parked[&2].replaying && state.kept.parked[&2].error == "again");
        state.settle(&[3]);
        assert_eq!((state.kept.position, state.kept.parked.len()), (3, 1));
    }

    #[test]
    fn a_lease_ends_in_time_and_a_new_lease_forgets_what_was_delivered() {
        let mut state = state(1, &[(1, None)]);
        deliver(&mut state, 0, &[]);
        assert_eq!(state.holder(at(29)), Some(("one", at(30))));
        assert_eq!(state.holder(at(30)), None);
        // The clock was set back by more than the longest lease.
        let mut early = state.clone();
        early.delivery.until = at(5_030);
        assert_eq!(early.holder(at(30)), None);
        state.grant("two", at(30), 1_000);
        assert_eq!((state.kept.epoch, state.delivery.epoch), (2, 2));
        assert_eq!(due(&state, 30, &[1]), [(1, 1)]);
        state.release();
        assert_eq!(state.holder(at(30)), None);
    }

    #[test]
    fn a_lost_delivery_part_counts_as_empty_and_of_an_older_one_the_lease_counts() {
        let mut whole = state(2, &[(1, None), (2, None)]);
        deliver(&mut whole, 0, &[]);
        let old = whole.delivery.clone();
        assert_eq!(
            SubscriptionState::new(whole.kept.clone(), Some(old.clone())),
            whole
        );
        whole.settle(&[1]);
        let lost = SubscriptionState::new(whole.kept.clone(), Some(old));
        assert_eq!(
            (lost.delivery.scanned, lost.delivery.candidates.len()),
            (1, 0)
        );
        assert!(lost.delivery.delivered.is_empty());
        // The lease stays, because its consumer may still run.
        assert_eq!(lost.holder(at(0)), Some(("one", at(30))));
        let lost = SubscriptionState::new(whole.kept.clone(), None);
        assert_eq!(lost.holder(at(0)), None);
    }

    #[test]
    fn a_sought_position_forgets_failures_and_parked_events_after_it() {
        let mut state = state(3, &[(1, None), (2, None), (3, None)]);
        state.kept.max_attempts = 1;
        deliver(&mut state, 0, &[]);
        state.fail(1, at(0), "no", None);
        state.fail(3, at(0), "no", None);
        state.seek(1, None);
        assert_eq!((state.kept.position, state.delivery.scanned), (1, 1));
        assert_eq!(state.kept.parked.keys().collect::<Vec<_>>(), [&1]);
        assert!(state.kept.settled.is_empty() && state.holder(at(1)).is_some());
    }
}
