//! Tests of teams that stay open: several handles with one writer, commands for which the writer closes, and the end of
//! the writer.

use crate::prelude::*;
use teamlog_engine::Error;
use teamlog_engine::Point;
use teamlog_engine::internals::storage::Fault;
use teamlog_engine::storage::Files;
use teamlog_team::lifecycle::status::Status;

fn resident(world: &World) -> Root {
    world.root.clone().resident()
}

/// Returns a root whose teams stay open, and a team in which a message was sent.
fn kept(world: &World) -> (Root, Team) {
    let root = resident(world);
    let mut team = root.team("demo").unwrap();
    drop(team.send(message("lead", "dev")).unwrap());
    (root, team)
}

fn create(subject: &str) -> TaskCreate {
    given!(TaskCreate, subject)
}

fn inbox(team: &mut Team, agent: &str) -> usize {
    let read = given!(Read, agent);
    team.read(read).unwrap().messages.len()
}

fn locked<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> bool {
    let error = outcome.unwrap_err();
    matches!(error.engine(), Some(Error::Locked { .. }))
}

#[test]
fn handles_share_one_writer_and_see_what_each_other_did() {
    for format in [Format::Jsonl, Format::Binary] {
        let world = World::new();
        drop(world.team(Some(&["lead", "dev"]), format));
        let root = resident(&world);
        let mut one = root.team("demo").unwrap();
        let mut two = root.team("demo").unwrap();
        drop(one.send(message("lead", "dev")).unwrap());
        drop(two.task_assign(assign("T-1", "dev")).unwrap());
        assert_eq!(inbox(&mut one, "dev"), 2);
        let status = two.status(Status::default()).unwrap();
        assert_eq!(status.message_count, 2);
        // Two commands make two groups. The counts belong to the writer, not to a handle.
        assert_eq!((one.counts().groups, two.counts().jobs), (2, 2));
        let live = one.status(given!(Status, digest: true)).unwrap();
        root.close().unwrap();
        let mut after = world.root.team("demo").unwrap();
        assert_eq!(Some(settled_digest(&mut after)), live.state_digest);
    }
}

#[test]
fn the_lock_is_kept_until_the_root_is_closed() {
    let world = World::new();
    drop(world.demo());
    let (root, mut kept) = kept(&world);
    let mut outside = world.root.team("demo").unwrap();
    assert!(locked(outside.send(message("dev", "lead"))));
    // Reading needs no lock.
    assert_eq!(inbox(&mut outside, "dev"), 1);
    root.close().unwrap();
    drop(outside.send(message("dev", "lead")).unwrap());
    // The next command opens the team again, and sees the events of other processes.
    assert_eq!(inbox(&mut kept, "lead"), 1);
    drop(kept.send(message("lead", "dev")).unwrap());
}

#[test]
fn the_writer_gives_way_to_a_command_on_the_whole_log() {
    let world = World::new();
    drop(world.demo());
    let (root, mut kept) = kept(&world);
    let mut whole = root.team("demo").unwrap();
    let rebuilt = whole.rehydrate(Rehydrate::default(), &mut |_, _| {});
    assert_eq!(rebuilt.unwrap().event_count, 2);
    // The writer stays closed while the handle `whole` exists, and other writes wait for the lock.
    assert!(locked(kept.send(message("lead", "dev"))));
    // The handle `whole` can still write.
    drop(whole.send(message("lead", "dev")).unwrap());
    drop(whole);
    drop(kept.send(message("lead", "dev")).unwrap());
    assert_eq!(inbox(&mut kept, "dev"), 3);
}

#[test]
fn the_writer_gives_way_to_what_mends_the_log() {
    let world = World::new();
    drop(world.demo());
    let root = resident(&world);
    let mut kept = root.team("demo").unwrap();
    for _ in 0..3 {
        drop(kept.send(message("lead", "dev")).unwrap());
    }
    let repair = given!(Repair, to: 3, yes: true);
    let cut = root.team("demo").unwrap().repair(repair).unwrap();
    assert_eq!(cut.status, "repaired");
    assert_eq!(inbox(&mut kept, "dev"), 2);
    drop(kept.send(message("lead", "dev")).unwrap());
    let salvaged = root.salvage("demo", None, Rehydrate::default(), &mut |_, _| {});
    assert_eq!(salvaged.unwrap().event_count, 5);
    drop(kept.send(message("lead", "dev")).unwrap());
    assert_eq!(inbox(&mut kept, "dev"), 4);
}

