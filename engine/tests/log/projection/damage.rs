//! Tests of stored rows that do not fit the log: damaged files, a replaced log, a log that was cut, obstacles.

use super::{append, history, model::*};
use crate::support::*;
use teamlog_engine::Point;
use teamlog_engine::projection::Projections;

fn texts(count: usize) -> Vec<String> {
    let text = |n: usize| match n % 5 {
        4 => format!("delete k{}", n % 7),
        _ => format!("append k{} {n}", n % 13),
    };
    (0..count).map(text).collect()
}

fn stored(texts: &[String]) -> (Memory, Log) {
    let (memory, log) = history(&[]);
    let mut set = opened(&log);
    for part in texts.chunks(12) {
        append(&log, &part.iter().map(String::as_str).collect::<Vec<_>>());
        set.catch_up().unwrap();
    }
    (memory, log)
}

/// Returns the files of the stored rows.
fn files(memory: &Memory) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for version in memory.list(&home()).unwrap() {
        let dir = home().join(version);
        let names = memory.list(&dir).unwrap();
        files.extend(names.iter().map(|name| dir.join(name)));
    }
    files
}

#[test]
fn damaged_rows_are_folded_again_without_an_error() {
    let texts = texts(90);
    let (memory, _) = stored(&texts);
    let expected = fold(&texts, texts.len());
    let mut damaged = 0;
    for file in files(&memory) {
        let len = memory.stat(&file).unwrap().unwrap().len;
        for offset in (0..len).step_by(997).chain([len - 1]) {
            let copy = memory.snapshot();
            copy.corrupt(&file, offset, 0x40).unwrap();
            let log = open(&arc(&copy), &small(5));
            let mut set = opened(&log);
            // Before catching up, the rows are as old as the sound runs.
            assert_eq!(
                rows(&set),
                fold(&texts, set.seq() as usize),
                "{file:?} {offset}"
            );
            set.catch_up().unwrap();
            assert_eq!(rows(&set), expected, "{file:?} {offset}");
            let past = set.at(Point::Seq(33)).unwrap();
            assert_eq!(rows(&past), fold(&texts, 33), "{file:?} {offset}");
            append(&log, &["put new row"]);
            set.catch_up().unwrap();
            assert_eq!(set.get("texts", b"new").unwrap().unwrap(), b"row");
            damaged += 1;
        }
    }
    assert!(damaged > 20, "{damaged}");
}

#[test]
fn rows_of_the_past_survive_damage() {
    let texts = texts(90);
    let (memory, _) = stored(&texts);
    for file in files(&memory) {
        let len = memory.stat(&file).unwrap().unwrap().len;
        for offset in (4..len).step_by(2_048) {
            let copy = memory.snapshot();
            let log = open(&arc(&copy), &small(5));
            let set = opened(&log);
            let past = set.at(Point::Seq(80)).unwrap();
            // The damage follows the opening of the rows.
            copy.corrupt(&file, offset, 0x40).unwrap();
            assert_eq!(rows(&past), fold(&texts, 80), "{file:?} {offset}");
            assert_eq!(past.seq(), 80);
        }
    }
}

#[test]
fn missing_files_are_folded_again() {
    let texts = texts(90);
    let (memory, _) = stored(&texts);
    for file in files(&memory) {
        let copy = memory.snapshot();
        let log = open(&arc(&copy), &small(5));
        let mut open_set = opened(&log);
        copy.remove_file(&file).unwrap();
        assert_eq!(rows(&open_set), fold(&texts, open_set.seq() as usize));
        open_set.catch_up().unwrap();
        assert_eq!(rows(&open_set), fold(&texts, 90), "{file:?}");
        let mut set = opened(&log);
        set.catch_up().unwrap();
        assert_eq!(rows(&set), fold(&texts, 90), "{file:?}");
    }
    let mut set = opened(&open(&arc(&memory), &small(5)));
    memory.remove_dir_all(&dir().join("projections")).unwrap();
    set.catch_up().unwrap();
    assert_eq!(rows(&set), fold(&texts, 90));
}

