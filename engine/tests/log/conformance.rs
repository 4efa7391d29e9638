//! The rules for every journal, as tests. The engine's tests check the journal in memory. Other crates include this file to
//! check their journals.

use std::thread;
use teamlog_engine::LogId;
use teamlog_engine::journal::{
    Append, GroupDigest, Journal, Journals, LogState, Outcome, Position, ReadError,
};
use teamlog_engine::{Clock, EventId, Format, Identity, JournalIdentity, SystemClock, Timestamp};

/// Returns the identity of the log with this number, in the given journal.
pub fn identity(log: u8, journal: &str) -> Identity {
    Identity {
        log: LogId([log; 16]),
        name: format!("team-{log}"),
        format: Format::Jsonl,
        version: 1,
        created_at: Timestamp::parse("2026-11-21T10:00:00Z").unwrap(),
        origin: "init".into(),
        journal: Some(JournalIdentity {
            kind: "any".into(),
            id: journal.into(),
            segment_bytes_max: 4_000,
        }),
        refs: Default::default(),
    }
}

pub fn last_id() -> EventId {
    EventId::from_text(b"019ab000-0000-7000-8000-000000000001").unwrap()
}

/// Returns the position after another group of `events` events.
pub fn behind(after: Position, events: u64, bytes: &[u8]) -> Position {
    Position {
        last_seq: after.last_seq + events,
        digest: after.digest.then(bytes),
    }
}

pub fn group(log: u8, after: Position, bytes: &[u8]) -> Append<'_> {
    Append {
        log: LogId([log; 16]),
        after,
        position: behind(after, 1, bytes),
        last_id: last_id(),
        bytes,
        begins: &[],
    }
}

pub fn one(journal: &mut dyn Journal, append: Append<'_>) -> Outcome {
    let outcomes = journal.append(&[append], LogState::Open);
    assert_eq!(outcomes.len(), 1);
    outcomes.into_iter().next().unwrap()
}

pub fn texts(journal: &mut dyn Journal, log: u8, mut after: Position, max: usize) -> Vec<String> {
    let mut texts = Vec::new();
    loop {
        let page = journal.read(LogId([log; 16]), after, max).unwrap();
        for group in &page.groups {
            assert_eq!(
                group.position,
                behind(
                    after,
                    group.position.last_seq - after.last_seq,
                    &group.bytes
                )
            );
            after = group.position;
            texts.push(String::from_utf8(group.bytes.clone()).unwrap());
        }
        if !page.more {
            return texts;
        }
        assert!(
            !page.groups.is_empty(),
            "more stands behind, but nothing was given"
        );
    }
}

/// Tests the journal with this id, which must be empty. Groups race for `places` positions.
pub fn conforms(journals: &dyn Journals, id: &str, places: u64) {
    for log in 1..=5 {
        for _ in 0..2 {
            journals.enroll(&identity(log, id), LogState::Open).unwrap();
        }
    }
    let mut journal = open(journals, id);
    orders(journal.as_mut());
    states(journals, journal.as_mut(), id);
    one_wins(journals, id, 5, places);
    many_at_once(journals, id);
    keeps_blobs(journal.as_mut());
    names_are_unique(journals, id);
}

pub fn open(journals: &dyn Journals, id: &str) -> Box<dyn Journal> {
    let journal = identity(1, id).journal.unwrap();
    journals.open(&journal).unwrap()
}

/// Tests the order of groups. Logs 1 to 4 are known to the journal and empty.
fn orders(journal: &mut dyn Journal) {
    let start = Position::default();
    assert!(texts(journal, 1, start, 1000).is_empty());
    let a = group(1, start, b"a");
    assert_eq!(one(journal, a), Outcome::Appended);
    // Repeating an append settles an unknown outcome.
    assert_eq!(one(journal, a), Outcome::Appended);
    assert_eq!(one(journal, group(1, start, b"x")), Outcome::Conflict);
    let b = group(1, a.position, b"b");
    assert_eq!(one(journal, b), Outcome::Appended);
    // A late append of another group conflicts, and the first group stays.
    assert_eq!(one(journal, group(1, start, b"y")), Outcome::Conflict);
    assert_eq!(one(journal, a), Outcome::Appended);
    assert_eq!(texts(journal, 1, start, 1000), ["a", "b"]);
    assert_eq!(texts(journal, 1, start, 1), ["a", "b"]);
    assert_eq!(texts(journal, 1, a.position, 1000), ["b"]);
    assert!(texts(journal, 1, b.position, 1000).is_empty());

    // Position `ahead` is after the end of the log; the other position is of another history of the same length.
    let ahead = behind(b.position, 1, b"never appended");
    assert_eq!(one(journal, group(1, ahead, b"c")), Outcome::Forked);
    assert_eq!(
        journal.read(LogId([1; 16]), ahead, 1000),
        Err(ReadError::Behind(2))
    );
    let other = Position {
        digest: GroupDigest([7; 32]),
        ..b.position
    };
    assert_eq!(one(journal, group(1, other, b"c")), Outcome::Forked);
    assert_eq!(
        journal.read(LogId([1; 16]), other, 1000),
        Err(ReadError::Forked)
    );

    // Append a group of several events, an empty group, and a group larger than a page.
    let large = vec![b'l'; 300_000];
    let three = Append {
        position: behind(b.position, 3, &large),
        ..group(1, b.position, &large)
    };
    assert_eq!(one(journal, three), Outcome::Appended);
    assert_eq!(texts(journal, 1, b.position, 10)[0].len(), 300_000);
    assert_eq!(
        one(journal, group(1, three.position, b"d")),
        Outcome::Appended
    );
    assert_eq!(texts(journal, 1, three.position, 10), ["d"]);

    many_logs(journal, three.position);
}

