//! Durable delivery with real processes: concurrent ticks, a sender that is killed while it waits, and one tick for all teams.

use crate::answers::Event;
use crate::prelude::*;
use std::thread;

fn send(id: &str, seconds: u32, retries: u32, how: &str) -> String {
    format!(
        "send demo --from lead --to dev --type handoff --message-id {id} {how} --ack-timeout-seconds {seconds} \
         --max-retries {retries}"
    )
}

fn events(cli: &Cli) -> Vec<Event> {
    parse_lines(&cli.ok("replay demo --json"))
}

fn count(cli: &Cli, kind: &str) -> usize {
    events(cli)
        .iter()
        .filter(|event| event.kind == kind)
        .count()
}

#[test]
fn what_waits_for_its_ack_is_listed_the_next_one_that_is_due_first() {
    let cli = Cli::with_team();
    cli.ok(&send("late", 3600, 1, "--require-ack"));
    cli.ok(&send("soon", 600, 0, "--require-ack"));
    let page: Value = cli.json("deliveries demo --limit 1");
    let first = &page["deliveries"][0];
    assert_eq!(
        (
            &first["message_id"],
            &first["attempt"],
            &first["attempts_max"]
        ),
        (&json!("soon"), &json!(1), &json!(1))
    );
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest: Value = cli.json(&format!("deliveries demo --cursor {cursor}"));
    assert_eq!(
        (&rest["deliveries"][0]["message_id"], &rest["next_cursor"]),
        (&json!("late"), &Value::Null)
    );
    let shown = cli.ok("deliveries demo");
    assert!(
        shown.starts_with("demo: 2 messages waiting for an ack\n"),
        "{shown}"
    );
    assert!(
        shown.contains("attempt 1 of 2  to dev  lead  handoff"),
        "{shown}"
    );
    cli.ok("ack demo --agent dev --message-id soon");
    cli.ok("ack demo --agent dev --message-id late");
    assert_eq!(
        cli.ok("deliveries demo"),
        "demo: 0 messages waiting for an ack\n"
    );
    let then: Value = cli.json("deliveries demo --at 3");
    assert_eq!(then["count"], 1);
}

#[test]
fn ticks_of_many_processes_at_once_record_everything_once() {
    let cli = Cli::with_team();
    for n in 0..5 {
        cli.ok(&send(&format!("m{n}"), 1, 1, "--require-ack"));
    }
    let mut ticked: Vec<Value> = Vec::new();
    while count(&cli, "delivery_dead_letter") < 5 {
        thread::sleep(Duration::from_millis(500));
        thread::scope(|scope| {
            let run = || parse::<Value>(&cli.ok("tick demo --json"));
            let ticks: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
            ticked.extend(ticks.into_iter().map(|tick| tick.join().unwrap()));
        });
    }
    let sum = |name: &str| -> u64 {
        let each = ticked
            .iter()
            .map(|tick| tick["delivery"][name].as_u64().unwrap());
        each.sum()
    };
    assert_eq!((sum("retried"), sum("dead_lettered")), (5, 5), "{ticked:?}");
    assert_eq!(
        (
            count(&cli, "delivery_retry"),
            count(&cli, "delivery_dead_letter")
        ),
        (5, 5)
    );
    let again: Value = cli.json("tick demo");
    assert_eq!(again["next_due_at"], Value::Null);
    let list: Value = cli.json("dead-letter list demo --agent dev");
    assert_eq!(list["count"], 5);
    let name = list["dead_letters"][0]["created_at"].as_str().unwrap()[..10].to_owned();
    let view = cli
        .dir()
        .join(format!("teams/demo/dead-letter/{name}.jsonl"));
    let lines: Vec<Value> = parse_lines(&std::fs::read_to_string(view).unwrap());
    assert!(
        lines.len() == 5 || name != list["dead_letters"][4]["created_at"].as_str().unwrap()[..10]
    );
    assert_eq!(
        lines[0]["message"]["id"],
        list["dead_letters"][0]["message_id"]
    );
}

