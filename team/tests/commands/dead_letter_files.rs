//! Tests of dead-letter files: their content and their repair.

use crate::deliveries::{durable, tick};
use crate::prelude::*;
use teamlog_team::message::dead_letter::DeadLetterList;

#[test]
fn the_file_of_dead_letters_grows_and_is_mended() {
    let (world, mut team) = demo();
    let path = "teams/demo/dead-letter/2026-11-21.jsonl".as_ref();
    let read = || world.text("dead-letter/2026-11-21.jsonl");
    let die = |team: &mut Team, id: &str| {
        team.send(durable(id, 1, 0)).unwrap();
        world.later(2 * SECOND);
        assert_eq!(tick(team), (0, 1));
    };
    die(&mut team, "m1");
    die(&mut team, "m2");
    let whole = read();
    let lines: Vec<Value> = whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let shown = json(&team.dead_letters(DeadLetterList::default()).unwrap());
    for (line, shown) in lines.iter().zip(shown["dead_letters"].as_array().unwrap()) {
        for (name, value) in line.as_object().unwrap() {
            match &**name {
                "seq" => assert!(value.is_u64()),
                name => assert_eq!(value, &shown[name], "{name}"),
            }
        }
    }
    let mut keys: Vec<_> = lines[1].as_object().unwrap().keys().cloned().collect();
    keys.sort();
    names!(keys => attempts created_at id message message_id reason schema_version seq
        task_id team trace_id);

    let spoil = |bytes: &[u8]| world.memory.replace(path, bytes, false).unwrap();
    for (n, spoilt) in ["", "{\"seq\":3", "not ours\n", &whole[..whole.len() - 1]]
        .into_iter()
        .enumerate()
    {
        spoil(spoilt.as_bytes());
        die(&mut team, &format!("n{n}"));
        let mended = read();
        assert_eq!(mended.lines().count(), 3 + n, "{spoilt:?}");
        assert!(mended.starts_with(&whole), "{spoilt:?}");
    }
    let whole = read();
    world
        .memory
        .remove_dir_all("teams/demo/dead-letter".as_ref())
        .unwrap();
    die(&mut team, "m9");
    assert!(read().starts_with(&whole));
    let whole = read();
    spoil(whole.replace("m9", "mX").as_bytes());
    world
        .memory
        .replace("teams/demo/dead-letter/stray".as_ref(), b"", false)
        .unwrap();
    assert_eq!(rehydrate(&mut team).status, "ok");
    assert_eq!(read(), whole);
    assert_eq!(world.names("dead-letter"), ["2026-11-21.jsonl"]);
}

#[test]
fn a_day_ends_and_so_does_its_file() {
    let (world, mut team) = demo();
    team.send(durable("m1", 60, 0)).unwrap();
    team.send(durable("m2", 13 * 3600, 0)).unwrap();
    world.later(MINUTE + SECOND);
    tick(&mut team);
    world.later(13 * 60 * MINUTE);
    tick(&mut team);
    let days = world.names("dead-letter");
    assert_eq!(days, ["2026-11-21.jsonl", "2026-11-22.jsonl"]);
}

#[test]
fn a_team_without_views_has_no_file_of_dead_letters_until_views_are_wanted() {
    let world = World::new();
    let members = ["lead", "dev"].map(str::to_owned).to_vec();
    world
        .root
        .init(given!(Init, members, no_views: true, ..Init::for_team("demo")))
        .unwrap();
    let mut team = world.root.team("demo").unwrap();
    team.send(durable("m1", 1, 0)).unwrap();
    team.task_assign(assign("T-1", "dev")).unwrap();
    world.later(2 * SECOND);
    tick(&mut team);
    assert!(
        world
            .memory
            .list("teams/demo/dead-letter".as_ref())
            .is_err()
    );
    assert!(world.memory.list("teams/demo/inboxes".as_ref()).is_err());
    let set = |value: Option<&str>| given!(ConfigChange, key: "views", value);
    team.config_change(set(Some("true"))).unwrap();
    assert_eq!(world.names("dead-letter"), ["2026-11-21.jsonl"]);
    assert_eq!(world.names("inboxes"), ["dev.jsonl"]);
    assert_eq!(world.names("tasks").len(), 1);
    world
        .memory
        .remove_dir_all("teams/demo/inboxes".as_ref())
        .unwrap();
    assert_eq!(rehydrate(&mut team).status, "ok");
    assert_eq!(world.names("inboxes"), ["dev.jsonl"], "also by rehydrate");
    team.config_change(set(None)).unwrap();
    team.send(message("lead", "dev")).unwrap();
    let inbox = || world.text("inboxes/dev.jsonl").matches('\n').count();
    assert_eq!(inbox(), 2, "as it was");
    team.config_change(set(Some("true"))).unwrap();
    assert_eq!(inbox(), 3);
}
