//! Tests of retired agents: their actions, their tasks, their tokens and their mail.

use crate::claims::{claim, new};
use crate::prelude::*;
use teamlog_team::agent_token::TokenAdd;
use teamlog_team::ownership::rename::RenameAgent;
use teamlog_team::ownership::retire::{RetireAgent, RetireAnswer};
use teamlog_team::undo::Undo;

fn retire(team: &mut Team, dry_run: bool) -> RetireAnswer {
    let retire = given!(RetireAgent, agent: "dev", dry_run);
    team.retire_agent(retire).unwrap()
}

/// Creates a team in which `dev` holds task 1, is assigned to task 2, and has a token and an unread
/// message.
fn staffed() -> (World, Team) {
    let (world, mut team) = demo();
    team.task_create(new("one")).unwrap();
    team.task_create(given!(TaskCreate, owner: "dev", ..new("two")))
        .unwrap();
    team.task_claim(claim("1", "dev")).unwrap();
    let digest = blake3::hash(b"token").to_hex().to_string();
    team.token_add(given!(TokenAdd, agent: "dev", digest))
        .unwrap();
    team.send(given!(Send, from: "lead", to: "dev", kind: "message", payload: "{\"body\":\"hi\"}"))
        .unwrap();
    (world, team)
}

fn kinds(team: &mut Team) -> Vec<String> {
    let kinds = events(team).into_iter().map(|event| event["kind"].clone());
    kinds
        .map(|kind| kind.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_retired_agent_gives_back_its_tasks_and_loses_its_tokens_in_one_group() {
    let (_world, mut team) = staffed();
    let before = kinds(&mut team);
    let dry = retire(&mut team, true);
    assert_eq!(kinds(&mut team), before, "a dry run records nothing");
    let done = retire(&mut team, false);
    assert_eq!(
        (&dry.tasks, &dry.mail.len()),
        (&done.tasks, &done.mail.len())
    );
    assert_eq!(done.tasks, ["1", "2"]);
    assert_eq!(done.taken, ["1"]);
    assert_eq!(
        (done.tokens_revoked.len(), done.unread, done.mail.len()),
        (1, 1, 1)
    );
    let new: Vec<String> = kinds(&mut team).split_off(before.len());
    assert_eq!(
        new,
        [
            "agent_retired",
            "task_assigned",
            "task_assigned",
            "agent_token_revoked"
        ]
    );
    for id in ["1", "2"] {
        let task = team.task_record(id).unwrap().task;
        assert_eq!((task.status.name(), &task.owner), ("pending", &None));
    }
    assert!(
        !team
            .who(&Default::default())
            .unwrap()
            .agents
            .iter()
            .any(|one| one.agent == "dev")
    );
    team.task_claim(claim("1", "qa")).unwrap();
}

#[test]
fn a_retired_agent_neither_acts_nor_receives_until_it_is_added_again() {
    for open in [false, true] {
        let (world, mut team) = staffed();
        if open {
            let set = given!(ConfigChange, key: "members.open", value: "true");
            team.config_change(set).unwrap();
        }
        retire(&mut team, false);
        let acts = refused(team.task_claim(claim("1", "dev")), Code::WorkerNotFound);
        assert_eq!(acts.details["retired"], true);
        shows!(&*acts.message => has "was retired");
        let mail = given!(Send, from: "lead", to: "dev", kind: "message", payload: "{}");
        refused(team.send(mail.clone()), Code::WorkerNotFound);
        let own = given!(Send, from: "dev", to: "lead", kind: "message", payload: "{}");
        refused(team.send(own), Code::WorkerNotFound);
        let owned = given!(TaskAssignment, task_id: "1", owner: "dev");
        refused(team.task_assignment(owned), Code::WorkerNotFound);
        refused(
            team.retire_agent(given!(RetireAgent, agent: "dev")),
            Code::WorkerNotFound,
        );
        let inbox = team.read(given!(Read, agent: "dev", unread: true)).unwrap();
        assert_eq!(inbox.count, 1, "its inbox can be read");

        let members = vec!["dev".to_owned()];
        let init = Init {
            members,
            ..Init::for_team("demo")
        };
        drop(team);
        world.root.init(init).unwrap();
        let mut team = world.root.team("demo").unwrap();
        team.send(mail).unwrap();
        team.task_claim(claim("1", "dev")).unwrap();
    }
}

#[test]
fn a_retirement_is_not_undone_nor_in_part() {
    let (_world, mut team) = staffed();
    retire(&mut team, false);
    let log = events(&mut team);
    for event in log.iter().rev().take(4) {
        let seq = event["seq"].as_u64().unwrap();
        let undo = team.undo(given!(Undo, worker: "leader-fixed", seq));
        refused(undo, Code::InvalidTransition);
    }
    assert_eq!(events(&mut team).len(), log.len());
    refused(
        team.retire_agent(given!(RetireAgent, agent: "leader-fixed")),
        Code::WorkerNotFound,
    );
}

#[test]
fn a_renamed_agent_gets_its_tasks_and_later_mail_under_its_new_name() {
    let (_world, mut team) = staffed();
    let rename = given!(RenameAgent, agent: "dev", new_name: "builder");
    let renamed = team.rename_agent(rename.clone()).unwrap();
    assert_eq!(renamed.successor.as_deref(), Some("builder"));
    assert_eq!(
        (renamed.tasks.len(), &*renamed.taken),
        (2, &["1".to_owned()][..])
    );
    for id in ["1", "2"] {
        let task = team.task_record(id).unwrap().task;
        assert_eq!(
            (task.status.name(), task.owner.as_deref()),
            ("pending", Some("builder"))
        );
    }
    team.task_claim(claim("1", "builder")).unwrap();
    let mail = given!(Send, from: "lead", to: "dev", kind: "message", payload: "{}");
    assert_eq!(team.send(mail).unwrap().message.to, "builder");
    let inbox = team
        .read(given!(Read, agent: "builder", unread: true))
        .unwrap();
    shows!(inbox.messages[0].payload.as_str() => has "hi");
    shows!(inbox.messages[1].payload.as_str() => has "Unread messages to dev, now in your inbox: 1");
    assert_eq!(inbox.messages.len(), 3);
    let acts = refused(team.task_claim(claim("2", "dev")), Code::WorkerNotFound);
    assert_eq!(acts.hint.as_deref(), Some("use the new name builder"));
    let back = given!(RenameAgent, agent: "builder", new_name: "dev");
    refused(team.rename_agent(back), Code::InvalidInput);
    refused(team.rename_agent(rename), Code::WorkerNotFound);
}

#[test]
fn a_renamed_agent_reads_acknowledges_and_answers_its_earlier_mail() {
    let (_world, mut team) = staffed();
    let ask = |from: &str, to: &str, id: &str| given!(Send, kind: "decision_required", message_id: id, ..message(from, to));
    team.send(ask("lead", "dev", "q-1")).unwrap();
    team.send(ask("dev", "qa", "q-2")).unwrap();
    for (old, new) in [("dev", "builder"), ("builder", "maker")] {
        team.rename_agent(given!(RenameAgent, agent: old, new_name: new))
            .unwrap();
    }
    let unread = |team: &mut Team| {
        let read = team.read(given!(Read, agent: "maker", unread: true));
        read.unwrap().messages
    };
    let ids: Vec<String> = unread(&mut team).into_iter().map(|mail| mail.id).collect();
    assert_eq!((ids.len(), &*ids[1]), (4, "q-1"));
    let primed = json(&team.prime(&given!(Prime, agent: "maker")).unwrap());
    assert_eq!(primed["unread"]["total"], 4);
    // Pages continue across the names.
    let newest = team
        .read(given!(Read, agent: "maker", limit: 2_usize))
        .unwrap();
    let cursor = newest.next_cursor.clone();
    let earlier = team
        .read(given!(Read, agent: "maker", limit: 5_usize, cursor))
        .unwrap();
    assert_eq!((newest.count, earlier.count), (2, 2));
    // Other agents do not acknowledge this mail.
    let by = |agent: &str, message_id: &str| given!(Ack, agent, message_id);
    let other = team.ack(by("qa", "q-1")).unwrap();
    assert_eq!(json(&other)["status"], "wrong_recipient");
    let questions = |team: &mut Team| -> Vec<String> {
        let items = crate::attention::items(team).into_iter();
        let items = items.filter(|item| item.text.starts_with("question"));
        items.map(|item| item.text).collect()
    };
    assert_eq!(
        questions(&mut team),
        [
            "question: lead waits for an answer from maker",
            "question: maker waits for an answer from qa"
        ]
    );
    team.send(message("maker", "lead")).unwrap();
    team.send(message("qa", "dev")).unwrap();
    assert!(questions(&mut team).is_empty());
    for id in ids {
        let acked = json(&team.ack(by("maker", &id)).unwrap());
        assert_eq!(
            (&acked["status"], &acked["agent"]),
            (&json!("acked"), &json!("maker"))
        );
    }
    has!(events(&mut team).last().unwrap(), {"kind": "message_acked", "actor": "maker"});
    assert_eq!(unread(&mut team).len(), 1);
    // The old name keeps its history.
    let history = team.read(given!(Read, agent: "dev")).unwrap();
    assert_eq!(history.count, 2);
    settled_digest(&mut team);
}

#[test]
fn a_retired_agent_records_nothing_by_any_command() {
    let (_world, mut team) = staffed();
    retire(&mut team, false);
    let before = kinds(&mut team).len();
    team.under(given!(Control, actor: "dev"));
    refused(team.task_create(new("three")), Code::WorkerNotFound);
    refused(team.undo(Undo::default()), Code::WorkerNotFound);
    refused(
        team.append(given!(Append, kind: "built")),
        Code::WorkerNotFound,
    );
    team.under(Control::default());
    let named = given!(Append, kind: "built", actor: "dev");
    refused(team.append(named), Code::WorkerNotFound);
    let again = given!(RetireAgent, agent: "dev");
    let refusal = refused(team.retire_agent(again), Code::WorkerNotFound);
    shows!(refusal.message => has "has left this team already");
    assert_eq!(refusal.details.get("worker"), None);
    assert_eq!(kinds(&mut team).len(), before);
}

#[test]
fn the_old_name_of_a_renamed_agent_is_not_given_to_a_new_member() {
    let (world, mut team) = staffed();
    let rename = given!(RenameAgent, agent: "dev", new_name: "builder");
    team.rename_agent(rename).unwrap();
    let dry = given!(RetireAgent, agent: "builder", dry_run: true);
    let dry = team.retire_agent(dry).unwrap();
    assert_eq!(dry.unread, dry.mail.len() as u64);
    drop(team);
    let join = Init {
        members: vec!["dev".to_owned()],
        ..Init::for_team("demo")
    };
    let refusal = refused(world.root.init(join), Code::InvalidInput);
    shows!(refusal.message => has "is the old name of \"builder\"");
}

#[test]
fn an_agent_takes_no_name_that_another_agent_has() {
    let (_world, mut team) = staffed();
    let rename = given!(RenameAgent, agent: "dev", new_name: "qa");
    let refusal = refused(team.rename_agent(rename), Code::InvalidInput);
    assert_eq!(refusal.field.as_deref(), Some("new_name"));
}

#[test]
fn the_answer_names_the_next_leader_of_a_team_whose_leader_leaves() {
    let world = World::new();
    let init = |team: &str, members: &[&str]| {
        let members = members.iter().map(|name| (*name).to_owned());
        let init = Init {
            members: members.collect(),
            agent: Some("boss".to_owned()),
            ..Init::for_team(team)
        };
        world.root.init(init).unwrap();
        world.root.team(team).unwrap()
    };
    for (team, members, next) in [
        ("one", &["dev"][..], "leader-fixed"),
        ("two", &["dev", "lead"], "lead"),
    ] {
        let mut team = init(team, members);
        let away = team
            .retire_agent(given!(RetireAgent, agent: "dev"))
            .unwrap();
        assert_eq!(away.leader, None);
        let away = team
            .retire_agent(given!(RetireAgent, agent: "boss"))
            .unwrap();
        assert_eq!(away.leader.as_deref(), Some(next));
    }
}
