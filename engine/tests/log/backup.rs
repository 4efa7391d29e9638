//! Tests of backups: the backup has the log's bytes, only new bytes are copied, and after a stop at any call the old backup or the new
//! backup exists.

use crate::support::*;
use std::sync::atomic::{AtomicBool, Ordering};
use teamlog_engine::backup::{self, Backup, BackupReport};
use teamlog_engine::internals::backup::{FILES_DIR, MANIFEST_FILE};
use teamlog_engine::internals::layout::{EVENTS_DIR, RESTORED};
use teamlog_engine::{Clock, ManualClock};

struct World {
    clock: Arc<ManualClock>,
    memory: Memory,
    log: Log,
}

fn world(format: Format) -> World {
    let (clock, _) = options();
    let memory = Memory::new();
    let with = given!(LogOptions, clock: clock.clone(), ..small(1));
    let log = create(&arc(&memory), format, &with);
    World { clock, memory, log }
}

impl World {
    fn say(&self, range: std::ops::Range<usize>) {
        let writer = writer(&self.log);
        for n in range {
            if n % 9 == 8 {
                self.clock.advance(86_400_000_000);
            }
            let group = (0..1 + n % 3)
                .map(|part| said(&format!("{n}.{part} {}", "x".repeat(150))))
                .collect();
            writer.append(group, Durability::Synced).unwrap();
        }
        writer.release().unwrap();
    }

    fn put(&self, path: &str, text: &str) {
        let (storage, path) = (arc(&self.memory), dir().join(path));
        storage.create_dir_all(path.parent().unwrap()).unwrap();
        storage.replace(&path, text.as_bytes(), true).unwrap();
    }

    fn keep(&self, to: &Memory) -> Result<BackupReport, Error> {
        self.keep_on(&arc(to))
    }

    fn keep_on(&self, to: &Arc<dyn Storage>) -> Result<BackupReport, Error> {
        let reader = self.log.reader()?;
        backup::back_up(&reader, to, at(), self.clock.now(), Duration::ZERO)
    }
}

fn at() -> &'static Path {
    Path::new("demo")
}

fn opened(memory: &Memory) -> Backup {
    Backup::open(arc(memory), at(), small(9)).unwrap()
}

fn sound(memory: &Memory, what: &str) -> Backup {
    let backup = opened(memory);
    let report = backup.verify().unwrap();
    assert!(
        report.ok && report.problems.is_empty(),
        "{what}: {report:?}"
    );
    assert_eq!(report.last_seq, backup.manifest().seq, "{what}");
    backup
}

fn restored(backup: &Backup, team: &str, format: Option<Format>) -> (Arc<dyn Storage>, Log) {
    let storage: Arc<dyn Storage> = Arc::new(Memory::new());
    let (log, _) = backup
        .restore(
            storage.clone(),
            &Path::new("teams").join(team),
            team,
            format,
            small(11),
        )
        .unwrap();
    (storage, log)
}

