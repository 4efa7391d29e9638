//! Jobs in two steps: the second one sees what the first one recorded, and both lie in one group.

use crate::support::*;
use teamlog_engine::{CommitError, Event, Place, State, Writer};

/// Remembers every text that was folded.
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

/// The groups of the only segment, as their texts.
fn groups(dir: &tempfile::TempDir) -> Vec<Vec<String>> {
    let path = dir.path().join(segment(FORMATS[0]));
    let mut groups: Vec<Vec<String>> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let said = line["payload"]["text"].as_str().unwrap();
        let said = said.chars().take(20).collect();
        match (line["group"][0].as_u64(), groups.last_mut()) {
            (Some(index), Some(group)) if index > 0 => group.push(said),
            _ => groups.push(vec![said]),
        }
    }
    groups
}

#[test]
fn the_second_step_sees_the_state_and_the_stamped_events_and_completes_the_answer() {
    let (dir, log) = world();
    let writer = writing(&log);
    let done = writer
        .commit_with(
            Durability::Synced,
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
    assert_eq!(groups(&dir), [["a", "b", "that was it"]]);
}

#[test]
fn what_is_refused_has_no_second_step_and_what_records_nothing_has() {
    let (dir, log) = world();
    let writer = writing(&log);
    let refused = writer.commit_with(
        Durability::Synced,
        |_: &Seen, _| Err::<((), Vec<NewEvent>), _>("no"),
        |_, (), _| unreachable!("it was refused"),
    );
    assert!(matches!(refused, Err(CommitError::Refused("no"))));
    let done = writer
        .commit_with(
            Durability::Synced,
            |_: &Seen, _| Ok::<_, ()>((0, vec![])),
            |_, answer, events| {
                *answer = events.len() + 7;
                vec![said("alone")]
            },
        )
        .unwrap();
    assert_eq!((done.answer, done.events.len()), (7, 1));
    drop(writer);
    assert_eq!(groups(&dir), [["alone"]]);
}

#[test]
fn many_threads_keep_their_steps_together() {
    let (dir, log) = world();
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
                        move |_: &Seen, _| Ok::<_, ()>(((), vec![said(&name)])),
                        move |_, (), _| vec![said(&second)],
                    );
                    assert_eq!(done.unwrap().events.len(), 2);
                }
            });
        }
    });
    drop(writer);
    let groups = groups(&dir);
    assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 320);
    for pair in groups.iter().flat_map(|group| group.chunks(2)) {
        assert_eq!(pair.len(), 2, "{pair:?}");
        assert_eq!(pair[1], format!("{} again", pair[0]));
    }
}

#[test]
fn large_steps_that_share_a_round_are_not_torn_apart() {
    let (dir, log) = world();
    let writer = writing(&log);
    // Of three jobs that fill a group, the last one's first step would fit and its second one would not.
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
                        move |_: &Seen, _| Ok::<_, ()>(((), vec![large()])),
                        move |_, (), _| vec![large()],
                    );
                    assert_eq!(done.unwrap().events.len(), 2);
                }
            });
        }
    });
    drop(writer);
    let sizes: Vec<usize> = groups(&dir).iter().map(Vec::len).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 64);
    assert!(sizes.iter().all(|size| size % 2 == 0), "{sizes:?}");
}
