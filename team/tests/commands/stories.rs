//! Tests of stories: the tree of causes, offsets, gaps and durations, built from events alone.

use crate::prelude::*;
use teamlog_engine::{Event, EventId, Refs, SeededIds};
use teamlog_team::Recorded;
use teamlog_team::story::trace::TraceAnswer;
use teamlog_team::story::{Outcome, OutsideCause, Parent, SpanKind, Story};

/// Made-up events of a trace `tr`. Only their shape matters.
pub struct Made {
    ids: SeededIds,
    pub events: Vec<Recorded>,
}

impl Made {
    pub fn new() -> Made {
        given!(Made; ids: SeededIds(3.into()), events: Vec::new())
    }

    /// Adds an event whose time is `after` microseconds after noon.
    pub fn push(
        &mut self,
        after: i64,
        kind: &'static str,
        cause: Option<EventId>,
        refs: &[(RefKind, &str)],
    ) -> EventId {
        let at = time(NOON).plus_micros(after);
        let previous = self.events.last().map(|recorded| recorded.event.id);
        let id = EventId::after(previous, at, &self.ids).unwrap();
        let mut all = given!(Refs, cause);
        all.set(RefKind::Trace, "tr");
        for (kind, value) in refs {
            all.set(*kind, value.to_string());
        }
        self.events.push(Recorded::plain(
            given!(Event; seq: 10 + self.events.len() as u64, id, created_at: at, kind, actor: "ci",
                refs: all, schema_version: 1, foreign: kind.starts_with("x_"), payload: "{}"),
        ));
        id
    }

    pub fn answer(self, causes_outside: Vec<OutsideCause>) -> TraceAnswer {
        given!(TraceAnswer; team: "demo", trace_id: "tr", count: self.events.len(),
            next_cursor: None::<String>, spans: Story::new(&self.events, &causes_outside).spans,
            causes_outside, events: self.events)
    }
}

pub fn trace(team: &mut Team, id: &str) -> TraceAnswer {
    team.trace(given!(Trace, trace_id: id)).unwrap()
}

fn fact(kind: &str, cause: Option<EventId>, trace: &str) -> Append {
    given!(Append, kind, trace_id: trace, cause)
}

fn append(team: &mut Team, fact: Append) -> EventId {
    team.append(fact).unwrap().id
}

#[test]
fn events_hang_below_their_causes_with_offsets_and_gaps() {
    let mut made = Made::new();
    let first = made.push(0, "x_began", None, &[]);
    let second = made.push(5 * SECOND, "x_built", Some(first), &[]);
    made.push(6 * SECOND, "x_other", None, &[]);
    made.push(7 * SECOND, "x_tested", Some(second), &[]);
    made.push(7 * SECOND, "x_linted", Some(first), &[]);
    let story = Story::new(&made.events, &[]);
    let parents: Vec<Parent<'_>> = story.steps.iter().map(|step| step.parent).collect();
    assert_eq!(
        parents,
        [
            Parent::None,
            Parent::Cause(0),
            Parent::None,
            Parent::Cause(1),
            Parent::Cause(0)
        ]
    );
    let depths: Vec<usize> = story.steps.iter().map(|step| step.depth).collect();
    assert_eq!(depths, [0, 1, 0, 2, 1]);
    let times: Vec<(i64, i64)> = story
        .steps
        .iter()
        .map(|step| (step.offset / SECOND, step.gap / SECOND))
        .collect();
    assert_eq!(times, [(0, 0), (5, 5), (6, 1), (7, 1), (7, 0)]);
    assert_eq!(story.duration(), 7 * SECOND);
    assert_eq!(Story::new(&[], &[]).duration(), 0);
}

