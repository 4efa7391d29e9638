//! Unusual forms of input, and output that line readers, trace viewers and terminals can use unchanged.

use crate::prelude::*;

#[test]
fn help_is_a_command() {
    let cli = Cli::new();
    for words in ["task", "task claim", "serve", ""] {
        assert_eq!(
            cli.ok(&format!("help {words}")),
            cli.ok(&format!("{words} --help")),
            "{words}"
        );
    }
    cli.refused(2, "help nosuch");
}

#[test]
fn an_unknown_option_is_not_taken_for_a_value() {
    let cli = Cli::with_team();
    let said = cli.refused(2, "task create demo --headline 'Fix it'");
    assert!(!said.contains("use '--"), "{said}");
    shows!(said => has "teamlog task create --help");
}

#[test]
fn a_word_that_is_none_of_those_an_option_takes_is_a_usage_error() {
    let cli = Cli::with_team();
    for (line, near) in [
        ("send demo --from lead --to dev --type handof", "handoff"),
        (
            "send demo --from lead --to dev --type handoff --priority hihg",
            "high",
        ),
        ("tasks demo --status pendign", "pending"),
        ("task create demo --subject S --priority lo", "low"),
        (
            "task-update demo --from dev --to lead --task-id T --status dnoe",
            "done",
        ),
        ("export demo --format evnts", "events"),
        ("schema nosuch", "schema"),
        ("man nosuch", "help"),
    ] {
        shows!(cli.refused(2, line) => has near);
    }
    cli.ok("tasks demo --status done");
}

#[test]
fn an_export_names_the_files_that_it_leaves_out() {
    let cli = Cli::with_team();
    assert_eq!(cli.run("export demo").stderr, "");
    cli.file("notes.md", "Notes");
    cli.ok("artifact put demo notes.md");
    let ran = cli.run("export demo");
    shows!(ran.stderr => has "1 artifact ", has "backup");
    cli.file("events.jsonl", &ran.stdout);
    let ran = cli.run("import copy --events events.jsonl");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    shows!(ran.stderr => has "1 artifact ", has "copy them");
    let answer = cli.run("import copy2 --events events.jsonl --json").stdout;
    has!(parse::<Value>(&answer), {"artifacts_without_files": 1});
}

#[test]
fn the_last_number_of_a_task_ends_no_counting() {
    let cli = Cli::with_team();
    cli.ok("task create demo --subject one");
    cli.ok("task create demo --subject odd --task-id 999999999999999");
    cli.ok("task create demo --subject taken --task-id 4");
    for expected in ["5", "6"] {
        let answer: Value = cli.json("task create demo --subject next");
        has!(answer, {"/task/id": expected});
    }
}

#[test]
fn an_integer_beyond_64_bits_is_refused_instead_of_rounded() {
    let cli = Cli::with_team();
    let big = "12345678901234567890123";
    let send = "send demo --from lead --to dev --type handoff";
    let line = format!("task create demo --subject S --extra-json '{{\"x\":[\"1\",-{big}]}}'");
    shows!(cli.refused(1, &line) => has big, has "as text");
    let input = format!(
        "{{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"D\",\"extra\":{{\"n\":{big}}}}}"
    );
    let ran = cli.run(&format!("api create-task --input '{input}' --json"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for number in [
        "18446744073709551615",
        "-9223372036854775808",
        "1e30",
        "\"12345678901234567890123\"",
    ] {
        cli.ok(&format!("{send} --payload-json '{{\"n\":{number}}}'"));
    }
    // Messages and appended events keep numbers as they were written.
    cli.ok(&format!("{send} --payload-json '{{\"n\":{big}}}'"));
    shows!(cli.ok("read demo --agent dev --json") => has &format!("{{\"n\":{big}}}"));
    cli.ok(&format!("append demo --kind note --data '{{\"n\":{big}}}'"));
    shows!(cli.ok("replay demo --kind note --json") => has big);
}

#[test]
fn one_line_of_json_is_one_line_for_every_reader() {
    let cli = Cli::with_team();
    let odd = "a\u{85}b\u{2028}c\u{2029}d";
    let payload = json!({"note": odd}).to_string();
    cli.file("payload.json", &payload);
    cli.ok("send demo --from lead --to dev --type handoff --payload-file payload.json");
    for line in [
        "read demo --agent dev --json",
        "export demo",
        "replay demo --json",
    ] {
        let text = cli.ok_of_any_shape(line);
        assert!(
            !text.contains(['\u{85}', '\u{2028}', '\u{2029}']),
            "{line}: {text}"
        );
        shows!(text => has "a\\u0085b\\u2028c\\u2029d");
    }
    cli.file("events.jsonl", &cli.ok_of_any_shape("export demo"));
    cli.ok("import copy --events events.jsonl");
    let read: Value = cli.json("read copy --agent dev");
    has!(read, {"/messages/0/payload/note": odd});
}

#[test]
fn a_byte_order_mark_before_an_input_is_skipped() {
    let cli = Cli::with_team();
    let marked = |name: &str, text: &str| {
        cli.file(name, &format!("\u{feff}{text}"));
    };
    marked("payload.json", "{\"body\":\"hi\"}");
    marked("batch.jsonl", "{\"kind\":\"note\",\"payload\":{}}\n");
    marked(
        "input.json",
        "{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"D\"}",
    );
    marked("events.jsonl", &cli.ok_of_any_shape("export demo"));
    marked(
        "messages.jsonl",
        "{\"from\":\"lead\",\"to\":\"dev\",\"type\":\"handoff\",\"id\":\"m-9\",\"created_at\":\"2026-01-01T00:00:00Z\",\"payload\":{}}\n",
    );
    marked("description.md", "Long");
    for line in [
        "send demo --from lead --to dev --type handoff --payload-file payload.json",
        "append demo --batch batch.jsonl",
        "api create-task --input @input.json --json",
        "import copy --events events.jsonl",
        "import chat --messages messages.jsonl",
    ] {
        let ran = cli.run(line);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
    }
    let answer: Value = cli.json("task create demo --subject S --description-file description.md");
    has!(answer, {"/task/description": "Long"});
}

#[test]
fn a_description_comes_from_a_file_or_standard_input() {
    let cli = Cli::with_team();
    let text = "First line\n\"quoted\" $second\n";
    cli.file("notes.md", text);
    let answer: Value = cli.json("task create demo --subject S --description-file notes.md");
    has!(answer, {"/task/description": text});
    let line = "task create demo --subject S --description-file - --json";
    let ran = cli.run_with_input(line, text);
    has!(parse::<Value>(&ran.stdout), {"/task/description": text});
    cli.refused(1, "task create demo --subject S --description-file nosuch");
    cli.refused(
        2,
        "task create demo --subject S --description-file notes.md --description x",
    );
}

#[test]
fn exported_traces_hold_no_token() {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject S --trace-id tr-1");
    let claim: Value = cli.json("task claim demo T-1 --worker dev --key k-1");
    let token = claim["claimToken"].as_str().unwrap();
    shows!(cli.ok_of_any_shape("trace demo --trace-id tr-1 --json") => has token);
    for format in ["chrome", "otlp-json"] {
        let trace = cli.ok_of_any_shape(&format!("trace demo --trace-id tr-1 --format {format}"));
        assert!(
            trace.contains("task_claimed") && !trace.contains(token),
            "{trace}"
        );
        serde_json::from_str::<Value>(&trace).unwrap();
    }
}

#[test]
fn one_segment_is_no_plural() {
    let cli = Cli::with_team();
    let shown = cli.ok("doctor check demo --deep");
    shows!(shown => has "1 event in 1 segment verified");
}
