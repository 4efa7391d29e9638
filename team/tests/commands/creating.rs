//! Tests of the rules for creating and editing tasks.

use crate::claims::{after, change, claim, claimed, complete, count, done, new, waiting};
use crate::prelude::*;
use teamlog_team::projections::task::Attributes;
use teamlog_team::task::create::DEPENDENCIES_MAX;

#[test]
fn a_task_gets_the_next_number_and_is_pending() {
    let (_, mut team) = demo();
    let made = json(&team.task_create(new("first")).unwrap());
    assert_eq!(
        made,
        json!({"task": {
            "id": "1", "subject": "first", "description": "all of it", "status": "pending", "depends_on": [],
            "version": 1, "epoch": 0, "created_at": "2026-11-21T12:00:00.000001Z",
            "updated_at": "2026-11-21T12:00:00.000001Z", "updated_seq": 2,
        }})
    );
    assert_eq!(
        team.task_create(new("second")).unwrap().task.task.task_id,
        "2"
    );
    let own = given!(TaskCreate, task_id: "40", ..new("own"));
    assert_eq!(team.task_create(own).unwrap().task.task.task_id, "40");
    // Messages and commands share one counter for ids. The counter ignores ids that are not numbers.
    team.task_assign(assign("50", "dev")).unwrap();
    team.task_assign(assign("bd-900", "dev")).unwrap();
    team.task_assign(assign("99999999999999999999", "dev"))
        .unwrap();
    assert_eq!(
        team.task_create(new("next")).unwrap().task.task.task_id,
        "51"
    );
}

#[test]
fn an_id_of_ones_own_must_be_new_and_a_proper_name() {
    let (_, mut team) = demo();
    let own = |id: &str| given!(TaskCreate, task_id: id, ..new("own"));
    team.task_create(own("bd-1")).unwrap();
    let refusal = refused(team.task_create(own("bd-1")), Code::TaskExists);
    assert_eq!(refusal.details["task_id"], "bd-1");
    team.task_assign(assign("bd-2", "dev")).unwrap();
    refused(team.task_create(own("bd-2")), Code::TaskExists);
    for id in ["", "../x", "-x", ".x", "a b"] {
        refused(team.task_create(own(id)), Code::InvalidInput);
    }
}

#[test]
fn what_a_task_waits_for_makes_it_blocked_unless_it_is_completed() {
    let (_, mut team) = demo();
    let one = done(&mut team, new("one"));
    let two = team.task_create(new("two")).unwrap().task.task.task_id;
    let ready = team.task_create(waiting("ready", &[&one])).unwrap().task;
    assert_eq!(
        (ready.status.name(), &ready.deps),
        ("pending", &vec![one.clone()])
    );
    let blocked = team
        .task_create(waiting("blocked", &[&one, &two, &two]))
        .unwrap();
    assert_eq!(blocked.task.status.name(), "blocked");
    assert_eq!(blocked.task.deps, [one, two]);
    let unknown = team.task_create(waiting("unknown", &["77"])).unwrap().task;
    assert_eq!(
        unknown.status.name(),
        "blocked",
        "nobody completed what nobody made"
    );
    let many: Vec<String> = (0..=DEPENDENCIES_MAX).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    refused(team.task_create(waiting("many", &many)), Code::TooLarge);
    refused(
        team.task_create(waiting("bad", &["../1"])),
        Code::InvalidInput,
    );
}

#[test]
fn fields_that_nobody_knows_stay_with_the_task_through_every_change() {
    let (world, mut team) = demo();
    let extra =
        json!({"lane": "docs", "filePaths": ["a", "b"], "delegation": {"mode": "none"}, "n": 1.5});
    let create = given!(TaskCreate, extra: extra.as_object().unwrap().clone(), ..new("first"));
    let shown = |team: &mut Team| {
        let task = json(&team.task_record("1").unwrap());
        let view = world.memory.clone();
        let text = teamlog_engine::storage::Storage::read(
            &*view,
            std::path::Path::new("teams/demo/tasks/1.json"),
            1 << 20,
        );
        let view: Value = serde_json::from_slice(&text.unwrap()).unwrap();
        assert_eq!(view["extra"], extra);
        for (name, value) in extra.as_object().unwrap() {
            assert_eq!(&task[name], value);
        }
    };
    team.task_create(create).unwrap();
    shown(&mut team);
    let subject = "other";
    team.task_change(given!(TaskChange, subject, ..change("1")))
        .unwrap();
    let claimed = team.task_claim(claim("1", "dev")).unwrap();
    shown(&mut team);
    team.task_finish(complete(&claimed)).unwrap();
    shown(&mut team);
    crate::world::settled_digest(&mut team);
    shown(&mut team);
}

#[test]
fn lifecycle_fields_are_no_fields_of_ones_own() {
    let (_, mut team) = demo();
    for name in [
        "status",
        "version",
        "claim",
        "result",
        "epoch",
        "id",
        "depends_on",
        "created_at",
    ] {
        let create = given!(TaskCreate, extra: json!({name: "x"}).as_object().unwrap().clone(),
            ..new("first"));
        let refusal = refused(team.task_create(create), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some(name));
        assert!(refusal.hint.is_some());
    }
    let mut deep = json!(1);
    for _ in 0..63 {
        deep = json!([deep]);
    }
    let create = given!(TaskCreate, extra: json!({"deep": deep}).as_object().unwrap().clone(),
        ..new("deep"));
    let refusal = refused(team.task_create(create), Code::InvalidInput);
    assert!(refusal.message.contains("64"), "{refusal}");
    refused(team.task_create(new(" ")), Code::InvalidInput);
    let create = given!(TaskCreate, priority: "urgent", ..new("first"));
    let refusal = refused(team.task_create(create), Code::InvalidInput);
    assert!(refusal.message.contains("critical"), "{refusal}");
    assert_eq!(count(&mut team), 1, "a refusal records nothing");
}