/// Tests one call with groups of several logs: a failure for one log does not affect the others.
fn many_logs(journal: &mut dyn Journal, of_first: Position) {
    let start = Position::default();
    let forked = Position {
        last_seq: 9,
        digest: GroupDigest([9; 32]),
    };
    let groups = [
        group(4, start, b"four"),
        group(1, of_first, b"late"),
        group(3, forked, b"three"),
        group(2, start, b"two"),
    ];
    let outcomes = journal.append(&groups, LogState::Open);
    let wanted = [
        Outcome::Appended,
        Outcome::Conflict,
        Outcome::Forked,
        Outcome::Appended,
    ];
    assert_eq!(outcomes, wanted);
    assert_eq!(texts(journal, 4, start, 10), ["four"]);
    assert_eq!(texts(journal, 2, start, 10), ["two"]);
    assert!(texts(journal, 3, start, 10).is_empty());
}

/// Tests the states of a log: no other host can write a loading log, one group opens the log, and another group closes the log.
fn states(journals: &dyn Journals, journal: &mut dyn Journal, id: &str) {
    journals
        .enroll(&identity(6, id), LogState::Loading)
        .unwrap();
    let larger = Identity {
        journal: Some(JournalIdentity {
            segment_bytes_max: 7,
            ..identity(6, id).journal.unwrap()
        }),
        ..identity(6, id)
    };
    journals.enroll(&larger, LogState::Loading).unwrap();
    let begun = ["2026-11-21.jsonl".to_owned(), "2026-11-22.jsonl".to_owned()];
    let a = Append {
        begins: &begun,
        ..group(6, Position::default(), b"a")
    };
    let b = group(6, a.position, b"b");
    let c = group(6, b.position, b"c");
    let all = |outcome: Outcome, count| vec![outcome; count];
    let by_hosts = journal.append(&[a], LogState::Open);
    assert_eq!(by_hosts, [Outcome::Closed(LogState::Loading)]);
    let handed = journal.append(&[a, b], LogState::Loading);
    assert_eq!(handed, all(Outcome::Appended, 2));
    let again = journal.append(&[a, b, c], LogState::Loading);
    assert_eq!(again, all(Outcome::Appended, 3));
    let page = journal
        .read(LogId([6; 16]), Position::default(), 1000)
        .unwrap();
    let begins: Vec<_> = page.groups.into_iter().map(|group| group.begins).collect();
    assert_eq!(begins, [begun.to_vec(), vec![], vec![]]);

    let early = group(6, b.position, b"x");
    assert_eq!(journal.turn(&early, LogState::Left), Outcome::Conflict);
    assert_eq!(journal.turn(&early, LogState::Open), Outcome::Conflict);
    let opens = group(6, c.position, b"opens");
    for _ in 0..2 {
        assert_eq!(journal.turn(&opens, LogState::Open), Outcome::Appended);
    }
    let d = group(6, opens.position, b"d");
    let late = journal.append(&[d], LogState::Loading);
    assert_eq!(late, [Outcome::Closed(LogState::Open)]);
    let again = journal.turn(&d, LogState::Open);
    assert_eq!(again, Outcome::Closed(LogState::Open));
    assert_eq!(one(journal, d), Outcome::Appended);
    journals
        .enroll(&identity(6, id), LogState::Loading)
        .unwrap_err();
    let closes = group(6, d.position, b"closes");
    for _ in 0..2 {
        assert_eq!(journal.turn(&closes, LogState::Left), Outcome::Appended);
    }
    let behind = one(journal, group(6, closes.position, b"e"));
    assert_eq!(behind, Outcome::Closed(LogState::Left));
    assert_eq!(
        one(journal, d),
        Outcome::Appended,
        "what stands there stands"
    );
    assert_eq!(texts(journal, 6, opens.position, 1000), ["d", "closes"]);
}