#[test]
fn a_backup_holds_what_the_log_held_and_gives_it_back() {
    for format in FORMATS {
        let (world, to) = (world(format), Memory::new());
        world.say(0..20);
        world.put("artifacts/summaries/1.md", "done");
        world.put("artifacts/patches/a/b.patch", "+x");
        world.put("quarantine/x.7.0011223344556677", "torn");
        let kept = world.keep(&to).unwrap();
        let (before, receipt) = (
            texts(&world.log),
            world.log.reader().unwrap().receipt().unwrap(),
        );
        assert_eq!(kept.manifest.receipt(), receipt);
        assert_eq!((kept.files_copied, kept.before), (3, None));
        assert!(kept.segments_copied > 3, "{kept:?}");
        assert_eq!(kept.bytes_copied, kept.manifest.bytes() + 4 + 2 + 4);
        // Later events are not in the backup.
        world.say(20..25);
        let late = world.log.reader().unwrap().receipt().unwrap().unwrap();
        let backup = sound(&to, "whole");

        let (storage, log) = restored(&backup, "demo", None);
        assert_eq!(texts(&log), before);
        assert_eq!(log.identity().log, world.log.identity().log);
        assert_eq!(log.identity().origin, "restore");
        assert_eq!(events(&log).last().unwrap().kind, RESTORED);
        let patch = Path::new("teams/demo/artifacts/patches/a/b.patch");
        assert_eq!(storage.read(patch, 99).unwrap(), b"+x");
        say(&writer(&log), "new life");
        let report = log.verify(receipt.as_ref()).unwrap();
        assert!(report.ok && report.problems.is_empty(), "{report:?}");
        // Receipts of events that the original recorded later do not hold for the restored log.
        assert!(!log.verify(Some(&late)).unwrap().ok);

        for (team, to_format) in [("other", None), ("demo", Some(other(format)))] {
            let (_, copy) = restored(&backup, team, to_format);
            assert_eq!(texts(&copy), before);
            assert_ne!(copy.identity().log, world.log.identity().log);
            assert_eq!(copy.identity().name, team);
            assert_eq!(copy.identity().format, to_format.unwrap_or(format));
            let report = copy.verify(None).unwrap();
            assert!(report.ok && report.problems.is_empty(), "{report:?}");
            let seq = backup.manifest().seq;
            let same = backup.reader().content(seq).unwrap();
            assert_eq!(copy.reader().unwrap().content(seq).unwrap(), same);
        }
    }
}

#[test]
fn a_second_run_copies_what_is_new() {
    for format in FORMATS {
        let (world, to) = (world(format), Memory::new());
        world.say(0..10);
        let first = world.keep(&to).unwrap();
        let again = world.keep(&to).unwrap();
        assert_eq!((again.bytes_copied, again.segments_copied), (0, 0));
        assert_eq!(again.before, Some(first.manifest.seq));
        for upto in [11, 12, 30] {
            let before = opened(&to).manifest().clone();
            world.say(upto - 1..upto);
            let next = world.keep(&to).unwrap();
            assert_eq!(next.bytes_copied, next.manifest.bytes() - before.bytes());
            sound(&to, "after more");
        }
        assert_eq!(
            opened(&to).reader().events(None).count() as u64,
            world.log.reader().unwrap().head().last_seq
        );
    }
}

#[test]
fn an_empty_log_is_backed_up_and_restored() {
    let (world, to) = (world(Format::Jsonl), Memory::new());
    world.keep(&to).unwrap();
    let (_, log) = restored(&sound(&to, "empty"), "demo", None);
    assert_eq!(events(&log).len(), 1);
    world.say(0..3);
    world.keep(&to).unwrap();
    sound(&to, "no longer empty");
}

/// Checks that the old backup or the new backup exists, that the next run completes the new backup, and that the new backup can
/// be restored.
fn check(world: &World, to: &Memory, old: Option<u64>, what: &str) -> bool {
    let now = world.log.reader().unwrap().head().last_seq;
    let new = match Backup::open(arc(to), at(), small(9)) {
        Ok(backup) => {
            let seq = sound(to, what).manifest().seq;
            assert!(Some(seq) == old || seq == now, "{what}: {seq}");
            let (_, log) = restored(&backup, "demo", None);
            assert_eq!(events(&log).len() as u64, seq + 1, "{what}");
            seq == now
        }
        Err(Error::NoLog { .. }) if old.is_none() => false,
        Err(error) => panic!("{what}: {error}"),
    };
    world
        .keep(to)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(sound(to, what).manifest().seq, now, "{what}");
    new
}

