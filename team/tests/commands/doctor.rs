//! Tests of `doctor` on read-only storage, during writes by other handles, and on many kinds of history.

use crate::prelude::*;
use std::io;
use teamlog_engine::storage::{Bytes, File, HeldLock, LockError, OpenMode, Stat, Watcher};
use teamlog_team::doctor::DoctorAnswer;

/// A storage that refuses writes, like a read-only file system.
#[derive(Debug)]
struct ReadOnly(Arc<Memory>);

fn refused_write<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Storage for ReadOnly {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn File>> {
        match how {
            OpenMode::Read => self.0.open(path, how),
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
    fn sync_file_system(&self) -> io::Result<()> {
        refused_write()
    }
    fn lock(&self, _: &Path, _: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        Err(LockError::Io(io::ErrorKind::ReadOnlyFilesystem.into()))
    }
    fn lock_dir(&self, dir: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        self.0.lock_dir(dir, deadline)
    }
    fn sealed(&self, path: &Path) -> io::Result<Bytes> {
        self.0.sealed(path)
    }
    fn watch(&self, paths: &[&Path]) -> io::Result<Box<dyn Watcher>> {
        self.0.watch(paths)
    }
}

fn turned(answer: &DoctorAnswer) -> BTreeMap<&'static str, Health> {
    let all = answer.checks.iter().map(|check| (check.name, check.status));
    all.filter(|(_, status)| *status != Health::Healthy)
        .collect()
}

fn history(world: &World, format: Format) {
    let mut team = world.team(Some(&["lead", "dev", "qa"]), format);
    for round in 0..40 {
        let (given, begun) = (format!("T-{}", round % 7), format!("T-{}", round % 5));
        team.task_assign(assign(&given, "dev")).unwrap();
        world.later(MINUTE);
        team.task_update(update(&begun, "in_progress")).unwrap();
        team.send(message("lead", "qa")).unwrap();
        team.finish().unwrap();
    }
}

#[test]
fn a_check_needs_no_right_to_write_whatever_is_wrong() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        history(&world, format);
        let answer = doctor(&world.root, "demo");
        assert_eq!(turned(&answer), BTreeMap::new(), "{answer:#?}");
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
            let mut expected = turned(&doctor(&writable, "demo"));
            let found = doctor(&read_only, "demo");
            expected.insert("lock", Health::Warn);
            assert_eq!(turned(&found), expected, "{file}: {found:#?}");
        }
    }
}

#[test]
fn a_handle_from_before_a_cut_or_a_salvage_sees_what_is_there_now() {
    let (world, mut team) = demo();
    for _ in 0..3 {
        team.send(message("lead", "dev")).unwrap();
    }
    let mut other = world.root.team("demo").unwrap();
    assert_eq!(status(&mut other).message_count, 3);
    // The event that records the cut gets the seq of the removed event.
    let answer = team.repair(given!(Repair, to: 3, yes: true)).unwrap();
    assert_eq!((answer.status, answer.seq), ("repaired", Some(4)));
    assert_eq!(status(&mut other).message_count, 2);
    assert_eq!(status(&mut team).message_count, 2);
    assert_eq!(status(&mut other).state_digest, answer.state_digest);
    settled_digest(&mut other);

    let segment = Path::new("teams/demo/events/2026-11-21.jsonl");
    let bytes = world.memory.read(segment, 1 << 20).unwrap();
    let second = String::from_utf8(bytes).unwrap().find("{\"seq\":2,");
    let second = second.unwrap() as u64;
    world.memory.corrupt(segment, second + 50, 1).unwrap();
    let (by, how) = (Some("lead"), Rehydrate::default());
    let rebuilt = world.root.salvage("demo", by, how, &mut |_, _| {});
    assert_eq!(rebuilt.unwrap().salvaged.unwrap().lost_events, 1);
    assert_eq!(status(&mut other).message_count, 1);
    other.send(message("lead", "dev")).unwrap();
    let mut fresh = world.root.team("demo").unwrap();
    assert_eq!(status(&mut fresh).message_count, 2);
    assert_eq!(turned(&doctor(&world.root, "demo")), BTreeMap::new());
}