/// Tests that a log's artifacts are stored under their digest, separately for each log.
fn keeps_blobs(journal: &mut dyn Journal) {
    let large = vec![7; 2 << 20];
    for _ in 0..2 {
        journal.put_blob(LogId([1; 16]), "d1", b"one").unwrap();
        journal.put_blob(LogId([1; 16]), "d2", &large).unwrap();
    }
    let blob =
        |journal: &mut dyn Journal, log, digest| journal.blob(LogId([log; 16]), digest).unwrap();
    assert_eq!(blob(journal, 1, "d1").unwrap(), b"one");
    assert!(blob(journal, 1, "d2").unwrap() == large);
    assert_eq!(blob(journal, 1, "d3"), None);
    assert_eq!(blob(journal, 2, "d1"), None);
}

/// Tests that many logs append at once, and that a failure for one log does not affect the others.
fn many_at_once(journals: &dyn Journals, id: &str) {
    let logs = 20..52;
    for log in logs.clone() {
        journals.enroll(&identity(log, id), LogState::Open).unwrap();
    }
    let forked = Position {
        last_seq: 99,
        digest: GroupDigest([9; 32]),
    };
    thread::scope(|scope| {
        for log in logs {
            scope.spawn(move || {
                let (mut journal, mut end) = (open(journals, id), Position::default());
                for number in 0..10 {
                    let bytes = format!("{log}-{number}");
                    let next = group(log, end, bytes.as_bytes());
                    assert_eq!(one(journal.as_mut(), next), Outcome::Appended);
                    if log % 4 == 0 {
                        let late = group(log, end, b"late");
                        assert_eq!(one(journal.as_mut(), late), Outcome::Conflict);
                        let ahead = group(log, forked, b"ahead");
                        assert_eq!(one(journal.as_mut(), ahead), Outcome::Forked);
                    }
                    end = next.position;
                }
                let texts = texts(journal.as_mut(), log, Position::default(), 1000);
                let wanted: Vec<String> = (0..10).map(|number| format!("{log}-{number}")).collect();
                assert_eq!(texts, wanted);
            });
        }
    });
}

/// Tests that a journal keeps a fold version for each log, and that the fold version never falls. The journal must know logs 1
/// and 2.
#[allow(dead_code, reason = "an experimental journal does not say it")]
pub fn names_a_fold_version(journal: &mut dyn Journal) {
    let (first, second) = (LogId([1; 16]), LogId([2; 16]));
    let named = |journal: &mut dyn Journal, log| {
        let page = journal.read(log, Position::default(), 10);
        page.unwrap().fold_version
    };
    assert_eq!(named(journal, first), 0);
    for (version, wanted) in [(4, 4), (4, 4), (3, 4), (6, 6)] {
        journal.raise_fold_version(first, version).unwrap();
        assert_eq!(named(journal, first), wanted);
    }
    assert_eq!(named(journal, second), 0);
}

pub fn tells_the_time(journal: &mut dyn Journal) {
    let page = journal
        .read(LogId([1; 16]), Position::default(), 10)
        .unwrap();
    let off = page.now.unwrap().micros() - SystemClock.now().micros();
    // The journal and the test run on one machine, so their clocks agree.
    assert!(off.abs() < 1_000_000, "{off}");
}

/// Tests that exactly one of all groups that race for one position is accepted.
fn one_wins(journals: &dyn Journals, id: &str, log: u8, places: u64) {
    let won: Vec<Vec<u64>> = thread::scope(|scope| {
        let racers = (0..4).map(|racer| {
            scope.spawn(move || {
                let (mut journal, mut end, mut won) =
                    (open(journals, id), Position::default(), Vec::new());
                while end.last_seq < places {
                    let bytes = format!("{racer}-{}", end.last_seq);
                    let append = group(log, end, bytes.as_bytes());
                    match one(journal.as_mut(), append) {
                        Outcome::Appended => {
                            won.push(append.position.last_seq);
                            end = append.position;
                        }
                        Outcome::Conflict => {
                            let page = journal.read(LogId([log; 16]), end, 100).unwrap();
                            end = page.groups.last().map_or(end, |group| group.position);
                        }
                        other => panic!("{other:?}"),
                    }
                }
                won
            })
        });
        let racers: Vec<_> = racers.collect();
        racers.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut all: Vec<u64> = won.concat();
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count, "two won one place: {won:?}");
    assert!(all.len() as u64 >= places, "{won:?}");
}

/// Tests that a journal has one log per name.
fn names_are_unique(journals: &dyn Journals, id: &str) {
    let second = Identity {
        log: LogId([77; 16]),
        ..identity(1, id)
    };
    let error = journals.enroll(&second, LogState::Open);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("another log named team-1"), "{error}");
}
