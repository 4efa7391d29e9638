//! The jobs of one round of group commit, and their queue.

use super::core::Core;
use super::handover::Giver;
use super::reservation::Room;
use super::{Commit, CommitError, Durability, State};
use crate::prelude::*;
use std::collections::VecDeque;

/// Jobs that wait for the next round.
pub(super) struct Queue<S> {
    /// True if a thread leads at the moment.
    pub led: bool,
    /// Number of followers in the last round.
    pub followed: usize,
    /// Number of waiting jobs at which the gathering leader is woken; 0 while no leader gathers.
    pub expected: usize,
    pub waiting: VecDeque<Box<dyn Queued<S>>>,
}

impl<S> Default for Queue<S> {
    fn default() -> Self {
        Queue {
            led: false,
            followed: 0,
            expected: 0,
            waiting: VecDeque::new(),
        }
    }
}

/// A queued job. The leader does not know its types.
pub(super) trait Queued<S>: Send {
    fn durability(&self) -> Durability;
    fn run(&mut self, core: &mut Core<S>);
    /// Returns true if the job recorded events.
    fn recorded(&self) -> bool;
    fn answer(self: Box<Self>, round: &mut Round);
    /// Makes the job's waiting thread the leader.
    fn promote(self: Box<Self>);
}

/// The outcome of a round: some of its groups may be durable although a later group failed.
pub(super) struct Round {
    /// Seq of the last durable event.
    pub durable: u64,
    pub failed: Option<Error>,
    /// `true` if the round recorded nothing and `failed` comes from confirming the round.
    pub unconfirmed: bool,
    /// The events of the durable groups.
    pub written: Vec<Event<'static>>,
}

/// Message to a waiting thread.
pub(super) enum Reply<S, R, E> {
    Answer(Result<Commit<R>, CommitError<E>>),
    Lead(Job<S, R, E>),
}

/// A follower's job.
pub(super) struct Waiting<S, R, E> {
    pub job: Job<S, R, E>,
    pub reply: Giver<Reply<S, R, E>>,
}

/// First part of a job: its answer from the state, and the events to record.
pub(super) type Decide<S, R, E> =
    Box<dyn FnOnce(&S, Timestamp) -> Result<(R, Vec<NewEvent>), E> + Send>;

/// Second part of a job.
pub(super) struct Sequel<S, R> {
    /// Largest room that the events of the second part need.
    pub room: Room,
    pub step: SequelStep<S, R>,
}

