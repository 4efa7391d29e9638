//! `POST /v1/subscriptions/{name}/fetch` as a stream: delivers the events of a durable subscription over one connection.
//!
//! The rules of the subscription do not change: the stream takes the lease and keeps it, delivers as many events as the window
//! allows, and the client acknowledges with the epoch that each event has. The lease ends when the connection ends. If another
//! consumer takes over, a last frame says so. One thread serves one stream; it wakes when the log grows or an event is settled.

use super::frame;
use crate::call::Call;
use crate::reply::Streamed;
use crate::route::{self, Problem};
use crate::served::Served;
use hyper::body::Bytes;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use teamlog_team::command::Control;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::redaction::redact;
use teamlog_team::story::sentence::add_sentences;
use teamlog_team::subscription::WINDOW_MAX;
use teamlog_team::subscription::fetch::{
    DeliveredEvent, FetchAnswer, FetchStatus, FetchSubscription, LEASE_MS,
};
use teamlog_team::subscription::settle::ReleaseSubscription;
use teamlog_team::{Failure, Team};
use tokio::sync::mpsc::{Sender, channel};

/// Maximum number of streams of subscriptions. Each has a thread.
const STREAMS_MAX: usize = 64;
/// Number of frames that wait for the client. A client that does not read stops the deliveries, and then loses its lease.
const QUEUE: usize = 64;

/// The number of running streams.
#[derive(Debug, Default)]
pub struct Streams(Arc<AtomicUsize>);

/// A place among the running streams, until it is dropped.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Streams {
    fn place(&self) -> Result<Place, Problem> {
        let place = Place(self.0.clone());
        if self.0.fetch_add(1, Ordering::AcqRel) >= STREAMS_MAX {
            let message = format!("at most {STREAMS_MAX} streams of subscriptions run; try again");
            return Err(Problem::new("busy", message));
        }
        Ok(place)
    }

    /// Starts a stream. A refusal of the first fetch is the answer of the request.
    pub fn start(&self, served: &Arc<Served>, call: &Call) -> Result<Streamed, Problem> {
        let place = self.place()?;
        let asked: FetchSubscription = route::input_of(call)?;
        let team = route::team_of(served, call)?;
        let (queue, frames) = channel(QUEUE);
        let mut stream = SubscriptionStream {
            delivered: asked.holding.clone().unwrap_or_default(),
            asked,
            agent: call.caller.agent.as_ref().map(|agent| agent.name.clone()),
            epoch: None,
            held_by: None,
            replayed: None,
            queue,
        };
        let mut team = stream.prepared(team, served);
        let first = stream.fetch(&mut team, Duration::ZERO)?;
        let runs = move || {
            let _place = place;
            stream.run(&mut team, first);
        };
        let thread = std::thread::Builder::new().name(format!("subscription of {}", call.team));
        if let Err(error) = thread.spawn(runs) {
            let message = format!("cannot start a thread: {error}");
            return Err(Problem::new("busy", message));
        }
        Ok(Streamed {
            content_type: super::EVENT_STREAM,
            frames,
            heartbeat: super::HEARTBEAT,
        })
    }
}

/// The consumer at the other end of a connection.
struct SubscriptionStream {
    asked: FetchSubscription,
    /// The agent that consumes, if known. Claim tokens of other agents are removed from its events.
    agent: Option<String>,
    /// Epoch of the lease, while the stream has one.
    epoch: Option<u64>,
    /// The other consumer with the lease, as the client was told.
    held_by: Option<String>,
    /// Seqs of the events that were sent and may be unsettled.
    delivered: Vec<u64>,
    /// Seq of the last replayed event that was sent. It is not after the position.
    replayed: Option<u64>,
    queue: Sender<Bytes>,
}

/// The client has disconnected.
struct Disconnected;

impl SubscriptionStream {
    /// Makes waits of the team end when the client disconnects.
    fn prepared(&self, mut team: Team, served: &Arc<Served>) -> Team {
        let (queue, served) = (self.queue.downgrade(), served.clone());
        // The thread of the stream holds the only strong sender.
        let is_connected = move || queue.upgrade().is_some_and(|queue| !queue.is_closed());
        team.under(Control {
            deadline: Deadline::as_long_as(move || is_connected() && !served.is_stopping()),
            ..Control::default()
        });
        team
    }

