//! Tests of jobs in two steps: the second step sees the events of the first step, and all events are in one group.

use crate::support::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use teamlog_engine::Room;
use teamlog_engine::internals::codec::canonical_len;
use teamlog_engine::internals::journal::{Compares, MemoryJournal};
use teamlog_engine::limits::{EVENT_BYTES_MAX, GROUP_BYTES_MAX};
use teamlog_engine::{Clock, Commit, CommitError, Event, EventId, Place, State, Writer};

/// Room for the event of the second step.
const ROOM: Room = Room {
    events: 1,
    bytes: EVENT_BYTES_MAX,
};

/// State that remembers the text of every folded event.
#[derive(Default)]
struct Seen(Vec<String>);

impl State for Seen {
    fn apply(&mut self, events: &[Event<'static>]) -> teamlog_engine::Result<()> {
        self.0.extend(events.iter().map(text));
        Ok(())
    }
    fn committed(&mut self, _: &Head, _: &[Event<'static>], _: &[Place], _: &[u32]) {}
    fn allow_retract(&mut self) {}
    fn retract(&mut self) {}
}

fn world() -> (tempfile::TempDir, Log) {
    let dir = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Files::open(dir.path()).unwrap());
    let log = create(&storage, FORMATS[0], &options().1);
    (dir, log)
}

fn writing(log: &Log) -> Writer<Seen> {
    log.lock().unwrap().into_writer(Seen::default())
}

/// Returns the texts of the events of each group.
fn groups(log: &Log) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let reader = log.reader().unwrap();
    let read = reader.each(None, |located| {
        let text = text(&located.frame.event).chars().take(20).collect();
        match (located.frame.group.index, groups.last_mut()) {
            (1.., Some(group)) => group.push(text),
            _ => groups.push(vec![text]),
        }
        Ok::<_, Error>(ControlFlow::<()>::Continue(()))
    });
    assert_eq!(read.unwrap(), None);
    groups
}

#[test]
fn the_second_step_sees_the_state_and_the_stamped_events_and_completes_the_answer() {
    let (_dir, log) = world();
    let writer = writing(&log);
    let done = writer
        .commit_with(
            Durability::Synced,
            ROOM,
            |seen: &Seen, _| {
                assert!(seen.0.is_empty());
                Ok::<_, ()>((String::new(), vec![said("a"), said("b")]))
            },
            |seen, answer, events| {
                assert_eq!(seen.0, ["a", "b"]);
                *answer = format!("{} to {}", events[0].seq, events[1].seq);
                vec![said("that was it")]
            },
        )
        .unwrap();
    assert_eq!(done.answer, "1 to 2");
    let texts: Vec<String> = done.events.iter().map(text).collect();
    assert_eq!(texts, ["a", "b", "that was it"]);
    drop(writer);
    assert_eq!(groups(&log), [["a", "b", "that was it"]]);
}

#[test]
fn what_is_refused_has_no_second_step_and_what_records_nothing_has() {
    let (_dir, log) = world();
    let writer = writing(&log);
    let refused = writer.commit_with(
        Durability::Synced,
        ROOM,
        |_: &Seen, _| Err::<((), Vec<NewEvent>), _>("no"),
        |_, (), _| unreachable!("it was refused"),
    );
    assert!(matches!(refused, Err(CommitError::Refused("no"))));
    let done = writer
        .commit_with(
            Durability::Synced,
            ROOM,
            |_: &Seen, _| Ok::<_, ()>((0, vec![])),
            |_, answer, events| {
                *answer = events.len() + 7;
                vec![said("alone")]
            },
        )
        .unwrap();
    assert_eq!((done.answer, done.events.len()), (7, 1));
    drop(writer);
    assert_eq!(groups(&log), [["alone"]]);
}

#[test]
fn many_threads_keep_their_steps_together() {
    let (_dir, log) = world();
    let writer = writing(&log);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let writer = &writer;
            scope.spawn(move || {
                for n in 0..20 {
                    let name = format!("{thread}-{n}");
                    let second = format!("{name} again");
                    let done = writer.commit_with(
                        Durability::Synced,
                        ROOM,
                        move |_: &Seen, _| Ok::<_, ()>(((), vec![said(&name)])),
                        move |_, (), _| vec![said(&second)],
                    );
                    assert_eq!(done.unwrap().events.len(), 2);
                }
            });
        }
    });
    drop(writer);
    let groups = groups(&log);
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 320);
    for pair in groups.iter().flat_map(|group| group.chunks(2)) {
        assert_eq!(pair.len(), 2, "{pair:?}");
        assert_eq!(pair[1], format!("{} again", pair[0]));
    }
}

