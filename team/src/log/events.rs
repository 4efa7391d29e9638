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

/// What `events` is asked.
#[derive(Debug, Clone, Default)]
pub struct Events {
    /// The last seq that is known.
    pub after: u64,
    /// Most events, at most [`EVENTS_MAX`].
    pub limit: Option<usize>,
    /// Which of them: its refs, kind and actor count, nothing else does.
    pub filter: Replay,
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
        asked.filter.check()?;
        // Read outside of the query, which others wait for.
        let (reader, to, plan) = self.query(|live, reader| {
            let head = reader.head().last_seq;
            if asked.after > head {
                return Err(ahead(asked.after, head).into());
            }
            let to = head.min(asked.after.saturating_add(EXAMINED));
            Ok((reader.clone(), to, asked.plan(live, to)?))
        })?;
        let mut page = Page::new(asked);
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
    fn plan(&self, live: &Live, to: u64) -> Result<Plan> {
        let Some((kind, value)) = self.filter.posting() else {
            let behind = match self.after {
                0 => None,
                after => live.place(after)?,
            };
            return Ok(Plan::Behind(behind, to));
        };
        let seqs = postings(live, kind, value, self.after + 1, to)?;
        let mut places = Vec::with_capacity(seqs.len());
        for seq in seqs.into_iter().rev() {
            places.extend(live.place(seq)?);
        }
        Ok(Plan::At(places))
    }
}

/// A page that is being filled.
struct Page<'a> {
    asked: &'a Events,
    limit: usize,
    events: Vec<Recorded>,
    bytes: usize,
    /// The last event that was taken, where the page is full.
    stopped: Option<u64>,
}

impl<'a> Page<'a> {
    fn new(asked: &'a Events) -> Page<'a> {
        let limit = match asked.limit {
            None | Some(0) => EVENTS,
            Some(limit) => limit.min(EVENTS_MAX),
        };
        Page {
            asked,
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
        if !self.asked.filter.matches(event) {
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
