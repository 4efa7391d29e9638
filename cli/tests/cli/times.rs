//! Times in output are in UTC in every time zone. They end with `Z`, or with ` UTC` in the heading of a trace. Ages have no
//! zone.

use crate::harness::Cli;

/// Commands that create data with every kind of time.
const HISTORY: [&str; 15] = [
    "init other --members lead",
    "send demo --from lead --to dev --type handoff --message-id m-1",
    "task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix it' --trace-id tr-1",
    "task create demo --task-id 2 --subject 'Do it' --owner dev --resource src",
    "task claim demo 2 --worker dev --key k-1",
    "thread start demo --title Talk --participants dev",
    "thread post demo thread-0001 hello --agent lead",
    "bootstrap start demo",
    "mode start demo forge --session s-1",
    "usage demo --report --agent dev --tokens 5",
    "artifact put demo notes.txt --name a.txt",
    "append demo --kind note_taken --trace-id tr-1",
    "backup demo ../backups",
    "api orphan-cleanup --input '{\"team_name\":\"other\"}'",
    "tick demo",
];

/// Commands with output to check. The flag is true if the output contains times of day.
const SHOWN: [(&str, bool); 40] = [
    ("tail demo", true),
    ("replay demo", true),
    ("trace demo --trace-id tr-1", true),
    ("traces demo", false),
    ("status demo --stale-minutes 0", false),
    ("status other", true),
    ("tasks demo", false),
    ("task show demo 2 --history", true),
    ("task renew demo 2 --worker dev --epoch 1", true),
    ("ready demo", false),
    ("who demo", false),
    ("attention demo", false),
    ("teams", false),
    ("read demo --agent dev", false),
    ("wait demo --agent dev --since 1 --timeout 0", true),
    ("prime demo --agent dev", false),
    ("can-write demo src/a --agent qa", true),
    ("dead-letter list demo", false),
    ("deliveries demo", false),
    ("thread list demo", false),
    ("thread tail demo thread-0001", false),
    ("thread search demo Talk", false),
    ("find demo Talk", false),
    ("bootstrap list demo", true),
    ("bootstrap show demo", false),
    ("mode list demo", false),
    ("mode sessions demo", false),
    ("mode show demo forge --session s-1", true),
    ("usage demo", false),
    ("artifact list demo", false),
    ("backup demo ../backups", false),
    ("restore ../backups old --from demo", false),
    ("diff demo --from 1", true),
    ("doctor check demo", true),
    ("verify demo", false),
    ("rehydrate demo", false),
    ("head demo", false),
    ("config list demo", false),
    ("append demo --kind note_taken", true),
    ("nudge demo --dry-run", false),
];

/// Returns the text after each time of day such as `12:34:56`, without its fraction.
fn zones(shown: &str) -> Vec<&str> {
    let clock = |text: &str| {
        let two = |at: usize| {
            let digits = text.as_bytes().get(at..at + 2);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
        };
        let colon = |at: usize| text.as_bytes().get(at) == Some(&b':');
        two(0) && colon(2) && two(3) && colon(5) && two(6)
    };
    let times = shown.char_indices().filter(|(at, _)| clock(&shown[*at..]));
    times
        .map(|(at, _)| shown[at + 8..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit()))
        .collect()
}

#[test]
fn every_time_that_is_shown_says_that_it_is_utc() {
    let cli = Cli::with_team();
    cli.file("notes.txt", "kept");
    let run = |line: &str| {
        let mut command = cli.command(line);
        command.env("TZ", "Asia/Kolkata");
        let output = command.output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        let failed = String::from_utf8(output.stderr).unwrap();
        // Check only standard error, because a negative answer also sets the exit code.
        assert_eq!(failed, "", "{line}: {shown}");
        shown
    };
    for line in HISTORY {
        run(line);
    }
    for (line, has_times) in SHOWN {
        let shown = run(line);
        let zones = zones(&shown);
        assert_eq!(!zones.is_empty(), has_times, "{line}: {shown}");
        let said = |zone: &&str| zone.starts_with('Z') || zone.starts_with(" UTC");
        assert!(zones.iter().all(said), "{line}: {shown}");
    }
}