#[test]
fn large_steps_that_share_a_round_are_not_torn_apart() {
    let (_dir, log) = world();
    let writer = writing(&log);
    // Three jobs fill a group: the first step of the last job would fit, and its second step would not.
    let large = || {
        let filler = "x".repeat(750_000);
        let payload = Json::parse(&format!("{{\"text\":\"{filler}\"}}")).unwrap();
        NewEvent::new("said", "a", payload)
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let done = writer.commit_with(
                        Durability::Synced,
                        ROOM,
                        move |_: &Seen, _| Ok::<_, ()>(((), vec![large()])),
                        move |_, (), _| vec![large()],
                    );
                    assert_eq!(done.unwrap().events.len(), 2);
                }
            });
        }
    });
    drop(writer);
    let sizes: Vec<usize> = groups(&log).iter().map(Vec::len).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 64);
    assert!(sizes.iter().all(|size| size % 2 == 0), "{sizes:?}");
}

/// A clock that advances by `step` at every reading.
#[derive(Debug)]
struct Moving {
    micros: AtomicI64,
    step: i64,
}

impl Clock for Moving {
    fn now(&self) -> Timestamp {
        let micros = self.micros.fetch_add(self.step, Ordering::Relaxed);
        Timestamp::from_micros(micros).unwrap()
    }
}

const HOUR: i64 = 3_600_000_000;

/// Creates a log with a clock of its own, which starts at `micros` and advances by `step`.
fn moving(format: Format, micros: i64, step: i64) -> (Arc<dyn Storage>, Log) {
    let storage: Arc<dyn Storage> = arc(&Memory::new());
    create(&storage, format, &options().1);
    let clock = Arc::new(Moving {
        micros: micros.into(),
        step,
    });
    let mut options = options().1;
    options.clock = clock;
    let log = open(&storage, &options);
    (storage, log)
}

type Done = Result<Commit<()>, CommitError<()>>;

/// Commits a job with the two given steps.
fn commit<S: State>(
    writer: &Writer<S>,
    durability: Durability,
    first: Vec<NewEvent>,
    second: NewEvent,
) -> Done {
    let decide = move |_: &S, _| Ok(((), first));
    writer.commit_with(durability, ROOM, decide, move |_, (), _| vec![second])
}

/// Commits a job of three events with `name` as their text.
fn three(writer: &Writer<Seen>, durability: Durability, name: &str) -> Done {
    let first = vec![said(name), said(name)];
    commit(writer, durability, first, said(name))
}

/// Checks that the log holds `jobs` jobs of three events, and that no job is in two groups.
fn assert_whole(log: &Log, jobs: usize) {
    let groups = groups(log);
    let of_jobs: Vec<&[String]> = groups.iter().flat_map(|group| group.chunks(3)).collect();
    assert_eq!(of_jobs.len(), jobs, "{groups:?}");
    for job in of_jobs {
        assert_eq!(job, [&*job[0], &*job[0], &*job[0]], "{groups:?}");
    }
}

#[test]
fn a_midnight_between_any_two_readings_of_the_clock_parts_no_job() {
    let midnight = start().next_day().micros();
    let mut cases = vec![(start().micros(), 5 * HOUR), (start().micros(), 13 * HOUR)];
    cases.extend((0..10).map(|n| (midnight - n, 1)));
    cases.extend((0..10).map(|n| (midnight - n * HOUR, HOUR)));
    for format in FORMATS {
        for durability in [Durability::Synced, Durability::Buffered] {
            for &(micros, step) in &cases {
                let (_storage, log) = moving(format, micros, step);
                let writer = writing(&log);
                for name in ["a", "b", "c", "d", "e", "f"] {
                    let done = three(&writer, durability, name).unwrap();
                    let days = done.events.iter().map(|event| event.created_at.day_start());
                    let days: Vec<Timestamp> = days.collect();
                    assert_eq!(days, [days[0]; 3], "{name} from {micros} by {step}");
                }
                writer.close().unwrap();
                assert_whole(&log, 6);
            }
        }
    }
}

#[test]
fn a_midnight_parts_no_job_of_a_leader_and_of_those_that_follow_it() {
    for format in FORMATS {
        for durability in [Durability::Synced, Durability::Buffered] {
            let (_storage, log) = moving(format, start().micros(), 5 * HOUR);
            let writer = writing(&log);
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    let writer = &writer;
                    scope.spawn(move || {
                        for n in 0..10 {
                            let done = three(writer, durability, &format!("{thread}-{n}"));
                            assert_eq!(done.unwrap().events.len(), 3);
                        }
                    });
                }
            });
            writer.close().unwrap();
            assert_whole(&log, 80);
        }
    }
}

