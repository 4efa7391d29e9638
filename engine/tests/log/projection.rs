//! Tests of projections of one's own: the rows equal a plain fold at every point, after crashes, damage and replacements.

mod damage;
mod model;

#[allow(dead_code, reason = "a test calls what main calls")]
#[path = "../../examples/counter.rs"]
mod counter;
#[allow(dead_code, reason = "a test calls what main calls")]
#[path = "../../examples/order_book.rs"]
mod order_book;

use crate::support::*;
use model::*;
use proptest::prelude::*;
use teamlog_engine::Point;
use teamlog_engine::limits::{PROJECTION_KEY_BYTES_MAX, PROJECTION_VALUE_BYTES_MAX};
use teamlog_engine::projection::{
    self, Projection, ProjectionError, ProjectionOptions, Projections, RowChanges,
};

/// One step of a random history.
#[derive(Debug, Clone)]
enum Step {
    Append(Vec<String>),
    CatchUp,
    Flush,
    Rebuild,
    Open,
    Crash(u64),
    Options(usize, u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        4 => "put [a-d]{1,2} [x-z]{0,20}",
        4 => "append [a-d]{1,2} [x-z]{0,5}",
        2 => "delete [a-d]{1,2}",
    ];
    prop_oneof![
        6 => proptest::collection::vec(text, 1..30).prop_map(Step::Append),
        4 => Just(Step::CatchUp),
        1 => Just(Step::Flush),
        1 => Just(Step::Rebuild),
        2 => Just(Step::Open),
        2 => any::<u64>().prop_map(Step::Crash),
        1 => (1..5_usize, 0..40_u64, 200..9_000_u64).prop_map(|(a, b, c)| Step::Options(a, b, c)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rows_equal_a_plain_fold_whatever_happens(
        steps in proptest::collection::vec(step(), 1..25),
        format in prop_oneof![Just(Format::Jsonl), Just(Format::Binary)],
        points in proptest::collection::vec(any::<proptest::sample::Index>(), 3),
    ) {
        let mut memory = Memory::new();
        let mut log = create(&arc(&memory), format, &small(7));
        let (mut texts, mut options) = (Vec::new(), model::options());
        let mut set = opened(&log);
        for step in steps {
            match step {
                Step::Append(more) => {
                    let writer = writer(&log);
                    let events = more.iter().map(|text| said(text)).collect();
                    writer.append(events, Durability::Synced).unwrap();
                    writer.close().unwrap();
                    texts.extend(more);
                    prop_assert!(set.seq() <= texts.len() as u64);
                }
                Step::CatchUp => {
                    prop_assert_eq!(set.catch_up().unwrap(), texts.len() as u64);
                }
                Step::Flush => set.flush().unwrap(),
                Step::Rebuild => drop(set.rebuild().unwrap()),
                Step::Open => set = Projections::open(&log, "demo", projections(), options.clone()).unwrap(),
                Step::Crash(mut seed) => {
                    memory = memory.crash(&mut |n| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (seed >> 33) as usize % n.max(1)
                    });
                    log = crate::support::open(&arc(&memory), &small(8 + texts.len() as u64));
                    set = Projections::open(&log, "demo", projections(), options.clone()).unwrap();
                }
                Step::Options(decoders, alone, bytes) => {
                    (options.decoders, options.alone_max, options.run_bytes) = (decoders, alone, bytes);
                    set = Projections::open(&log, "demo", projections(), options.clone()).unwrap();
                }
            }
            let seq = set.seq() as usize;
            prop_assert_eq!(rows(&set), fold(&texts, seq));
        }
        set.catch_up().unwrap();
        prop_assert_eq!(rows(&set), fold(&texts, texts.len()));
        prop_assert_eq!(set.digest().unwrap(), fresh_digest(&memory));
        for point in points {
            let seq = point.index(texts.len() + 1);
            let past = set.at(Point::Seq(seq as u64)).unwrap();
            prop_assert_eq!(past.seq(), seq as u64);
            prop_assert_eq!(rows(&past), fold(&texts, seq));
        }
        prop_assert_eq!(set.rebuild().unwrap(), texts.len() as u64);
        prop_assert_eq!(rows(&set), fold(&texts, texts.len()));
    }
}

#[test]
fn a_counter_continues_in_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let tools = |names: &[&str]| -> Vec<String> { owned(names) };
    let first = counter::counted(dir.path(), &tools(&["ls", "rg", "ls"])).unwrap();
    assert_eq!(first, [r#""ls" 2"#, r#""rg" 1"#]);
    let second = counter::counted(dir.path(), &tools(&["rg"])).unwrap();
    assert_eq!(second, [r#""ls" 2"#, r#""rg" 2"#]);
    let lines = include_str!("../../examples/counter.rs").lines().count();
    assert!(lines < 80, "{lines}");
}

#[test]
fn an_order_book_shows_now_and_then_and_stops_at_a_wrong_order() {
    let dir = tempfile::tempdir().unwrap();
    let lines = order_book::traded(dir.path()).unwrap();
    let stop = "the projection book stopped at event 4: 4 too many";
    assert_eq!(lines, ["00000101 a", "00000099 b", stop, "00000101 a"]);
    let lines = include_str!("../../examples/order_book.rs").lines().count();
    assert!(lines < 90, "{lines}");
}

/// Creates a log with these texts.
pub fn history(texts: &[&str]) -> (Memory, Log) {
    let memory = Memory::new();
    let log = create(&arc(&memory), Format::Jsonl, &small(1));
    append(&log, texts);
    (memory, log)
}

pub fn append(log: &Log, texts: &[&str]) {
    let writer = writer(log);
    for text in texts {
        say(&writer, text);
    }
    writer.close().unwrap();
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn the_digest_depends_on_rows_and_not_on_runs_or_threads() {
    let texts: Vec<String> = (0..300).map(|n| format!("put k{} {n}", n % 70)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (memory, log) = history(&texts);
    let expected = fresh_digest(&memory);
    for decoders in [1, 2, 7] {
        for run_bytes in [1, 3_000, 1 << 20] {
            for alone_max in [0, 10, 10_000] {
                let _ = memory.remove_dir_all(&home());
                let mut options = ProjectionOptions::default();
                (options.decoders, options.alone_max, options.run_bytes) =
                    (decoders, alone_max, run_bytes);
                let mut set = Projections::open(&log, "demo", projections(), options).unwrap();
                set.catch_up().unwrap();
                assert_eq!(set.digest().unwrap(), expected);
                set.rebuild().unwrap();
                assert_eq!(set.digest().unwrap(), expected);
            }
        }
    }
    append(&log, &["put k1 other"]);
    let mut set = opened(&log);
    set.catch_up().unwrap();
    assert_ne!(set.digest().unwrap(), expected);
}

#[test]
fn a_refused_event_stops_its_set_and_leaves_no_half_of_it() {
    let before: Vec<String> = (0..40).map(|n| format!("put k{n} v")).collect();
    let mut texts: Vec<&str> = before.iter().map(String::as_str).collect();
    texts.extend(["refuse it", "put later v"]);
    for alone_max in [0, 1_000] {
        let (_memory, log) = history(&texts);
        let mut options = model::options();
        options.alone_max = alone_max;
        let mut set = Projections::open(&log, "demo", projections(), options.clone()).unwrap();
        for _ in 0..2 {
            let error = set.catch_up().unwrap_err();
            assert_eq!(
                error.to_string(),
                "the projection texts stopped at event 41: it says refuse"
            );
            assert_eq!(set.seq(), 40);
            assert_eq!(rows(&set), fold(&before, 40));
            assert_eq!(set.get("texts", b"half").unwrap(), None);
            assert_eq!(
                set.number("letters", b"r").unwrap(),
                None,
                "the other projection waits"
            );
        }
        let error = set.rebuild().unwrap_err();
        assert!(
            matches!(error, Error::Projection { seq: 41, .. }),
            "{error}"
        );
        assert_eq!(rows(&set), fold(&before, 40));
        let error = set.at(Point::Seq(42)).unwrap_err();
        assert!(
            matches!(error, Error::Projection { seq: 41, .. }),
            "{error}"
        );
        let past = set.at(Point::Seq(17)).unwrap();
        assert_eq!(rows(&past), fold(&before, 17));
        // The next process begins at the stored rows, and stops at the same event.
        let mut again = Projections::open(&log, "demo", projections(), options).unwrap();
        assert!(again.seq() > 30);
        again.catch_up().unwrap_err();
        assert_eq!(again.digest().unwrap(), set.digest().unwrap());
    }
}

#[test]
fn a_first_event_that_is_refused_leaves_no_rows() {
    for alone_max in [0, 1_000] {
        let (_memory, log) = history(&["refuse", "put a b"]);
        let mut options = model::options();
        options.alone_max = alone_max;
        let mut set = Projections::open(&log, "demo", projections(), options).unwrap();
        set.catch_up().unwrap_err();
        assert_eq!(set.seq(), 0);
        assert!(rows(&set).is_empty());
    }
}

#[test]
fn another_version_folds_again_and_the_last_other_version_stays() {
    let (memory, log) = history(&["put a one", "put b two"]);
    let set = |version| {
        let members: Vec<Arc<dyn Projection>> = vec![Arc::new(Letters), Arc::new(Texts(version))];
        let mut set = Projections::open(&log, "demo", members, model::options()).unwrap();
        let seq = set.seq();
        set.catch_up().unwrap();
        set.flush().unwrap();
        (seq, set.digest().unwrap())
    };
    let versions = || {
        let names = memory.list(&home()).unwrap();
        names.iter().filter(|name| name.starts_with('v')).count()
    };
    let (_, first) = set(1);
    assert_eq!(set(1), (2, first.clone()), "stored");
    let (seq, second) = set(2);
    assert_eq!(seq, 0, "another version begins anew");
    assert_ne!(first, second);
    assert_eq!(set(1).0, 2, "two versions may be used side by side");
    for version in 3..7 {
        set(version);
        assert_eq!(versions(), 2);
    }
    projection::remove(&memory, &dir(), "demo").unwrap();
    assert!(memory.stat(&home()).unwrap().is_none());
    projection::remove(&memory, &dir(), "demo").unwrap();
    assert_eq!(set(1).0, 0);
}

#[test]
fn two_handles_have_the_same_rows_while_one_writes_runs() {
    let (_memory, log) = history(&[]);
    let (mut one, mut two) = (opened(&log), opened(&log));
    let mut texts: Vec<String> = Vec::new();
    for round in 0..60_usize {
        let more: Vec<String> = (0..=round % 7)
            .map(|n| format!("append k{} {round}", n % 5))
            .collect();
        append(&log, &more.iter().map(String::as_str).collect::<Vec<_>>());
        texts.extend(more);
        one.catch_up().unwrap();
        if round % 3 == 0 {
            two.catch_up().unwrap();
        }
        if round == 30 {
            two.rebuild().unwrap();
        }
        assert_eq!(rows(&one), fold(&texts, texts.len()), "round {round}");
        assert_eq!(
            rows(&two),
            fold(&texts, two.seq() as usize),
            "round {round}"
        );
    }
}

#[test]
fn a_busy_lock_or_a_read_only_disk_keeps_rows_in_memory() {
    let texts: Vec<String> = (0..50).map(|n| format!("put k{n} v")).collect();
    let (memory, log) = history(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    memory.create_dir(&dir().join("projections")).unwrap();
    let lock = dir().join("projections/demo.lock");
    let held = memory.lock(&lock, Duration::ZERO).unwrap();
    for alone_max in [0, 1_000] {
        let mut options = model::options();
        options.alone_max = alone_max;
        let mut set = Projections::open(&log, "demo", projections(), options).unwrap();
        set.catch_up().unwrap();
        assert_eq!(rows(&set), fold(&texts, 50));
        let error = set.rebuild().unwrap_err();
        assert!(matches!(error, Error::Locked { .. }), "{error}");
        assert_eq!(rows(&set), fold(&texts, 50));
    }
    drop(held);
    assert_eq!(opened(&log).seq(), 0, "nothing was stored");
}

struct Wide;

impl Projection for Wide {
    fn name(&self) -> &str {
        "wide"
    }
    fn version(&self) -> u64 {
        u64::MAX
    }
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        let text = text(event);
        let (mut key, mut value) = (vec![255; PROJECTION_KEY_BYTES_MAX], Vec::new());
        match text.as_str() {
            "value" => value = vec![7; PROJECTION_VALUE_BYTES_MAX],
            "long key" => key.push(255),
            "long value" => value = vec![7; PROJECTION_VALUE_BYTES_MAX + 1],
            "ignored" => {
                key.push(255);
                let _ = rows.put(&key, &[]);
                return Ok(());
            }
            "overflow" => {
                rows.put_number(b"n", i64::MAX)?;
                return rows.add(b"n", 1);
            }
            "text" => {
                rows.put(b"n", b"text")?;
                return rows.add(b"n", 1);
            }
            _ => {}
        }
        rows.delete(&vec![255; PROJECTION_KEY_BYTES_MAX + 1]);
        rows.put(&[], b"the empty key")?;
        rows.put(&key, &value)
    }
}

use teamlog_engine::Event;

#[test]
fn keys_and_values_have_limits_that_an_error_names() {
    let (_memory, log) = history(&["key", "value"]);
    let open = || {
        let members: Vec<Arc<dyn Projection>> = vec![Arc::new(Wide)];
        Projections::open(&log, "wide", members, model::options()).unwrap()
    };
    let mut set = open();
    assert_eq!(set.catch_up().unwrap(), 2);
    set.flush().unwrap();
    let last = vec![255; PROJECTION_KEY_BYTES_MAX];
    let reopened = open();
    assert_eq!(reopened.seq(), 2);
    for set in [&set, &reopened] {
        let value = set.get("wide", &last).unwrap().unwrap();
        assert_eq!(value.len(), PROJECTION_VALUE_BYTES_MAX);
        let keys: Vec<usize> = set
            .scan("wide", .., false)
            .unwrap()
            .map(|row| row.unwrap().0.len())
            .collect();
        assert_eq!(keys, [0, PROJECTION_KEY_BYTES_MAX]);
        let prefixed = set.scan_prefix("wide", &[255], true).unwrap().count();
        assert_eq!(prefixed, 1);
        assert_eq!(
            set.scan("wide", vec![1]..=vec![255], false)
                .unwrap()
                .count(),
            0
        );
        assert_eq!(
            set.scan("wide", vec![9]..vec![1], false).unwrap().count(),
            0
        );
        assert_eq!(set.get("wide", &[255; 3_000]).unwrap(), None);
    }
    for (text, why) in [
        (
            "long key",
            "the key of a row has 1024 bytes; the limit is 1023",
        ),
        (
            "ignored",
            "the key of a row has 1024 bytes; the limit is 1023",
        ),
        (
            "long value",
            "the value of a row has 16777217 bytes; the limit is 16777216",
        ),
        ("overflow", "9223372036854775807 + 1 is out of range"),
        ("text", "a number must have 8 bytes, but the row has 4"),
    ] {
        let (_memory, log) = history(&[text]);
        let members: Vec<Arc<dyn Projection>> = vec![Arc::new(Wide)];
        let mut set = Projections::open(&log, "wide", members, model::options()).unwrap();
        let error = set.catch_up().unwrap_err().to_string();
        assert_eq!(
            error,
            format!("the projection wide stopped at event 1: {why}")
        );
    }
}

#[test]
fn names_are_checked() {
    let (memory, log) = history(&[]);
    let error = |name: &str, members: Vec<Arc<dyn Projection>>| {
        let opened = Projections::open(&log, name, members, model::options());
        opened.unwrap_err().to_string()
    };
    let rule = "must be 1 to 64 characters of a to z, 0 to 9, _ and -";
    for name in ["", "..", "a/b", "A", &"x".repeat(65)] {
        let found = error(name, projections());
        assert!(found.contains(rule), "{found}");
        assert!(projection::remove(&memory, &dir(), name).is_err());
    }
    assert!(error("demo", Vec::new()).contains("must have 1 to 64 projections, but is 0"));
    let twice: Vec<Arc<dyn Projection>> = vec![Arc::new(Texts(1)), Arc::new(Texts(2))];
    assert!(error("demo", twice).contains("must be unique in its set, but is texts"));
    let set = opened(&log);
    let unknown = set.get("text", b"a").unwrap_err().to_string();
    assert_eq!(
        unknown,
        "projection must be a projection of the set (letters, texts), but is text"
    );
    assert!(set.scan("text", .., false).is_err());
}

#[test]
fn a_point_in_time_and_a_point_past_the_end_give_rows() {
    let (_memory, log) = history(&["put a one"]);
    let mut set = opened(&log);
    set.catch_up().unwrap();
    let past = set.at(Point::Seq(99)).unwrap();
    assert_eq!(
        (past.seq(), past.get("texts", b"a").unwrap()),
        (1, Some(b"one".to_vec()))
    );
    let past = set.at(Point::Time(start().plus_micros(-1))).unwrap();
    assert_eq!((past.seq(), rows(&past).len()), (0, 0));
    let past = set.at(Point::Time(start())).unwrap();
    assert_eq!(past.seq(), 1);
    let texts = owned(&["put a one"]);
    assert_eq!(rows(&past), fold(&texts, 1));
}

#[test]
fn progress_is_reported() {
    let texts: Vec<String> = (0..50).map(|n| format!("put k{n} v")).collect();
    let (_memory, log) = history(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    for alone_max in [0, 1_000] {
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let to = Arc::clone(&seen);
        let mut options =
            model::options().with_progress(move |progress| to.lock().unwrap().push(progress));
        options.alone_max = alone_max;
        let mut set = Projections::open(&log, "demo", projections(), options).unwrap();
        set.rebuild().unwrap();
        let seen = seen.lock().unwrap();
        let last = seen.last().unwrap();
        assert_eq!((last.events, last.total), (50, 50));
    }
}