#[test]
fn a_dependency_that_leads_back_is_refused_with_the_way() {
    let (_, mut team) = demo();
    team.task_create(waiting("1", &["2"])).unwrap();
    team.task_create(waiting("2", &["3"])).unwrap();
    let refusal = refused(
        team.task_create(waiting("3", &["9", "1"])),
        Code::DependencyCycle,
    );
    assert!(refusal.message.contains("3 -> 1 -> 2 -> 3"), "{refusal}");
    assert_eq!(refusal.details["cycle"], json!(["3", "1", "2", "3"]));
    team.task_create(new("3")).unwrap();
    let back = |deps: &[&str]| given!(TaskChange, blocked_by: deps, ..change("3"));
    let refusal = refused(team.task_change(back(&["2"])), Code::DependencyCycle);
    assert_eq!(refusal.details["cycle"], json!(["3", "2", "3"]));
    let refusal = refused(team.task_change(back(&["3"])), Code::DependencyCycle);
    assert_eq!(refusal.details["cycle"], json!(["3", "3"]));
    team.task_change(back(&["4"])).unwrap();
}

#[test]
fn a_new_owner_must_be_one_of_the_team() {
    let (_, mut team) = demo();
    let owned = |owner: &str| given!(TaskCreate, owner, ..new("owned"));
    refused(team.task_create(owned("stranger")), Code::WorkerNotFound);
    let made = team.task_create(owned("dev")).unwrap().task;
    assert_eq!(
        (made.status.name(), made.owner.as_deref()),
        ("pending", Some("dev"))
    );
    assert_eq!(after(&mut team, 1)[0]["agent"], "dev");
}

#[test]
fn every_update_is_a_new_version_even_one_that_changes_nothing() {
    let (_, mut team) = demo();
    team.task_create(new("first")).unwrap();
    assert_eq!(team.task_change(change("1")).unwrap().task.version, 2);
    let needs_code = Attributes {
        requires_code_change: Some(true),
        ..Attributes::default()
    };
    let changed = team
        .task_change(given!(TaskChange, subject: "other", description: "less",
            attributes: needs_code, blocked_by: ["9"], expected_version: 2, ..change("1")))
        .unwrap()
        .task;
    assert_eq!((changed.version, changed.status.name()), (3, "blocked"));
    assert_eq!(
        (changed.subject.as_deref(), changed.details.as_deref()),
        (Some("other"), Some("less"))
    );
    assert_eq!(changed.governed.attributes.requires_code_change, Some(true));
    let recorded = after(&mut team, 3);
    names!(kinds(&mut team)[3..] => task_updated task_deps_changed task_blocked);
    assert_eq!(recorded[1]["cause"], recorded[0]["id"]);
    assert_eq!(recorded[2]["cause"], recorded[1]["id"]);
    has!(recorded[2], {"payload": {"task_id": "1", "waits_for": ["9"]}});
    let freed = given!(TaskChange, blocked_by: Vec::new(), ..change("1"));
    let freed = team.task_change(freed).unwrap().task;
    assert_eq!((freed.version, freed.status.name()), (4, "pending"));
    assert_eq!(kinds(&mut team).last().unwrap(), "task_unblocked");
    refused(team.task_change(change("7")), Code::TaskNotFound);
}

#[test]
fn exactly_one_update_of_a_version_wins() {
    let (_, mut team) = demo();
    team.task_create(new("first")).unwrap();
    let expecting = |expected| given!(TaskChange, expected_version: expected, ..change("1"));
    team.task_change(expecting(1)).unwrap();
    let refusal = refused(team.task_change(expecting(1)), Code::VersionConflict);
    assert_eq!(refusal.details["version"], 2);
    refused(team.task_change(expecting(0)), Code::InvalidInput);
    assert_eq!(count(&mut team), 3);
}

#[test]
fn dependencies_of_a_task_in_somebodys_hands_show_once_it_is_given_back() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    let blocked = given!(TaskChange, blocked_by: ["9"], ..change("1"));
    shows!(team.task_change(blocked).unwrap().task.status.name() => is "in_progress");
    let released = team
        .task_release(crate::leases::release(&held))
        .unwrap()
        .task;
    assert_eq!((released.status.name(), released.version), ("blocked", 4));
}

#[test]
fn a_task_born_of_a_message_is_not_blocked_by_commands() {
    let (_, mut team) = demo();
    team.task_assign(assign("1", "dev")).unwrap();
    let blocked = given!(TaskChange, blocked_by: ["9"], ..change("1"));
    let changed = team.task_change(blocked).unwrap().task;
    assert_eq!((changed.status.name(), changed.version), ("assigned", 2));
    refused(team.task_claim(claim("1", "dev")), Code::BlockedDependency);
}