#[test]
fn whatever_a_run_is_stopped_at_a_backup_is_there() {
    for format in FORMATS {
        let (world, start) = (world(format), Memory::new());
        world.say(0..6);
        world.put("artifacts/summaries/1.md", "first");
        for old in [false, true] {
            let seq = old.then(|| world.keep(&start).unwrap().manifest.seq);
            world.say(if old { 10..17 } else { 6..10 });
            world.put("artifacts/summaries/1.md", "second");
            let (mut new, mut checked) = (0, Checked::default());
            let keep = |storage: &Arc<dyn Storage>| world.keep_on(storage);
            let whole = at_every_call(&start.keep_unsynced(), Fault::Stop, keep, |stopped| {
                for (how, after) in stopped.crashes(1) {
                    if checked.is_new(&after, ()) {
                        let what = format!("{format:?}, {how}");
                        new += usize::from(check(&world, &after, seq, &what));
                    }
                }
            });
            whole.unwrap();
            let states = checked.met;
            assert!(states > 100 && new > 0 && new < states, "{new} of {states}");
        }
    }
}

#[test]
fn an_error_at_every_call_leaves_a_backup() {
    let (world, start) = (world(Format::Jsonl), Memory::new());
    world.say(0..6);
    let seq = world.keep(&start).unwrap().manifest.seq;
    world.say(6..14);
    for fault in [
        Fault::Error(std::io::ErrorKind::StorageFull),
        Fault::ShortWrite,
        Fault::PartialWrite,
        Fault::ShortRead,
    ] {
        let mut checked = Checked::default();
        let keep = |storage: &Arc<dyn Storage>| world.keep_on(storage);
        let _ = at_every_call(&start.keep_unsynced(), fault, keep, |failed| {
            let what = format!("{fault:?} at {} ({})", failed.call, failed.name);
            let lost = failed.memory.lose_unsynced();
            if let Ok(kept) = failed.done {
                let power_lost = sound(&lost, &what);
                assert_eq!(power_lost.manifest(), &kept.manifest, "{what}");
            }
            for left in [lost, failed.memory] {
                if checked.is_new(&left, ()) {
                    check(&world, &left, Some(seq), &what);
                }
            }
        });
    }
}