#[test]
fn a_cause_that_does_not_precede_is_said_to_and_makes_no_loop() {
    let mut made = Made::new();
    let first = made.push(0, "x_began", None, &[]);
    let second = made.push(1, "x_built", Some(first), &[]);
    // The first two events name each other as cause. The third event names itself.
    let third = made.push(2, "x_odd", None, &[]);
    made.events[0].event.refs.cause = Some(second);
    made.events[2].event.refs.cause = Some(third);
    let story = Story::new(&made.events, &[]);
    assert_eq!(story.steps[0].parent, Parent::NotBefore(second));
    assert_eq!(story.steps[1].parent, Parent::Cause(0));
    assert_eq!(story.steps[2].parent, Parent::NotBefore(third));
    assert_eq!(story.steps[1].depth, 1);
}

#[test]
fn messages_last_until_their_ack_and_tasks_from_assignment_to_report() {
    let (world, mut team) = demo();
    world.later(SECOND);
    let mut assignment = assign("T-1", "dev");
    assignment.trace_id = Some("tr".into());
    assignment.message_id = Some("given".into());
    team.task_assign(assignment.clone()).unwrap();
    world.later(2 * SECOND);
    team.ack(given!(Ack, agent: "dev", message_id: "given"))
        .unwrap();
    world.later(SECOND);
    let mut early = update("T-1", "done");
    early.created_at = Some("2020-01-01T00:00:00Z".into());
    team.task_update(early).unwrap();
    world.later(SECOND);
    team.task_update(update("T-1", "failed")).unwrap();
    world.later(SECOND);
    assignment.message_id = None;
    team.task_assign(assignment).unwrap();

    let answer = trace(&mut team, "tr");
    let spans: Vec<_> = answer
        .spans
        .iter()
        .map(|span| {
            (
                span.kind,
                span.outcome,
                &*span.agent,
                span.first,
                span.last,
                span.duration_us,
            )
        })
        .collect();
    use Outcome::{Acked, Failed, Open};
    use SpanKind::{Message, Task};
    assert_eq!(
        spans,
        [
            // The late report at step 2 ended nothing.
            (Task, Failed, "dev", 0, Some(3), Some(4 * SECOND)),
            (Message, Acked, "dev", 0, Some(1), Some(2 * SECOND)),
            (Message, Open, "lead", 2, None, None),
            (Message, Open, "lead", 3, None, None),
            (Task, Open, "dev", 4, None, None),
            (Message, Open, "dev", 4, None, None),
        ]
    );
    let story = answer.story();
    assert_eq!(story.steps[1].parent, Parent::Message(0));
    assert_eq!(story.steps[1].depth, 1);
    assert_eq!(story.begun_by(4).len(), 2);
    assert!(story.begun_by(1).is_empty());
    let shown = json(&answer);
    assert_eq!(shown["spans"][0]["duration_us"], 4 * SECOND);
    has!(shown, {"/spans/0/outcome": "failed", "/spans/2/last_seq": null});
    assert!(shown["spans"][0].get("first").is_none());
    // A span shows its ack even if the event of the ack is on another page.
    let page = team
        .trace(given!(Trace, trace_id: "tr", limit: 1,
            cursor: answer.events[1].event.id.to_string()))
        .unwrap();
    assert_eq!(page.spans[1].outcome, Acked);
    assert_eq!(page.spans[1].duration_us, None);
}

#[test]
fn a_dead_letter_ends_its_message_until_it_is_given_another_chance() {
    let (world, mut team) = demo();
    world.later(SECOND);
    let mut mail = message("lead", "dev");
    mail.message_id = Some("m".into());
    mail.trace_id = Some("tr".into());
    mail.delivery = Some(given!(Require, ack_timeout_seconds: 10, max_retries: 0));
    team.send(mail).unwrap();
    world.later(20 * SECOND);
    team.tick(Tick::default()).unwrap();
    let span = |team: &mut Team| trace(team, "tr").spans.remove(0);
    let dead = span(&mut team);
    assert_eq!(
        (dead.outcome, dead.duration_us),
        (Outcome::DeadLetter, Some(20 * SECOND))
    );
    team.dead_letter_requeue(given!(DeadLetterRequeue, message_id: "m"))
        .unwrap();
    let open = span(&mut team);
    assert_eq!(
        (open.outcome, open.last, open.duration_us),
        (Outcome::Open, None, None)
    );
    world.later(SECOND);
    team.ack(given!(Ack, agent: "dev", message_id: "m"))
        .unwrap();
    let acked = span(&mut team);
    assert_eq!(
        (acked.outcome, acked.duration_us),
        (Outcome::Acked, Some(21 * SECOND))
    );
    // The delivery's events are children of their causes, in one tree.
    let answer = trace(&mut team, "tr");
    let story = answer.story();
    assert!(
        story
            .steps
            .iter()
            .skip(1)
            .all(|step| matches!(step.parent, Parent::Cause(_) | Parent::Message(_))),
        "{:?}",
        story.steps
    );
}

