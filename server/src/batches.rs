//! Calls that record are carried out in batches, one after the other by one thread a team, and answered together behind one
//! sync: so a call costs its own work, and not a wake-up of a thread that then waits for the disk.
//!
//! A team whose writer is not open is opened by a call of its own, as a team that reads is.

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

/// Calls of one batch at most: so many answers wait for the last of them.
const CALLS_MAX: usize = 64;

/// The calls that wait, by team.
pub(crate) struct Batches {
    served: Arc<Served>,
    answer: Answering,
    pool: Arc<Pool>,
    teams: Mutex<BTreeMap<String, Arc<TeamCalls>>>,
}

/// The calls of one team.
#[derive(Default)]
struct TeamCalls(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// Whether somebody takes what waits.
    taken_care_of: bool,
    /// How many calls the last batch had.
    last: usize,
}

/// A call, and who waits for its answer.
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

    /// Has a call answered.
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
            self.see_to(&calls);
        }
        // Its sender is dropped unused only where the runtime ends.
        answered.await.unwrap_or(Err(Undone::Full))
    }

    fn of(&self, team: &str) -> Arc<TeamCalls> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        // Only names of teams that are served come so far.
        teams.entry(team.to_owned()).or_default().clone()
    }

    /// Has the calls carried out that wait, by a thread that stays with it. Where calls come one at a time the first is carried
    /// out here: to wake a thread, and to be woken by it, takes a quarter as long as a sync.
    fn see_to(self: &Arc<Self>, calls: &Arc<TeamCalls>) {
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

    /// Carries out a batch; whether there was one.
    fn carry_out_one(self: &Arc<Self>, calls: &TeamCalls) -> bool {
        let waiting = calls.next();
        waiting.map(|waiting| self.answer_all(waiting)).is_some()
    }

    fn answer_all(self: &Arc<Self>, mut waiting: Vec<Waiting>) {
        // Nobody waits for these any more.
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
                // The batch knows by now what went wrong, and says so.
                false => self.answer_in(&batch, &mut one),
            };
            // Whoever asked may be gone.
            let _ = one.reply.send(answer);
        }
    }

    fn answer_in(&self, batch: &Batch, waiting: &mut Waiting) -> Result<Answer, Undone> {
        waiting.call.batch = Some(batch.clone());
        self.answer(&waiting.call)
    }

    /// Answers a call outside of a batch, where it waits for whatever it has to wait for.
    fn answer_alone(self: &Arc<Self>, mut waiting: Waiting) {
        waiting.call.batch = None;
        let all = self.clone();
        self.pool.begin(move || {
            let answer = all.answer(&waiting.call);
            let _ = waiting.reply.send(answer);
        });
    }

    fn answer(&self, call: &Call) -> Result<Answer, Undone> {
        // What a panic leaves behind is the domain's to judge.
        let answered = catch_unwind(AssertUnwindSafe(|| (self.answer)(&self.served, call)));
        answered.map_err(|_| Undone::Panicked)
    }
}

impl TeamCalls {
    /// Whether the caller has to see to it that the calls are taken.
    fn push(&self, waiting: Waiting) -> bool {
        let mut queue = self.queue();
        queue.waiting.push(waiting);
        !std::mem::replace(&mut queue.taken_care_of, true)
    }

    /// The calls of the next batch; `None` once nothing waits.
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

    /// Whether the last batch was one call.
    fn come_alone(&self) -> bool {
        self.queue().last == 1
    }

    /// Whether calls wait; whoever asked takes care of them, or else need not any more.
    fn has_more(&self) -> bool {
        let mut queue = self.queue();
        queue.taken_care_of = !queue.waiting.is_empty();
        queue.taken_care_of
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
