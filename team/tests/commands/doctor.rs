//! `doctor` on storage that may only be read, beside other handles, and on many kinds of history.

use crate::world::*;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use teamlog_engine::Format;
use teamlog_engine::storage::{Bytes, File, Held, LockError, Memory, Open, Stat, Storage, Watcher};
use teamlog_team::command::rehydrate::Rehydrate;
use teamlog_team::doctor::repair::Repair;
use teamlog_team::doctor::{DoctorAnswer, DoctorCheck, Health};
use teamlog_team::{Code, Root};

/// A file system that is mounted to be read.
#[derive(Debug)]
struct ReadOnly(Arc<Memory>);

fn refused_write<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Storage for ReadOnly {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        match how {
            Open::Read => self.0.open(path, how),
            _ => refused_write(),
        }
    }
    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.0.stat(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.0.list(dir)
    }
    fn create_dir(&self, _: &Path) -> io::Result<()> {
        refused_write()
    }
    fn rename(&self, _: &Path, _: &Path) -> io::Result<()> {
        refused_write()
    }
    fn remove_file(&self, _: &Path) -> io::Result<()> {
        refused_write()
    }
    fn remove_dir_all(&self, _: &Path) -> io::Result<()> {
        refused_write()
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        refused_write()
    }
    fn lock(&self, _: &Path, _: Duration) -> Result<Box<dyn Held>, LockError> {
        Err(LockError::Io(io::ErrorKind::ReadOnlyFilesystem.into()))
    }
    fn sealed(&self, path: &Path) -> io::Result<Bytes> {
        self.0.sealed(path)
    }
    fn watch(&self, paths: &[&Path]) -> io::Result<Box<dyn Watcher>> {
        self.0.watch(paths)
    }
}

fn check(root: &Root) -> DoctorAnswer {
    let check = DoctorCheck {
        team: "demo".into(),
        sample_size: 0,
        program: "teamlog".into(),
    };
    root.doctor_check(check, &mut |_, _| {}).unwrap()
}

fn turned(answer: &DoctorAnswer) -> BTreeMap<&'static str, Health> {
    let not_healthy = answer
        .checks
        .iter()
        .filter(|check| check.status != Health::Healthy);
    not_healthy
        .map(|check| (check.name, check.status))
        .collect()
}

fn history(world: &World, format: Format) {
    let mut team = world.team(Some(&["lead", "dev", "qa"]), format);
    for round in 0..40 {
        team.task_assign(assign(&format!("T-{}", round % 7), "dev"))
            .unwrap();
        world.later(MINUTE);
        team.task_update(update(&format!("T-{}", round % 5), "in_progress"))
            .unwrap();
        team.send(message("lead", "qa")).unwrap();
        team.finish().unwrap();
    }
}

#[test]
fn a_check_needs_no_right_to_write_whatever_is_wrong() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        history(&world, format);
        assert_eq!(
            turned(&check(&world.root)),
            BTreeMap::new(),
            "{:#?}",
            check(&world.root)
        );
        let names = world.memory.list(Path::new("teams/demo/events")).unwrap();
        let segment = Path::new("teams/demo/events").join(&names[0]);
        let faults: [(&str, u64); 4] = [
            ("none", 0),
            (segment.to_str().unwrap(), 5_000),
            ("teams/demo/log.json", 20),
            ("teams/demo/head", 30),
        ];
        for (file, offset) in faults {
            let memory = world.memory.snapshot();
            if file != "none" {
                memory.corrupt(Path::new(file), offset, 1).unwrap();
            }
            let writable = Root::on(Arc::new(memory.clone()), world.root.options().clone());
            let read_only = Arc::new(ReadOnly(Arc::new(memory)));
            let read_only = Root::on(read_only, world.root.options().clone());
            let mut expected = turned(&check(&writable));
            let found = check(&read_only);
            expected.insert("lock", Health::Warn);
            assert_eq!(turned(&found), expected, "{file}: {found:#?}");
        }
    }
}