#[test]
fn only_the_present_is_repaired() {
    let (world, mut team) = demo();
    team.send(message("lead", "dev")).unwrap();
    let repair = |to, yes| given!(Repair, to, yes);
    for to in [0, 3, 99] {
        let refusal = refused(team.repair(repair(to, true)), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some("to"), "{refusal}");
    }
    let how = Rehydrate::default();
    let unknown = world.root.salvage("nobody", None, how, &mut |_, _| {});
    refused(unknown, Code::TeamNotFound);
    let bad = team.repair(given!(Repair, actor: "a\nb", ..repair(1, true)));
    refused(bad, Code::InvalidInput);
    assert_eq!(events(&mut team).len(), 2);
}

#[test]
fn a_check_beside_a_writer_finds_nothing_wrong() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
    /// Number of writer steps per check. Each check reads the whole log, so a writer without this
    /// limit would always be faster than the check.
    const STEPS_A_CHECK: usize = 20;
    let world = World::new();
    history(&world, Format::Jsonl);
    /// Stops the writer even if a check fails.
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
            let answer = doctor(&world.root, "demo");
            for check in answer.checks {
                let quiet = check.status == Health::Healthy
                    || check.name == "lock"
                    || check.summary.contains("the log changed during the check");
                assert!(quiet, "{check:?}");
            }
        }
    });
    assert_eq!(turned(&doctor(&world.root, "demo")), BTreeMap::new());
}

fn start(team: &mut teamlog_team::Team, mode: &str, session: Option<&str>) {
    let start = given!(ModeStart, mode, session_id: session);
    team.mode_start(start).unwrap();
}

fn complete(team: &mut teamlog_team::Team, mode: &str, session: Option<&str>) {
    let complete = given!(ModeComplete, mode, session_id: session);
    team.mode_complete(complete).unwrap();
}

/// Returns the result of the check `name`: its health, its faults (kind, mode, session), and its recommendations.
fn faults(world: &World, name: &str) -> (Health, Vec<[String; 3]>, Vec<String>) {
    let answer = doctor(&world.root, "demo");
    let check = answer.checks.into_iter().find(|one| one.name == name);
    let check = check.unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("root").to_owned();
    let faults = check.details["faults"].as_array().unwrap().iter();
    let faults = faults.map(|fault| ["kind", "mode", "session_id"].map(|name| text(&fault[name])));
    (check.status, faults.collect(), check.recommendations)
}

fn fault(kind: &str, mode: &str, session: &str) -> [String; 3] {
    [kind, mode, session].map(str::to_owned)
}

#[test]
fn modes_that_contradict_each_other_across_scopes_are_found_and_what_is_recommended_mends_them() {
    let (world, mut team) = demo();
    for session in ["a", "b"] {
        start(&mut team, "forge", Some(session));
    }
    start(&mut team, "forge", None);
    assert_eq!(faults(&world, "modes"), (Health::Healthy, vec![], vec![]));
    // Fault: the mode is still active at the root, although it ended in a session after its start
    // at the root.
    complete(&mut team, "forge", Some("a"));
    let found = vec![fault("root_state", "forge", "root")];
    let clear = vec!["teamlog mode clear demo forge --root".to_owned()];
    assert_eq!(faults(&world, "modes"), (Health::Warn, found, clear));
    // No fault: a mode can stay active in a session after the mode ended at the root.
    complete(&mut team, "forge", None);
    assert_eq!(faults(&world, "modes"), (Health::Healthy, vec![], vec![]));
    // No fault: a session that hides a mode of the root does not end that mode.
    start(&mut team, "ultrawork", None);
    let clear = given!(ModeClear, mode: "ultrawork", session_id: "b");
    team.mode_clear(clear).unwrap();
    assert_eq!(faults(&world, "modes"), (Health::Healthy, vec![], vec![]));
}

