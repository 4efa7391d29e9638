//! Tests of the repair of view files after a power loss, and in a copy of a live directory.

use crate::claims::new as task;
use crate::prelude::*;
use crate::workers::heartbeat;
use teamlog_team::log::sync_views::{SyncViews, SyncViewsStatus};

const FIRST: [u8; 16] = [1; 16];
const SECOND_BOOT: [u8; 16] = [2; 16];
/// Number of events that makes a log long. Only for a shorter log, the next command compares all view files.
const MANY: usize = 1_100;

fn root_on(memory: &Arc<Memory>, world: &World, boot: [u8; 16]) -> Root {
    let options = RootOptions {
        boot: Some(boot),
        ids: Arc::new(teamlog_engine::SeededIds(u64::from(boot[0]).into())),
        ..world.root.options().clone()
    };
    Root::on(memory.clone(), options)
}

/// Creates a team with views of all kinds. If `synced` is true, syncs the views after half of the rounds.
fn busy(synced: bool) -> (World, Root) {
    let world = World::new();
    let root = root_on(&world.memory, &world, FIRST);
    let members = vec!["lead".to_owned(), "dev".to_owned(), "qa".to_owned()];
    root.init(given!(Init, members, ..Init::for_team("demo")))
        .unwrap();
    let mut team = root.team("demo").unwrap();
    for round in 0..6_u32 {
        drop(
            team.task_assign(assign(&format!("T-{round}"), "dev"))
                .unwrap(),
        );
        drop(
            team.task_update(update(
                "T-0",
                ["blocked", "in_progress"][round as usize % 2],
            ))
            .unwrap(),
        );
        team.send(message("lead", "qa")).unwrap();
        drop(team.task_create(task("work")).unwrap());
        drop(
            team.update_heartbeat(heartbeat("dev", 1 + round, true))
                .unwrap(),
        );
        if synced && round == 2 {
            world.later(61 * SECOND);
            team.send(message("lead", "qa")).unwrap();
            team.finish().unwrap();
        }
    }
    (world, root)
}

/// Returns the result of a complete check of the view files.
fn views(root: &Root) -> (Health, String) {
    let answer = doctor(root, "demo");
    let check = answer
        .checks
        .into_iter()
        .find(|check| check.name == "views");
    let check = check.unwrap();
    (check.status, check.summary)
}

fn crashed(memory: &Memory, seed: u64) -> Arc<Memory> {
    let mut random = seed;
    Arc::new(memory.crash(&mut |choices| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % choices
    }))
}

fn send(root: &Root) {
    let mut team = root.team("demo").unwrap();
    team.send(message("lead", "qa")).unwrap();
}

fn tick(root: &Root) {
    root.team("demo").unwrap().tick(Tick::default()).unwrap();
}

fn sync(root: &Root) {
    let synced = root.team("demo").unwrap().sync_views(&SyncViews::default());
    assert_eq!(synced.unwrap().status, SyncViewsStatus::Synced);
}

/// Opens the team as a daemon does.
fn serve(root: &Root) {
    let root = root.clone().resident();
    root.team("demo").unwrap().writable().unwrap();
    root.close().unwrap();
}

const MENDERS: [fn(&Root); 4] = [send, tick, sync, serve];

#[test]
fn after_a_power_loss_the_next_command_mends_all_view_files() {
    for synced in [false, true] {
        let (world, _) = busy(synced);
        let mut wrong = 0;
        for seed in 0..40 {
            for (mend, mender) in MENDERS.into_iter().enumerate() {
                let root = root_on(&crashed(&world.memory, seed), &world, SECOND_BOOT);
                wrong += usize::from(views(&root).0 != Health::Healthy);
                mender(&root);
                let seen = views(&root);
                assert_eq!(
                    seen.0,
                    Health::Healthy,
                    "{synced} {seed} {mend}: {}",
                    seen.1
                );
            }
        }
        assert!(wrong > 20, "hardly any power loss did harm: {wrong}");
    }
}

#[test]
fn a_second_power_loss_before_a_sync_is_mended_as_well() {
    let (world, _) = busy(true);
    let first = crashed(&world.memory, 3);
    send(&root_on(&first, &world, SECOND_BOOT));
    for seed in 0..40 {
        let root = root_on(&crashed(&first, seed), &world, [3; 16]);
        send(&root);
        let seen = views(&root);
        assert_eq!(seen.0, Health::Healthy, "{seed}: {}", seen.1);
    }
}

/// Copies a live directory as `tar` does. The copy has new inodes, and two of its view files are empty.
fn copied(from: &Memory) -> Arc<Memory> {
    let to = Arc::new(Memory::new());
    let mut dirs = vec![PathBuf::new()];
    while let Some(dir) = dirs.pop() {
        for name in from.list(&dir).unwrap() {
            let path = dir.join(name);
            if from.stat(&path).unwrap().unwrap().is_dir {
                to.create_dir_all(&path).unwrap();
                dirs.push(path);
                continue;
            }
            let mut bytes = from.read(&path, 1 << 24).unwrap();
            if path.ends_with("inboxes/qa.jsonl") || path.ends_with("tasks/T-0.json") {
                bytes.clear();
            }
            to.replace(&path, &bytes, false).unwrap();
        }
    }
    to
}

