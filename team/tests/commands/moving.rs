//! Tests of converting, backing up and restoring a team. The states must be equal. An interrupted restore leaves either the
//! whole team or no team.

use crate::prelude::*;
use teamlog_engine::internals::storage::Fault;
use teamlog_team::BackupDir;
use teamlog_team::backup::restore::Restore;

/// Creates a team with tasks, messages and an ack.
fn lived(world: &World, format: Format) -> Team {
    let mut team = world.team(Some(&["lead", "dev", "qa"]), format);
    for n in 0..5 {
        world.later(1_000_000);
        team.task_assign(assign(&format!("T-{n}"), "dev")).unwrap();
        team.task_update(update(&format!("T-{n}"), "in_progress"))
            .unwrap();
    }
    let sent = team.send(message("dev", "qa")).unwrap();
    let id = json(&sent)["message"]["id"].as_str().unwrap().to_owned();
    team.ack(given!(Ack, agent: "qa", message_id: id)).unwrap();
    team
}

fn backup_dir() -> (Arc<Memory>, BackupDir) {
    let memory = Arc::new(Memory::new());
    (
        memory.clone(),
        BackupDir::on(memory, RootOptions::default()),
    )
}

/// Returns the status of the team without the log's id and the number of events.
fn said(team: &mut Team) -> serde_json::Value {
    let mut said = json(&status(team));
    for field in ["log", "format", "events", "last_seq", "state_digest"] {
        said.as_object_mut().unwrap().remove(field);
    }
    said
}

fn restore(team: &str) -> Restore {
    given!(Restore, team)
}

#[test]
fn a_converted_team_says_what_it_said_before() {
    for (format, to) in [
        (Format::Jsonl, Format::Binary),
        (Format::Binary, Format::Jsonl),
    ] {
        let world = World::new();
        let mut team = lived(&world, format);
        let (before, before_events) = (said(&mut team), events(&mut team));
        // Another open handle, which must notice the conversion.
        let mut beside = world.root.team("demo").unwrap();
        assert_eq!(said(&mut beside), before);
        let answer = team.convert(to).unwrap();
        assert_eq!((answer.status, answer.format), ("converted", to.name()));
        assert_eq!(answer.events, before_events.len() as u64);
        assert_eq!(said(&mut team), before);
        assert_eq!(events(&mut team)[..before_events.len()], before_events);
        assert_eq!(kinds(&mut team).last().unwrap(), "log_converted");
        assert_eq!(answer.state_digest, Some(settled_digest(&mut team)));
        assert_eq!(said(&mut beside), before);
        beside.send(message("dev", "qa")).unwrap();
        assert!(beside.log().reader().unwrap().head().last_seq > answer.events + 1);
        assert_eq!(team.convert(to).unwrap().status, "unchanged");
        settled_digest(&mut world.root.team("demo").unwrap());
        assert!(world.root.team("demo").unwrap().verify(None).unwrap().ok);
    }
}

#[test]
fn a_restored_team_says_what_the_backup_held() {
    let world = World::new();
    let mut team = lived(&world, Format::Jsonl);
    let (_, backup_dir) = backup_dir();
    let first = team.backup(&backup_dir).unwrap();
    assert_eq!((first.previous_seq, first.seq), (None, 12 + 1));
    let before = said(&mut team);
    team.send(message("qa", "dev")).unwrap();

    refused(
        world.root.restore(restore("demo"), &backup_dir),
        Code::TeamExists,
    );
    refused(
        world.root.restore(restore("nobody"), &backup_dir),
        Code::BackupNotFound,
    );
    let copy = given!(Restore, from: "demo", ..restore("copy"));
    let answer = world.root.restore(copy, &backup_dir).unwrap();
    assert!(!answer.same_log);
    assert_eq!(answer.last_seq, first.seq + 1);
    let mut copy = world.root.team("copy").unwrap();
    let mut again = said(&mut copy);
    again["team"] = "demo".into();
    assert_eq!(again, before);
    settled_digest(&mut copy);
    assert_eq!(kinds(&mut copy).last().unwrap(), "log_restored");

    // In another root, the restored team has the log id and receipts of the original.
    let other = World::new();
    let answer = other.root.restore(restore("demo"), &backup_dir).unwrap();
    assert!(answer.same_log);
    let mut back = other.root.team("demo").unwrap();
    assert_eq!(said(&mut back), before);
    assert_eq!(Some(answer.state_digest), Some(settled_digest(&mut back)));
    let report = back.verify(first.receipt.as_ref()).unwrap();
    assert!(report.ok, "{report:?}");
    let late = team.head().unwrap().receipt;
    assert!(!back.verify(Some(&late)).unwrap().ok);
    // The restored team accepts events. After that, the backup directory of the original refuses a
    // backup of the restored team.
    back.send(message("dev", "lead")).unwrap();
    team.backup(&backup_dir).unwrap();
    let refusal = refused(back.backup(&backup_dir), Code::BackupDiverged);
    assert!(
        refusal.message.contains("not an earlier state of team"),
        "{refusal}"
    );
}

