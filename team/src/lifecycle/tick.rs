//! `tick`: records due events. This command records every timeout of a team.
//!
//! The due events follow from the log and one time `now`, and are recorded in the order of their times. A second tick at
//! `now` records nothing. A late tick skips no delivery attempt: it starts one attempt per delivery, with the full timeout
//! from `now` on.

use crate::bootstrap::tick::BootstrapTicked;
use crate::message::mailbox_mark::dispatch;
use crate::operation::prelude::*;
use crate::projections::delivery::event::{DeliveryDead, DeliveryFact};
use crate::projections::delivery::{Delivery, Due, Step};
use crate::projections::live::remove_old_derived;
use crate::projections::message::MessageInfo;
use crate::projections::message::event::{DispatchMoved, MailFact};
use crate::projections::task::event::TaskAct;
use crate::task::holding;

/// Maximum number of delivery events in one group.
const GROUP_MAX: usize = 256;

/// Maximum number of expired leases in one group. Also the maximum number of unblocked tasks in one group.
const SWEPT_MAX: usize = 64;

/// Reason of a dead letter.
const ACK_TIMEOUT: &str = "ack_timeout";

operation! {
    /// Record due events: retries, dead letters, expired leases, unblocked tasks
    "tick": Records(Tick {}) -> TickAnswer = Team::tick
}

/// The answer `{team, now, delivery, leases, tasks, bootstrap, next_due_at}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TickAnswer {
    /// The team.
    pub team: String,
    /// Time up to which events were due.
    pub now: String,
    /// Recorded events of deliveries.
    pub delivery: DeliveryTicked,
    /// Recorded lease expiries.
    pub leases: LeasesTicked,
    /// Recorded changes of tasks that waited for dependencies.
    pub tasks: TasksTicked,
    /// Recorded timeouts of bootstrap runs.
    pub bootstrap: BootstrapTicked,
    /// Time when the next event is due; `null` if no event will be due.
    pub next_due_at: Option<String>,
}

/// The JSON object `{retried, dead_lettered}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryTicked {
    /// Number of delivery attempts that were started.
    pub retried: u64,
    /// Number of messages that became dead letters.
    pub dead_lettered: u64,
}

/// The JSON object `{expired}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeasesTicked {
    /// Number of expired leases. The tasks are pending again.
    pub expired: u64,
}

/// The JSON object `{unblocked}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TasksTicked {
    /// Number of tasks that were still blocked although their dependencies are completed. This happens after an import, or after
    /// very many completions at once.
    pub unblocked: u64,
}

/// One pass that records due events.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    pub now: Timestamp,
    /// If set, only events of this message are recorded.
    pub message_id: Option<String>,
    pub actor: String,
}

/// Counts of one recorded group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundResult {
    pub delivery: DeliveryTicked,
    pub more: bool,
}

impl Team {
    /// Records all events that are due now.
    pub fn tick(&mut self, _: Tick) -> Result<TickAnswer> {
        if let Some(first) = self.answer_under_key()? {
            return Ok(first);
        }
        let actor = self.acting(self.control.actor.clone())?;
        let actor = actor.unwrap_or_else(|| DEFAULT_ACTOR.to_owned());
        self.changeable()?;
        self.mend_views_if_due()?;
        let round = Round {
            now: self.options.clock.now(),
            message_id: None,
            actor,
        };
        let delivery = self.rounds(&round)?;
        let (leases, tasks) = self.sweep(&round)?;
        let bootstrap = self.bootstrap_sweep(round.now, &round.actor)?;
        remove_old_derived(self.log.storage().as_ref(), self.log.dir());
        self.merge_runs()?;
        let next = self.query(|live, _| {
            if live.is_closed()? {
                return Ok(None);
            }
            let (delivery, bootstrap) = (live.next_due()?, live.next_bootstrap_due()?);
            let lease = live.next_lease()?.map(|until| live.lease_over_at(until));
            let due = [delivery, lease, bootstrap];
            Ok(due.into_iter().flatten().min())
        })?;
        self.store_under_key(TickAnswer {
            team: self.name().to_owned(),
            now: round.now.to_string(),
            delivery,
            leases,
            tasks,
            bootstrap,
            next_due_at: next.map(|at| at.to_string()),
        })
    }

    /// Records due delivery events, group by group. Takes no lock if no event is due.
    pub(crate) fn rounds(&mut self, round: &Round) -> Result<DeliveryTicked> {
        let mut sum = DeliveryTicked::default();
        let mut more = self.query(|live, _| Ok(!round.due(live, 1)?.is_empty()))?;
        while more {
            let now = round.clone();
            let ticked = self.execute_unkeyed(act(
                CommandTerms::new(Authority::Anyone),
                move |ctx, live| now.ticked(live, ctx.now),
            ))?;
            sum.retried += ticked.delivery.retried;
            sum.dead_lettered += ticked.delivery.dead_lettered;
            more = ticked.more;
        }
        Ok(sum)
    }

    /// Records lease expiries and unblocked tasks, group by group. Takes no lock if no event is due.
    fn sweep(&mut self, round: &Round) -> Result<(LeasesTicked, TasksTicked)> {
        let mut sum = (LeasesTicked::default(), TasksTicked::default());
        let mut more = self.query(|live, _| round.has_to_sweep(live))?;
        // Id of the task at which the last group ended. The next group starts after that task, so that it skips the index entries
        // that earlier groups removed.
        let mut behind = None;
        while more {
            let (round, last) = (round.clone(), behind);
            let swept = self
                .execute_unkeyed(act(CommandTerms::new(Authority::Anyone), move |_, live| {
                    round.swept(live, last.as_deref())
                }))?;
            sum.0.expired += swept.expired;
            sum.1.unblocked += swept.unblocked;
            behind = swept.last;
            more = swept.more;
        }
        Ok(sum)
    }
}

