//! Threads, artifacts and tokens as processes: input, output and refusals.

use crate::prelude::*;

#[test]
fn a_talk_from_its_beginning_to_its_task() {
    let cli = Cli::with_team();
    cli.ok("task create demo --subject 'Fix the login'");
    let mut started: Value = cli.json(
        "thread start demo --title 'Who mends it?' --participants dev,qa --agent lead --key s",
    );
    has!(started, {"/thread/id": "thread-0001", "/thread/participants": ["dev", "qa", "lead"]});
    let again: Value = cli.json(
        "thread start demo --title 'Who mends it?' --participants dev,qa --agent lead --key s",
    );
    started["replayed"] = true.into();
    assert_eq!(again, started);
    let posted: Value = cli.json("thread post demo thread-0001 'I do' --agent dev --to qa");
    assert_eq!(posted["message"]["to"], json!(["qa"]));
    // The acting agent is the author unless `--agent` names another agent.
    let acting: Value = cli.json("thread post demo thread-0001 good --actor qa");
    assert_eq!(acting["message"]["from"], "qa");
    let input = cli.run_with_input("thread post demo thread-0001 -", "one\ntwo\u{1b}[2J\n");
    assert!(input.stdout.starts_with("said msg-"), "{input:?}");
    let tail: Value = cli.json("thread tail demo thread-0001 --limit 2");
    let bodies: Vec<&Value> = tail["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["body"])
        .collect();
    assert_eq!(bodies, ["good", "one\ntwo\u{1b}[2J"]);
    let shown = cli.ok("thread tail demo thread-0001");
    assert!(shown.contains("  two\\u{1b}[2J\n"), "{shown}");
    assert!(!shown.contains('\u{1b}'));
    let cursor = tail["next_cursor"].as_str().unwrap();
    let older: Value = cli.json(&format!("thread tail demo thread-0001 --cursor {cursor}"));
    assert_eq!(older["messages"][0]["body"], "I do");
    let linked: Value = cli.json("thread link demo thread-0001 1");
    assert_eq!(linked["thread"]["taskId"], "1");
    let found: Value = cli.json("thread search demo 'MENDS'");
    assert_eq!(found["threads"][0]["id"], "thread-0001");
    assert_eq!(cli.ok("thread search demo absent"), "no threads\n");
    assert!(
        cli.ok("replay demo")
            .contains("dev posted to thread thread-0001")
    );
    let error = cli.refused_json(1, "thread post demo thread-0009 x");
    assert_eq!(error.code, "thread_not_found");
    let listed: Value = cli.json("thread list demo");
    has!(listed, {"count": 1, "/threads/0/messages": 3, "/threads/0/last_by": "system",
        "/threads/0/last_text": "one\ntwo\u{1b}[2J", "/threads/0/task_id": "1"});
    let shown = cli.ok("thread list demo");
    assert!(
        shown.starts_with("thread-0001  Who mends it?  3 messages"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'));
    // Read the thread as it was before its first post.
    let seq = posted["message"]["seq"].as_u64().unwrap() - 1;
    let then: Value = cli.json(&format!("thread list demo --at {seq}"));
    assert_eq!(then["threads"][0]["last_text"], Value::Null);
    let then: Value = cli.json(&format!("thread tail demo thread-0001 --at {seq}"));
    assert_eq!(then["messages"], json!([]));
    let told: Value =
        cli.json("api inbox-feed --input '{\"team_name\":\"demo\",\"agentId\":\"qa\"}'");
    let kinds: Vec<&Value> = told["data"]["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["type"])
        .collect();
    assert_eq!(kinds, ["thread_message", "thread_message"]);
    assert!(cli.ok("doctor check demo").contains("healthy"));
}

#[test]
fn what_was_left_is_what_others_get() {
    let cli = Cli::with_team();
    let file = cli.file("notes.md", "all is well\n");
    let stored: Value = cli.json(&format!("artifact put demo {} --agent dev", file.display()));
    has!(stored, {"stored": true, "/artifact/name": "notes.md", "/artifact/kind": "summaries"});
    let path = stored["artifact"]["path"].as_str().unwrap();
    let lies = std::fs::read(cli.dir().join("teams/demo").join(path));
    assert_eq!(lies.unwrap(), b"all is well\n");
    assert_eq!(cli.ok("artifact get demo notes.md"), "all is well\n");
    let patch = cli.run_with_input(
        "artifact put demo - --name fix.patch --task-id 9",
        "--- a\n",
    );
    assert_eq!(patch.code, Some(1), "{patch:?}");
    let patch = cli.run_with_input("artifact put demo - --name fix.patch --json", "--- a\n");
    assert_eq!(patch.code, Some(0), "{patch:?}");
    let error = cli.refused_json(
        1,
        &format!("artifact put demo {} --name fix.patch", file.display()),
    );
    assert_eq!(error.code, "artifact_exists");
    assert_eq!(cli.run("artifact put demo -").code, Some(2));
    let listed: Value = cli.json("artifact list demo --kind patches");
    assert_eq!(listed["artifacts"][0]["name"], "fix.patch");
    let out = cli.outside().join("out.patch");
    let got: Value = cli.json(&format!(
        "artifact get demo fix.patch --out {}",
        out.display()
    ));
    assert_eq!(got["artifact"]["size"], 6);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "--- a\n");
    let taken = cli.run(&format!(
        "artifact get demo fix.patch --out {}",
        out.display()
    ));
    assert_ne!(taken.code, Some(0), "an existing file is not written over");
    let shown: Value = cli.json("artifact get demo fix.patch");
    assert_eq!(shown["content"], "--- a\n");
    shows!(cli.refused_json(1, "artifact get demo absent").code => is "artifact_not_found");
}

#[test]
fn a_budget_that_is_used_up_refuses_what_begins() {
    let cli = Cli::with_team();
    let set: Value = cli.json("usage demo --set --max-tokens 100 --soft-limit 50 --hard-limit");
    assert_eq!(set["budget"]["hard_limit"], true);
    let report = "usage demo --report --agent dev --input-tokens 60 --output-tokens 20";
    let reported: Value = cli.json(report);
    has!(reported, {"/used/tokens": 80,
        "warning": "soft limit of 50 reached: 80 of 100 tokens used"});
    cli.ok("task create demo --subject one");
    cli.ok(report);
    let error = cli.refused_json(1, "task create demo --subject two");
    assert_eq!(error.code, "budget_exceeded");
    cli.refused(1, "send demo --from lead --to dev --type handoff");
    let shown = cli.ok("usage demo");
    shows!(shown => starts "160 tokens used of 100 (hard limit)");
    let one: Value = cli.json("usage demo --agent qa");
    assert_eq!(one["agents"][0]["tokens"], 0);
    for wrong in [
        "usage demo --set --report",
        "usage demo --max-tokens 7",
        "usage demo --report --tokens 7",
        "usage demo --set --max-tokens -1",
    ] {
        assert_eq!(cli.run(wrong).code, Some(2), "{wrong}");
    }
}