#[test]
fn all_teams_are_backed_up_and_one_that_fails_keeps_no_other_from_it() {
    let world = World::new();
    lived(&world, Format::Jsonl);
    for name in ["alpha", "omega"] {
        let init = teamlog_team::lifecycle::init::Init::for_team(name);
        world.root.init(init).unwrap();
    }
    let (memory, backup_dir) = backup_dir();
    let all = world.root.backup_all(&backup_dir).unwrap();
    assert_eq!((all.status, all.backups.len()), ("ok", 3));
    assert_eq!(backup_dir.teams().unwrap(), ["alpha", "demo", "omega"]);
    for team in backup_dir.teams().unwrap() {
        assert!(backup_dir.verify(&team, None).unwrap().ok);
    }
    let path = Path::new("demo/backup.json");
    memory.corrupt(path, 20, 1).unwrap();
    let all = world.root.backup_all(&backup_dir).unwrap();
    assert_eq!((all.status, all.backups.len()), ("partial", 2));
    assert_eq!(all.failed[0].team, "demo");
}

#[test]
fn a_restore_that_is_stopped_anywhere_leaves_no_team_or_the_whole_one() {
    for name in ["demo", "copy"] {
        let world = World::new();
        let mut team = lived(&world, Format::Jsonl);
        let (_, backup_dir) = backup_dir();
        team.backup(&backup_dir).unwrap();
        let digest = settled_digest(&mut team);
        let how = given!(Restore, from: "demo", ..restore(name));
        let (mut none, mut whole) = (0, 0);
        for call in 0.. {
            let memory = Memory::new();
            let faulty = Faulty::new(Arc::new(memory.clone()));
            faulty.arm(call, Fault::Stop);
            let root = Root::on(Arc::new(faulty.clone()), world.root.options().clone());
            let done = root.restore(how.clone(), &backup_dir);
            if faulty.count() <= call {
                assert_eq!(done.unwrap().events, 13);
                break;
            }
            for after in [memory.lose_unsynced(), memory.keep_unsynced()] {
                let storage: Arc<dyn Storage> = Arc::new(after);
                let root = Root::on(storage, world.root.options().clone());
                let teams = root.teams().unwrap();
                if teams.is_empty() {
                    none += 1;
                    root.restore(how.clone(), &backup_dir).unwrap();
                } else {
                    whole += 1;
                }
                let mut team = root.team(name).unwrap();
                assert!(team.verify(None).unwrap().ok, "call {call}");
                assert_eq!(kinds(&mut team).len(), 14, "call {call}");
                assert_ne!(settled_digest(&mut team), "", "{digest}");
                team.send(message("dev", "lead")).unwrap();
            }
        }
        assert!(none > 50 && whole > 0, "{none} {whole}");
    }
}

#[test]
fn a_directory_of_backups_lies_outside_the_data_root() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("data");
    std::fs::create_dir_all(root.join("teams")).unwrap();
    std::os::unix::fs::symlink(&root, home.path().join("link")).unwrap();
    for inside in [
        "data",
        "data/teams/x",
        "link/b",
        "data/../data/b",
        "new/../data/b",
    ] {
        let made = BackupDir::create(&home.path().join(inside), &root, RootOptions::default());
        refused(made.map(drop), Code::InvalidInput);
    }
    assert!(!root.join("b").exists());
    let outside = home.path().join("backups/nightly");
    BackupDir::create(&outside, &root, RootOptions::default()).unwrap();
    assert!(outside.is_dir());
}
