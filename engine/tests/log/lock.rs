//! Tests of the exclusive lock. After any change of the lock file, there is one writer at a time. A writer acknowledges nothing
//! after it lost its lock, or after another process wrote to its segment.

use crate::support::*;
use teamlog_engine::internals::layout::LOCK_FILE;
use teamlog_engine::storage::{LockError, OpenMode};

fn lock_file() -> PathBuf {
    dir().join(LOCK_FILE)
}

fn eager(options: &LogOptions) -> LogOptions {
    given!(LogOptions, lock_deadline: Duration::ZERO, ..options.clone())
}

/// A change of the lock file.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Removed,
    Replaced,
}

const HARMS: [Harm; 2] = [Harm::Removed, Harm::Replaced];

impl Harm {
    fn befall(self, storage: &dyn Storage) {
        // The error is ignored, because the other process may already have removed the lock file.
        let _ = storage.remove_file(&lock_file());
        if matches!(self, Harm::Replaced) {
            storage.open(&lock_file(), OpenMode::Create).unwrap();
        }
    }
}

/// Changes the lock file, and starts a second writer, which must find the log locked.
fn intrude(storage: &Arc<dyn Storage>, harm: Harm) {
    harm.befall(&**storage);
    let log = open(storage, &eager(&options().1));
    let got_in = log.lock();
    assert!(
        matches!(got_in.as_ref().err(), Some(Error::Locked { .. })),
        "{harm:?}: {:?}",
        got_in.err()
    );
}

/// Creates a log with one event, in memory.
fn with_one(format: Format) -> Memory {
    let memory = Memory::new();
    let log = create(&arc(&memory), format, &options().1);
    let writer = writer(&log);
    say(&writer, "one");
    writer.close().unwrap();
    memory
}

/// Checks that the log continues, and holds all texts of `acked` and only texts of `attempted`.
fn goes_on(storage: &Arc<dyn Storage>, acked: &[String], attempted: &[String], what: &str) {
    let log = open(storage, &options().1);
    let exclusive = log.lock().unwrap_or_else(|error| panic!("{what}: {error}"));
    exclusive
        .into_writer(())
        .append(vec![said("after")], Durability::Synced)
        .unwrap();
    let found = texts(&log);
    let before = found.strip_suffix(&["after".to_owned()]).unwrap();
    assert!(before.starts_with(acked), "{what}: {before:?}");
    assert!(attempted.starts_with(before), "{what}: {before:?}");
    let report = log.verify(None).unwrap();
    assert!(report.ok, "{what}: {report:?}");
}

#[test]
fn a_writer_whose_lock_file_is_gone_writes_nothing() {
    for format in FORMATS {
        for harm in HARMS {
            for groups in 0..2 {
                let root = tempfile::tempdir().unwrap();
                let storage: Arc<dyn Storage> = Arc::new(Files::open(root.path()).unwrap());
                let log = create(&storage, format, &options().1);
                say(&writer(&log), "one");
                let writer = writer(&log);
                for _ in 0..groups {
                    say(&writer, "two");
                }
                intrude(&storage, harm);
                let before = std::fs::read(root.path().join(segment(format))).unwrap();
                let error = writer
                    .append(vec![said("no")], Durability::Synced)
                    .unwrap_err();
                let Error::LockLost { written, .. } = &error else {
                    panic!("{error}")
                };
                assert!(!written, "{error}");
                assert!(error.to_string().contains("nothing was written"), "{error}");
                assert_eq!(
                    std::fs::read(root.path().join(segment(format))).unwrap(),
                    before
                );
                let again = writer.append(vec![said("no")], Durability::Synced);
                assert!(matches!(again, Err(Error::Poisoned(_))));
                drop(writer);
                let acked = ["one", "two"].map(str::to_owned);
                goes_on(&storage, &acked[..=groups], &acked[..=groups], "gone");
            }
        }
    }
}

