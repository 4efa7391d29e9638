//! `events`: pages of the log for callers over a network, forward or backward from a seq.
//!
//! Each page examines a bounded number of events. The answer names the last examined event, and the next page continues
//! there.

mod newest;

use crate::log::recorded::Recorded;
use crate::log::replay::Replay;
use crate::log::replay::indexed;
use crate::log::text::Text;
use crate::operation::prelude::*;
use crate::projections::message::MessageType;
use crate::projections::vocabulary;
use serde::Deserializer;
use teamlog_engine::Place;

/// Default number of events on a page.
pub const EVENTS: usize = 100;
/// Maximum number of events on a page.
pub const EVENTS_MAX: usize = 1_000;
/// Maximum number of events that one call examines.
const EXAMINED: u64 = 20_000;
/// Number of payload bytes after which a page ends.
const PAGE_BYTES: usize = 4 << 20;

operation! {
    /// Read a page of events, forward from a seq, or backward with the newest first
    "list-events": Reads(Events) -> EventsAnswer = |team, asked| team.events(&asked),
    refuses = [CursorAhead]
}

/// Input of `list-events`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Seq of the last event that the caller knows; from the beginning if absent
    pub after: Option<u64>,
    /// Only events before this seq, newest first: `next_before` of the previous page
    pub before: Option<u64>,
    /// Order of the events; if absent, newest first with `before`, else oldest first
    pub order: Option<Order>,
    /// Largest number of events on the page; 100 if absent
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<usize>,
    /// Only events of this kind, or of several kinds separated by commas
    #[schemars(extend("examples" = vocabulary::kinds().map(|kind| kind.name).collect::<Vec<_>>()))]
    pub kind: Option<String>,
    /// Only events with this tag, NAME=VALUE; with several, only events that have all of them
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    pub tag: Vec<String>,
    /// Only events that name this agent
    pub agent: Option<String>,
    /// Only events that name this task
    pub task_id: Option<String>,
    /// Only events of this trace
    pub trace_id: Option<String>,
    /// Only events of this actor
    pub actor: Option<String>,
    /// Only messages of this type, or of several types separated by commas
    #[serde(rename = "type")]
    #[schemars(extend("examples" = MessageType::ALL.map(MessageType::name)))]
    pub message_type: Option<String>,
    /// Leaves out events with these values: FIELD:VALUE, several separated by commas. FIELD is `kind`, `type`, `actor`, `agent`,
    /// `task` or `trace`
    pub not: Option<String>,
    /// Only events with this text in their kind, actor, refs or payload, ignoring case
    pub q: Option<String>,
    /// False to leave out stored answers for retries, as `teamlog tail` does; true if absent
    pub bookkeeping: Option<bool>,
}

/// Order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Oldest first, from the beginning or after `after`
    Oldest,
    /// From the end or before `before`, backward
    Newest,
}

/// The answer `{events, count, next_after, last_seq, more, next_before?}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventsAnswer {
    /// The events, in the requested order
    pub events: Vec<Recorded>,
    /// Number of events
    pub count: usize,
    /// `after` for the next page: the last event that was examined
    pub next_after: u64,
    /// Seq of the last event of the log
    pub last_seq: u64,
    /// True if more events exist after the page; with the newest first, before the page
    pub more: bool,
    /// With the newest first, `before` for the next page; `null` at the end
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<u64>")]
    pub next_before: Option<Option<u64>>,
}

/// Reads a field that is present, so that `null` differs from an absent field.
fn present<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// The part of the log to examine.
enum Plan {
    /// All events after the given place, up to and including the given seq.
    Behind(Option<Place>, u64),
    At(Vec<Place>),
}

impl Team {
    /// Returns a page of events.
    pub fn events(&mut self, asked: &Events) -> Result<EventsAnswer> {
        let (filter, after) = (asked.filter(), asked.after.unwrap_or(0));
        filter.check()?;
        if asked.is_newest_first()? {
            return newest::page(self, asked);
        }
        // Reads the log outside the query, because a query blocks the open writer.
        let (reader, to, plan) = self.query(|live, reader| {
            let head = reader.head().last_seq;
            if after > head {
                return Err(ahead("after", after, head).into());
            }
            let to = head.min(after.saturating_add(EXAMINED));
            Ok((reader.clone(), to, plan(&filter, after, live, to)?))
        })?;
        let mut page = Page {
            filter,
            limit: page::at_most(asked.limit, EVENTS, EVENTS_MAX),
            events: Vec::new(),
            bytes: 0,
            stopped: None,
        };
        page.read(&reader, plan)?;
        let next_after = page.stopped.unwrap_or(to);
        let last_seq = reader.head().last_seq;
        Ok(EventsAnswer {
            count: page.events.len(),
            events: page.events,
            next_after,
            last_seq,
            more: next_after < last_seq,
            next_before: None,
        })
    }
}

impl Events {
    /// Returns the filter of this request.
    pub fn filter(&self) -> Replay {
        Replay {
            kind: self.kind.clone(),
            tags: self.tag.clone(),
            actor: self.actor.clone(),
            trace_id: self.trace_id.clone(),
            task_id: self.task_id.clone(),
            agent: self.agent.clone(),
            message_type: self.message_type.clone(),
            not: self
                .not
                .iter()
                .flat_map(|not| not.split(','))
                .map(str::to_owned)
                .collect(),
            text: self.q.as_deref().map(Text::new),
            without_bookkeeping: self.bookkeeping == Some(false),
            ..Replay::default()
        }
    }

    /// Returns true if the order is newest first.
    ///
    /// # Errors
    /// `invalid_input` if `order` contradicts `before`.
    pub fn is_newest_first(&self) -> Result<bool> {
        match (self.order, self.before) {
            (Some(Order::Oldest), Some(_)) => {
                let message = "order must be newest if before is given, but is oldest";
                let refusal = Refusal::new(Code::InvalidInput, message);
                Err(refusal.field("order").into())
            }
            (order, before) => Ok(order == Some(Order::Newest) || before.is_some()),
        }
    }
}

fn plan(filter: &Replay, after: u64, live: &Live, to: u64) -> Result<Plan> {
    let Some(query) = filter.index_query(false) else {
        let behind = match after {
            0 => None,
            after => live.place(after)?,
        };
        return Ok(Plan::Behind(behind, to));
    };
    let seqs = indexed(live, &query, (after + 1, to))?;
    let mut places = Vec::with_capacity(seqs.len());
    for seq in seqs.into_iter().rev() {
        places.extend(live.place(seq)?);
    }
    Ok(Plan::At(places))
}

struct Page {
    filter: Replay,
    limit: usize,
    events: Vec<Recorded>,
    bytes: usize,
    /// Seq of the last event, if the page is full.
    stopped: Option<u64>,
}

impl Page {
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
        let more = self.events.len() < self.limit && self.bytes < PAGE_BYTES;
        self.stopped = (!more).then_some(event.seq);
        page::goes_on(more)
    }
}

/// Returns the refusal for a cursor after the end of the log. `field` names the cursor.
pub fn ahead(field: &str, seq: u64, head: u64) -> Refusal {
    let message = format!("{field} must be at most {head}, the end of the log, but is {seq}");
    Refusal::new(Code::CursorAhead, message)
        .field(field)
        .detail(field, seq)
        .detail("last_seq", head)
        .hint("the log may have been restored from an older state: read it again from 0")
}
