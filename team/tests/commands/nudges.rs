//! Tests of nudges: an idle agent with mail gets one nudge per cooldown.

use crate::prelude::*;
use teamlog_team::message::nudge::NudgeAnswer;

fn nudge(team: &mut Team) -> NudgeAnswer {
    team.nudge(Nudge::default()).unwrap()
}

fn names(answer: &NudgeAnswer) -> Vec<&str> {
    answer.nudged.iter().map(|nudged| &*nudged.agent).collect()
}

#[test]
fn an_idle_agent_with_mail_is_nudged_once_per_cooldown() {
    let (world, mut team) = demo();
    team.send(message("dev", "qa")).unwrap();
    team.send(message("lead", "dev")).unwrap();
    let answer = nudge(&mut team);
    assert_eq!(
        names(&answer),
        ["qa"],
        "dev just did something, qa never did"
    );
    assert_eq!((answer.skipped.active, answer.nudged[0].unread), (1, 1));
    assert_eq!(answer.nudged[0].idle_since, None);
    let sent = events(&mut team).pop().unwrap();
    has!(sent, {"actor": "leader-fixed", "seq": answer.nudged[0].seq.unwrap()});
    has!(sent, {"/payload/message/type": "agent_wakeup_required",
        "/payload/message/payload": {"reason": "unread", "unread": 1}});

    world.later(5 * MINUTE + SECOND);
    let answer = nudge(&mut team);
    assert_eq!((names(&answer), answer.skipped.cooling), (vec!["dev"], 1));
    world.later(10 * MINUTE);
    let answer = nudge(&mut team);
    assert_eq!((answer.count, answer.skipped.cooling), (0, 1));
    let reminded = &answer.reminded[0];
    assert_eq!(
        (&*reminded.agent, reminded.unread),
        ("qa", 1),
        "wake-ups are not mail to be woken up for"
    );
    world.later(30 * MINUTE);
    let before = kinds(&mut team).len();
    let dry = team.nudge(given!(Nudge, dry_run: true)).unwrap();
    let reminded: Vec<&str> = dry.reminded.iter().map(|agent| &*agent.agent).collect();
    assert_eq!(reminded, ["dev", "qa"]);
    assert_eq!(
        (dry.reminded[0].seq, kinds(&mut team).len()),
        (None, before)
    );
    settled_digest(&mut team);
}

#[test]
fn who_read_its_mail_is_left_alone_also_with_wake_ups_unread() {
    let (world, mut team) = demo();
    let id = team.send(message("lead", "qa")).unwrap().message.id;
    assert_eq!(names(&nudge(&mut team)), ["qa"]);
    let ack = given!(Ack, agent: "qa", message_id: id);
    team.ack(ack).unwrap();
    world.later(60 * MINUTE);
    let answer = nudge(&mut team);
    assert_eq!(
        (answer.count, answer.skipped.active, answer.skipped.cooling),
        (0, 0, 0)
    );
}

#[test]
fn who_says_that_it_is_idle_is_until_it_says_something_else() {
    let (_, mut team) = demo();
    team.send(message("lead", "qa")).unwrap();
    let idle = given!(Send, kind: "idle_notification", ..message("qa", "lead"));
    team.send(idle).unwrap();
    let terms = given!(Nudge, cooldown_seconds: 0);
    let answer = team.nudge(terms.clone()).unwrap();
    assert_eq!(names(&answer), ["qa"], "its own event is a moment old");
    let since = time(answer.nudged[0].idle_since.as_deref().unwrap());
    assert!(since > time(NOON));
    team.send(message("qa", "lead")).unwrap();
    let answer = team.nudge(terms).unwrap();
    assert_eq!(
        (names(&answer).contains(&"qa"), answer.skipped.active),
        (false, 2)
    );
}