#[test]
fn whoever_has_the_new_lock_file_is_named() {
    let memory = with_one(Format::Jsonl);
    let storage = arc(&memory);
    let log = open(&storage, &options().1);
    let writer = writer(&log);
    Harm::Removed.befall(&memory);
    let _theirs = storage.lock(&lock_file(), Duration::ZERO).unwrap();
    let error = writer
        .append(vec![said("no")], Durability::Synced)
        .unwrap_err();
    shows!(error.to_string() => has "is now locked by pid");
}

#[test]
fn a_lock_file_that_goes_at_any_call_never_lets_two_write() {
    for format in FORMATS {
        for harm in HARMS {
            let (mut acked_once, mut refused, mut unknown) = (0, 0, 0);
            for call in 0.. {
                let memory = with_one(format);
                let (clock, options) = options();
                let faulty = Faulty::new(arc(&memory));
                let theirs = arc(&memory);
                let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
                let writer = writer(&open(&storage, &options));
                let first = faulty.count();
                faulty.meanwhile(first + call, move || intrude(&theirs, harm));
                let texts = ["one", "two", "next day", "four"].map(str::to_owned);
                let mut acked = 1;
                for text in &texts[1..] {
                    match writer.append(vec![said(text)], Durability::Synced) {
                        Ok(_) => acked += 1,
                        Err(Error::LockLost { written, .. }) => {
                            refused += 1;
                            unknown += usize::from(written);
                            break;
                        }
                        Err(error) => panic!("{format:?} {harm:?} at call {call}: {error}"),
                    }
                    clock.advance(86_400_000_000 / 2 + 1);
                }
                let reached = faulty.count() > first + call;
                drop(writer);
                let what = format!("{format:?} {harm:?} at call {call}");
                goes_on(&arc(&memory), &texts[..acked], &texts, &what);
                if !reached {
                    assert_eq!(acked, texts.len());
                    break;
                }
                acked_once += usize::from(acked > 1);
            }
            assert!(
                acked_once > 10 && refused > 20 && unknown > 2,
                "{acked_once} {refused} {unknown}"
            );
        }
    }
}

#[test]
fn what_somebody_else_wrote_behind_the_head_is_not_written_over() {
    for format in FORMATS {
        let path = segment(format);
        for call in 0.. {
            let memory = with_one(format);
            let faulty = Faulty::new(arc(&memory));
            let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
            let log = open(&storage, &options().1);
            let writer = writer(&log);
            let (theirs, file) = (arc(&memory), path.clone());
            let (first, before) = (faulty.count(), theirs.read(&path, 1 << 20).unwrap().len());
            let foreign = vec![b'?'; 5_000];
            let bytes = foreign.clone();
            faulty.meanwhile(first + call, move || {
                let file = theirs.open(&file, OpenMode::Write).unwrap();
                let end = file.stat().unwrap().len;
                file.write_all_at(&bytes, end).unwrap();
            });
            let appended = writer.append(vec![said("two")], Durability::Synced);
            if faulty.count() <= first + call {
                appended.unwrap();
                break;
            }
            let what = format!("{format:?} at call {call}");
            let calls = faulty.calls();
            let wrote = calls[first..first + call]
                .iter()
                .any(|(name, file)| *name == "write_at" && *file == path);
            let told = calls[first..first + call]
                .iter()
                .any(|(name, file)| *name == "write_at" && file.ends_with("head"));
            let looked = calls[first..first + call]
                .iter()
                .filter(|(name, file)| *name == "stat" && *file == path)
                .count();
            match appended {
                Ok(_) => assert!(told || looked == 2, "{what}: acknowledged"),
                Err(Error::Corrupt { .. }) => {}
                Err(error) => panic!("{what}: {error}"),
            }
            if !wrote && looked == 0 {
                let now = memory.read(&path, 1 << 20).unwrap();
                assert_eq!(now[before..], foreign, "{what}: written over");
            }
        }
    }
}