#[test]
fn a_handle_from_before_a_cut_or_a_salvage_sees_what_is_there_now() {
    let world = World::new();
    let mut team = world.demo();
    for _ in 0..3 {
        team.send(message("lead", "dev")).unwrap();
    }
    let mut other = world.root.team("demo").unwrap();
    assert_eq!(status(&mut other).message_count, 3);
    // The event of the cut takes the seq of the one that went.
    let cut = Repair {
        to: 3,
        yes: true,
        actor: None,
    };
    let answer = team.repair(cut).unwrap();
    assert_eq!((answer.status, answer.seq), ("repaired", Some(4)));
    assert_eq!(status(&mut other).message_count, 2);
    assert_eq!(status(&mut team).message_count, 2);
    assert_eq!(status(&mut other).state_digest, answer.state_digest);
    settled_digest(&mut other);

    let segment = Path::new("teams/demo/events/2026-11-21.jsonl");
    let bytes = world.memory.read(segment, 1 << 20).unwrap();
    let second = String::from_utf8(bytes)
        .unwrap()
        .find("{\"seq\":2,")
        .unwrap();
    world
        .memory
        .corrupt(segment, second as u64 + 50, 1)
        .unwrap();
    let rebuilt = world
        .root
        .salvage("demo", Some("lead"), Rehydrate::default(), &mut |_, _| {})
        .unwrap();
    assert_eq!(rebuilt.salvaged.unwrap().lost_events, 1);
    assert_eq!(status(&mut other).message_count, 1);
    other.send(message("lead", "dev")).unwrap();
    let mut fresh = world.root.team("demo").unwrap();
    assert_eq!(status(&mut fresh).message_count, 2);
    assert_eq!(turned(&check(&world.root)), BTreeMap::new());
}

#[test]
fn only_the_present_is_repaired() {
    let world = World::new();
    let mut team = world.demo();
    team.send(message("lead", "dev")).unwrap();
    let repair = |to, yes| Repair {
        to,
        yes,
        actor: None,
    };
    for to in [0, 3, 99] {
        let refusal = refused(team.repair(repair(to, true)), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some("to"), "{refusal}");
    }
    let unknown = world
        .root
        .salvage("nobody", None, Rehydrate::default(), &mut |_, _| {});
    refused(unknown, Code::TeamNotFound);
    let bad = team.repair(Repair {
        actor: Some("a\nb".into()),
        ..repair(1, true)
    });
    refused(bad, Code::InvalidInput);
    assert_eq!(events(&mut team).len(), 2);
}

#[test]
fn a_check_beside_a_writer_finds_nothing_wrong() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    /// Each check reads the whole log: were the writer free to go on, it would outrun the checks for ever.
    const STEPS_A_CHECK: usize = 20;
    let world = World::new();
    history(&world, Format::Jsonl);
    /// Also where a check fails the writer must come to an end.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let (done, allowed) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut team = world.root.team("demo").unwrap();
            let mut steps = 0;
            while !done.load(Relaxed) {
                if steps >= allowed.load(Relaxed) {
                    std::thread::yield_now();
                    continue;
                }
                steps += 1;
                team.send(message("lead", "dev")).unwrap();
                team.task_update(update("T-1", "in_progress")).unwrap();
                team.finish().unwrap();
                world.later(MINUTE);
            }
        });
        let _stop = Stop(&done);
        for _ in 0..10 {
            allowed.fetch_add(STEPS_A_CHECK, Relaxed);
            let answer = check(&world.root);
            for check in answer.checks {
                let quiet = check.status == Health::Healthy
                    || check.name == "lock"
                    || check.summary.contains("somebody writes all the time");
                assert!(quiet, "{check:?}");
            }
        }
    });
    assert_eq!(turned(&check(&world.root)), BTreeMap::new());
}