/// Function of the second part: gets the state after the job's first events, and these events. The function may return more
/// events.
pub(super) type SequelStep<S, R> =
    Box<dyn FnOnce(&S, &mut R, &[Event<'static>]) -> Vec<NewEvent> + Send>;

/// One job: the decision to run, then its outcome.
pub(super) struct Job<S, R, E> {
    durability: Durability,
    decide: Option<Decide<S, R, E>>,
    sequel: Option<Sequel<S, R>>,
    outcome: Option<Result<Decided<R>, CommitError<E>>>,
}

struct Decided<R> {
    answer: R,
    count: usize,
    last_seq: u64,
    /// Copies for a buffered job, which is answered before its events are written.
    events: Vec<Event<'static>>,
}

impl<S: State, R, E> Job<S, R, E> {
    pub fn new(
        durability: Durability,
        decide: Decide<S, R, E>,
        sequel: Option<Sequel<S, R>>,
    ) -> Self {
        Job {
            durability,
            decide: Some(decide),
            sequel,
            outcome: None,
        }
    }

    /// Moves the job out, and leaves an empty job.
    pub fn take(&mut self) -> Self {
        Job {
            durability: self.durability,
            decide: self.decide.take(),
            sequel: self.sequel.take(),
            outcome: self.outcome.take(),
        }
    }

    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Delays the job's answer until the job's events are durable.
    pub fn wait_for_sync(&mut self) {
        self.durability = Durability::Synced;
    }

    /// Returns true if the job was run and recorded events.
    pub fn recorded(&self) -> bool {
        matches!(&self.outcome, Some(Ok(decided)) if decided.count > 0)
    }

    pub fn run(&mut self, core: &mut Core<S>) {
        let Some(decide) = self.decide.take() else {
            return;
        };
        let ended = core.ended.as_ref().map(Error::again);
        if let Some(error) = core.usable().err().or(ended) {
            self.outcome = Some(Err(error.into()));
            return;
        }
        let now = core.now();
        self.outcome = Some(match decide(&core.state, now) {
            Err(refused) => Err(CommitError::Refused(refused)),
            Ok((answer, events)) => self.record(core, now, answer, events),
        });
    }

    /// Stamps the events of both parts with one reading of the clock, and adds them to one group.
    fn record(
        &mut self,
        core: &mut Core<S>,
        now: Timestamp,
        mut answer: R,
        events: Vec<NewEvent>,
    ) -> Result<Decided<R>, CommitError<E>> {
        let sequel = self.sequel.take();
        let room = sequel.as_ref().map(|sequel| sequel.room);
        let (mut count, reservation) =
            core.push_and_reserve(now, events, room.unwrap_or_default())?;
        if let Some(Sequel { step, .. }) = sequel {
            let own = core.pending.len() - count;
            let more = step(&core.state, &mut answer, &core.pending[own..]);
            count += core.push_sequel(reservation, more)?;
        }
        assert!(
            count <= core.pending.len(),
            "one job is one group: {count} events were added, but {} are pending",
            core.pending.len()
        );
        let last_seq = core.last_seq();
        let copies = match self.durability {
            Durability::Buffered => core.pending[core.pending.len() - count..].to_vec(),
            Durability::Synced => Vec::new(),
        };
        Ok(Decided {
            answer,
            count,
            last_seq,
            events: copies,
        })
    }

    /// Returns the answer, after the round's groups were written or failed.
    pub fn answer(self, round: &mut Round) -> Result<Commit<R>, CommitError<E>> {
        let lost = round
            .failed
            .as_ref()
            .filter(|error| round.unconfirmed || error.journal_fault().is_some());
        let decided = match self.outcome {
            Some(Ok(decided)) => decided,
            // If the round failed, the refusal does not count, because the state on which it was decided was withdrawn.
            Some(Err(CommitError::Refused(refused))) => {
                return Err(lost.map_or(CommitError::Refused(refused), |lost| lost.again().into()));
            }
            Some(Err(error)) => return Err(error),
            None => {
                return Err(CommitError::Failed(Error::Poisoned(
                    "the job was not run".into(),
                )));
            }
        };
        if let Some(lost) = lost
            && decided.count == 0
        {
            return Err(lost.again().into());
        }
        let mut events = decided.events;
        if self.durability == Durability::Synced {
            // Events of an earlier group of the round are durable, even if later groups failed.
            if let Some(error) = &round.failed
                && decided.last_seq > round.durable
            {
                return Err(error.again().into());
            }
            let first_seq = decided.last_seq + 1 - decided.count as u64;
            let start = round.written.partition_point(|event| event.seq < first_seq);
            let own = round
                .written
                .get_mut(start..start + decided.count)
                .unwrap_or_default();
            debug_assert_eq!(
                own.len(),
                decided.count,
                "event {} was written, so all of its job's events must be",
                decided.last_seq
            );
            events.extend(own.iter_mut().map(take_event));
        }
        Ok(Commit {
            answer: decided.answer,
            events,
        })
    }
}

/// Moves an event out. The `seq` of the moved event stays in the list, so that the other events of the round are still found.
fn take_event(event: &mut Event<'static>) -> Event<'static> {
    Event {
        kind: std::mem::take(&mut event.kind),
        actor: std::mem::take(&mut event.actor),
        refs: std::mem::take(&mut event.refs),
        payload: std::mem::take(&mut event.payload),
        ..*event
    }
}

impl<S: State, R: Send, E: Send> Queued<S> for Waiting<S, R, E> {
    fn durability(&self) -> Durability {
        self.job.durability
    }
    fn run(&mut self, core: &mut Core<S>) {
        self.job.run(core);
    }
    fn recorded(&self) -> bool {
        self.job.recorded()
    }
    fn answer(self: Box<Self>, round: &mut Round) {
        self.reply.give(Reply::Answer(self.job.answer(round)));
    }
    fn promote(self: Box<Self>) {
        let Waiting { job, reply } = *self;
        reply.give(Reply::Lead(job));
    }
}