#[test]
fn a_file_of_active_skills_that_lists_what_ended_is_found_and_a_rehydration_mends_it() {
    let (world, mut team) = demo();
    let path = Path::new("teams/demo/modes/sessions/s/skill-active-state.json");
    let read = || {
        let file = world.memory.open(path, OpenMode::Read).unwrap();
        let mut text = vec![0; 1 << 16];
        let read = file.read_at(&mut text, 0).unwrap();
        text.truncate(read);
        text
    };
    let put = |text: &[u8]| {
        let file = world.memory.open(path, OpenMode::Write).unwrap();
        file.set_len(0).unwrap();
        assert_eq!(file.write_at(text, 0).unwrap(), text.len());
    };
    start(&mut team, "blueprint", Some("s"));
    let planned = read();
    start(&mut team, "forge", Some("s"));
    let forged = read();
    assert_eq!(faults(&world, "modes"), (Health::Healthy, vec![], vec![]));
    // Simulates a program that writes a mode back after another program completed it.
    put(&planned);
    let mend = vec!["teamlog rehydrate demo".to_owned()];
    let forge = fault("skill_active", "forge", "s");
    let found = vec![forge.clone(), fault("auto_completed", "blueprint", "s")];
    let expected = (Health::Unhealthy, found, mend.clone());
    assert_eq!(faults(&world, "modes"), expected);
    let how = Rehydrate::default();
    team.rehydrate(how, &mut |_, _| {}).unwrap();
    assert_eq!(read(), forged);
    assert_eq!(faults(&world, "modes"), (Health::Healthy, vec![], vec![]));
    complete(&mut team, "forge", Some("s"));
    put(&forged);
    let expected = (Health::Unhealthy, vec![forge], mend);
    assert_eq!(faults(&world, "modes"), expected);
    // Another check reports a file that does not parse.
    put(b"{\"active_skills\":7}");
    assert_eq!(faults(&world, "modes"), (Health::Healthy, vec![], vec![]));
}

#[test]
fn active_modes_of_which_nothing_is_heard_for_a_day_are_found() {
    let (world, mut team) = demo();
    start(&mut team, "ultrawork", None);
    start(&mut team, "blueprint", Some("s"));
    world.later(24 * 60 * MINUTE - SECOND);
    start(&mut team, "team", Some("t"));
    assert_eq!(faults(&world, "modes"), (Health::Healthy, vec![], vec![]));
    world.later(2 * SECOND);
    let (health, found, commands) = faults(&world, "modes");
    assert_eq!(health, Health::Warn);
    let blueprint = fault("session_state", "blueprint", "s");
    let root = fault("root_state", "ultrawork", "root");
    assert_eq!(found, [blueprint.clone(), root], "sessions before the root");
    let expected = [
        "teamlog mode clear demo blueprint --session s",
        "teamlog mode clear demo ultrawork --root",
    ];
    assert_eq!(commands, expected);
    let update = given!(ModeUpdate, mode: "ultrawork", iteration: 1);
    team.mode_update(update).unwrap();
    let (_, found, _) = faults(&world, "modes");
    assert_eq!(found, [blueprint]);
}

#[test]
fn runs_whose_time_outs_nobody_recorded_are_found_and_a_tick_mends_them() {
    let (world, mut team) = demo();
    let start = given!(BootstrapStart, run: "r", domains: ["physics"]);
    team.bootstrap_start(start).unwrap();
    let members = ["obstruction-theorist", "synthesizer", "physics"];
    for (event, data) in [
        (
            "team_create_returned",
            json!({"outcome": "ok", "team_name": "demo"}),
        ),
        ("branch_taken", json!({})),
        ("roster_built", json!({"domains": ["physics"]})),
        (
            "team_launched",
            json!({"method": "team_api", "members": members}),
        ),
    ] {
        let data = data.as_object().unwrap().clone();
        let record = given!(BootstrapRecord, run: "r", event, data);
        assert!(team.bootstrap_record(record).unwrap().accepted, "{event}");
    }
    let overdue = |world: &World| {
        let answer = doctor(&world.root, "demo");
        let mut checks = answer.checks.into_iter();
        let check = checks.find(|one| one.name == "bootstrap").unwrap();
        let overdue = check.details["overdue"].clone();
        (check.status, overdue, check.recommendations)
    };
    world.later(59 * SECOND);
    assert_eq!(overdue(&world), (Health::Healthy, 0.into(), vec![]));
    world.later(2 * SECOND);
    let tick = vec!["teamlog tick demo".to_owned()];
    assert_eq!(overdue(&world), (Health::Warn, 1.into(), tick));
    team.tick(Default::default()).unwrap();
    assert_eq!(overdue(&world), (Health::Healthy, 0.into(), vec![]));
}

