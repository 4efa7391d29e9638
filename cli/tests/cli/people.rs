//! Commands for people: the teams, and the work of each agent with its duration, with and without colours.

use crate::prelude::*;

#[test]
fn who_does_what_is_one_command() {
    let cli = Cli::with_team();
    cli.ok("task create demo --subject Build");
    cli.ok_of_any_shape("task claim demo 1 --worker dev");
    let shown = cli.ok("who demo");
    let dev = shown.lines().find(|line| line.contains("dev")).unwrap();
    assert!(dev.contains("15m left"), "{shown}");
    shows!(dev => has "in_progress", has "Build");
    assert!(dev.contains("task_claimed"), "{shown}");
    assert!(shown.contains("1 live claim"), "{shown}");
    let answer: Value = cli.json("who demo");
    assert_eq!(answer["live_claims"], 1);
    let one: Value = cli.json("who demo --limit 1");
    assert_eq!(
        (&one["count"], one["next_cursor"].is_string()),
        (&1.into(), true)
    );
    let operation = cli.ok_of_any_shape("api who --input '{\"team_name\":\"demo\"}' --json");
    let envelope: Value = parse(&operation);
    assert_eq!(envelope["data"]["live_claims"], 1, "{envelope}");
    cli.refused(1, "who demo --limit 0");
}

#[test]
fn what_needs_attention_goes_by_the_commands_beside_it() {
    let cli = Cli::with_team();
    let quiet = cli.ok("attention demo");
    assert_eq!(quiet.trim_end(), "demo: nothing needs attention");
    cli.ok("task create demo --task-id 1 --subject Plan");
    cli.ok("task create demo --task-id 2 --subject Build");
    cli.ok("task create demo --task-id 3 --subject Ship --blocked-by 1,2");
    cli.ok("task cancel demo 2");
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject Fix");
    cli.ok("send demo --from lead --to dev --type handoff --message-id 'it is' --require-ack --ack-timeout-seconds 1 --max-retries 9");
    cli.ok("bootstrap start demo --domains a,b");
    let breach = cli.run("bootstrap record demo --event task_launched --data '{\"member\":\"a\"}'");
    assert_eq!(breach.code, Some(1));
    let answer = until_some("the ack is overdue", || {
        let answer: Value = cli.json("attention demo --stale-minutes 0");
        match answer.to_string().contains("overdue_ack") {
            true => Ok(answer),
            false => Err(answer),
        }
    });
    let items = answer["items"].as_array().unwrap();
    let kinds: Vec<&str> = items
        .iter()
        .map(|item| item["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "waits_in_vain",
            "bootstrap_breached",
            "overdue_ack",
            "stale_task"
        ],
        "{answer}"
    );
    let shown = cli.ok("attention demo");
    assert!(shown.starts_with("demo: 3 items need attention"), "{shown}");
    shows!(shown => has "dependency failed (1)", has "bootstrap breached (1)", has "ack overdue (1)", has "Ship", has "dev");
    let first: Value = cli.json("attention demo --limit 1");
    assert_eq!((&first["count"], &first["total"]), (&1.into(), &3.into()));
    shows!(cli.ok("attention demo --limit 1") => has "demo: 3 items need attention", has "2 more: --limit 0");
    for item in &items[..3] {
        let command = item["command"].as_str().unwrap();
        let mut lines = shown.lines();
        let row = lines.find(|line| line.contains(item["text"].as_str().unwrap()));
        assert!(row.is_some(), "{command}: {shown}");
        assert_eq!(lines.next().map(str::trim), Some(command), "{shown}");
    }
    for item in items {
        let command = item["command"].as_str().unwrap();
        cli.ok_of_any_shape(command.strip_prefix("teamlog ").unwrap());
    }
    // Only the recipient can acknowledge a message.
    let left = cli.ok("attention demo");
    assert!(left.contains("teamlog nudge demo"), "{left}");
    cli.ok("ack demo --agent dev --message-id 'it is'");
    assert_eq!(cli.ok("attention demo"), quiet);
    assert_eq!(cli.ok("attention demo --limit 0"), quiet);
    cli.refused(1, "attention demo --limit 1001");
}

#[test]
fn the_teams_of_a_root_are_listed() {
    let cli = Cli::with_team();
    cli.ok("init over --members lead,dev");
    cli.ok_of_any_shape("api cleanup --input '{\"team_name\":\"over\",\"force\":true}'");
    let all: Value = cli.json("teams");
    let teams = all["teams"].as_array().unwrap();
    let states: Vec<(&Value, &Value)> = teams.iter().map(|t| (&t["team"], &t["open"])).collect();
    assert_eq!(
        states,
        [
            (&"demo".into(), &true.into()),
            (&"over".into(), &false.into())
        ]
    );
    assert!(teams[0]["events"].as_u64() > Some(0) && teams[0]["last_event_at"].is_string());
    let shown = cli.ok("teams");
    shows!(shown => has "open", has "closed");
    std::fs::write(cli.dir().join("teams/over/log.json"), "{").unwrap();
    let ran = cli.run("teams --json");
    assert_eq!(ran.code, Some(1));
    let all: Value = parse(&ran.stdout);
    assert_eq!(all["failed"][0]["team"], "over");
}