#[test]
fn the_past_is_as_it_was() {
    let world = World::new();
    drop(world.demo());
    let (root, mut kept) = kept(&world);
    drop(kept.send(message("lead", "dev")).unwrap());
    let past = root.team("demo").unwrap().at(Point::Seq(2));
    let mut past = past.unwrap();
    assert_eq!(inbox(&mut past, "dev"), 1);
    refused(past.send(message("lead", "dev")), Code::PastReadOnly);
}

macro_rules! failed {
    ($failure:expr, $error:pat) => {
        assert!(matches!($failure.engine(), Some($error)), "{}", $failure)
    };
}

/// Changes the bytes of the team's only segment.
fn change(dir: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut events = std::fs::read_dir(dir.join("teams/demo/events")).unwrap();
    let segment = events.next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&segment).unwrap();
    change(&mut bytes);
    std::fs::write(segment, bytes).unwrap();
}

/// Creates a team on disk, with a storage that can fail.
fn on_disk(dir: &Path) -> (Faulty, Root) {
    let files: Arc<dyn Storage> = Arc::new(Files::open(dir).unwrap());
    let faulty = Faulty::new(files);
    let options = given!(RootOptions, lock_deadline: Duration::from_secs(5));
    let root = Root::on(Arc::new(faulty.clone()), options).resident();
    // The team has no view files, because their delayed calls would disturb the counts.
    root.init(given!(Init, team: "demo", no_views: true))
        .unwrap();
    (faulty, root)
}

/// Returns the storage calls of opening the team and running a query, by name and file.
fn calls_of_a_question(faulty: &Faulty, root: &Root) -> Vec<String> {
    let before = faulty.count();
    let mut team = root.team("demo").unwrap();
    assert!(team.query(|live, _| Ok(live.seq())).unwrap() > 0);
    let calls = faulty.calls();
    let file = |(call, path): &(&str, PathBuf)| format!("{call} {}", path.display());
    calls[before..].iter().map(file).collect()
}

#[test]
fn a_question_of_a_team_that_stays_open_reads_nothing_again() {
    let dir = tempfile::tempdir().unwrap();
    let (faulty, root) = on_disk(dir.path());
    drop(root.team("demo").unwrap().send(message("lead", "dev")));
    for _ in 0..2 {
        let calls = calls_of_a_question(&faulty, &root);
        // The only call checks that the lock file still exists. On a real directory, this check is
        // one system call.
        assert_eq!(calls, ["stat teams/demo/lock"]);
    }
    // `log.json` is read again while another log can replace the team's log.
    let read_again = |root: &Root| {
        let calls = calls_of_a_question(&faulty, root);
        assert!(
            calls.iter().any(|call| call.ends_with("/log.json")),
            "{calls:?}"
        );
    };
    let pause = root.give_way("demo").unwrap();
    assert!(root.batch("demo").is_none());
    read_again_of_one_who_waits(&faulty, &root);
    drop(pause);
    read_again(&root);
    assert_eq!(calls_of_a_question(&faulty, &root).len(), 1);
    std::fs::remove_file(dir.path().join("teams/demo/lock")).unwrap();
    read_again(&root);
}

/// Checks that opening a paused team reads `log.json`, without a query on the team.
fn read_again_of_one_who_waits(faulty: &Faulty, root: &Root) {
    let before = faulty.count();
    drop(root.team("demo").unwrap());
    let calls = &faulty.calls()[before..];
    assert!(calls.iter().any(|(_, path)| path.ends_with("log.json")));
}

