//! The loop of a consumer that handles events by jobs: fetches events, runs a job per event, settles each, and keeps the lease.
//! Up to the window's number of jobs run at the same time. The subscription keeps the order of the events of a task.

use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::subscription::fetch::{
    DeliveredEvent, FetchAnswer, FetchStatus, FetchSubscription,
};
use teamlog_team::subscription::settle::{AckSubscription, NakAnswer, NakSubscription};

/// Interval at which running jobs are polled.
const LOOK: Duration = Duration::from_millis(5);
/// Interval at which further events are fetched while jobs run and the window has room.
const FETCH_PAUSE: Duration = Duration::from_millis(50);
/// Time for running jobs to end after this process was told to end, before they are cancelled.
const GRACE: Duration = Duration::from_secs(5);
/// Pause before the unsettled events are fetched again after the subscription forgot their delivery.
const FORGOTTEN_PAUSE: Duration = Duration::from_secs(1);

/// The outcome of a job.
#[derive(Debug, PartialEq, Eq)]
pub enum Run {
    Succeeded,
    Failed {
        /// The reason, for people.
        reason: String,
        /// Time until the next delivery, if the job names one.
        delay: Option<Duration>,
    },
}

impl Run {
    pub fn failed(reason: impl Into<String>) -> Run {
        Run::Failed {
            reason: reason.into(),
            delay: None,
        }
    }
}

/// The work on one event.
pub trait Job {
    /// Returns the outcome if the job has ended. Does not wait.
    fn poll(&mut self) -> Option<Run>;
    /// Ends the job at once.
    fn cancel(&mut self);
}

/// A consumer's connection to its subscription.
pub trait Calls {
    type Error;

    fn fetch(&mut self, fetch: FetchSubscription) -> Result<FetchAnswer, Self::Error>;
    fn ack(&mut self, ack: AckSubscription) -> Result<(), Self::Error>;
    fn nak(&mut self, nak: NakSubscription) -> Result<NakAnswer, Self::Error>;
    /// Returns the stable code of an error.
    fn code(error: &Self::Error) -> &str;
    /// Starts the job of an event.
    fn start(&mut self, delivered: &DeliveredEvent) -> Result<Box<dyn Job>, Self::Error>;
    fn is_stopping(&self) -> bool;
    /// Receives the success of a job.
    fn succeeded(&mut self) {}
    /// Receives the failure of a job, for people.
    fn failed(&mut self, reason: &str, answer: &NakAnswer);
    /// Receives the loss of the lease or of the deliveries, for people.
    fn lost(&mut self, code: &str);
}

/// Properties of a consumer.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Name of the subscription.
    pub name: String,
    /// Name of the consumer, for people.
    pub label: String,
    pub lease: Duration,
    /// Longest wait of a fetch.
    pub wait: Duration,
    /// Maximum number of jobs that run at the same time.
    pub window: usize,
    /// True if the consumer ends when no event is due.
    pub once: bool,
}

/// The reason why a consumer ended without an error.
#[derive(Debug)]
pub enum End {
    /// The process was told to end, or no event is due.
    Done,
    /// Another consumer has the lease, and this consumer does not wait.
    Held(Box<FetchAnswer>),
}

struct RunningJob {
    seq: u64,
    job: Box<dyn Job>,
}

pub struct Consumer<C: Calls> {
    pub calls: C,
    terms: Terms,
    /// Epoch of the lease, while this consumer has one.
    epoch: Option<u64>,
    /// Position that the caller keeps itself, until the first lease is taken.
    from_seq: Option<u64>,
    running: Vec<RunningJob>,
    /// Time of the next fetch while jobs run.
    next_fetch: Instant,
    /// Time of the last fetch. A fetch renews the lease.
    fetched: Instant,
    /// Time when this process was told to end.
    stopped: Option<Instant>,
    /// Number of failed deliveries.
    failures: u64,
}

impl<C: Calls> Consumer<C> {
    pub fn new(calls: C, terms: Terms, from_seq: Option<u64>) -> Consumer<C> {
        let now = Instant::now();
        Consumer {
            calls,
            terms,
            epoch: None,
            from_seq,
            running: Vec::new(),
            next_fetch: now,
            fetched: now,
            stopped: None,
            failures: 0,
        }
    }

    /// Returns the epoch of the lease, so that the caller can end the lease.
    pub fn epoch(&self) -> Option<u64> {
        self.epoch
    }

    /// Returns the number of failed deliveries.
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// Handles events until this process is told to end. A consumer that lost its lease drops its jobs and waits for the lease.
    pub fn consume(&mut self) -> Result<End, C::Error> {
        loop {
            match self.step() {
                Ok(Some(end)) => return Ok(end),
                Ok(None) => {}
                Err(error) => {
                    self.cancel();
                    self.begin_again(error)?;
                }
            }
        }
    }