#[test]
fn a_new_segment_takes_the_place_of_no_file() {
    for format in FORMATS {
        let storage = arc(&Memory::new());
        let (clock, options) = options();
        let writer = writer(&create(&storage, format, &options));
        let append = |text| writer.append(vec![said(text)], Durability::Synced);
        append("one").unwrap();
        clock.advance(86_400_000_000);
        let next =
            Path::new("teams/demo/events").join(format!("2026-11-22.{}", format.extension()));
        storage.replace(&next, b"theirs", true).unwrap();
        let error = append("two").unwrap_err();
        let told = matches!(&error, Error::Corrupt { path, .. } if *path == next);
        assert!(told, "{error}");
        assert_eq!(storage.read(&next, 100).unwrap(), b"theirs");
    }
}

#[test]
fn both_parts_of_the_lock_are_waited_for_and_name_their_holder() {
    for format in FORMATS {
        let root = tempfile::tempdir().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(Files::open(root.path()).unwrap());
        let log = create(&storage, format, &options().1);
        let held = [
            storage.lock(&lock_file(), Duration::ZERO).unwrap(),
            storage.lock_dir(&dir(), Duration::ZERO).unwrap(),
        ];
        for part in held {
            let error = log.lock().err();
            let Some(Error::Locked {
                path,
                holder,
                waited_ms,
            }) = error
            else {
                panic!("{error:?}")
            };
            assert_eq!(path, lock_file());
            assert!(holder.contains(&std::process::id().to_string()), "{holder}");
            assert!(waited_ms >= 200, "{waited_ms}");
            drop(part);
        }
        log.lock().unwrap();
    }
}

type Deed = fn(&Path);

/// Replaces the team's directory by a copy.
fn replace_directory(root: &Path) {
    let (team, aside) = (root.join(dir()), root.join("teams/aside"));
    std::fs::rename(&team, &aside).unwrap();
    copy_dir(&aside, &team);
}

#[test]
fn a_lock_counts_only_while_it_is_the_one_that_stands_there() {
    let deeds: [(&str, Deed); 4] = [
        ("replaced", |root| {
            std::fs::remove_file(root.join(lock_file())).unwrap();
            std::fs::File::create(root.join(lock_file())).unwrap();
        }),
        ("removed", |root| {
            std::fs::remove_file(root.join(lock_file())).unwrap()
        }),
        ("directory", replace_directory),
        ("directory around the file", |root| {
            replace_directory(root);
            let lock = root.join("teams/aside").join(LOCK_FILE);
            std::fs::rename(lock, root.join(lock_file())).unwrap();
        }),
    ];
    for format in FORMATS {
        for (what, deed) in deeds {
            // The directory is replaced directly after one of the two locks is taken, before the path is checked.
            for behind in 1..3 {
                let root = tempfile::tempdir().unwrap();
                let files: Arc<dyn Storage> = Arc::new(Files::open(root.path()).unwrap());
                create(&files, format, &options().1);
                let faulty = Faulty::new(files.clone());
                let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
                let log = open(&storage, &options().1);
                let top = root.path().to_owned();
                faulty.meanwhile(faulty.count() + behind, move || deed(&top));
                let exclusive = log.lock().unwrap();
                for busy in [
                    files.lock(&lock_file(), Duration::ZERO),
                    files.lock_dir(&dir(), Duration::ZERO),
                ] {
                    assert!(
                        matches!(busy, Err(LockError::Busy(_))),
                        "{format:?} {what} {behind}: what stands there is free"
                    );
                }
                exclusive
                    .into_writer(())
                    .append(vec![said("one")], Durability::Synced)
                    .unwrap();
                assert_eq!(texts(&open(&files, &options().1)), ["one"]);
            }
        }
    }
}

#[test]
fn a_lock_file_that_is_replaced_all_the_time_is_not_waited_for_without_end() {
    let memory = with_one(Format::Jsonl);
    let faulty = Faulty::new(arc(&memory));
    let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
    let log = open(&storage, &eager(&options().1));
    let theirs = memory.clone();
    faulty.meanwhile(faulty.count() + 1, move || Harm::Replaced.befall(&theirs));
    let error = log.lock().err();
    assert!(matches!(error, Some(Error::Locked { .. })), "{error:?}");
    log.lock().unwrap();
}