#[test]
fn every_damaged_byte_of_a_backup_is_noticed_and_nothing_is_restored_from_it() {
    let (world, to) = (world(Format::Binary), Memory::new());
    world.say(0..6);
    world.put("artifacts/summaries/1.md", "first");
    world.keep(&to).unwrap();
    let log = world.log.identity().log.to_string();
    let backup = opened(&to);
    let mut files: Vec<(PathBuf, u64)> = backup
        .manifest()
        .segments
        .iter()
        .map(|kept| {
            (
                at().join(&log).join(EVENTS_DIR).join(&kept.name),
                kept.length,
            )
        })
        .collect();
    let artifact = &backup.manifest().files[0];
    files.push((at().join(FILES_DIR).join(&artifact.blake3), artifact.length));
    for (file, length) in files {
        for offset in (0..length).step_by(37) {
            let damaged = to.snapshot();
            damaged.corrupt(&file, offset, 0x20).unwrap();
            let report = opened(&damaged).verify().unwrap();
            assert!(!report.ok, "{} {offset}", file.display());
            let storage: Arc<dyn Storage> = Arc::new(Memory::new());
            let error = opened(&damaged)
                .restore(storage, &dir(), "demo", None, small(3))
                .unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        }
        let gone = to.snapshot();
        arc(&gone).remove_file(&file).unwrap();
        assert!(!opened(&gone).verify().unwrap().ok, "{}", file.display());
    }
    to.corrupt(&at().join(MANIFEST_FILE), 30, 1).unwrap();
    let error = Backup::open(arc(&to), at(), small(9)).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[test]
fn a_backup_of_something_else_is_never_written_over() {
    let (world, to) = (world(Format::Jsonl), Memory::new());
    world.say(0..4);
    let past = world.memory.snapshot();
    world.say(4..9);
    let kept = world.keep(&to).unwrap();
    // The log was reset to an earlier state, and then got another history.
    let back = given!(World; clock: world.clock.clone(), log: open(&arc(&past), &small(77)),
        memory: past);
    for more in [0..0, 30..40] {
        back.say(more);
        let error = back.keep(&to).unwrap_err();
        assert!(matches!(error, Error::ForeignFile { .. }), "{error}");
    }
    assert_eq!(sound(&to, "untouched").manifest(), &kept.manifest);
    // A converted log has another id, so its backup is stored beside the old backup.
    world.log.convert(Format::Binary).unwrap().unwrap();
    let converted = given!(World; clock: world.clock.clone(),
        log: open(&arc(&world.memory), &small(78)), memory: world.memory.clone());
    let next = converted.keep(&to).unwrap();
    assert_eq!(next.before, None);
    assert_eq!(
        sound(&to, "converted").manifest().seq,
        kept.manifest.seq + 1
    );
    let old = at().join(&kept.manifest.log).join(EVENTS_DIR);
    assert!(!arc(&to).list(&old).unwrap().is_empty());
}

#[test]
fn a_damaged_log_is_not_backed_up_over_a_sound_one() {
    let (world, to) = (world(Format::Jsonl), Memory::new());
    world.say(0..2);
    let kept = world.keep(&to).unwrap();
    world.say(2..9);
    let path = dir()
        .join(EVENTS_DIR)
        .join(&world.log.reader().unwrap().head().name);
    world.memory.corrupt(&path, 600, 1).unwrap();
    let error = world.keep(&to).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    assert_eq!(sound(&to, "the one before").manifest(), &kept.manifest);
}

#[test]
fn backups_beside_a_writer_are_prefixes() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let storage: Arc<dyn Storage> = Arc::new(Files::open(from.path()).unwrap());
    let target: Arc<dyn Storage> = Arc::new(Files::open(to.path()).unwrap());
    let with = given!(LogOptions, segment_bytes_max: 20_000);
    let log = create(&storage, Format::Jsonl, &with);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let writer = writer(&log);
            for n in 0..400 {
                writer
                    .append(
                        vec![said(&format!("{n} {}", "y".repeat(200)))],
                        Durability::Synced,
                    )
                    .unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut seen = 0;
        loop {
            let last = done.load(Ordering::SeqCst);
            // Before the first writer creates the head, a reader finds no log.
            let reader = match log.reader() {
                Err(Error::Locked { .. }) => continue,
                reader => reader.unwrap(),
            };
            let kept = backup::back_up(&reader, &target, at(), start(), Duration::ZERO).unwrap();
            assert!(kept.manifest.seq >= seen);
            seen = kept.manifest.seq;
            let backup = Backup::open(target.clone(), at(), with.clone()).unwrap();
            let report = backup.verify().unwrap();
            assert!(report.ok && report.problems.is_empty(), "{report:?}");
            assert_eq!(report.last_seq, seen);
            if last {
                break;
            }
        }
        assert_eq!(seen, 400);
    });
    let _held = target.lock(&at().join("lock"), Duration::ZERO).unwrap();
    let reader = log.reader().unwrap();
    let error = backup::back_up(&reader, &target, at(), start(), Duration::ZERO).unwrap_err();
    assert!(
        matches!(error, Error::Locked { .. }),
        "one run at a time: {error}"
    );
}

#[test]
fn a_sealed_segment_of_another_length_is_damage_and_the_backup_stays() {
    for longer in [true, false] {
        let world = world(Format::Jsonl);
        world.say(0..12);
        let to = Memory::new();
        world.keep(&to).unwrap();
        let before = sound(&to, "before").manifest().clone();
        let first = dir().join(EVENTS_DIR).join(&before.segments[0].name);
        let storage = arc(&world.memory);
        let mut bytes = storage.read(&first, 1 << 20).unwrap();
        match longer {
            true => bytes.extend_from_slice(b"garbage\n"),
            false => bytes.truncate(bytes.len() - 10),
        }
        storage.replace(&first, &bytes, true).unwrap();
        world.say(12..13);
        assert!(world.keep(&to).is_err(), "longer: {longer}");
        assert_eq!(sound(&to, "after").manifest(), &before);
    }
}

