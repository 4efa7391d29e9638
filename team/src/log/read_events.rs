//! `read-events`: team events after a cursor, for brokers.

use crate::log::event_type::EventType;
use crate::log::team_event::TeamEvent;
use crate::operation::prelude::*;
use page::event_cursor;
use teamlog_engine::Place;

/// Rules of operations that filter events. An invalid filter gives the code `operation_failed`, as the contract requires.
pub(crate) const FILTERS: Rules = Rules {
    lookups: &["wakeable_only", "type", "timeout_ms", "poll_ms"],
    never_null: &["wakeable_only", "type", "timeout_ms", "poll_ms"],
    ..Rules::COMMON
};

operation! {
    /// Read the events of a team after a cursor
    "read-events": Reads(ReadEvents {
        /// Id of the last event that the caller knows; only later events are read
        after_event_id: Option<String>,
        /// Only events that wake waiting callers; default false
        wakeable_only: Option<bool>,
        /// Only events with this type, either as recorded or as reported
        #[serde(rename = "type")]
        kind: Option<EventType>,
        /// Only events of this worker
        worker: Option<String>,
        /// Only events of this task
        task_id: Option<String>,
        /// Largest number of events; all if absent
        #[schemars(range(min = 1))]
        limit: Option<usize>,
        /// Number of newest events to read; cannot be combined with `limit`
        #[schemars(range(min = 1, max = LAST_MAX))]
        last: Option<usize>,
    }) -> ReadEventsAnswer = |team, asked| team.read_events(&asked),
    rules = FILTERS,
    empty = |asked, _| asked.empty()
}

/// Maximum value of `last`.
const LAST_MAX: usize = 1_000;

/// The answer `{count, cursor, events}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadEventsAnswer {
    /// Number of events
    pub count: usize,
    /// Id of the last event; without events, the cursor of the request
    pub cursor: String,
    /// The events in canonical form, oldest first
    pub events: Vec<TeamEvent>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub wakeable_only: bool,
    pub kind: Option<EventType>,
    pub worker: Option<String>,
    pub task_id: Option<String>,
}

/// The team events of a log after a cursor: in canonical form, without repetitions, filtered.
#[derive(Debug)]
pub(crate) struct Stream {
    team: String,
    filter: Filter,
    /// The previous team event, even if the filter dropped it.
    before: Option<TeamEvent>,
}

impl Filter {
    fn takes(&self, event: &TeamEvent) -> bool {
        let (worker, task) = (self.worker.as_deref(), self.task_id.as_deref());
        (!self.wakeable_only || event.is_wakeable())
            && self.kind.is_none_or(|kind| event.is(kind))
            && worker.is_none_or(|worker| event.concerns(worker))
            && task.is_none_or(|task| event.task_id.as_deref() == Some(task))
    }
}

impl Stream {
    pub fn new(team: &str, filter: Filter) -> Stream {
        Stream {
            team: team.to_owned(),
            filter,
            before: None,
        }
    }

    /// Returns the next event as a team event; `None` if the filter drops it.
    pub fn take(&mut self, event: &Event<'_>) -> Option<TeamEvent> {
        let says = TeamEvent::from_event(event, &self.team)?.canonical();
        let repeats = |before: &TeamEvent| says.repeats(before);
        if self.before.as_ref().is_some_and(repeats) {
            return None;
        }
        let taken = self.filter.takes(&says).then(|| says.clone());
        self.before = Some(says);
        taken
    }
}

/// Returns the place of the event with the cursor's id; `None` if no event has that id.
pub(crate) fn place_of(live: &Live, reader: &Reader, id: &str) -> Result<Option<(u64, Place)>> {
    let Some(seq) = event_cursor(live, reader, id)? else {
        return Ok(None);
    };
    Ok(live.place(seq)?.map(|place| (seq, place)))
}

/// Returns the newest events that pass the filter, oldest first. Reads backward from the end of the log to `after`. Like forward
/// reading, drops an event that repeats the previous event.
fn newest(
    team: &str,
    filter: &Filter,
    reader: &Reader,
    after: Option<(u64, Place)>,
    last: usize,
) -> Result<Vec<TeamEvent>> {
    let first = after.map_or(0, |(seq, _)| seq);
    let mut found: Vec<TeamEvent> = Vec::new();
    // The event that was read last. After the event before it is read, this event is kept or
    // dropped.
    let mut open: Option<TeamEvent> = None;
    let mut settle = |open: Option<TeamEvent>, before: Option<&TeamEvent>| {
        let kept = open.filter(|event| !before.is_some_and(|before| event.repeats(before)));
        found.extend(kept.filter(|event| filter.takes(event)));
        found.len() >= last
    };
    let full = reader.each_reversed(|located| {
        let event = &located.frame.event;
        if event.seq <= first {
            return Ok::<_, crate::Failure>(ControlFlow::Break(false));
        }
        let Some(says) = TeamEvent::from_event(event, team).map(TeamEvent::canonical) else {
            return Ok(ControlFlow::Continue(()));
        };
        let full = settle(open.replace(says.clone()), Some(&says));
        Ok(match full {
            true => ControlFlow::Break(true),
            false => ControlFlow::Continue(()),
        })
    })?;
    if full != Some(true) {
        settle(open, None);
    }
    found.truncate(last);
    found.reverse();
    Ok(found)
}

impl ReadEvents {
    /// Returns the answer without events.
    pub(crate) fn empty(&self) -> ReadEventsAnswer {
        ReadEventsAnswer {
            cursor: self.after().unwrap_or_default().to_owned(),
            ..ReadEventsAnswer::default()
        }
    }

    fn after(&self) -> Option<&str> {
        let after = self.after_event_id.as_deref().map(str::trim);
        after.filter(|after| !after.is_empty())
    }

    fn filter(&self) -> Filter {
        Filter {
            wakeable_only: self.wakeable_only.unwrap_or_default(),
            kind: self.kind,
            worker: self.worker.clone(),
            task_id: self.task_id.clone(),
        }
    }
}

impl Team {
    /// Returns the team events after a cursor. Returns no events if the cursor names no event.
    pub fn read_events(&mut self, read: &ReadEvents) -> Result<ReadEventsAnswer> {
        if let (Some(_), Some(_)) = (read.last, read.limit) {
            let message = "give either last or limit: last counts from the end of the log, limit from the cursor";
            let refusal = Refusal::new(Code::InvalidInput, message);
            return Err(refusal.field("last").into());
        }
        let limit = page::limit(read.limit, 0);
        let name = self.name().to_owned();
        self.survey(|live, reader| {
            let mut answer = read.empty();
            let after = match read.after() {
                None => None,
                Some(id) => match place_of(live, reader, id)? {
                    Some(found) => Some(found),
                    None => return Ok(answer),
                },
            };
            match read.last {
                Some(last) => answer.events = newest(&name, &read.filter(), reader, after, last)?,
                None => {
                    let mut stream = Stream::new(&name, read.filter());
                    reader.each(after.map(|(_, place)| place), |located| {
                        answer.events.extend(stream.take(&located.frame.event));
                        Ok::<_, Failure>(page::goes_on(answer.events.len() < limit))
                    })?;
                }
            }
            answer.count = answer.events.len();
            if let Some(last) = answer.events.last() {
                answer.cursor.clone_from(&last.event_id);
            }
            Ok(answer)
        })
    }
}