/// An operation that replaces the log by another log, or by a part of itself.
struct Change {
    name: &'static str,
    /// The last call before the decision: the name of the call, and the name of its file.
    decisive: (&'static str, &'static str),
    damaged: bool,
    make: fn(&Log) -> Result<(), Error>,
}

const CHANGES: [Change; 3] = [
    Change {
        name: "convert",
        decisive: ("open", "teams/demo/log.json.tmp"),
        damaged: false,
        make: |log| {
            let other = match log.identity().format {
                Format::Jsonl => Format::Binary,
                Format::Binary => Format::Jsonl,
            };
            log.convert(other).map(drop)
        },
    },
    Change {
        name: "cut",
        decisive: ("write_at", "teams/demo/head"),
        damaged: false,
        make: |log| log.cut(1, "lead").map(drop),
    },
    Change {
        name: "salvage",
        decisive: ("open", "teams/demo/log.json.tmp"),
        damaged: true,
        make: |log| {
            let (storage, dir, options) = (log.storage(), log.dir(), log.options());
            salvage(storage, dir, options, "lead", &mut |_| Ok(Vec::new())).map(drop)
        },
    },
];

/// Creates a log of three events; damages the last event if `damaged`.
fn for_change(format: Format, damaged: bool) -> Memory {
    let memory = with_one(format);
    let log = open(&arc(&memory), &options().1);
    let writer = writer(&log);
    for text in ["two", "three"] {
        say(&writer, text);
    }
    writer.close().unwrap();
    if damaged {
        let len = memory.read(&segment(format), 1 << 20).unwrap().len() as u64;
        memory.corrupt(&segment(format), len - 30, 1).unwrap();
    }
    memory
}

#[test]
fn a_change_of_the_whole_log_is_not_decided_without_the_lock() {
    for format in FORMATS {
        for change in &CHANGES {
            let (mut refused, mut done) = (0, 0);
            for call in 0.. {
                let memory = for_change(format, change.damaged);
                let faulty = Faulty::new(arc(&memory));
                let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
                // The ids differ from the ids of the existing log.
                let options = given!(LogOptions, ids: Arc::new(SeededIds(43.into())),
                    ..options().1);
                let log = open(&storage, &options);
                let first = faulty.count();
                let theirs = arc(&memory);
                // A lock can be lost only after the lock is taken.
                faulty.meanwhile(first + 4 + call, move || intrude(&theirs, Harm::Removed));
                let made = (change.make)(&log);
                let calls = faulty.calls();
                let what = format!("{format:?} {} at call {call}", change.name);
                if calls.len() <= first + 4 + call {
                    made.unwrap();
                    break;
                }
                let decided = calls[..=first + 4 + call].iter().any(|(name, path)| {
                    (*name, path) == (change.decisive.0, &change.decisive.1.into())
                });
                match made {
                    Ok(()) => done += 1,
                    Err(Error::LockLost { .. }) => refused += 1,
                    Err(error) => panic!("{what}: {error}"),
                }
                let log = open(&arc(&memory), &options);
                if !decided {
                    assert!(refused > 0 && done == 0, "{what}: decided without the lock");
                    assert_eq!(log.identity().format, format, "{what}");
                    assert_eq!(log.identity().origin, "init", "{what}");
                    if !change.damaged {
                        assert_eq!(texts(&log), ["one", "two", "three"], "{what}");
                    }
                }
                // The damage stays until the decision.
                if decided || !change.damaged {
                    drop(log.lock().unwrap_or_else(|error| panic!("{what}: {error}")));
                    let found = texts(&open(&arc(&memory), &options));
                    let all = ["one", "two", "three"].map(str::to_owned);
                    assert!(!found.is_empty() && all.starts_with(&found), "{what}");
                    assert!(log.verify(None).unwrap().ok, "{what}");
                }
            }
            assert!(refused > 10, "{} {refused} {done}", change.name);
        }
    }
}
