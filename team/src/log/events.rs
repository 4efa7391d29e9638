//! `events`: pages of the log from a seq on, for whoever goes along with it over a network.
//!
//! A page examines so many events and no more, whatever is asked for; it says up to where it looked, and the next one
//! goes on from there.

use crate::Recorded;
use crate::log::replay::{Replay, postings};
use crate::prelude::*;
use std::ops::ControlFlow;
use teamlog_engine::Place;

/// Events of a page unless the caller says otherwise.
pub const EVENTS: usize = 100;
/// Most events of a page.
pub const EVENTS_MAX: usize = 1_000;
/// Events that a call examines.
const EXAMINED: u64 = 20_000;
/// A page whose payloads hold so much already ends there.
const PAGE_BYTES: usize = 4 << 20;

operation! {
    /// Read a page of the events of the log behind a seq
    "list-events": Reads(Events) -> EventsAnswer = |team, asked| team.events(&asked),
    refuses = [CursorAhead]
}

/// What `events` is asked.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// The last seq that is known; a page without begins at the beginning
    pub after: Option<u64>,
    /// Most events of a page; else 100
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<usize>,
    /// Only of that kind
    pub kind: Option<String>,
    /// Only those that name that agent
    pub agent: Option<String>,
    /// Only those that name that task
    pub task_id: Option<String>,
    /// Only those of that story
    pub trace_id: Option<String>,
    /// Only those by that actor
    pub actor: Option<String>,
}

/// `{events, count, next_after, last_seq, more}`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EventsAnswer {
    /// The events, oldest first
    pub events: Vec<Recorded>,
    /// How many there are
    pub count: usize,
    /// Up to where the log was looked at: what to go on behind
    pub next_after: u64,
    /// Seq of the last event of the log
    pub last_seq: u64,
    /// Whether the log goes on behind that
    pub more: bool,
}

/// Where the events lie that may be meant.
enum Plan {
    /// Behind that place, up to that seq.
    Behind(Option<Place>, u64),
    /// At these places.
    At(Vec<Place>),
}

impl Team {
    /// A page of events.
    pub fn events(&mut self, asked: &Events) -> Result<EventsAnswer> {
        let (filter, after) = (asked.filter(), asked.after.unwrap_or(0));
        filter.check()?;
        // Read outside of the query, which others wait for.
        let (reader, to, plan) = self.query(|live, reader| {
            let head = reader.head().last_seq;
            if after > head {
                return Err(ahead(after, head).into());
            }
            let to = head.min(after.saturating_add(EXAMINED));
            Ok((reader.clone(), to, plan(&filter, after, live, to)?))
        })?;
        let mut page = Page::new(filter, asked.limit);
        page.read(&reader, plan)?;
        let next_after = page.stopped.unwrap_or(to);
        let last_seq = reader.head().last_seq;
        Ok(EventsAnswer {
            count: page.events.len(),
            events: page.events,
            next_after,
            last_seq,
            more: next_after < last_seq,
        })
    }
}

impl Events {
    /// Which events are meant.
    pub fn filter(&self) -> Replay {
        Replay {
            kind: self.kind.clone(),
            actor: self.actor.clone(),
            trace_id: self.trace_id.clone(),
            task_id: self.task_id.clone(),
            agent: self.agent.clone(),
            ..Replay::default()
        }
    }
}

fn plan(filter: &Replay, after: u64, live: &Live, to: u64) -> Result<Plan> {
    let Some((kind, value)) = filter.posting() else {
        let behind = match after {
            0 => None,
            after => live.place(after)?,
        };
        return Ok(Plan::Behind(behind, to));
    };
    let seqs = postings(live, kind, value, after + 1, to)?;
    let mut places = Vec::with_capacity(seqs.len());
    for seq in seqs.into_iter().rev() {
        places.extend(live.place(seq)?);
    }
    Ok(Plan::At(places))
}

/// A page that is being filled.
struct Page {
    filter: Replay,
    limit: usize,
    events: Vec<Recorded>,
    bytes: usize,
    /// The last event that was taken, where the page is full.
    stopped: Option<u64>,
}

impl Page {
    fn new(filter: Replay, limit: Option<usize>) -> Page {
        let limit = match limit {
            None | Some(0) => EVENTS,
            Some(limit) => limit.min(EVENTS_MAX),
        };
        Page {
            filter,
            limit,
            events: Vec::new(),
            bytes: 0,
            stopped: None,
        }
    }

    fn read(&mut self, reader: &Reader, plan: Plan) -> Result<()> {
        match plan {
            Plan::At(places) => {
                for place in places {
                    if self.take(&reader.at(place)?).is_break() {
                        break;
                    }
                }
            }
            Plan::Behind(behind, to) => {
                reader.each(behind, |located| {
                    let event = &located.frame.event;
                    Ok::<_, Failure>(match event.seq > to {
                        true => ControlFlow::Break(()),
                        false => self.take(event),
                    })
                })?;
            }
        }
        Ok(())
    }

    fn take(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if !self.filter.matches(event) {
            return ControlFlow::Continue(());
        }
        self.bytes += event.payload.len();
        self.events
            .push(Recorded::plain(event.clone().into_owned()));
        if self.events.len() < self.limit && self.bytes < PAGE_BYTES {
            return ControlFlow::Continue(());
        }
        self.stopped = Some(event.seq);
        ControlFlow::Break(())
    }
}

/// The refusal of a cursor behind the end of the log.
pub fn ahead(after: u64, head: u64) -> Refusal {
    let message = format!("after must be at most {head}, the end of the log, but is {after}");
    Refusal::new(Code::CursorAhead, message)
        .field("after")
        .detail("after", after)
        .detail("last_seq", head)
        .hint("an older state of the log may have been put back; begin again from 0")
}