#[test]
fn a_sender_that_is_killed_while_it_waits_loses_nothing_and_may_wait_on() {
    let cli = Cli::with_team();
    let line = send("m1", 600, 0, "--wait");
    let mut waiting = cli.command(&line).stdout(Stdio::piped()).spawn().unwrap();
    until("the message is sent", || {
        count(&cli, "delivery_required") == 1
    });
    assert!(waiting.try_wait().unwrap().is_none(), "it waits");
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    let next: Value = cli.json("tick demo");
    assert!(next["next_due_at"].is_string(), "the delivery goes on");

    let again = cli
        .command(&format!("{line} --json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("it waits again", || count(&cli, "message_duplicate") == 1);
    cli.ok("ack demo --agent dev --message-id m1");
    let ran = Ran::from_output(again.wait_with_output().unwrap());
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    let answer: Value = parse(&ran.stdout);
    has!(answer, {"status": "acked", "attempt": 1, "/ack/kind": "message_acked"});
    assert_eq!(count(&cli, "delivery_required"), 1);
}

#[test]
fn a_sender_that_waits_in_vain_exits_with_the_dead_letter() {
    let cli = Cli::with_team();
    let ran = cli.run(&format!("{} --json", send("m1", 1, 1, "--wait")));
    assert_eq!((ran.code, &*ran.stderr), (Some(1), ""), "{ran:?}");
    let answer: Value = parse(&ran.stdout);
    assert_eq!(answer["status"], "dead_letter");
    let letter = &answer["dead_letter"];
    has!(letter, {"reason": "ack_timeout", "attempts": 2, "/message/id": "m1"});
    let shown = cli.ok("dead-letter list demo");
    assert!(shown.contains("m1") && shown.contains("dead"), "{shown}");
    let id = letter["id"].as_str().unwrap();
    cli.ok(&format!(
        "dead-letter requeue demo --id {id} --max-retries 0"
    ));
    let hint = cli.refused(1, &format!("dead-letter requeue demo --id {id}"));
    assert!(hint.contains("teamlog dead-letter list demo"), "{hint}");
    cli.ok("ack demo --agent dev --message-id m1");
    assert!(cli.ok("dead-letter list demo").contains("acked"));
}

#[test]
fn what_is_asked_of_a_delivery_needs_one() {
    let cli = Cli::with_team();
    let said = cli.refused(2, &send("m1", 1, 1, ""));
    shows!(said => has "--ack-timeout-seconds needs --require-ack or --wait");
    let said = cli.refused(1, &send("m1", 0, 1, "--require-ack"));
    assert!(said.contains("from 1 to 2592000"), "{said}");
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject S --require-ack");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --require-ack");
    assert_eq!(count(&cli, "delivery_required"), 2);
    let story = cli.ok("replay demo");
    assert!(story.contains("within 60s, with 2 retries"), "{story}");
}

#[test]
fn settings_are_shown_changed_and_explained() {
    let cli = Cli::with_team();
    shows!(cli.ok("config set demo nudge.idle_seconds 5") => has "300 -> 5");
    shows!(cli.ok("config set demo nudge.idle_seconds 5") => has "5 already");
    assert!(cli.ok("config list demo").contains("(default 300)"));
    let got: Value = cli.json("config get demo nudge.idle_seconds");
    assert_eq!((&got["value"], &got["set"]), (&5.into(), &true.into()));
    shows!(cli.ok("config unset demo nudge.idle_seconds") => has "5 -> 300, its default");
    let error = cli.refused_json(1, "config set demo nudge.idle 5");
    assert_eq!(error.code, "setting_unknown");
    let hint = error.hint.unwrap();
    assert!(hint.contains("did you mean nudge.idle_seconds?"), "{hint}");
    assert!(hint.contains("teamlog config list demo"), "{hint}");
    cli.refused(1, "config set demo nudge.idle_seconds -1");
}

#[test]
fn a_nudge_tells_a_timer_how_it_went() {
    let cli = Cli::with_team();
    cli.ok("send demo --from lead --to qa --type handoff");
    cli.ok("send demo --from lead --to dev --type handoff");
    let dry: Value = cli.json("nudge demo --dry-run");
    assert_eq!((&dry["count"], &dry["dry_run"]), (&2.into(), &true.into()));
    let script = cli.file(
        "wake.sh",
        "#!/bin/sh\necho \"$1 $TEAMLOG_NUDGED $TEAMLOG_TEAM $TEAMLOG_UNREAD\" >> \"$TEAMLOG_DATA_ROOT/woken\"\n\
         echo noise\n[ \"$1\" = dev ]\n",
    );
    make_executable(&script);
    let ran = cli.run(&format!("nudge demo --json --exec {}", script.display()));
    assert_eq!(ran.code, Some(1), "one of two failed: {ran:?}");
    let answer: Value = parse(&ran.stdout);
    has!(answer, {"/nudged/0/exec/status": "ok", "/nudged/1/exec/exit_code": 1});
    assert_eq!(ran.stderr, "noise\nnoise\n");
    let woken = std::fs::read_to_string(cli.dir().join("woken")).unwrap();
    assert_eq!(woken, "dev dev demo 1\nqa qa demo 1\n");
    let again: Value = cli.json("nudge demo");
    has!(again, {"count": 0, "/skipped/cooling": 2});

    cli.refused(2, "nudge nothere");
    cli.refused(2, "nudge demo --idle-seconds 99999999999");
    cli.refused(2, "nudge demo --actor stranger");
    cli.refused(2, "nudge demo --cooldown-seconds x");
    let missing = "nudge demo --cooldown-seconds 0 --json --exec ./not-there";
    let ran = cli.run(missing);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let slow = cli.file("slow.sh", "#!/bin/sh\nexec sleep 600\n");
    make_executable(&slow);
    let line = format!(
        "nudge demo --cooldown-seconds 0 --json --exec {} --exec-timeout-seconds 0",
        slow.display()
    );
    let answer: Value = parse(&cli.run(&line).stdout);
    assert_eq!(answer["reminded"][0]["exec"]["status"], "timed_out");
    let shown = cli.ok("prime demo --agent dev");
    let (mail, wakeups) = shown.split_once("\nwake-ups\n").unwrap();
    assert!(mail.contains("1 unread message, 1 wake-up"), "{shown}");
    assert!(mail.contains("handoff from lead"), "{shown}");
    shows!(wakeups => has "agent_wakeup_required from leader-fixed");
    let page = cli.ok("read demo --agent dev --unread");
    let (mail, wakeups) = page.split_once("\nwake-ups\n").unwrap();
    assert!(mail.contains("handoff"), "{page}");
    assert_eq!(wakeups.lines().count(), 1, "{page}");
}

#[test]
fn a_timer_reaches_every_team_in_one_call() {
    let cli = Cli::with_team();
    cli.ok("init other --members lead,dev");
    cli.ok("init over --members lead,dev");
    cli.ok_of_any_shape("api cleanup --input '{\"team_name\":\"over\",\"force\":true}'");
    cli.ok("send other --from lead --to dev --type handoff");
    let names = |answer: &Value| -> Vec<String> {
        let teams = answer["teams"].as_array().unwrap().iter();
        teams.map(|team| team["team"].to_string()).collect()
    };
    let all: Value = cli.json("nudge --all-teams");
    assert_eq!(all["status"], "ok");
    assert_eq!(names(&all), ["\"demo\"", "\"other\""]);
    assert_eq!(all["teams"][1]["nudged"][0]["agent"], "dev");
    let all: Value = cli.json("tick --all");
    assert_eq!(names(&all), ["\"demo\"", "\"other\""]);
    let all: Value = cli.json("verify --all");
    assert_eq!(names(&all), ["\"demo\"", "\"other\"", "\"over\""]);
    assert!(cli.ok("verify --all").contains("other"));

    // A team that cannot be opened does not block the other teams.
    std::fs::write(cli.dir().join("teams/demo/log.json"), "{").unwrap();
    let ran = cli.run("tick --all --json");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let all: Value = parse(&ran.stdout);
    assert_eq!(
        (names(&all), &all["status"]),
        (vec!["\"other\"".to_owned()], &"partial".into())
    );
    assert_eq!(all["failed"][0]["team"], "demo");
    assert_eq!(cli.run("verify --all").code, Some(65));
    cli.refused(1, "tick");
    cli.refused(2, "tick demo --all");
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
}