/// Counts of one recorded group.
#[derive(Debug, Clone)]
struct SweepResult {
    expired: u64,
    unblocked: u64,
    /// Id of the last unblocked task.
    last: Option<String>,
    more: bool,
}

impl Round {
    fn has_to_sweep(&self, live: &Live) -> Result<bool> {
        if live.is_closed()? {
            return Ok(false);
        }
        let expired = live.expired_tasks(live.leases_over_by(self.now), 1)?;
        Ok(!expired.is_empty() || !live.freed_tasks(None, 1)?.is_empty())
    }

    /// Returns one group: lease expiries, and events that unblock tasks with ids after `behind`.
    fn swept(&self, live: &Live, behind: Option<&str>) -> Acted<SweepResult> {
        let Round { now, actor, .. } = self;
        let mut events = Vec::new();
        let mut expired = live.expired_tasks(live.leases_over_by(*now), SWEPT_MAX)?;
        for task in &mut expired {
            holding::expire(live, task, *now, actor, &mut events)?;
        }
        let freed = live.freed_tasks(behind, SWEPT_MAX)?;
        for task in &freed {
            let owner = task.owner.as_deref();
            events.push(holding::event(task, TaskAct::Unblocked, actor, owner));
        }
        let swept = SweepResult {
            expired: expired.len() as u64,
            unblocked: freed.len() as u64,
            last: freed.last().map(|task| task.task_id.clone()),
            more: expired.len() == SWEPT_MAX || freed.len() == SWEPT_MAX,
        };
        Ok((swept, events))
    }

    /// Returns the due deliveries. A closed team has none.
    fn due(&self, live: &Live, limit: usize) -> Result<Vec<Due>> {
        if live.is_closed()? {
            return Ok(Vec::new());
        }
        Ok(live.due_by(self.now, self.message_id.as_deref(), limit)?)
    }

    /// Returns one group of due delivery events. Attempts start at the time `at`. If the command
    /// waited for the lock, `at` is later than `now`.
    fn ticked(&self, live: &Live, at: Timestamp) -> Acted<RoundResult> {
        let all = self.due(live, GROUP_MAX)?;
        let mut ticked = RoundResult {
            delivery: DeliveryTicked::default(),
            more: all.len() == GROUP_MAX,
        };
        let mut events = Vec::with_capacity(all.len());
        for due in &all {
            match due.step {
                Step::Retry(_) => ticked.delivery.retried += 1,
                Step::Dead(_) => ticked.delivery.dead_lettered += 1,
            }
            events.push(event(live, due, at.max(self.now), &self.actor)?);
            if let Some(mut failed) = dispatch_failed(live, due, &self.actor)? {
                failed.cause = Some(Cause::Earlier(events.len() - 1));
                events.push(failed);
            }
        }
        Ok((ticked, events))
    }
}

fn event(live: &Live, due: &Due, now: Timestamp, actor: &str) -> Result<NewEvent> {
    let delivery = &due.delivery;
    let message_id = delivery.message_id.clone();
    let message = message(live, delivery)?;
    let due_at = Some(due.at.to_string());
    let fact = match due.step {
        Step::Retry(attempt) => DeliveryFact::retry(now, delivery, attempt, due.at),
        Step::Dead(attempts) => DeliveryFact::Dead(DeliveryDead {
            id: dead_letter_id(delivery.required_id),
            message_id,
            reason: ACK_TIMEOUT.to_owned(),
            attempts,
            due_at,
        }),
    };
    let mut event = fact.event(actor, &message);
    event.cause = delivery.required_id.map(Cause::Event);
    Ok(event)
}

/// Returns the event that fails the open dispatch request of a message, because the message became a dead letter.
fn dispatch_failed(live: &Live, due: &Due, actor: &str) -> Result<Option<NewEvent>> {
    let delivery = &due.delivery;
    if let Step::Retry(_) = due.step {
        return Ok(None);
    }
    let known = dispatch(live, &delivery.message_id)?;
    let Some(open) = known.filter(|dispatch| dispatch.status.is_open()) else {
        return Ok(None);
    };
    let moved = DispatchMoved::new(&open.request.request_id, Some(ACK_TIMEOUT));
    Ok(Some(
        MailFact::DispatchFailed(moved).event(actor, &message(live, delivery)?),
    ))
}

/// Returns the message of a delivery; `None` if an imported log does not contain the message. The delivery times out in both cases.
pub(crate) fn message(live: &Live, delivery: &Delivery) -> Result<MessageInfo> {
    let known = live.message(&delivery.message_id)?;
    Ok(known.unwrap_or_else(|| MessageInfo::unknown(&delivery.message_id, &delivery.to)))
}

/// Returns the id of a dead letter. The id is derived from the event that required the ack, so every tick computes the same
/// id.
pub(crate) fn dead_letter_id(required: Option<teamlog_engine::EventId>) -> String {
    let bytes = required.map(|id| id.bytes()).unwrap_or_default();
    format!("dlq_{}", crate::shapes::hex(&bytes))
}
