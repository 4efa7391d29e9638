//! `send`, `read`, `ack`.

use crate::answers::{Ack, Event, Read, Sent, Status};
use crate::prelude::*;

#[test]
fn a_message_goes_out_and_is_read() {
    let cli = Cli::with_team();
    let sent: Sent = cli.json(
        "send demo --from lead --to dev --type handoff --task-id T-1 --trace-id tr-1 --priority high --payload-json '{\"files\": [1, 2.50]}'",
    );
    assert_eq!(sent.status, "sent");
    assert_eq!((sent.reason, sent.cooldown_remaining_seconds), (None, None));
    let message = sent.message;
    let hex = message.id.strip_prefix("msg_").unwrap();
    assert!(
        hex.len() == 12 && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        "{hex}"
    );
    assert_eq!(
        (&*message.kind, &*message.from, &*message.to),
        ("handoff", "lead", "dev")
    );
    assert_eq!(
        (message.task_id.as_deref(), message.trace_id.as_deref()),
        (Some("T-1"), Some("tr-1"))
    );
    assert_eq!((&*message.priority, message.schema_version), ("high", 1));
    assert_eq!(message.payload, json!({"files": [1, 2.5]}));
    assert_eq!(
        (&*sent.event.kind, sent.event.seq, &*sent.event.actor),
        ("message_sent", 2, "lead")
    );
    assert_eq!(sent.event.message_id.as_ref(), Some(&message.id));

    let read: Read = cli.json("read demo --agent dev");
    assert_eq!((read.count, read.next_cursor), (1, None));
    assert_eq!(read.messages, [message]);
    assert_eq!(cli.json::<Read>("read demo --agent qa").count, 0);
}

#[test]
fn people_see_one_line_a_message() {
    let cli = Cli::with_team();
    let shown =
        cli.ok("send demo --from lead --to dev --type handoff --message-id m-1 --task-id T-1");
    shows!(shown => is "sent m-1  handoff  lead -> dev  task T-1  (event 2)\n");
    let shown = cli.ok("read demo --agent dev");
    shows!(shown => is "dev in demo: 1 message\n\n  m-1  just now  from lead  handoff  T-1\n");
    shows!(cli.ok("ack demo --agent dev --message-id m-1") => is "acked m-1 by dev\n");
    shows!(cli.ok("ack demo --agent dev --message-id m-1") => is "acked already m-1 by dev\n");
    shows!(cli.ok("read demo --agent dev --unread") => is "dev in demo: 0 messages\n");
}

#[test]
fn a_message_id_that_is_known_is_a_duplicate_and_the_first_one_stands() {
    let cli = Cli::with_team();
    let first: Sent = cli.json(
        "send demo --from lead --to dev --type handoff --message-id m --payload-json '{\"n\":1}'",
    );
    let second: Sent = cli.json(
        "send demo --from lead --to dev --type handoff --message-id m --payload-json '{\"n\":1}'",
    );
    assert_eq!(second.status, "duplicate");
    assert_eq!(second.message, first.message);
    assert_eq!(second.event.kind, "message_duplicate");
    assert_eq!(
        cli.json::<Read>("read demo --agent dev").messages,
        [first.message]
    );
    let shown = cli.ok(
        "send demo --from lead --to dev --type handoff --message-id m --payload-json '{\"n\":1}'",
    );
    shows!(shown => starts "duplicate m  handoff  lead -> dev");
    let other = "send demo --from lead --to dev --type handoff --message-id m";
    let reused = cli.refused_json(1, other);
    assert_eq!(reused.code, "message_id_reused");
    shows!(reused.message => has "another payload");
    assert_eq!(cli.json::<Read>("read demo --agent dev").count, 1);
}

#[test]
fn payloads_come_from_argv_file_or_standard_input() {
    let cli = Cli::with_team();
    cli.file("p.json", " {\"from\" : \"file\"}\n");
    let sent: Sent =
        cli.json("send demo --from lead --to dev --type handoff --payload-file p.json");
    assert_eq!(sent.message.payload, json!({"from": "file"}));
    let ran = cli.run_with_input(
        "send demo --from lead --to dev --type handoff --payload-file - --json",
        "{\"n\":7}",
    );
    assert_eq!(parse::<Sent>(&ran.stdout).message.payload, json!({"n": 7}));
    let error = cli.refused(
        1,
        "send demo --from lead --to dev --type handoff --payload-file none.json",
    );
    shows!(error => starts "error: payload file not found: none.json");
    cli.refused(
        2,
        "send demo --from lead --to dev --type handoff --payload-file p.json --payload-json {}",
    );
    std::fs::write(cli.dir().join("latin.json"), b"{\"a\":\"\xe9\"}").unwrap();
    let error = cli.refused(
        1,
        "send demo --from lead --to dev --type handoff --payload-file latin.json",
    );
    assert!(error.contains("must be UTF-8"), "{error}");
}