#[test]
fn a_host_beside_a_journal_parts_no_job_at_midnight() {
    for format in FORMATS {
        let storage: Arc<dyn Storage> = arc(&Memory::new());
        let journal = MemoryJournal::new(Compares::Position);
        create_shared(&storage, format, &options().1);
        let clock = Moving {
            micros: start().micros().into(),
            step: 5 * HOUR,
        };
        let mut options = through(journal, &small(1));
        options.clock = Arc::new(clock);
        let log = open(&storage, &options);
        let writer = writing(&log);
        for name in ["a", "b", "c", "d", "e", "f"] {
            three(&writer, Durability::Synced, name).unwrap();
        }
        writer.close().unwrap();
        assert_whole(&log, 6);
    }
}

/// Returns an event whose canonical JSON has this length, if the seq of the event has one digit.
fn sized(len: usize) -> NewEvent {
    let new = said("");
    let event = given!(Event; seq: 1, id: EventId::new(start(), 0), created_at: start(),
        kind: new.kind.clone(), actor: new.actor.clone(), refs: new.refs.clone(), schema_version: 1,
        foreign: false, payload: new.payload.as_str());
    said(&"x".repeat(len - canonical_len(&event)))
}

#[test]
fn a_job_that_does_not_fit_the_open_group_goes_whole_into_the_next() {
    // A job is pending. The first events of the next job fit into its group, but the answer of that job does not.
    let kib = 1 << 10;
    for format in FORMATS {
        let (_storage, log) = moving(format, start().micros(), 1);
        let writer = writing(&log);
        let first = vec![sized(450 * kib), said("")];
        commit(&writer, Durability::Buffered, first, sized(450 * kib)).unwrap();
        let first = vec![sized(kib + kib / 4); 2_000];
        let done = commit(&writer, Durability::Buffered, first, sized(ROOM.bytes - 10)).unwrap();
        assert_eq!(done.events.len(), 2_001);
        writer.close().unwrap();
        let sizes: Vec<usize> = groups(&log).iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 2_001], "{format:?}");
    }
}

#[test]
fn only_a_job_larger_than_an_empty_group_is_refused_and_nothing_of_it_is_folded() {
    for format in FORMATS {
        let (_storage, log) = moving(format, start().micros(), 1);
        let writer = writing(&log);
        let most = vec![sized(EVENT_BYTES_MAX); (GROUP_BYTES_MAX - ROOM.bytes) / EVENT_BYTES_MAX];
        let more = [most.clone(), vec![said("")]].concat();
        let refused = commit(&writer, Durability::Synced, more, said("no"));
        assert!(matches!(
            refused,
            Err(CommitError::Failed(Error::TooLarge { .. }))
        ));
        assert_eq!(writer.with_state(|seen| seen.0.len()), 0);
        three(&writer, Durability::Buffered, "a").unwrap();
        let done = commit(&writer, Durability::Synced, most, sized(ROOM.bytes)).unwrap();
        assert_eq!(done.events.len(), 4);
        drop(writer);
        let sizes: Vec<usize> = groups(&log).iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 4]);
    }
}

#[test]
fn an_event_at_the_end_of_its_day_leaves_no_room_for_an_answer_and_is_refused_first() {
    let (_dir, log) = world();
    let writer = writing(&log);
    let last = start().next_day().plus_micros(-1);
    let late = given!(NewEvent, created_at: last, ..said("late"));
    let refused = commit(&writer, Durability::Synced, vec![late], said("answer"));
    let Err(CommitError::Failed(Error::Invalid { field, .. })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(field, "created_at");
    assert_eq!(writer.with_state(|seen| seen.0.len()), 0);
    three(&writer, Durability::Synced, "a").unwrap();
}

#[test]
fn a_second_step_may_leave_room_that_was_reserved() {
    for format in FORMATS {
        let (_storage, log) = moving(format, start().micros(), 5 * HOUR);
        let writer = writing(&log);
        let room = Room {
            events: 4,
            bytes: 4_096,
        };
        for given in [0, 1, 4, 2] {
            let first = vec![said("a")];
            let decide = move |_: &Seen, _| Ok::<_, ()>(((), first));
            let more = vec![said("b"); given];
            let done = writer.commit_with(Durability::Buffered, room, decide, |_, (), _| more);
            assert_eq!(done.unwrap().events.len(), 1 + given);
        }
        writer.close().unwrap();
        let texts: Vec<Vec<String>> = groups(&log);
        assert_eq!(texts.concat().len(), 11);
        assert!(log.verify(None).unwrap().problems.is_empty());
    }
}
