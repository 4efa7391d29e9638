//! `GET /v1/events` as a stream: what is recorded, as it is recorded, to as many clients as listen.
//!
//! For each team that somebody listens to, one thread follows the log and hands every event, rendered once, to the
//! queues of its listeners. A queue is bounded: whoever takes too little of it is cut, and told where to go on. Who asks
//! for the past gets it from the log in pages, as fast as it takes them, and goes over to the common stream without gap
//! or repetition, since the same thread does both.

mod feed;
mod frame;
mod listener;

use crate::call::{Call, Method};
use crate::options::Answering;
use crate::reply::{Answer, Streamed};
use crate::route::{self, Problem, last_event_id};
use crate::served::Served;
use feed::Feed;
use listener::Listener;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use teamlog_team::log::events::{Events, ahead};

/// The type of the body.
pub const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";
/// What shows that a stream is alive while there is nothing to tell.
const HEARTBEAT: &[u8] = b":\n\n";

/// Those who listen, by team.
#[derive(Debug, Default)]
pub struct Hub {
    feeds: Mutex<BTreeMap<String, Arc<Feed>>>,
}

/// Answers every call: by the routes, or by a stream.
pub fn answering() -> Answering {
    let hub = Hub::default();
    Arc::new(move |served, call| hub.answer(served, call))
}

impl Hub {
    /// Answers a call.
    pub fn answer(&self, served: &Arc<Served>, call: &Call) -> Answer {
        if !is_stream(call) {
            return route::answer(served, call).into();
        }
        match self.listen(served, call) {
            Ok(streamed) => Answer::Streamed(streamed),
            Err(problem) => problem.into_reply().into(),
        }
    }

    fn listen(&self, served: &Arc<Served>, call: &Call) -> Result<Streamed, Problem> {
        let asked: Events = route::input_of(call)?;
        asked.filter().check()?;
        if asked.is_newest_first()? {
            let message = "order must be oldest for a stream, and before is for pages";
            return Err(Problem::invalid("order", message));
        }
        let mut team = served.team(&call.team)?;
        let head = team.query(|live, _| Ok(live.seq()))?;
        // A client that comes again asks as it did at first, and its header says how far it came.
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

fn is_stream(call: &Call) -> bool {
    call.wants_stream && call.method == Method::Get && call.path == ["v1", "events"]
}