#[test]
fn bad_envelopes_name_field_value_and_rule() {
    let cli = Cli::with_team();
    let base = "send demo --from lead --to dev --type handoff";
    for (line, said) in [
        (
            format!("{base} --payload-json '{{\"a\":1,\"a\":2}}'"),
            ["payload", "duplicate", "a"],
        ),
        (
            format!("{base} --created-at soon"),
            ["created_at", "ISO 8601", "soon"],
        ),
        (
            "send demo --from lead --to dev --type gossip".to_owned(),
            ["type", "handoff", "gossip"],
        ),
    ] {
        // The command line itself refuses an invalid value of an option with a fixed set of words.
        let exit = match line.contains("gossip") {
            true => 2,
            false => 1,
        };
        let error = cli.refused(exit, &line);
        for word in said {
            assert!(error.contains(word), "{line}: {error}");
        }
        assert_eq!(
            error
                .lines()
                .filter(|line| line.starts_with("error: "))
                .count(),
            1
        );
    }
    assert_eq!(
        cli.json::<Status>("status demo").events,
        1,
        "a refusal wrote something"
    );
}

#[test]
fn a_page_goes_from_new_to_old_with_the_oldest_first() {
    let cli = Cli::with_team();
    for n in 0..7 {
        cli.ok(&format!(
            "send demo --from lead --to dev --type handoff --message-id m{n}"
        ));
    }
    let ids = |line: &str| {
        let read: Read = cli.json(line);
        let ids: Vec<String> = read
            .messages
            .into_iter()
            .map(|message| message.id)
            .collect();
        assert_eq!(read.count, ids.len());
        (ids.join(" "), read.next_cursor)
    };
    let (page, cursor) = ids("read demo --agent dev --limit 3");
    assert_eq!((&*page, cursor.as_deref()), ("m4 m5 m6", Some("m4")));
    let (page, cursor) = ids("read demo --agent dev --limit 4 --cursor m4");
    assert_eq!((&*page, cursor), ("m0 m1 m2 m3", None));
    cli.ok("ack demo --agent dev --message-id m5");
    assert_eq!(ids("read demo --agent dev --limit 2 --unread").0, "m4 m6");
    let shown = cli.ok("read demo --agent dev --limit 3");
    assert!(shown.ends_with("\n\nolder ones: --cursor m4\n"), "{shown}");
}

#[test]
fn only_the_recipient_acknowledges_and_only_once() {
    let cli = Cli::with_team();
    cli.ok("send demo --from lead --to dev --type handoff --message-id m");
    let unread = || cli.json::<Status>("status demo").unread_counts["dev"];
    assert_eq!(unread(), 1);
    let ack = |line: &str, code: i32| {
        let ran = cli.run(&format!("{line} --json"));
        assert_eq!((ran.code, &*ran.stderr), (Some(code), ""), "{ran:?}");
        parse::<Ack>(&ran.stdout)
    };
    let wrong = ack("ack demo --agent qa --message-id m", 1);
    assert_eq!(
        (&*wrong.status, wrong.expected.as_deref()),
        ("wrong_recipient", Some("dev"))
    );
    let missing = ack("ack demo --agent dev --message-id other", 1);
    assert_eq!(
        (&*missing.status, &*missing.message_id, missing.expected),
        ("not_found", "other", None)
    );
    assert_eq!(unread(), 1);
    shows!(ack("ack demo --agent dev --message-id m", 0).status => is "acked");
    shows!(ack("ack demo --agent dev --message-id m", 0).status => is "already_acked");
    assert_eq!(unread(), 0);
    let kinds: Vec<String> = parse_lines::<Event>(&cli.ok("replay demo --json --from-seq 3"))
        .into_iter()
        .map(|event| event.kind)
        .collect();
    names!(kinds => ack_rejected ack_rejected message_acked message_ack_duplicate);
}

#[test]
fn people_learn_whose_message_it_is() {
    let cli = Cli::with_team();
    cli.ok("send demo --from lead --to dev --type handoff --message-id m");
    let error = cli.refused(1, "ack demo --agent qa --message-id m");
    shows!(error =>
        is "error: agent must be dev, the recipient of m, but is \"qa\"\nhint: teamlog read demo --agent qa\n");
    let error = cli.refused(1, "ack demo --agent qa --message-id x");
    shows!(error =>
        is "error: no message \"x\" in team demo\nhint: teamlog read demo --agent qa\n");
}

#[test]
fn who_acts_stands_in_for_a_missing_sender_or_agent() {
    let cli = Cli::with_team();
    let sent: Sent = cli.json("send demo --actor lead --to dev --type handoff --message-id m");
    assert_eq!(sent.message.from, "lead");
    let by_variable = |line: &str| Ran::of(cli.command(line).env("TEAMLOG_AGENT", "dev"));
    let read: Read = parse(&by_variable("read demo --json").stdout);
    assert_eq!((read.agent, read.count), ("dev".to_owned(), 1));
    let ack: Ack = parse(&by_variable("ack demo --message-id m --json").stdout);
    assert_eq!((&*ack.status, &*ack.agent), ("acked", "dev"));
    let sent: Sent =
        parse(&by_variable("send demo --to qa --type handoff --json --actor qa").stdout);
    assert_eq!(sent.message.from, "qa", "the flag beats the variable");
    let error = cli.refused(2, "send demo --to dev --type handoff");
    shows!(error => has "pass --from NAME", has "TEAMLOG_AGENT");
}