fn grow(root: &Root) {
    let mut team = root.team("demo").unwrap();
    for _ in 0..MANY {
        team.send(message("lead", "dev")).unwrap();
    }
    team.finish().unwrap();
}

#[test]
fn of_a_copy_all_files_are_compared_by_tick_the_daemon_and_sync_views() {
    let (world, root) = busy(true);
    grow(&root);
    for mender in [tick, sync, serve] {
        let memory = copied(&world.memory);
        let root = root_on(&memory, &world, FIRST);
        assert_ne!(views(&root).0, Health::Healthy);
        // A command syncs only the files that it changed.
        let before = memory.calls();
        root.team("demo")
            .unwrap()
            .send(message("lead", "dev"))
            .unwrap();
        assert_eq!(memory.calls().get("list"), before.get("list"));
        assert_ne!(views(&root).0, Health::Healthy);
        mender(&root);
        let seen = views(&root);
        assert_eq!(seen.0, Health::Healthy, "{}", seen.1);
        // The files are compared once, not at each command.
        let before = memory.calls();
        tick(&root_on(&memory, &world, FIRST));
        let lists = |calls: &BTreeMap<&str, u64>| calls.get("list").copied().unwrap_or(0);
        assert!(lists(&memory.calls()) - lists(&before) < 3);
    }
}

#[test]
fn of_a_copy_of_a_short_log_the_next_command_compares_all_files() {
    let (world, _) = busy(true);
    let root = root_on(&copied(&world.memory), &world, FIRST);
    send(&root);
    let seen = views(&root);
    assert_eq!(seen.0, Health::Healthy, "{}", seen.1);
}

#[test]
fn a_root_of_the_last_release_is_compared_once() {
    for mender in [send, tick, sync, serve] {
        let (world, root) = busy(true);
        let file = Path::new("teams/demo/views.synced");
        world.memory.remove_file(file).unwrap();
        world
            .memory
            .truncate("teams/demo/tasks/T-0.json".as_ref(), 0)
            .unwrap();
        mender(&root);
        let seen = views(&root);
        assert_eq!(seen.0, Health::Healthy, "{}", seen.1);
        assert!(world.memory.stat(file).unwrap().is_some());
    }
}

#[test]
fn an_ordinary_command_syncs_no_file_system_and_lists_no_directory() {
    let (world, root) = busy(true);
    let counted = |call: &'static str| world.memory.calls().get(call).copied().unwrap_or(0);
    let all = || {
        (
            counted("sync_file_system"),
            counted("list"),
            counted("sync_data"),
        )
    };
    let before = all();
    let mut team = root.team("demo").unwrap();
    team.send(message("lead", "qa")).unwrap();
    assert_eq!(all(), (before.0, before.1, before.2 + 1));
    team.finish().unwrap();
    assert_eq!(counted("sync_file_system"), before.0, "within a minute");
    world.later(61 * SECOND);
    team.send(message("lead", "qa")).unwrap();
    assert_eq!(counted("sync_file_system"), before.0, "before the answer");
    team.finish().unwrap();
    assert_eq!(counted("sync_file_system"), before.0 + 1, "after it");
    team.finish().unwrap();
    assert_eq!(counted("sync_file_system"), before.0 + 1, "nothing is new");
}

#[test]
fn a_thousand_events_are_synced_whatever_the_time() {
    let (world, root) = busy(true);
    let counted = || {
        world
            .memory
            .calls()
            .get("sync_file_system")
            .copied()
            .unwrap_or(0)
    };
    let before = counted();
    grow(&root);
    assert_eq!(counted(), before + 1);
}

#[test]
fn a_team_that_stays_open_syncs_in_the_background() {
    let (world, root) = busy(true);
    let counted = || {
        world
            .memory
            .calls()
            .get("sync_file_system")
            .copied()
            .unwrap_or(0)
    };
    let before = counted();
    let root = root.resident();
    let mut team = root.team("demo").unwrap();
    team.send(message("lead", "qa")).unwrap();
    world.later(61 * SECOND);
    until("the file system is synced", || {
        team.finish().unwrap();
        counted() > before
    });
    root.close().unwrap();
}

#[test]
fn a_directory_that_was_moved_does_not_come_back() {
    let (world, root) = busy(true);
    let root = root.resident();
    let mut team = root.team("demo").unwrap();
    drop(team.task_update(update("T-0", "blocked")).unwrap());
    let (here, there) = (Path::new("teams/demo"), Path::new("teams/moved"));
    world.memory.rename(here, there).unwrap();
    drop(team.task_update(update("T-0", "in_progress")));
    drop(team.send(message("lead", "qa")));
    drop(team.tick(Tick::default()));
    drop(team.finish());
    drop(root.close());
    assert!(world.memory.stat(here).unwrap().is_none());
    // Another team with that name gets none of the moved team's files.
    let other = root_on(&world.memory, &world, FIRST);
    other.init(Init::for_team("demo")).unwrap();
    assert_eq!(views(&other).0, Health::Healthy);
}
