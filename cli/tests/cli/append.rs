//! `append`: one event, many events, and refused events.

use crate::answers::{Append, Batch, Event, Status};
use crate::prelude::*;

#[test]
fn a_fact_keeps_everything_it_points_at() {
    let cli = Cli::with_team();
    let first: Append = cli.json("append demo --kind deploy_started");
    assert_eq!(first.seq, 2);
    let line = format!(
        "append demo --kind deploy_finished --actor ci --trace-id tr --task-id T-1 --agent dev --message-id m --thread-id th --session-id s --key k --cause {} --data '{{\"ok\": true}}'",
        first.id
    );
    let second: Append = cli.json(&line);
    let events: Vec<Event> = parse_lines(&cli.ok("replay demo --json --from-seq 3"));
    let [event, stored] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (&*stored.kind, stored.key.as_deref()),
        ("response_stored", Some("k"))
    );
    assert_eq!(
        (&event.id, &event.created_at, event.seq),
        (&second.id, &second.created_at, 3)
    );
    assert!(event.foreign);
    assert_eq!((&*event.kind, &*event.actor), ("deploy_finished", "ci"));
    for (found, wanted) in [
        (&event.trace_id, "tr"),
        (&event.task_id, "T-1"),
        (&event.agent, "dev"),
        (&event.message_id, "m"),
        (&event.thread_id, "th"),
        (&event.session_id, "s"),
        (&event.key, "k"),
        (&event.cause, &first.id),
    ] {
        assert_eq!(found.as_deref(), Some(wanted));
    }
    assert_eq!(event.payload, json!({"ok": true}));
    assert_eq!(
        cli.json::<Status>("status demo").task_count,
        0,
        "a foreign fact moved state"
    );
}

#[test]
fn reserved_kinds_are_refused_with_the_command_that_produces_them() {
    let cli = Cli::with_team();
    for (kind, command) in [
        ("message_sent", "teamlog send"),
        ("message_acked", "teamlog ack"),
        ("team_created", "teamlog init"),
        ("task_claimed", "teamlog task claim"),
        ("mode_started", "teamlog mode start"),
    ] {
        let error = cli.refused_json(1, &format!("append demo --kind {kind}"));
        assert_eq!(error.code, "reserved_kind");
        let said = format!("{} {:?}", error.message, error.hint);
        assert!(said.contains(kind) && said.contains(command), "{said}");
        let ran = cli.run_with_input(
            "append demo --batch -",
            &format!("{{\"kind\":\"{kind}\"}}\n"),
        );
        assert_eq!(ran.code, Some(1), "{ran:?}");
    }
    let error = cli.refused(1, "append demo --kind Deploy-Done");
    shows!(error => has "kind", has "Deploy-Done");
    assert_eq!(cli.json::<Status>("status demo").events, 1);
}

#[test]
fn a_batch_comes_from_a_file_or_standard_input() {
    let cli = Cli::with_team();
    let lines: String = (0..25).map(|n| format!("{{\"kind\":\"step_done\",\"actor\":\"a{n}\",\"trace_id\":\"tr\",\"payload\":{{\"n\":{n}}}}}\n")).collect();
    cli.file("batch.jsonl", &lines);
    let batch: Batch = cli.json("append demo --batch batch.jsonl --batch-size 10");
    assert_eq!(
        (batch.count, batch.first_seq, batch.last_seq),
        (25, Some(2), Some(26))
    );
    let ran = cli.run_with_input(
        "append demo --batch - --actor default",
        "{\"kind\":\"step_done\"}\n\n{\"kind\":\"step_done\"}",
    );
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(0), "2 events recorded: events 27 to 28\n"),
        "{ran:?}"
    );
    let ran = cli.run_with_input("append demo --batch - --json", "");
    let none: Batch = parse(&ran.stdout);
    assert_eq!((none.count, none.first_seq, none.last_seq), (0, None, None));
    let events: Vec<Event> = parse_lines(&cli.ok("replay demo --json --from-seq 2"));
    assert_eq!(events.len(), 27);
    for (n, event) in events.iter().take(25).enumerate() {
        assert_eq!(
            (event.payload["n"].as_u64(), &event.actor),
            (Some(n as u64), &format!("a{n}"))
        );
    }
    assert_eq!(events[26].actor, "default");
}

#[test]
fn a_bad_line_is_named_and_its_batch_stays_out() {
    let cli = Cli::with_team();
    let good = "{\"kind\":\"step_done\"}\n";
    let input = format!("{}{{\"kind\":\"message_sent\"}}\n{good}", good.repeat(7));
    let ran = cli.run_with_input("append demo --batch - --batch-size 5", &input);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.starts_with("error: ") && ran.stderr.contains("line 8"),
        "{ran:?}"
    );
    assert_eq!(cli.json::<Status>("status demo").last_seq, 6);
    let error = cli.refused(1, "append demo --batch none.jsonl");
    assert!(error.contains("none.jsonl"), "{error}");
    cli.refused(2, "append demo --batch x --kind y");
    cli.refused(2, "append demo");
    cli.refused(2, "append demo --kind x --batch-size 5");
}

