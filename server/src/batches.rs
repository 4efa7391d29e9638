//! Executes recording calls in batches. One thread per team executes a batch of calls one after another, syncs once,
//! and answers all of them. Outside of batches, each call would wait for the disk on its own thread, and the sync
//! would have to wake every such thread.
//!
//! The first call of a team whose writer is not open is executed outside of batches, like a reading call.

use crate::call::Call;
use crate::options::Answering;
use crate::pool::{NoResult, Pool};
use crate::reply::Answer;
use crate::served::Served;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use teamlog_team::handle::batch::Batch;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::oneshot;

/// Maximum number of calls in a batch, because every answer waits for the last call of its batch.
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
    waiting: Vec<QueuedCall>,
    /// True while a thread drains the queue.
    draining: bool,
    /// Number of calls in the last batch.
    last: usize,
}

/// A queued call, and the channel for its answer.
struct QueuedCall {
    call: Call,
    reply: oneshot::Sender<Result<Answer, NoResult>>,
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
    pub async fn run(self: &Arc<Self>, call: Call) -> Result<Answer, NoResult> {
        let slot = self.pool.slot()?;
        let calls = self.calls_of(&call.team);
        let (reply, answered) = oneshot::channel();
        let first = calls.push(QueuedCall {
            call,
            reply,
            _slot: slot,
        });
        if first {
            self.drain(&calls);
        }
        // The sender is dropped without an answer only if the runtime ends.
        answered.await.unwrap_or(Err(NoResult::Full))
    }

    fn calls_of(&self, team: &str) -> Arc<TeamCalls> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        // The map stays small, because only names of served teams get here.
        teams.entry(team.to_owned()).or_default().clone()
    }

    /// Executes all queued calls on one thread. The first call is executed on the current thread if calls come one at a time,
    /// because switching threads takes a quarter of the time of a sync.
    fn drain(self: &Arc<Self>, calls: &Arc<TeamCalls>) {
        let first = || self.execute_batch(calls) && calls.has_more();
        let more = match calls.last_was_single() {
            true => self.pool.run_here(first),
            false => None,
        };
        if more.unwrap_or(true) {
            let (all, calls) = (self.clone(), calls.clone());
            self.pool.begin(move || while all.execute_batch(&calls) {});
        }
    }

    /// Executes one batch. Returns false if the queue was empty.
    fn execute_batch(self: &Arc<Self>, calls: &TeamCalls) -> bool {
        let waiting = calls.next();
        waiting.map(|waiting| self.answer_all(waiting)).is_some()
    }

    fn answer_all(self: &Arc<Self>, mut waiting: Vec<QueuedCall>) {
        // Drop calls whose client disconnected.
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
                // After a failed batch, answer the call again: the state of the batch makes the answer the reason of the failure.
                false => self.answer_in(&batch, &mut one),
            };
            // Sending fails if the client disconnected.
            let _ = one.reply.send(answer);
        }
    }

    fn answer_in(&self, batch: &Batch, waiting: &mut QueuedCall) -> Result<Answer, NoResult> {
        waiting.call.batch = Some(batch.clone());
        self.answer(&waiting.call)
    }

    /// Answers a call outside of batches. The call may wait for the writer.
    fn answer_alone(self: &Arc<Self>, mut waiting: QueuedCall) {
        waiting.call.batch = None;
        let all = self.clone();
        self.pool.begin(move || {
            let answer = all.answer(&waiting.call);
            let _ = waiting.reply.send(answer);
        });
    }

    fn answer(&self, call: &Call) -> Result<Answer, NoResult> {
        // Continuing after a panic is safe, because the team's handle is poisoned if a change was interrupted.
        let answered = catch_unwind(AssertUnwindSafe(|| (self.answer)(&self.served, call)));
        answered.map_err(|_| NoResult::Panicked)
    }
}

impl TeamCalls {
    /// Queues a call. Returns true if no thread drains the queue, so the caller must start to drain it.
    fn push(&self, waiting: QueuedCall) -> bool {
        let mut queue = self.queue();
        queue.waiting.push(waiting);
        !std::mem::replace(&mut queue.draining, true)
    }

    /// Takes the calls of the next batch from the queue. If the queue is empty, marks the draining as ended and returns `None`.
    fn next(&self) -> Option<Vec<QueuedCall>> {
        let mut queue = self.queue();
        if queue.waiting.is_empty() {
            queue.draining = false;
            return None;
        }
        let count = queue.waiting.len().min(CALLS_MAX);
        queue.last = count;
        Some(queue.waiting.drain(..count).collect())
    }

    /// Returns true if the last batch had only one call.
    fn last_was_single(&self) -> bool {
        self.queue().last == 1
    }

    /// Returns true if calls are queued. If the queue is empty, marks the draining as ended.
    fn has_more(&self) -> bool {
        let mut queue = self.queue();
        queue.draining = !queue.waiting.is_empty();
        queue.draining
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