/// Replaces the log by another one, with other texts under the same seqs.
fn replaced(memory: &Memory, texts: &[String]) -> Log {
    let kept = ["projections"];
    for name in memory.list(&dir()).unwrap() {
        if !kept.contains(&name.as_str()) {
            let path = dir().join(name);
            match memory.stat(&path).unwrap().unwrap().is_dir {
                true => memory.remove_dir_all(&path).unwrap(),
                false => memory.remove_file(&path).unwrap(),
            }
        }
    }
    let log = create(&arc(memory), Format::Jsonl, &small(77));
    append(&log, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    log
}

#[test]
fn rows_of_a_replaced_log_are_never_used() {
    let old = texts(60);
    for count in [0, 1, 59, 60, 61, 100] {
        let (memory, log) = stored(&old);
        let mut set = opened(&log);
        set.catch_up().unwrap();
        let new: Vec<String> = (0..count).map(|n| format!("put other{n} x")).collect();
        let log = replaced(&memory, &new);
        let mut later = opened(&log);
        assert_eq!(later.seq(), 0, "no stored row belongs to the new log");
        later.catch_up().unwrap();
        assert_eq!(rows(&later), fold(&new, count), "{count}");
        // A handle that was open during the replacement.
        assert_eq!(set.catch_up().unwrap(), count as u64);
        assert_eq!(rows(&set), fold(&new, count), "{count}");
        let mut third = opened(&log);
        third.catch_up().unwrap();
        assert_eq!(third.digest().unwrap(), set.digest().unwrap());
    }
}

#[test]
fn rows_of_lost_events_are_dropped() {
    let texts = texts(60);
    for lost_from in [20, 59] {
        // A copy of the log as of an earlier event, with the rows of the later events.
        let (memory, log) = history(&[]);
        append(
            &log,
            &texts
                .iter()
                .take(lost_from)
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        let earlier = memory.snapshot();
        append(
            &log,
            &texts
                .iter()
                .skip(lost_from)
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        let mut set = opened(&log);
        set.catch_up().unwrap();
        set.flush().unwrap();
        memory.remove_dir_all(&dir().join("events")).unwrap();
        for (path, bytes) in tree(&earlier, &dir()) {
            let path = dir().join(path);
            memory.create_dir_all(path.parent().unwrap()).unwrap();
            memory.replace(&path, &bytes, false).unwrap();
        }
        let log = open(&arc(&memory), &small(9));
        for set in [&mut set, &mut opened(&log)] {
            assert_eq!(set.catch_up().unwrap(), lost_from as u64);
            assert_eq!(rows(set), fold(&texts, lost_from));
        }
    }
}

#[test]
fn a_file_in_place_of_the_directory_costs_no_answer() {
    let texts = texts(40);
    for obstacle in ["projections", "projections/demo"] {
        let (memory, log) = history(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        memory
            .create_dir_all(dir().join(obstacle).parent().unwrap())
            .unwrap();
        memory
            .replace(&dir().join(obstacle), b"no directory", false)
            .unwrap();
        for alone_max in [0, 1_000] {
            let mut options = super::model::options();
            options.alone_max = alone_max;
            let mut set = Projections::open(&log, "demo", projections(), options).unwrap();
            set.catch_up().unwrap();
            assert_eq!(rows(&set), fold(&texts, 40), "{obstacle}");
            assert_eq!(rows(&set.at(Point::Seq(7)).unwrap()), fold(&texts, 7));
        }
    }
}

#[test]
fn a_call_that_fails_costs_no_wrong_row() {
    let texts = texts(40);
    let (memory, _) = history(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let full = Fault::Error(std::io::ErrorKind::StorageFull);
    let act = |storage: &Arc<dyn Storage>| -> Result<_, Error> {
        let log = Log::open(Arc::clone(storage), &dir(), small(3))?;
        let mut set = Projections::open(&log, "demo", projections(), super::model::options())?;
        set.catch_up()?;
        try_rows(&set)
    };
    let mut failed = 0;
    let done = at_every_call(&memory, full, act, |run| {
        failed += 1;
        if let Ok(found) = &run.done {
            assert_eq!(found, &fold(&texts, 40), "{} {:?}", run.name, run.path);
        }
        let log = open(&arc(&run.memory), &small(4));
        let mut set = opened(&log);
        set.catch_up().unwrap();
        assert_eq!(rows(&set), fold(&texts, 40), "{} {:?}", run.name, run.path);
    });
    assert_eq!(done.unwrap(), fold(&texts, 40));
    assert!(failed > 10, "{failed}");
}