#[test]
fn a_team_that_somebody_put_in_the_place_of_one_that_is_open_is_the_one_that_answers() {
    let dir = tempfile::tempdir().unwrap();
    let (_, root) = on_disk(dir.path());
    let mut team = root.team("demo").unwrap();
    drop(team.send(message("lead", "dev")).unwrap());
    assert_eq!(inbox(&mut root.team("demo").unwrap(), "dev"), 1);
    let place = dir.path().join("teams/demo");
    std::fs::rename(&place, dir.path().join("teams/.away")).unwrap();
    assert!(root.team("demo").is_err());
    let (_, other) = on_disk(dir.path());
    other.close().unwrap();
    let log = root.team("demo").unwrap();
    assert_ne!(log.log().identity().log, team.log().identity().log);
    assert_eq!(inbox(&mut root.team("demo").unwrap(), "dev"), 0);
}

/// Makes the next storage call `name` on a segment fail.
fn fail_next(faulty: &Faulty, team: &mut Team, name: &str, fault: Fault) {
    // Equal commands make equal calls.
    let before = faulty.count();
    drop(team.send(message("lead", "dev")).unwrap());
    let calls = faulty.calls();
    let mut own = calls[before..].iter();
    let at =
        own.position(|(call, path)| *call == name && path.to_string_lossy().contains("events"));
    faulty.arm(faulty.count() + at.unwrap(), fault);
}

#[test]
fn behind_a_failed_write_the_log_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let (faulty, root) = on_disk(dir.path());
    let mut team = root.team("demo").unwrap();
    drop(team.send(message("lead", "dev")).unwrap());
    fail_next(&faulty, &mut team, "write_at", Fault::ShortWrite);
    let failure = team.send(message("lead", "dev")).unwrap_err();
    failed!(failure, Error::Io { .. });
    team.writable().unwrap();
    drop(team.send(message("lead", "dev")).unwrap());
    assert_eq!(inbox(&mut team, "dev"), 3);
}

#[test]
fn behind_a_failed_sync_nothing_is_written_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let (faulty, root) = on_disk(dir.path());
    let mut team = root.team("demo").unwrap();
    drop(team.send(message("lead", "dev")).unwrap());
    fail_next(&faulty, &mut team, "sync_data", Fault::Os(5));
    let failure = team.send(message("lead", "dev")).unwrap_err();
    failed!(failure, Error::Io { .. });
    let segment = || {
        let mut events = std::fs::read_dir(dir.path().join("teams/demo/events")).unwrap();
        std::fs::read(events.next().unwrap().unwrap().path()).unwrap()
    };
    let left = segment();
    for refused in [
        team.writable().unwrap_err(),
        team.send(message("lead", "dev")).unwrap_err(),
    ] {
        let code = refused.refusal().map(|refusal| refusal.code);
        assert_eq!(code, Some(Code::SyncFailed), "{refused}");
    }
    // Events that were durable before the fault stay readable. Later events are not shown, but
    // their bytes stay in the file.
    assert_eq!(inbox(&mut team, "dev"), 2);
    assert_eq!(segment(), left);
    // Another process recovers the log.
    root.close().unwrap();
}

/// A function that runs a command on the whole log.
type Whole = fn(&Root) -> Result<(), Failure>;

const WHOLE: [(&str, Whole); 4] = [
    ("convert", |root| {
        root.team("demo")?.convert(Format::Binary).map(drop)
    }),
    ("rehydrate", |root| {
        let mut team = root.team("demo")?;
        let rehydrated = team.rehydrate(Rehydrate::default(), &mut |_, _| {});
        rehydrated.map(drop)
    }),
    ("repair", |root| {
        let repair = given!(Repair, to: 3, yes: true);
        root.team("demo")?.repair(repair).map(drop)
    }),
    ("salvage", |root| {
        let salvaged = root.salvage("demo", None, Rehydrate::default(), &mut |_, _| {});
        salvaged.map(drop)
    }),
];

/// Creates a team with four events. If the command is a salvage, the log is damaged.
fn for_whole(how: &str) -> (tempfile::TempDir, Faulty, Root) {
    let dir = tempfile::tempdir().unwrap();
    let (faulty, root) = on_disk(dir.path());
    let mut team = root.team("demo").unwrap();
    for _ in 0..3 {
        drop(team.send(message("lead", "dev")).unwrap());
    }
    if how == "salvage" {
        root.close().unwrap();
        change(dir.path(), |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        });
    }
    if how == "rehydrate" {
        root.close().unwrap();
        change(dir.path(), |bytes| bytes.extend_from_slice(b"torn"));
    }
    (dir, faulty, root)
}