#[test]
fn settings_and_flags_say_how_long_and_who_nudges_is_a_member() {
    let (world, mut team) = demo();
    team.send(message("dev", "lead")).unwrap();
    team.send(message("lead", "dev")).unwrap();
    world.later(MINUTE + SECOND);
    assert_eq!(nudge(&mut team).count, 0);
    let change = given!(teamlog_team::lifecycle::config::ConfigChange; key: "nudge.idle_seconds",
        value: "60");
    team.config_change(change).unwrap();
    let nudge_by = |team: &mut Team, actor: &str, idle| {
        team.under(given!(Control, actor));
        team.nudge(given!(Nudge, idle_seconds: idle))
    };
    assert_eq!(nudge_by(&mut team, "lead", Some(61)).unwrap().count, 0);
    let answer = nudge_by(&mut team, "lead", None).unwrap();
    assert_eq!(names(&answer), ["dev"], "who nudges is awake");
    assert_eq!(answer.idle_seconds, 60);
    refused(nudge_by(&mut team, "nobody", None), Code::WorkerNotFound);
    refused(
        nudge_by(&mut team, "lead", Some(u64::MAX)),
        Code::InvalidInput,
    );
}

#[test]
fn many_agents_are_nudged_in_groups_with_ids_of_their_own() {
    let (_, mut team) = team_of(None, teamlog_engine::Format::Jsonl);
    for n in 0..230 {
        team.send(message("lead", &format!("a{n:03}"))).unwrap();
    }
    team.under(given!(Control, actor: "watcher"));
    let answer = team.nudge(Nudge::default()).unwrap();
    assert_eq!(answer.count, 230);
    let mut ids: Vec<_> = answer
        .nudged
        .iter()
        .map(|nudged| nudged.message_id.clone())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 230);
    let kinds = kinds(&mut team);
    let joined = kinds.iter().filter(|kind| *kind == "members_added").count();
    assert_eq!(joined, 2, "lead and watcher, each once");
    assert_eq!(nudge(&mut team).skipped.cooling, 230);
}

#[test]
fn no_second_wake_up_while_one_is_unread_and_the_first_never_hides_mail() {
    let (world, mut team) = demo();
    let real = team.send(message("lead", "qa")).unwrap().message.id;
    let first = nudge(&mut team).nudged[0].message_id.clone().unwrap();
    for round in 0..12 {
        world.later(16 * MINUTE);
        let answer = nudge(&mut team);
        assert_eq!((answer.count, answer.reminded.len()), (0, 1), "{round}");
        let reminded = &answer.reminded[0];
        assert_eq!((&*reminded.agent, reminded.unread), ("qa", 1));
        assert_eq!(reminded.message_id.as_ref(), Some(&first));
        let recorded = events(&mut team).pop().unwrap();
        assert_eq!(recorded["seq"], reminded.seq.unwrap());
        has!(recorded, {"kind": "message_suppressed", "/payload/reason": "unread"});
        let again = nudge(&mut team);
        assert_eq!(
            (again.count, again.reminded.len(), again.skipped.cooling),
            (0, 0, 1),
            "once per cooldown"
        );
    }
    let prime = given!(Prime, agent: "qa");
    let primed = team.prime(&prime).unwrap();
    assert_eq!((primed.unread.total, primed.unread_wakeups), (2, 1));
    assert_eq!(primed.unread.items[0].message_id, real);
    assert!(primed.unread.items[1].is_wakeup());

    // After the ack of the wake-up, the agent can get another wake-up.
    let ack = given!(Ack, agent: "qa", message_id: first);
    team.ack(ack).unwrap();
    world.later(16 * MINUTE);
    let answer = nudge(&mut team);
    assert_eq!((answer.count, answer.reminded.len()), (1, 0));
    settled_digest(&mut team);
}

#[test]
fn wake_ups_of_older_versions_come_behind_the_mail_they_hide() {
    let (_, mut team) = demo();
    let real = team.send(message("lead", "qa")).unwrap().message.id;
    for _ in 0..70 {
        let wake_up = given!(Send, kind: "agent_wakeup_required", ..message("lead", "qa"));
        team.send(wake_up).unwrap();
    }
    let primed = team.prime(&given!(Prime, agent: "qa")).unwrap();
    assert_eq!((primed.unread.total, primed.unread_wakeups), (71, 70));
    assert_eq!(primed.unread.items[0].message_id, real);
    assert_eq!(primed.unread.items.len(), 10);
    assert!(primed.unread.items[1..].iter().all(|mail| mail.is_wakeup()));
}