#[test]
fn the_same_under_a_key_is_recorded_once_alone_and_in_a_batch() {
    let cli = Cli::with_team();
    let line = "append demo --kind built --actor ci --key k --data {\"n\":1}";
    let first: Append = cli.json(line);
    assert_eq!(first.replayed, None);
    let again: Append = cli.json(line);
    assert_eq!(
        (again.seq, &again.id, again.replayed),
        (first.seq, &first.id, Some(true))
    );
    let error = cli.refused_json(1, "append demo --kind built --actor ci --key k");
    assert_eq!(error.code, "idempotency_key_reused");
    cli.file(
        "batch.jsonl",
        "{\"kind\":\"a\",\"key\":\"a\"}\n{\"kind\":\"b\",\"key\":\"b\"}\n",
    );
    let first: Batch = cli.json("append demo --batch batch.jsonl --batch-size 1");
    assert_eq!(
        (first.count, first.replayed_lines, first.replayed),
        (2, None, None)
    );
    let again: Batch = cli.json("append demo --batch batch.jsonl");
    assert_eq!(
        (
            again.count,
            again.first_seq,
            again.last_seq,
            again.replayed_lines,
            again.replayed
        ),
        (2, first.first_seq, first.last_seq, Some(2), Some(true))
    );
    let shown = cli.run("append demo --batch batch.jsonl");
    shows!(shown.stdout => has "nothing new recorded: events", has "2 lines replayed");
    let ran = cli.run_with_input(
        "append demo --batch - --json",
        "{\"kind\":\"c\",\"key\":\"c\"}\n{\"kind\":\"other\",\"key\":\"b\"}\n",
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    shows!(ran.stderr => has "idempotency_key_reused", has "line 2");
    let kinds: Vec<Event> = parse_lines(&cli.ok("replay demo --json"));
    let own = kinds
        .iter()
        .filter(|event| event.foreign)
        .map(|event| &*event.kind);
    assert_eq!(own.collect::<Vec<_>>(), ["built", "a", "b"]);
}

#[test]
fn tags_are_recorded_shown_and_filtered() {
    let cli = Cli::with_team();
    cli.ok("append demo --kind built --tag pr=77 --tag env=prod --data '{\"n\":1}'");
    cli.ok("append demo --kind built --tag pr=78");
    for command in [
        "replay demo --json --tag pr=77",
        "tail demo --json --tag env=prod --tag pr=77",
        "log demo --json --tag pr=77",
    ] {
        let events: Vec<Event> = parse_lines(&cli.ok(command));
        let [event] = events.as_slice() else {
            panic!("{command}: {events:?}")
        };
        assert_eq!(
            (&event.tags, &event.payload),
            (
                &vec!["env=prod".to_owned(), "pr=77".to_owned()],
                &json!({"n": 1})
            )
        );
    }
    shows!(cli.ok("log demo --tag pr=77") => has "recorded built [env=prod, pr=77]: n 1", lacks "pr=78");
    shows!(cli.refused(1, "append demo --kind built --tag pr") => has "tags must be NAME=VALUE");
    shows!(cli.refused(1, "log demo --tag pr") => has "tag must be NAME=VALUE");
}

#[test]
fn a_condition_that_does_not_hold_names_the_event_and_the_next_command() {
    let cli = Cli::with_team();
    let take =
        "append demo --kind name_taken --tag name=anna --if-none 'kind=name_taken tag=name=anna'";
    let first: Append = cli.json(take);
    let error = cli.refused_json(1, take);
    assert_eq!(error.code, "append_conflict");
    assert_eq!(
        (
            &error.details["seq"],
            &error.details["id"],
            &error.details["kind"]
        ),
        (&json!(first.seq), &json!(first.id), &json!("name_taken"))
    );
    shows!(cli.refused(1, take) => has "event 2 matches if_none: kind=name_taken tag=name=anna", has "replay demo --from-seq 2");
    cli.ok(&format!("{take} --after {}", first.seq));
    shows!(cli.refused(1, "append demo --kind a --if-seq 1") => has "if_seq is 1, but the log has event 3");
    cli.ok("append demo --kind a --if-seq 3");
    let json = r#"append demo --kind a --if-none '{"kinds":["a"]}'"#;
    shows!(cli.refused(1, json) => has "event 4 matches if_none: kind=a");
    let lines = "{\"kind\":\"b\",\"tags\":[\"pr=1\"]}\n{\"kind\":\"b\",\"tags\":[\"pr=2\"]}\n";
    let batch = "append demo --batch - --if-none tag=pr=2";
    assert_eq!(cli.run_with_input(batch, lines).code, Some(0));
    let refused = cli.run_with_input(batch, lines);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    shows!(refused.stderr => has "event 6 matches if_none: tag=pr=2");
    let two_groups = cli.run_with_input("append demo --batch - --batch-size 1 --if-seq 6", lines);
    assert_eq!(two_groups.code, Some(1), "{two_groups:?}");
    shows!(two_groups.stderr => has "line 2 begins another group", has "nothing was recorded");
    for line in [
        "append demo --kind a --after 1",
        "append demo --kind a --if-none kind",
        "append demo --kind a --if-none owner=dev",
        "append demo --batch - --tag a=1",
    ] {
        assert_eq!(cli.run(line).code, Some(2), "{line}");
    }
    assert_eq!(cli.json::<Status>("status demo").events, 6);
}