/// Creates a history that is so long that `doctor check` checks only a sample by default.
fn long_history(world: &World, format: Format) {
    let mut team = world.team(Some(&["lead", "dev", "qa"]), format);
    for round in 0..550 {
        let task = format!("T-{}", round % 70);
        team.task_assign(assign(&task, "dev")).unwrap();
        team.send(message("lead", "qa")).unwrap();
        world.later(MINUTE);
    }
    team.finish().unwrap();
    team.rehydrate(Rehydrate::default(), &mut |_, _| {})
        .unwrap();
}

#[test]
fn a_long_log_is_looked_at_by_a_sample_and_whole_when_asked() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        long_history(&world, format);
        let (quick, deep) = (
            doctor_of(&world.root, "demo", false),
            doctor(&world.root, "demo"),
        );
        assert_eq!((quick.stats.deep, deep.stats.deep), (false, true));
        assert_eq!(turned(&quick), BTreeMap::new(), "{quick:#?}");
        assert_eq!(turned(&deep), BTreeMap::new(), "{deep:#?}");
        let names = |answer: &DoctorAnswer| {
            let names = answer.checks.iter().map(|check| check.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&quick), names(&deep));
        let counts = |answer: &DoctorAnswer| {
            let stats = &answer.stats;
            (stats.events, stats.segments, stats.bytes, stats.messages)
        };
        assert_eq!(counts(&quick), counts(&deep));
    }
}

#[test]
fn what_a_sample_leaves_in_doubt_is_looked_at_whole() {
    let world = World::new();
    long_history(&world, Format::Jsonl);
    let names = world.memory.list(Path::new("teams/demo/events")).unwrap();
    let first = Path::new("teams/demo/events").join(&names[0]);
    type Plant<'a> = &'a dyn Fn(&Memory);
    let faults: [(&str, Plant<'_>); 6] = [
        ("a segment is longer", &|memory| {
            let file = memory.open(&first, OpenMode::Write).unwrap();
            let len = file.stat().unwrap().len;
            file.write_all_at(b"x", len).unwrap();
        }),
        ("the last event is damaged", &|memory| {
            let path = Path::new("teams/demo/events").join(&names[names.len() - 1]);
            let len = memory.stat(&path).unwrap().unwrap().len;
            memory.corrupt(&path, len - 40, 1).unwrap();
        }),
        ("the head has a damaged slot", &|memory| {
            memory.corrupt(Path::new("teams/demo/head"), 30, 1).unwrap();
        }),
        ("an inbox is cut", &|memory| {
            let path = Path::new("teams/demo/inboxes/qa.jsonl");
            let file = memory.open(path, OpenMode::Write).unwrap();
            file.set_len(file.stat().unwrap().len - 1).unwrap();
        }),
        ("team.json is something else", &|memory| {
            memory
                .corrupt(Path::new("teams/demo/team.json"), 10, 1)
                .unwrap();
        }),
        ("the cursor is gone", &|memory| {
            memory.remove_file(Path::new("teams/demo/views")).unwrap();
        }),
    ];
    for (what, plant) in faults {
        let memory = world.memory.snapshot();
        plant(&memory);
        let root = Root::on(Arc::new(memory), world.root.options().clone());
        let (quick, deep) = (doctor_of(&root, "demo", false), doctor(&root, "demo"));
        assert!(quick.stats.deep, "{what}: {quick:#?}");
        assert_eq!(turned(&quick), turned(&deep), "{what}");
        assert_eq!(quick.recommendations, deep.recommendations, "{what}");
    }
}
