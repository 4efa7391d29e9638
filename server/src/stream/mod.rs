//! `GET /v1/events` as a stream, which sends events to many clients as they are recorded.
//!
//! For each team with listeners, one thread follows the log, formats each event once, and puts it into the queue of every
//! listener. The queues are bounded. If a client reads too slowly, its stream is ended with the position from which to
//! resume. A client that asks for earlier events gets pages of the log at its own speed. The thread that sends these pages
//! also sends new events, so there is neither a gap nor a repetition.
//!
//! A fetch of a durable subscription can be a stream, too (`subscription.rs`).

mod feed;
mod frame;
mod listener;
mod subscription;

use crate::call::{Call, Method};
use crate::options::Answering;
use crate::reply::{Answer, Streamed};
use crate::route::{self, Problem, last_event_id};
use crate::served::Served;
use feed::Feed;
use listener::Listener;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use subscription::Streams;
use teamlog_team::log::events::{Events, ahead};

/// Content type of a stream.
pub const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";
/// Frame that is sent on an idle stream.
const HEARTBEAT: &[u8] = b":\n\n";

/// The listeners of all teams.
#[derive(Debug, Default)]
pub struct Hub {
    feeds: Mutex<BTreeMap<String, Arc<Feed>>>,
    subscriptions: Streams,
}

/// Returns the function that answers all calls, including streams.
pub fn answering() -> Answering {
    let hub = Hub::default();
    Arc::new(move |served, call| hub.answer(served, call))
}

impl Hub {
    /// Answers a call.
    pub fn answer(&self, served: &Arc<Served>, call: &Call) -> Answer {
        let streamed = match (call.wants_stream, call.method) {
            (true, Method::Get) if is_feed(call) => self.listen(served, call),
            (true, Method::Post) if is_fetch(&call.path) => self.subscriptions.start(served, call),
            _ => return route::answer(served, call).into(),
        };
        match streamed {
            Ok(streamed) => Answer::Streamed(streamed),
            Err(problem) => problem.into_reply().into(),
        }
    }

    fn listen(&self, served: &Arc<Served>, call: &Call) -> Result<Streamed, Problem> {
        let asked: Events = route::input_of(call)?;
        asked.filter().check()?;
        if asked.is_newest_first()? {
            let message = "a stream supports neither `order=newest` nor `before`";
            return Err(Problem::invalid("order", message));
        }
        let mut team = served.team(&call.team)?;
        let head = team.query(|live, _| Ok(live.seq()))?;
        // A client that reconnects repeats its first request. `Last-Event-ID` is the last event that the client received.
        let after = last_event_id(call)?.or(asked.after).unwrap_or(head);
        if after > head {
            return Err(ahead("after", after, head).into());
        }
        let agent = call.caller.agent.as_ref().map(|agent| agent.name.clone());
        let (listener, frames) = Listener::new(asked, after, agent);
        self.feed(&call.team).join(served, listener)?;
        Ok(Streamed {
            content_type: EVENT_STREAM,
            frames,
            heartbeat: HEARTBEAT,
        })
    }

    fn feed(&self, team: &str) -> Arc<Feed> {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let feed = feeds.entry(team.to_owned());
        feed.or_insert_with(|| Arc::new(Feed::new(team))).clone()
    }
}

fn is_feed(call: &Call) -> bool {
    call.path == ["v1", "events"]
}

fn is_fetch(path: &[String]) -> bool {
    matches!(path, [version, noun, _, verb]
        if version == "v1" && noun == "subscriptions" && verb == "fetch")
}