#[test]
fn claims_begin_and_end_tasks_too() {
    let mut made = Made::new();
    let task = &[(RefKind::Task, "T-7"), (RefKind::Agent, "dev")];
    made.push(0, "task_created", None, task);
    made.push(SECOND, "task_claimed", None, task);
    made.push(3 * SECOND, "task_completed", None, task);
    let story = Story::new(&made.events, &[]);
    assert_eq!(story.spans.len(), 1);
    let span = &story.spans[0];
    assert_eq!((span.outcome, span.first), (Outcome::Completed, 1));
    assert_eq!((&*span.agent, span.duration_us), ("dev", Some(2 * SECOND)));
}

#[test]
fn a_cause_outside_the_page_is_looked_up_where_the_log_holds_it() {
    let (_, mut team) = demo();
    let loose = {
        let mut fact = fact("x_loose", None, "tr");
        fact.trace_id = None;
        append(&mut team, fact)
    };
    let other = append(&mut team, fact("x_other", None, "other"));
    let older = append(&mut team, fact("x_older", None, "tr"));
    let unknown = EventId::new(time(NOON), 12);
    for cause in [loose, other, older, unknown] {
        append(&mut team, fact("x_effect", Some(cause), "tr"));
    }
    let page = team.trace(given!(Trace, trace_id: "tr", limit: 4)).unwrap();
    let known = |id: EventId| {
        let id = id.to_string();
        page.causes_outside.iter().find(|cause| cause.id == id)
    };
    let found = |id| known(id).map(|cause| (cause.seq, cause.trace_id.as_deref()));
    assert_eq!(found(loose), Some((Some(2), None)));
    assert_eq!(found(other), Some((Some(3), Some("other"))));
    assert_eq!(found(older), Some((Some(4), Some("tr"))));
    assert_eq!(found(unknown), Some((None, None)));
    let story = page.story();
    for (step, id) in story.steps.iter().zip([loose, other, older, unknown]) {
        assert_eq!(Some(step.parent), known(id).map(Parent::Outside));
        assert_eq!(step.depth, 0);
    }
    let whole = trace(&mut team, "tr");
    assert_eq!(whole.causes_outside.len(), 3);
    assert_eq!(whole.story().steps[3].parent, Parent::Cause(0));
    // Without `causes_outside`, a cause on another page is shown as unknown.
    let bare = Story::new(&page.events, &[]);
    assert_eq!(bare.steps[0].parent, Parent::Unknown(loose));
}

#[test]
fn a_chain_of_ten_thousand_causes_is_walked_once() {
    let mut made = Made::new();
    let mut cause = None;
    for n in 0..10_000 {
        cause = Some(made.push(n, "x_next", cause, &[]));
    }
    let started = std::time::Instant::now();
    let story = Story::new(&made.events, &[]);
    assert_eq!(story.steps[9_999].depth, 9_999);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn a_message_in_the_story_is_no_cause_of_foreign_facts() {
    let (_, mut team) = demo();
    let mut mail = message("lead", "dev");
    mail.message_id = Some("m".into());
    mail.trace_id = Some("tr".into());
    team.send(mail.clone()).unwrap();
    team.send(mail).unwrap();
    let mut about = fact("x_seen", None, "tr");
    about.message_id = Some("m".into());
    append(&mut team, about);
    let answer = trace(&mut team, "tr");
    let story = answer.story();
    assert_eq!(story.steps[1].parent, Parent::Message(0));
    assert_eq!(story.steps[2].parent, Parent::None);
}
