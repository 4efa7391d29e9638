//! `trace`: one trace in pages, as JSON and as a timeline.

use crate::answers::{Append, Trace};
use crate::prelude::*;

fn story(cli: &Cli) {
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix the login' --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id done --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status done --message-id done --trace-id tr");
    cli.ok("task-update demo --from dev --to lead --task-id T-1 --status blocked --created-at 2020-01-01T00:00:00Z --trace-id tr");
    cli.ok("append demo --kind ci_run_finished --actor ci --trace-id tr --data '{\"result\":\"green\"}'");
    cli.ok("send demo --from lead --to qa --type handoff --trace-id other");
    cli.ok("ack demo --agent lead --message-id done");
}

#[test]
fn people_see_a_timeline() {
    let cli = Cli::with_team();
    story(&cli);
    let shown = cli.ok("trace demo --trace-id tr");
    let lines: Vec<&str> = shown.lines().collect();
    shows!(lines[0] => starts "tr in demo: 6 events over ");
    assert!(lines[2].ends_with(" UTC"), "{shown}");
    assert!(lines[3].trim_start().starts_with("+0s "), "{shown}");
    shows!(lines[3] => has "  #2  message_sent",
        has "lead assigned task T-1 to dev: Fix the login  [completed after ");
    assert!(
        lines[4].contains("on task T-1: done  [acked after "),
        "{shown}"
    );
    assert!(
        lines[5].contains("  └ dev sent message done again"),
        "{shown}"
    );
    assert!(lines[5].contains("[duplicate: changed nothing]"), "{shown}");
    shows!(lines[6] => has "[superseded: changed nothing]");
    shows!(lines[7] => has "ci recorded ci_run_finished: result green  [foreign]");
    // The cause of the ack is not on the line above, so the line of the ack names its cause.
    assert!(lines[8].contains("  └ lead acknowledged"), "{shown}");
    assert!(lines[8].ends_with("done  [from #3]"), "{shown}");
    assert_eq!(lines.len(), 9, "{shown}");
    assert!(
        lines.iter().all(|line| line.trim_end() == *line),
        "trailing blanks in {shown}"
    );
}

#[test]
fn a_cause_that_is_not_in_sight_is_said_in_words() {
    let cli = Cli::with_team();
    let append = |line: &str| {
        cli.json::<Append>(&format!("append demo --actor ci {line}"))
            .id
    };
    let loose = append("--kind x_loose");
    let other = append("--kind x_other --trace-id other");
    let older = append("--kind x_older --trace-id tr");
    let missing = "01a1fd8c-6900-7000-8752-6757130f9f52";
    for cause in [&*loose, &*other, &*older, missing] {
        append(&format!("--kind x_effect --trace-id tr --cause {cause}"));
    }
    let shown = cli.ok("trace demo --trace-id tr --limit 4");
    for said in [
        "[foreign, from #2, which has no trace]",
        "[foreign, from #3 of trace other]",
        "[foreign, from #4, on an older page]",
        &format!("[foreign, cause missing: the log holds no event {missing}]"),
    ] {
        assert!(shown.contains(said), "{said} in {shown}");
    }
    let page: Trace = cli.json("trace demo --trace-id tr --limit 4");
    let found: Vec<_> = page.causes_outside.iter().map(|cause| cause.seq).collect();
    assert_eq!(found.len(), 4);
    assert!(
        [Some(2), Some(3), Some(4), None]
            .iter()
            .all(|seq| found.contains(seq))
    );
    // The history of a task is not a trace, so causes in other places are only named.
    append(&format!("--kind x_effect --task-id T-1 --cause {loose}"));
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject S");
    let history = cli.ok("task show demo T-1 --history");
    shows!(history => has &format!("from {loose}, which is not shown here"));
}

#[test]
fn a_story_is_printed_in_the_format_that_is_asked_for() {
    let cli = Cli::with_team();
    story(&cli);
    let of = |line: &str| cli.ok(&format!("trace demo --trace-id tr {line}"));
    assert_eq!(of("--format json"), of("--json"));
    assert_eq!(of("--format json --json"), of("--json"));
    assert_eq!(of("--format text"), of(""));
    let chrome: Value = parse(&of("--format chrome"));
    assert_eq!(chrome["otherData"]["count"], 6);
    assert_eq!(of("--json --format chrome"), of("--format chrome"));
    let otlp: Value = parse(&of("--format otlp-json --limit 4"));
    let resource = &otlp["resourceSpans"][0]["resource"]["attributes"];
    let cursor = resource[2]["value"]["stringValue"].as_str().unwrap();
    assert_eq!(resource[2]["key"], "teamlog.next_cursor");
    let older: Value = parse(&of(&format!("--format chrome --limit 4 --cursor {cursor}")));
    has!(older, {"/otherData/count": 2, "/otherData/next_cursor": null});
    let contradiction = cli.refused_json(2, "trace demo --trace-id tr --format text");
    assert!(contradiction.message.contains("contradict"));
    shows!(cli.refused(2, "trace demo --trace-id tr --format svg") => has "otlp-json");
}

#[test]
fn a_chain_of_causes_stays_on_the_screen() {
    let cli = Cli::with_team();
    let mut cause = String::new();
    for _ in 0..20 {
        let line = format!("append demo --kind x_next --actor ci --trace-id tr {cause}");
        cause = format!("--cause {}", cli.json::<Append>(&line).id);
    }
    let shown = cli.ok("trace demo --trace-id tr");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest.unwrap() < 120, "{shown}");
    shows!(shown.lines().nth(14).unwrap() => lacks "from #");
    shows!(shown.lines().nth(22).unwrap() => ends "[foreign, from #20]");
}
