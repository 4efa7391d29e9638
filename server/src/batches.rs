//! Recording calls, in batches: one thread per team executes them one after the other and answers them together after
//! one sync. A call then does not pay for waking a thread that waits for the disk.
//!
//! A team whose writer is not open gets its first call outside of batches, as reading calls are answered.

use crate::call::Call;
use crate::options::Answering;
use crate::pool::{Pool, Undone};
use crate::reply::Answer;
use crate::served::Served;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use teamlog_team::handle::batch::Batch;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::oneshot;

/// Most calls in one batch: each answer waits for the last call of its batch.
const CALLS_MAX: usize = 64;

/// Queued calls, by team.
pub(crate) struct Batches {
    served: Arc<Served>,
    answer: Answering,
    pool: Arc<Pool>,
    teams: Mutex<BTreeMap<String, Arc<TeamCalls>>>,
}

/// Queue of one team.
#[derive(Default)]
struct TeamCalls(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// True while a thread drains the queue.
    taken_care_of: bool,
    /// Number of calls in the last batch.
    last: usize,
}

/// A queued call, and the channel for its answer.
struct Waiting {
    call: Call,
    reply: oneshot::Sender<Result<Answer, Undone>>,
    _slot: OwnedSemaphorePermit,
}

impl Batches {
    pub fn new(served: Arc<Served>, answer: Answering, pool: Arc<Pool>) -> Batches {
        Batches {
            served,
            answer,
            pool,
            teams: Mutex::default(),
        }
    }

    /// Queues a call and waits for its answer.
    pub async fn run(self: &Arc<Self>, call: Call) -> Result<Answer, Undone> {
        let slot = self.pool.slot()?;
        let calls = self.of(&call.team);
        let (reply, answered) = oneshot::channel();
        let first = calls.push(Waiting {
            call,
            reply,
            _slot: slot,
        });
        if first {
            self.drain(&calls);
        }
        // The sender is dropped unused only if the runtime ends.
        answered.await.unwrap_or(Err(Undone::Full))
    }

    fn of(&self, team: &str) -> Arc<TeamCalls> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        // The map stays small: only served teams reach this point.
        teams.entry(team.to_owned()).or_default().clone()
    }

    /// Has the calls carried out that wait, by a thread that stays with it. Where calls come one at a time the first is carried
    /// out here: to wake a thread, and to be woken by it, takes a quarter as long as a sync.
    fn drain(self: &Arc<Self>, calls: &Arc<TeamCalls>) {
        let first = || self.carry_out_one(calls) && calls.has_more();
        let more = match calls.come_alone() {
            true => self.pool.run_here(first),
            false => None,
        };
        if more.unwrap_or(true) {
            let (all, calls) = (self.clone(), calls.clone());
            self.pool.begin(move || while all.carry_out_one(&calls) {});
        }
    }

    /// Executes a batch; returns true if there was one.
    fn carry_out_one(self: &Arc<Self>, calls: &TeamCalls) -> bool {
        let waiting = calls.next();
        waiting.map(|waiting| self.answer_all(waiting)).is_some()
    }

    fn answer_all(self: &Arc<Self>, mut waiting: Vec<Waiting>) {
        // Drop calls whose client is gone.
        waiting.retain(|waiting| !waiting.reply.is_closed());
        let team = waiting.first().map(|first| first.call.team.as_str());
        let batch = team.and_then(|team| self.served.root().batch(team));
        let Some(batch) = batch else {
            return waiting.into_iter().for_each(|one| self.answer_alone(one));
        };
        let mut answered = Vec::with_capacity(waiting.len());
        for mut one in waiting {
            let answer = self.answer_in(&batch, &mut one);
            match batch.missed() {
                false => answered.push((one, answer)),
                true => self.answer_alone(one),
            }
        }
        let durable = batch.settle();
        for (mut one, answer) in answered {
            let answer = match durable {
                true => answer,
                // The batch failed; it knows the reason and answers each call with it.
                false => self.answer_in(&batch, &mut one),
            };
            // The client may be gone.
            let _ = one.reply.send(answer);
        }
    }

    fn answer_in(&self, batch: &Batch, waiting: &mut Waiting) -> Result<Answer, Undone> {
        waiting.call.batch = Some(batch.clone());
        self.answer(&waiting.call)
    }

    /// Answers a call outside of batches, so that it may wait for the writer.
    fn answer_alone(self: &Arc<Self>, mut waiting: Waiting) {
        waiting.call.batch = None;
        let all = self.clone();
        self.pool.begin(move || {
            let answer = all.answer(&waiting.call);
            let _ = waiting.reply.send(answer);
        });
    }

    fn answer(&self, call: &Call) -> Result<Answer, Undone> {
        // After a panic, the team's handle is poisoned or intact; it checks that itself.
        let answered = catch_unwind(AssertUnwindSafe(|| (self.answer)(&self.served, call)));
        answered.map_err(|_| Undone::Panicked)
    }
}

impl TeamCalls {
    /// Queues a call; returns true if the caller must start to drain the queue.
    fn push(&self, waiting: Waiting) -> bool {
        let mut queue = self.queue();
        queue.waiting.push(waiting);
        !std::mem::replace(&mut queue.taken_care_of, true)
    }

    /// Returns the calls of the next batch; `None` if the queue is empty, which also ends the draining.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.queue();
        if queue.waiting.is_empty() {
            queue.taken_care_of = false;
            return None;
        }
        let count = queue.waiting.len().min(CALLS_MAX);
        queue.last = count;
        Some(queue.waiting.drain(..count).collect())
    }

    /// Returns true if the last batch had only one call.
    fn come_alone(&self) -> bool {
        self.queue().last == 1
    }

    /// Returns true if calls are queued; if not, draining ends.
    fn has_more(&self) -> bool {
        let mut queue = self.queue();
        queue.taken_care_of = !queue.waiting.is_empty();
        queue.taken_care_of
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