    /// Forgets the lease or the deliveries, if the error says that they are lost.
    fn begin_again(&mut self, error: C::Error) -> Result<(), C::Error> {
        match C::code(&error) {
            code @ "subscription_fenced" => {
                self.epoch = None;
                self.calls.lost(code);
            }
            code @ "event_not_delivered" => {
                self.calls.lost(code);
                let until = Instant::now() + FORGOTTEN_PAUSE;
                while Instant::now() < until && !self.calls.is_stopping() {
                    thread::sleep(LOOK);
                }
            }
            _ => return Err(error),
        }
        Ok(())
    }

    fn cancel(&mut self) {
        for mut running in self.running.drain(..) {
            running.job.cancel();
        }
    }

    fn step(&mut self) -> Result<Option<End>, C::Error> {
        self.settle()?;
        if self.calls.is_stopping() {
            let stopped = *self.stopped.get_or_insert_with(Instant::now);
            if stopped.elapsed() >= GRACE {
                self.cancel();
            }
            if self.running.is_empty() {
                return Ok(Some(End::Done));
            }
        } else if self.running.is_empty() {
            return self.fetch(self.terms.wait);
        } else if self.running.len() < self.terms.window && Instant::now() >= self.next_fetch {
            return self.fetch(Duration::ZERO);
        }
        if self.fetched.elapsed() >= self.terms.lease / 3 {
            self.fetched = Instant::now();
            let renewal = FetchSubscription {
                limit: Some(0),
                ..self.request(Duration::ZERO)
            };
            self.calls.fetch(renewal)?;
        }
        thread::sleep(LOOK);
        Ok(None)
    }

    /// Settles the events whose jobs have ended.
    fn settle(&mut self) -> Result<(), C::Error> {
        let mut ended = Vec::new();
        self.running.retain_mut(|running| match running.job.poll() {
            Some(run) => {
                ended.push((running.seq, run));
                false
            }
            None => true,
        });
        if ended.is_empty() {
            return Ok(());
        }
        self.next_fetch = Instant::now();
        let succeeded = ended.iter().filter(|(_, run)| *run == Run::Succeeded);
        self.ack(succeeded.map(|(seq, _)| *seq).collect())?;
        let is_stopping = self.calls.is_stopping();
        for (seq, run) in ended {
            match run {
                Run::Succeeded => {}
                // The signal that ends this process may also have ended the job. The event is delivered again under the next lease.
                Run::Failed { .. } if is_stopping => {}
                Run::Failed { reason, delay } => self.nak(seq, reason, delay)?,
            }
        }
        Ok(())
    }

    fn ack(&mut self, seqs: Vec<u64>) -> Result<(), C::Error> {
        if seqs.is_empty() {
            return Ok(());
        }
        self.calls.ack(AckSubscription {
            name: self.terms.name.clone(),
            epoch: self.epoch.unwrap_or_default(),
            seqs,
        })?;
        self.calls.succeeded();
        Ok(())
    }

    fn nak(&mut self, seq: u64, reason: String, delay: Option<Duration>) -> Result<(), C::Error> {
        let answer = self.calls.nak(NakSubscription {
            name: self.terms.name.clone(),
            epoch: self.epoch.unwrap_or_default(),
            seq,
            reason: Some(reason.clone()),
            delay_ms: delay.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
        })?;
        self.failures += 1;
        self.calls.failed(&reason, &answer);
        Ok(())
    }

    fn request(&self, wait: Duration) -> FetchSubscription {
        let millis = |time: Duration| u64::try_from(time.as_millis()).ok();
        FetchSubscription {
            name: self.terms.name.clone(),
            consumer: Some(self.terms.label.clone()),
            epoch: self.epoch,
            holding: Some(self.running.iter().map(|running| running.seq).collect()),
            lease_ms: millis(self.terms.lease),
            from_seq: self.from_seq.filter(|_| self.epoch.is_none()),
            timeout_ms: millis(wait),
            ..FetchSubscription::default()
        }
    }

    fn fetch(&mut self, wait: Duration) -> Result<Option<End>, C::Error> {
        let answer = self.calls.fetch(self.request(wait))?;
        self.fetched = Instant::now();
        self.next_fetch = self.fetched + FETCH_PAUSE;
        self.epoch = answer.epoch;
        if answer.epoch.is_some() {
            self.from_seq = None;
        }
        match answer.status {
            FetchStatus::Empty if self.terms.once && self.running.is_empty() => {
                return Ok(Some(End::Done));
            }
            FetchStatus::Held if self.terms.once => return Ok(Some(End::Held(Box::new(answer)))),
            FetchStatus::Events | FetchStatus::Empty | FetchStatus::Held => {}
        }
        for delivered in &answer.events {
            let job = self.calls.start(delivered)?;
            let seq = delivered.event.event.seq;
            self.running.push(RunningJob { seq, job });
        }
        Ok(None)
    }
}

impl<C: Calls> Drop for Consumer<C> {
    fn drop(&mut self) {
        self.cancel();
    }
}
