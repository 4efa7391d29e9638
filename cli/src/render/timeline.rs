//! Renders a trace as a timeline. Each event is indented below its cause and shows its offset from the first event, the time
//! since the previous event, the duration of tasks and messages, and a mark if the event had no effect.

use crate::render::event::tone;
use crate::render::style::Style;
use crate::render::table::{self, Cell, free_text, number_styled, styled};
use crate::render::{View, heading, more_below, push_below, time};
use teamlog_team::Recorded;
use teamlog_team::shell::quoted;
use teamlog_team::story::sentence::sentence;
use teamlog_team::story::trace::TraceAnswer;
use teamlog_team::story::{Outcome, OutsideCause, Parent, Span, Step, Story};

/// Shorter gaps between two events are not shown.
const GAP_SHOWN_MICROS: i64 = time::SECOND;

/// Maximum indentation, because a chain of causes may be as long as the trace.
const DEPTH_SHOWN_MAX: usize = 12;
/// Maximum indentation on a terminal narrower than [`NARROW`], where the text needs the space.
const DEPTH_NARROW_MAX: usize = 3;
/// Width below which a terminal is narrow.
const NARROW: usize = 110;

pub fn story(answer: &TraceAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "event");
    let story = answer.story();
    let over = match story.duration() {
        0 => String::new(),
        micros => format!(" over {}", time::span(micros)),
    };
    let mut shown = vec![heading(
        view,
        &answer.trace_id,
        &format!(" in {}: {count}{over}", answer.team),
    )];
    push_below(&mut shown, steps(&story, view));
    if answer.count == 0 {
        let team = quoted(&answer.team);
        shown.push(format!("to list the traces: teamlog trace {team}"));
    }
    shown.extend(more_below("older ones", &answer.next_cursor));
    shown
}

/// Renders the events of a trace.
pub fn lines(events: &[Recorded], view: &View) -> Vec<String> {
    steps(&Story::new(events, &[]), view)
}

/// Renders the steps. Each line has the offset, the time since the previous step, and the seq.
fn steps(story: &Story<'_>, view: &View) -> Vec<String> {
    let mut tree = Tree::new(view);
    let steps = story.steps.iter().enumerate();
    let rows = steps.map(|(at, step)| {
        let parent = tree.parent_shown(at, step);
        row(story, at, step, (parent, tree.depth(step)))
    });
    let rows: Vec<_> = rows.collect();
    let started = story.steps.first().map(|step| {
        let at = step.recorded.event.created_at.to_string();
        let (day, clock) = (at.get(..10), at.get(11..19));
        format!(
            "  {} {} UTC",
            day.unwrap_or_default(),
            clock.unwrap_or_default()
        )
    });
    let mut shown: Vec<String> = started.into_iter().collect();
    shown.extend(table::lines(rows, 2, view));
    shown
}

/// The causes that the indentation shows. A cause is dropped when a step with a smaller depth follows.
struct Tree {
    last: Vec<usize>,
    depth_max: usize,
}

impl Tree {
    fn new(view: &View) -> Tree {
        let is_narrow = view.width.is_some_and(|width| width < NARROW);
        let depth_max = if is_narrow {
            DEPTH_NARROW_MAX
        } else {
            DEPTH_SHOWN_MAX
        };
        Tree {
            last: Vec::new(),
            depth_max,
        }
    }

    /// Returns the indentation of a step.
    fn depth(&self, step: &Step<'_>) -> usize {
        step.depth.min(self.depth_max)
    }

    /// Returns the step that the indentation shows as the cause of the step at index `at`.
    fn parent_shown(&mut self, at: usize, step: &Step<'_>) -> Option<usize> {
        self.last.truncate(self.depth(step));
        let above = self.last.last().copied();
        self.last.push(at);
        above.filter(|_| step.depth > 0)
    }
}

fn row(
    story: &Story<'_>,
    at: usize,
    step: &Step<'_>,
    (parent_shown, depth): (Option<usize>, usize),
) -> Vec<Cell> {
    let recorded = step.recorded;
    let event = &recorded.event;
    let marks = marks(story, at, step, parent_shown);
    let changed_nothing =
        recorded.marks.superseded || recorded.marks.duplicate || recorded.marks.refused;
    let style = if changed_nothing {
        Style::Dim
    } else {
        tone(event)
    };
    let gap = match step.gap {
        ..GAP_SHOWN_MICROS => String::new(),
        gap => format!("({} later)", time::span(gap)),
    };
    let what = match marks.is_empty() {
        true => sentence(event),
        false => format!("{}  [{}]", sentence(event), marks.join(", ")),
    };
    let indent = match depth {
        0 => String::new(),
        depth => format!("{}└ ", "  ".repeat(depth - 1)),
    };
    vec![
        number_styled(Style::Dim, format!("+{}", time::span(step.offset))),
        styled(Style::Dim, gap).optional(),
        number_styled(Style::Dim, format!("#{}", event.seq)),
        styled(Style::Dim, &event.kind).optional(),
        free_text(style, format!("{indent}{what}")),
    ]
}

fn marks(
    story: &Story<'_>,
    at: usize,
    step: &Step<'_>,
    parent_shown: Option<usize>,
) -> Vec<String> {
    let recorded = step.recorded;
    let ended: Vec<String> = story.begun_by(at).iter().filter_map(ended).collect();
    let timed = |span: &Span| span.outcome == Outcome::Acked && span.last.is_some();
    let ack_timed = story.begun_by(at).iter().any(timed);
    let marks = [
        ("superseded: changed nothing", recorded.marks.superseded),
        ("duplicate: changed nothing", recorded.marks.duplicate),
        ("refused", recorded.marks.refused),
        ("acked", recorded.marks.acked && !ack_timed),
        ("foreign", recorded.event.foreign),
    ];
    let set = marks.iter().filter(|(_, set)| *set);
    let mut marks: Vec<String> = set.map(|(name, _)| (*name).to_owned()).collect();
    marks.extend(ended);
    marks.extend(from(story, step, parent_shown));
    marks
}

/// Formats `completed after 3m 07s`.
fn ended(span: &Span) -> Option<String> {
    let word = match span.outcome {
        Outcome::DeadLetter => "dead letter",
        outcome => outcome.name(),
    };
    let lasted = time::span(span.duration_us?);
    Some(format!("{word} after {lasted}"))
}

/// Returns the name of the event's cause, if the indentation does not show this cause.
fn from(story: &Story<'_>, step: &Step<'_>, parent_shown: Option<usize>) -> Option<String> {
    match step.parent {
        Parent::None => None,
        Parent::Cause(above) | Parent::Message(above) if Some(above) == parent_shown => None,
        Parent::Cause(above) | Parent::Message(above) => {
            let seq = story.steps.get(above)?.recorded.event.seq;
            Some(format!("from #{seq}"))
        }
        Parent::Outside(cause) => Some(outside(step, cause)),
        Parent::Unknown(id) => Some(format!("from {id}, which is not shown here")),
        Parent::NotBefore(id) => Some(format!("names {id} as its cause, which comes later")),
    }
}

fn outside(step: &Step<'_>, cause: &OutsideCause) -> String {
    use teamlog_team::projections::RefKind;
    let here = step.recorded.event.refs.get(RefKind::Trace);
    match (cause.seq, cause.trace_id.as_deref()) {
        (None, _) => format!("cause missing: the log holds no event {}", cause.id),
        (Some(seq), None) => format!("from #{seq}, which has no trace"),
        (Some(seq), trace) if trace == here => format!("from #{seq}, on an older page"),
        (Some(seq), Some(trace)) => format!("from #{seq} of trace {trace}"),
    }
}