#[test]
fn behind_a_failed_sync_in_a_command_on_the_whole_log_nothing_is_written_any_more() {
    for (how, run) in WHOLE {
        let (_dir, faulty, root) = for_whole(how);
        let before = faulty.count();
        run(&root).unwrap();
        let calls = faulty.calls();
        let own = &calls[before..];
        let syncs = own.iter().enumerate().filter(|(_, (name, path))| {
            ["sync_data", "sync_all", "sync_dir"].contains(name)
                && !path.to_string_lossy().contains("derived")
        });
        let syncs: Vec<usize> = syncs.map(|(at, _)| at).collect();
        assert!(!syncs.is_empty(), "{how}");
        for at in syncs {
            let what = format!("{how}, {:?}", own[at]);
            let (_dir, faulty, root) = for_whole(how);
            let again = faulty.count();
            faulty.arm(again + at, Fault::Os(5));
            let failed = run(&root).unwrap_err();
            let error = failed.engine().unwrap();
            assert!(error.is_sync_error(), "{what}: {failed}");
            let mut team = root.team("demo").unwrap();
            let later = team.send(message("lead", "dev")).map(drop);
            refused(later, Code::SyncFailed);
        }
    }
}

#[test]
fn behind_a_failed_sync_no_command_on_the_whole_log_runs() {
    for (how, run) in WHOLE {
        let dir = tempfile::tempdir().unwrap();
        let (faulty, root) = on_disk(dir.path());
        let mut team = root.team("demo").unwrap();
        drop(team.send(message("lead", "dev")).unwrap());
        fail_next(&faulty, &mut team, "sync_data", Fault::Os(5));
        team.send(message("lead", "dev")).map(drop).unwrap_err();
        let failed = run(&root).unwrap_err();
        let code = failed.refusal().map(|refusal| refusal.code);
        assert_eq!(code, Some(Code::SyncFailed), "{how}: {failed}");
    }
}

#[test]
fn a_damaged_log_is_no_sound_team() {
    let dir = tempfile::tempdir().unwrap();
    let (_, root) = on_disk(dir.path());
    let mut team = root.team("demo").unwrap();
    for _ in 0..3 {
        drop(team.send(message("lead", "dev")).unwrap());
    }
    root.close().unwrap();
    change(dir.path(), |bytes| bytes.truncate(bytes.len() - 20));
    let unwritable = team.writable().unwrap_err();
    failed!(unwritable, Error::Corrupt { .. });
    let failure = team.send(message("lead", "dev")).unwrap_err();
    failed!(failure, Error::Corrupt { .. });
}

#[test]
fn commands_of_many_threads_share_syncs_and_none_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::open(dir.path(), RootOptions::default()).unwrap();
    let root = root.resident();
    root.init(Init::for_team("demo")).unwrap();
    const THREADS: usize = 32;
    const EACH: usize = 40;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let root = root.clone();
            scope.spawn(move || {
                for number in 0..EACH {
                    let mut team = root.team("demo").unwrap();
                    let answer = team.task_create(create(&format!("{thread}-{number}")));
                    let task_id = answer.unwrap().task.task.task_id;
                    let claim = given!(TaskClaim, task_id, worker: format!("w{thread}"));
                    drop(team.task_claim(claim).unwrap());
                }
            });
        }
    });
    let mut team = root.team("demo").unwrap();
    let counts = team.counts();
    assert_eq!(counts.jobs as usize, THREADS * EACH * 2);
    // The number of jobs per group depends on the machine, but at least two jobs share a group.
    assert!(counts.groups < counts.jobs, "{counts:?}");
    let groups: u64 = counts.jobs_of_groups.iter().sum();
    assert_eq!(groups, counts.groups, "{counts:?}");
    let status = team.status(Status::default()).unwrap();
    assert_eq!(status.task_count as usize, THREADS * EACH);
    root.close().unwrap();
    settled_digest(&mut team);
}