#[test]
fn times_may_be_said_as_people_say_them() {
    let cli = Cli::with_team();
    cli.ok("send demo --from lead --to dev --type handoff");
    let lines = |line: &str| cli.ok(line).lines().count();
    assert!(lines("replay demo --since 1h") >= 2);
    assert_eq!(cli.run("replay demo --until 1h").stdout, "");
    assert!(lines("tail demo --since yesterday") >= 2);
    assert!(lines("replay demo --since '2m ago' --utc") >= 2);
    let shown = cli.ok("tail demo -n 1");
    let clock = shown.split_whitespace().nth(2).unwrap();
    assert!(clock.ends_with('Z'), "{shown}");
    cli.refused(2, "replay demo --since soon");
    cli.refused(1, "status demo --at 1h");
    let ran = cli.run("status demo --at now");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.starts_with("note: as of event 2, "), "{ran:?}");
}

#[test]
fn tail_hides_bookkeeping() {
    let cli = Cli::with_team();
    cli.ok("task create demo --subject Build --key k-1");
    assert!(!cli.ok("tail demo").contains("response_stored"));
    assert!(cli.ok("tail demo --all").contains("response_stored"));
    shows!(cli.ok("tail demo --kind response_stored") => has "response_stored");
    assert!(cli.ok("tail demo --json").contains("response_stored"));
    assert_eq!(cli.ok("tail demo -n 1").lines().count(), 1);
}

#[test]
fn an_owner_that_nobody_knows_is_said() {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject x");
    let ran = cli.run("tasks demo --owner dve");
    assert_eq!(ran.code, Some(0));
    shows!(ran.stderr => has "\"dve\"", has "did you mean dev?");
    assert_eq!(cli.run("tasks demo --owner qa").stderr, "");
}

#[test]
fn colours_can_be_forced_and_refused() {
    let cli = Cli::with_team();
    let shown = |set: &[(&str, &str)]| {
        let mut command = cli.command("status demo");
        command.envs(set.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(!shown(&[]).contains('\u{1b}'));
    assert!(shown(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[1m"));
    assert!(!shown(&[("CLICOLOR_FORCE", "0")]).contains('\u{1b}'));
    assert!(!shown(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}

#[test]
fn traces_are_listed_newest_first() {
    let cli = Cli::with_team();
    for trace in ["tr-1", "tr-2", "tr-1"] {
        cli.ok(&format!(
            "send demo --from lead --to dev --type handoff --trace-id {trace}"
        ));
    }
    let answer: Value = cli.json("traces demo");
    let traces = answer["traces"].as_array().unwrap();
    let shown: Vec<(&Value, &Value)> = traces
        .iter()
        .map(|t| (&t["trace_id"], &t["events"]))
        .collect();
    assert_eq!(
        shown,
        [(&"tr-1".into(), &2.into()), (&"tr-2".into(), &1.into())]
    );
    assert_eq!(traces[0]["agents"], serde_json::json!(["lead"]));
    let one: Value = cli.json("traces demo --limit 1");
    assert_eq!((&one["count"], &one["more"]), (&1.into(), &true.into()));
    assert!(cli.ok("traces demo").contains("tr-2"));
    cli.refused(1, "traces demo --limit 0");
}

#[test]
fn what_happened_to_a_task_is_one_command_and_tasks_can_be_sorted() {
    let cli = Cli::with_team();
    cli.ok("task create demo --task-id T-1 --subject Build");
    cli.ok("task create demo --task-id T-2 --subject Test --priority high");
    cli.ok("task claim demo T-1 --worker dev");
    let shown = cli.ok("task history demo T-1");
    shows!(shown => has "T-1 in demo: 2 events", has "task_created", has "task_claimed");
    let answer: Value = cli.json("task history demo T-1 --limit 1");
    assert_eq!(
        (&answer["count"], &answer["events"][0]["kind"]),
        (&1.into(), &"task_claimed".into())
    );
    cli.refused(1, "task history demo T-9");
    let first = |line: &str| {
        let answer: Value = cli.json(line);
        answer["tasks"][0]["task_id"].clone()
    };
    assert_eq!(first("tasks demo --sort updated"), "T-1");
    assert_eq!(first("tasks demo --sort priority"), "T-2");
    assert_eq!(first("tasks demo --order desc"), "T-2");
    let created: Value = cli.json("task show demo T-2");
    let seq = created["task"]["seq"].as_u64().unwrap();
    assert_eq!(first(&format!("tasks demo --since {seq}")), "T-1");
    cli.refused(2, "tasks demo --sort size");
}
