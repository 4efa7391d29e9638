//! Tests of creating, joining and listing teams.

use crate::prelude::*;
use teamlog_engine::storage::OpenMode;

fn init(team: &str, members: &[&str]) -> Init {
    given!(Init, members, ..Init::for_team(team))
}

#[test]
fn init_answers_with_its_members_and_repeating_it_adds_new_ones() {
    let world = World::new();
    let first = world
        .root
        .init(init("demo", &["lead", "dev", "dev"]))
        .unwrap();
    assert_eq!(
        json(&first),
        serde_json::json!({"status": "ok", "team": "demo", "members": ["dev", "lead"]})
    );
    assert!(first.created);
    let again = world.root.init(init("demo", &["dev"])).unwrap();
    assert_eq!(again.members, ["dev", "lead"]);
    assert!(!again.created && again.added.is_empty());
    let more = world.root.init(init("demo", &["qa", "dev"])).unwrap();
    assert_eq!(more.members, ["dev", "lead", "qa"]);
    assert_eq!(more.added, ["qa"]);
    let mut team = world.root.team("demo").unwrap();
    assert_eq!(kinds(&mut team), ["team_created", "members_added"]);
    assert_eq!(status(&mut team).members, ["dev", "lead", "qa"]);
}

#[test]
fn another_format_is_refused_and_the_same_one_is_not() {
    let world = World::new();
    let of = |format| given!(Init, format, ..Init::for_team("demo"));
    world.root.init(of(Format::Binary)).unwrap();
    world.root.init(of(Format::Binary)).unwrap();
    world.root.init(Init::for_team("demo")).unwrap();
    let refusal = refused(world.root.init(of(Format::Jsonl)), Code::FormatMismatch);
    assert!(refusal.message.contains("binary"), "{refusal}");
}

#[test]
fn bad_names_are_refused_before_anything_is_made() {
    let world = World::new();
    for name in ["", "..", "a/b", ".hidden", "-flag", "a b"] {
        refused(world.root.init(Init::for_team(name)), Code::InvalidInput);
        if name != "-flag" {
            refused(world.root.team(name), Code::InvalidInput);
        }
    }
    refused(world.root.init(init("demo", &["a/b"])), Code::InvalidInput);
    assert_eq!(world.memory.stat(Path::new("teams")).unwrap(), None);
}

#[test]
fn the_list_of_teams_skips_what_is_no_team() {
    let world = World::new();
    assert!(world.root.teams().unwrap().is_empty());
    world.root.init(Init::for_team("b")).unwrap();
    world.root.init(Init::for_team("a")).unwrap();
    for dir in ["teams/.new-c-00", "teams/empty"] {
        world.memory.create_dir_all(Path::new(dir)).unwrap();
    }
    world
        .memory
        .open(Path::new("teams/notes.txt"), OpenMode::CreateNew)
        .unwrap();
    assert_eq!(world.root.teams().unwrap(), ["a", "b"]);
    let refusal = refused(world.root.team("c"), Code::TeamNotFound);
    assert_eq!(refusal.message, "no team c (teams: a, b)");
    assert_eq!(refusal.hint, None);
}

#[test]
fn a_directory_in_the_way_is_left_alone_and_nothing_stays_aside() {
    let world = World::new();
    world
        .memory
        .create_dir_all(Path::new("teams/demo/inboxes"))
        .unwrap();
    refused(world.root.init(Init::for_team("demo")), Code::TeamExists);
    assert_eq!(world.names_in_teams(), ["demo"]);
    assert_eq!(
        world.memory.list(Path::new("teams/demo")).unwrap(),
        ["inboxes"]
    );
}

/// Takes all notes of the root. Returns the number of notes about view files that are out of date.
fn fell_behind(world: &World) -> usize {
    let notes = world.root.options().notes.take();
    notes
        .iter()
        .filter(|note| note.contains("view files are out of date"))
        .count()
}

#[test]
fn what_stands_in_the_way_of_a_view_does_not_stand_in_the_way_of_the_log() {
    let (world, mut team) = demo();
    let tasks = Path::new("teams/demo/tasks");
    world.memory.open(tasks, OpenMode::CreateNew).unwrap();
    for task in ["1", "2"] {
        team.task_assign(assign(task, "dev")).unwrap();
        assert_eq!(fell_behind(&world), 1, "task {task}");
        // From here on, the handle acts for another process.
        team = world.root.team("demo").unwrap();
    }
    team.send(message("lead", "qa")).unwrap();
    assert_eq!(fell_behind(&world), 1);
    world.memory.remove_file(tasks).unwrap();
    team.send(message("lead", "qa")).unwrap();
    assert_eq!(fell_behind(&world), 0);
    assert_eq!(world.memory.list(tasks).unwrap(), ["1.json", "2.json"]);
    let inbox = Path::new("teams/demo/inboxes/qa.jsonl");
    let inbox = world.memory.read(inbox, 1 << 20).unwrap();
    assert_eq!(inbox.iter().filter(|byte| **byte == b'\n').count(), 2);
}

#[test]
fn views_are_kept_unless_the_team_does_without() {
    let world = World::new();
    world.root.init(init("with", &["dev"])).unwrap();
    assert!(
        world
            .memory
            .stat(Path::new("teams/with/team.json"))
            .unwrap()
            .is_some()
    );
    let without = given!(Init, no_views: true, ..init("without", &["dev"]));
    world.root.init(without).unwrap();
    assert!(
        world
            .memory
            .stat(Path::new("teams/without/team.json"))
            .unwrap()
            .is_none()
    );
}

#[test]
fn a_handle_notices_that_its_team_was_put_back_from_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::create(dir.path(), RootOptions::default()).unwrap();
    root.init(init("demo", &["lead", "dev"])).unwrap();
    let (team, copy) = (dir.path().join("teams/demo"), dir.path().join("copy"));
    copy_tree(&team, &copy);
    let mut handle = root.team("demo").unwrap();
    handle.send(handoff("msg_first")).unwrap();

    std::fs::remove_dir_all(&team).unwrap();
    std::fs::rename(&copy, &team).unwrap();
    let other = Root::open(dir.path(), RootOptions::default()).unwrap();
    other
        .team("demo")
        .unwrap()
        .send(handoff("msg_second"))
        .unwrap();

    let inbox = handle.read(given!(Read, agent: "dev")).unwrap();
    let ids: Vec<_> = inbox.messages.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids, ["msg_second"]);
}

fn handoff(id: &str) -> Send {
    given!(Send, from: "lead", to: "dev", kind: "handoff", message_id: id)
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}