    fn run(&mut self, team: &mut Team, first: FetchAnswer) {
        let mut answer = first;
        // If the connection is closed, the fetch returns at once.
        while !self.queue.is_closed() && self.send(&answer).is_ok() {
            match self.fetch(team, self.wait()) {
                Ok(next) => answer = next,
                Err(failure) => {
                    self.send_end(&failure);
                    break;
                }
            }
        }
        self.release(team);
    }

    /// Returns the longest wait of a fetch. The fetches renew the lease, so they begin before half of it is over.
    fn wait(&self) -> Duration {
        let lease = Duration::from_millis(self.asked.lease_ms.unwrap_or(LEASE_MS));
        lease / 3
    }

    fn fetch(&mut self, team: &mut Team, wait: Duration) -> Result<FetchAnswer, Failure> {
        let holding = self.delivered.iter().copied().chain(self.replayed);
        let holding = holding.take(WINDOW_MAX).collect();
        let fetch = FetchSubscription {
            epoch: self.epoch.or(self.asked.epoch),
            holding: Some(holding),
            timeout_ms: u64::try_from(wait.as_millis()).ok(),
            // Later leases of this connection continue at the stored position.
            from_seq: self.asked.from_seq.filter(|_| self.epoch.is_none()),
            ..self.asked.clone()
        };
        let answer = team.fetch_subscription(&fetch)?;
        if answer.epoch.is_some() {
            self.asked.from_seq = None;
        }
        Ok(answer)
    }

    fn send(&mut self, answer: &FetchAnswer) -> Result<(), Disconnected> {
        let lease = answer.epoch.filter(|_| answer.status != FetchStatus::Held);
        match lease {
            None => self.send_held(answer)?,
            Some(epoch) if self.epoch.is_none() => self.send_lease(answer, epoch)?,
            Some(_) => {}
        }
        // Events up to the position are settled.
        self.delivered.retain(|seq| *seq > answer.position);
        for delivered in &answer.events {
            let frame = self.event(delivered.clone(), answer.epoch.unwrap_or_default());
            self.queue(frame)?;
            let seq = delivered.event.event.seq;
            match delivered.replayed {
                true => self.replayed = Some(seq),
                false => self.delivered.push(seq),
            }
        }
        Ok(())
    }

    /// Tells the client once per holder that another consumer has the lease.
    fn send_held(&mut self, answer: &FetchAnswer) -> Result<(), Disconnected> {
        if self.held_by.as_ref() == Some(&answer.consumer) {
            return Ok(());
        }
        self.held_by = Some(answer.consumer.clone());
        let data = json!({"consumer": answer.consumer, "leased_until": answer.leased_until});
        self.queue(frame::named("held", &data))
    }

    fn send_lease(&mut self, answer: &FetchAnswer, epoch: u64) -> Result<(), Disconnected> {
        self.epoch = Some(epoch);
        self.held_by = None;
        let data = json!({
            "name": answer.name, "epoch": epoch, "consumer": answer.consumer,
            "leased_until": answer.leased_until, "position": answer.position,
        });
        self.queue(frame::named("lease", &data))
    }

    fn event(&self, mut delivered: DeliveredEvent, epoch: u64) -> String {
        add_sentences(std::slice::from_mut(&mut delivered.event));
        let seq = delivered.event.event.seq;
        let data = json!({
            "attempt": delivered.attempt, "replayed": delivered.replayed, "epoch": epoch,
            "event": delivered.event,
        })
        .to_string();
        let redacted = self.agent.as_ref().and_then(|agent| redact(&data, agent));
        frame::with_id(seq, &redacted.unwrap_or(data))
    }

    /// Sends the last frame. The client begins again without an epoch.
    fn send_end(&self, failure: &Failure) {
        let event = match failure.code() {
            "subscription_fenced" => "fenced",
            _ => "cut",
        };
        let data = json!({"code": failure.code(), "why": failure.to_string()});
        let _ = self.queue(frame::named(event, &data));
    }

    /// Queues a frame. Waits while the client reads more slowly than events are delivered.
    fn queue(&self, frame: String) -> Result<(), Disconnected> {
        self.queue
            .blocking_send(Bytes::from(frame))
            .map_err(|_| Disconnected)
    }

    /// Ends the lease, so that another consumer can take over at once.
    fn release(&self, team: &mut Team) {
        if let Some(epoch) = self.epoch {
            let name = self.asked.name.clone();
            // A fenced stream has no lease.
            let _ = team.release_subscription(&ReleaseSubscription { name, epoch });
        }
    }
}