#[test]
fn what_an_earlier_run_left_behind_a_segment_goes() {
    let world = world(Format::Jsonl);
    world.say(0..12);
    let to = Memory::new();
    world.keep(&to).unwrap();
    let kept = sound(&to, "before").manifest().clone();
    let log = at().join(&kept.log).join(EVENTS_DIR);
    for segment in &kept.segments {
        let path = log.join(&segment.name);
        let mut bytes = arc(&to).read(&path, 1 << 20).unwrap();
        bytes.extend_from_slice(b"of a run without a manifest");
        arc(&to).replace(&path, &bytes, true).unwrap();
    }
    world.say(12..30);
    world.keep(&to).unwrap();
    sound(&to, "after");
}

#[test]
fn a_backup_of_the_log_before_stays_beside_that_of_the_log_after() {
    for format in FORMATS {
        let world = world(format);
        world.say(0..12);
        let to = Memory::new();
        let old = world.keep(&to).unwrap().manifest;
        // Creates another log of the same name, as a salvage does.
        let storage = arc(&Memory::new());
        let new = create(
            &storage,
            format,
            &given!(LogOptions, ids: Arc::new(SeededIds(AtomicU64::new(77))), ..small(1)),
        );
        let say = |text: &str| {
            let writer = writer(&new);
            say(&writer, text);
            writer.close().unwrap();
        };
        let keep = || {
            let reader = new.reader().unwrap();
            backup::back_up(&reader, &arc(&to), at(), world.clock.now(), Duration::ZERO)
        };
        say("one");
        assert_eq!(keep().unwrap().before, None);
        say("two");
        assert_eq!(keep().unwrap().before, Some(1));
        let both = || -> Vec<(String, u64)> {
            let all = Backup::open_all(&arc(&to), at(), &small(9)).unwrap();
            for backup in &all {
                assert!(backup.verify().unwrap().ok);
                restored(backup, "demo", None);
            }
            let held = all.iter().map(|backup| backup.manifest());
            held.map(|held| (held.log.clone(), held.seq)).collect()
        };
        let other = new.identity().log.to_string();
        assert_eq!(both(), [(other.clone(), 2), (old.log.clone(), old.seq)]);
        // The first log must still continue its own backup.
        world.say(12..20);
        let again = world.keep(&to).unwrap();
        assert_eq!(again.before, Some(old.seq));
        assert_eq!(
            both(),
            [(old.log.clone(), again.manifest.seq), (other.clone(), 2)]
        );
        let shorter = self::world(format);
        shorter.say(0..3);
        assert_eq!(shorter.log.identity().log, world.log.identity().log);
        keep().unwrap();
        let error = shorter.keep(&to).unwrap_err();
        assert!(matches!(error, Error::ForeignFile { .. }), "{error}");
        assert_eq!(both(), [(other, 2), (old.log, again.manifest.seq)]);
    }
}

#[test]
fn a_log_whose_first_segment_has_just_been_begun_is_backed_up_as_empty() {
    for format in FORMATS {
        let world = world(format);
        world.say(0..1);
        let head = world.log.reader().unwrap().head().clone();
        let path = dir().join(EVENTS_DIR).join(&head.name);
        let bytes = forge::read(&world.memory, &path);
        let (_, begun) = SegmentHeader::decode(format, &bytes).unwrap();
        forge::write(&world.memory, &path, &bytes[..begun]);
        let head = given!(Head, end: begun as u64, last_seq: 0, last_id: None, ..head);
        let slots = head.file(world.log.identity().log);
        forge::write(&world.memory, &dir().join("head"), &slots);
        forget_witness(&world.memory);
        let to = Memory::new();
        assert_eq!(world.keep(&to).unwrap().manifest.segments, []);
        assert_eq!(sound(&to, "as empty").manifest().seq, 0);
        world.say(0..2);
        assert_eq!(world.keep(&to).unwrap().before, Some(0));
        sound(&to, "grown");
    }
}
