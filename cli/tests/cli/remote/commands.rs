//! Commands from another machine, compared with the commands on the machine of the daemon.

use super::*;

/// Commands that only read. Each runs with text output and with JSON output.
const QUESTIONS: &str = "\
status demo
status demo --at 4
status demo --digest
who demo
attention demo
tasks demo
tasks demo --owner nobody
tasks demo --status nonsense
task show demo T-1
task show demo T-99
task history demo T-1
ready demo
prime demo --agent dev
read demo --agent dev
read demo --agent nobody
wait demo --agent dev --timeout 0
wait demo --agent dev --since 1 --timeout 5
await demo --timeout-ms 0
deliveries demo
dead-letter list demo
thread list demo
thread tail demo thread-0001
thread search demo ship
find demo ship
mode list demo
mode show demo forge
mode explain demo blueprint
mode sessions demo
mode outcome demo --mode forge
state read --mode forge --team demo
state list-active --team demo
state get-status --team demo
bootstrap list demo
bootstrap show demo
bootstrap evidence demo
bootstrap explain demo --event core_ready_ack
usage demo
artifact list demo
artifact get demo notes.md
artifact get demo nothing.md
token list demo
config list demo
config get demo delivery.default.max_retries
config get demo no.such
traces demo
trace demo --trace-id tr-1
trace demo --trace-id tr-1 --format json
trace demo --trace-id tr-1 --format chrome
trace demo --trace-id tr-1 --format otlp-json
diff demo --from 1
diff demo --from 1 --to 3
diff demo --from 9999
can-write demo --agent dev src/io/lib.rs
can-write demo --agent dev README.md
views sync demo
verify demo
head demo
replay demo
replay demo --reverse --limit 3
replay demo --kind message_sent --since 1h
tail demo
tail demo --lines 2
export demo
export demo --format audit
api read-task --input '{\"team_name\":\"demo\",\"task_id\":\"T-1\"}'
api list-tasks --input '{\"team_name\":\"demo\"}'
";

/// Commands that `dev` runs on the other machine.
const STORY: &str = "\
task create demo --subject 'Ship it' --task-id T-1 --resource src/io --trace-id tr-1
task create demo --subject 'Write it' --task-id T-2
task claim demo T-1
send demo --to lead --type handoff --payload-json '{\"a\":1}'
thread start demo --title 'How to ship' --participants dev,qa
mode start demo forge --task 'fix every warning'
bootstrap list demo
artifact put demo notes --name notes.md
usage demo --report --input-tokens 7
append demo --kind build_finished
tick demo
task-update demo --from dev --to lead --task-id T-2 --status in_progress
";

/// Returns the JSON without the claim tokens of `dev`, which `qa` must not see.
fn without_claim_tokens(json: &str) -> String {
    let names = ["\"token\":\"", "\"token\": \"", "\"claimToken\":\""];
    names
        .iter()
        .fold(json.to_owned(), |json, name| without_member(&json, name))
}

fn without_member(json: &str, name: &str) -> String {
    let mut parts = json.split(name);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('"').unwrap_or_default();
        // Remove the comma after the removed member, or the comma before it if it was the last
        // member.
        let last = !rest.starts_with(',');
        text.truncate(text.len() - usize::from(last));
        text.push_str(rest.strip_prefix(',').map_or(rest, str::trim_start));
    }
    text
}

#[test]
fn what_is_asked_elsewhere_is_answered_as_on_the_machine_of_the_daemon() {
    let machine = Machine::new();
    machine.elsewhere.file("notes", "what was found");
    for line in STORY.lines() {
        machine.ok("dev", line);
    }
    let mut wrong = Vec::new();
    for line in QUESTIONS.lines() {
        for line in [line.to_owned(), format!("{line} --json")] {
            let answers = || {
                let mut here = machine.cli.command(&line);
                let here = Ran::of(here.env("TEAMLOG_AGENT", "qa"));
                (here, machine.run("qa", &line))
            };
            let same = |(here, there): &(Ran, Ran)| {
                let there_out = there.stdout.replace(",\"redacted\":true", "");
                let here_out = without_claim_tokens(&here.stdout);
                let here_out = here_out.replace(",\"redacted\":true", "");
                // A diff shortens a long claim. A claim without its token is short enough to be
                // printed in full.
                let here_out = here_out.replace("\"owner\":\"dev\",…", "\"owner\":\"dev\"}");
                (here.code, timeless(&here_out), timeless(&here.stderr))
                    == (there.code, timeless(&there_out), timeless(&there.stderr))
            };
            // An age such as "5s ago" may change between the two calls.
            let mut answered = answers();
            for _ in 0..3 {
                if same(&answered) {
                    break;
                }
                answered = answers();
            }
            if !same(&answered) {
                wrong.push((line, answered));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_an_agent_records_from_elsewhere_is_its_own() {
    let machine = Machine::new();
    machine.elsewhere.file("notes", "what was found");
    let before = machine.events().len();
    for line in STORY.lines() {
        machine.ok("dev", line);
    }
    let events = machine.events().split_off(before);
    assert!(events.len() > 10, "{events:?}");
    for event in &events {
        assert_eq!(event["actor"], "dev", "{event}");
    }
    let keys = events.iter().filter(|event| event["key"].is_string());
    assert!(keys.count() > 4, "{events:#?}");
    // A token is valid only for its own agent.
    let count = machine.events().len();
    for line in [
        "send demo --from lead --to qa --type handoff",
        "--actor lead task create demo --subject x",
        "task claim demo T-2 --worker lead",
        "append demo --kind k_1 --actor lead",
        "ack demo --agent lead --message-id m",
        "api create-task --input '{\"team_name\":\"demo\",\"subject\":\"S\",\"description\":\"D\",\"actor\":\"lead\"}'",
    ] {
        let ran = machine.run("dev", line);
        assert_eq!(ran.code, Some(1), "{line}: {ran:?}");
    }
    assert_eq!(machine.events().len(), count);
    assert!(!machine.elsewhere.dir().join("teams").exists());
}

#[test]
fn a_file_of_messages_is_imported_from_elsewhere_as_on_the_machine_of_the_daemon() {
    let machine = Machine::new();
    let message = |number: usize, from: &str| {
        format!(
            "{{\"id\":\"old-{number}\",\"type\":\"handoff\",\"from\":\"{from}\",\"to\":\"dev\",\
             \"created_at\":\"2024-01-01T00:00:00Z\",\"payload\":{{\"text\":\"{}\"}}}}\n",
            "x".repeat(900)
        )
    };
    let mut text: String = (0..1_000).map(|number| message(number, "qa")).collect();
    text.push_str("no message\n");
    let alone = machine.cli.copy();
    for cli in [&machine.elsewhere, &alone] {
        cli.file("messages.jsonl", &text);
    }
    let line = "import demo --messages messages.jsonl --restamp";
    let there = machine.run("lead", line);
    let here = alone.run(line);
    let plain = |text: &str| text.split(" in ").next().unwrap().to_owned();
    assert_eq!(
        (there.code, plain(&there.stdout)),
        (here.code, plain(&here.stdout)),
        "{there:?}"
    );
    assert_eq!(there.code, Some(0), "{there:?}");
    assert_eq!(there.stderr, here.stderr);
    let sent = |events: Vec<Value>| {
        let sent = events
            .iter()
            .filter(|event| event["kind"] == "message_sent");
        sent.count()
    };
    assert_eq!(sent(machine.events()), 1_000);
    let again = machine.run("lead", &format!("{line} --json"));
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["duplicates"], 1_000);
    let strict = machine.run("lead", &format!("{line} --strict"));
    assert_eq!(strict.code, Some(1), "{strict:?}");
    let dev = machine.refused("dev", line);
    assert_eq!(dev, (Some(77), "forbidden".to_owned()));
    let missing = machine.refused("lead", "import demo --messages none.jsonl");
    assert_eq!(missing, (Some(1), "invalid_input".to_owned()));
    let left: Vec<_> = std::fs::read_dir(machine.cli.dir())
        .unwrap()
        .flatten()
        .collect();
    assert!(
        left.iter()
            .all(|entry| !entry.file_name().to_string_lossy().starts_with(".import"))
    );
}

#[test]
fn what_names_the_daemon_or_the_token_must_be_right() {
    let machine = Machine::new();
    let with = |set: &[(&str, &str)]| {
        let mut command = machine.command("dev", "status demo --json");
        command.envs(set.iter().copied());
        refused(Ran::of(&mut command))
    };
    let invalid = (Some(1), "invalid_input".to_owned());
    for url in [
        "http://localhost:1",
        "localhost:1",
        "https://",
        "https://ada:secret@localhost:1",
        "https://localhost:x",
    ] {
        assert_eq!(with(&[("TEAMLOG_REMOTE", url)]), invalid, "{url}");
    }
    let outside = machine.elsewhere.outside();
    let (nothing, open) = (outside.join("nothing"), outside.join("open.token"));
    std::fs::write(&open, std::fs::read(machine.token("dev")).unwrap()).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o640)).unwrap();
    private(&outside.join("no.token"), "secret");
    let path = |name: &str| outside.join(name).display().to_string();
    assert_eq!(
        with(&[("TEAMLOG_TOKEN_FILE", &nothing.display().to_string())]),
        invalid
    );
    assert_eq!(with(&[("TEAMLOG_TOKEN_FILE", "")]), invalid);
    assert_eq!(with(&[("TEAMLOG_TOKEN_FILE", &path("no.token"))]), invalid);
    assert_eq!(
        with(&[("TEAMLOG_TOKEN_FILE", &path("open.token"))]),
        (Some(1), "key_exposed".to_owned())
    );
    assert_eq!(with(&[("TEAMLOG_REMOTE_CA", &path("no.token"))]), invalid);
    let unreachable = (Some(69), "daemon_unreachable".to_owned());
    assert_eq!(
        with(&[("TEAMLOG_REMOTE", "https://localhost:1")]),
        unreachable
    );
    // A certificate that the daemon does not use, and a host name that the certificate does not cover.
    private(&outside.join("other.pem"), OTHER);
    assert_eq!(
        with(&[("TEAMLOG_REMOTE_CA", &path("other.pem"))]),
        unreachable
    );
    let other_name = format!("https://127.0.0.2:{}", machine.port);
    assert_eq!(with(&[("TEAMLOG_REMOTE", &other_name)]), unreachable);
    // The daemon's certificate is accepted as trusted certificate instead of its CA.
    private(&outside.join("server.pem"), SERVER);
    assert_eq!(
        with(&[("TEAMLOG_REMOTE_CA", &path("server.pem"))]),
        (Some(0), String::new())
    );
    // `--data-root` takes precedence over the daemon on the other machine.
    let line = format!("--data-root {} status demo", machine.cli.dir().display());
    assert_eq!(machine.run("dev", &line).code, Some(0));
}

#[test]
fn the_daemon_says_what_is_wrong_with_where_and_how_it_is_to_listen() {
    let machine = Machine::unserved();
    let dir = machine.cli.outside().display().to_string();
    for (words, said) in [
        ("--listen 0.0.0.0:0".to_owned(), "invalid_input"),
        (
            format!("--listen 0.0.0.0:0 --tls-cert {dir}/server.pem"),
            "usage",
        ),
        (
            format!("--tls-cert {dir}/none.pem --tls-key {dir}/server.key"),
            "invalid_input",
        ),
        (
            format!("--tls-cert {dir}/server.key --tls-key {dir}/server.key"),
            "invalid_input",
        ),
        (
            format!("--tls-cert {dir}/server.pem --tls-key {dir}/server.pem"),
            "invalid_input",
        ),
        ("--listen nowhere".to_owned(), "usage"),
    ] {
        let ran = machine.cli.run(&format!("serve {words} --json"));
        let (code, error) = refused(ran);
        assert_ne!(code, Some(0), "{words}");
        assert_eq!(error, said, "{words}");
    }
    let key = machine.cli.outside().join("server.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    let ran = machine
        .cli
        .run(&format!("serve {} --json", machine.words("127.0.0.1:0")));
    assert_eq!(refused(ran), (Some(1), "key_exposed".to_owned()));
}

#[test]
fn bytes_that_look_like_another_answer_come_through_as_they_are() {
    let machine = Machine::new();
    let text = "HTTP/1.1 400 ".repeat(60_000);
    machine.elsewhere.file("odd", &text);
    machine.ok("dev", "artifact put demo odd --name odd");
    assert_eq!(machine.ok("qa", "artifact get demo odd"), text);
    let line = format!(
        "{{\"kind\":\"k_1\",\"payload\":{{\"text\":\"{}\"}}}}\n",
        "HTTP/1.1 431 ".repeat(4_000)
    );
    machine.elsewhere.file("facts.jsonl", &line.repeat(6));
    machine.ok("dev", "append demo --batch facts.jsonl");
    let here = machine.cli.run("export demo");
    let there = machine.run("qa", "export demo");
    assert_eq!((there.stdout, &there.stderr), (here.stdout, &here.stderr));
    shows!(there.stderr => has "1 artifact ");
}

#[test]
fn tags_and_conditions_hold_over_the_line() {
    let machine = Machine::new();
    let take = "append demo --kind taken --tag name=anna --if-none 'kind=taken tag=name=anna'";
    machine.ok("dev", take);
    let conflict = (Some(1), "append_conflict".to_owned());
    assert_eq!(machine.refused("dev", take), conflict);
    machine.elsewhere.file(
        "facts.jsonl",
        "{\"kind\":\"paid\",\"tags\":[\"name=bob\"]}\n",
    );
    let batch = "append demo --batch facts.jsonl --if-none tag=name=bob";
    machine.ok("dev", batch);
    assert_eq!(machine.refused("dev", batch), conflict);
    let shown = machine.ok("qa", "replay demo --tag name=anna --json");
    shows!(shown => has "\"tags\":[\"name=anna\"]", lacks "paid");
}

/// Returns the text without the time of the answer.
fn timeless(text: &str) -> String {
    let mut text = text.to_owned();
    for marker in ["\"timestamp\":\"", "\"now\":\"", "\"time\":\""] {
        let parts: Vec<&str> = text.split(marker).collect();
        let rest = parts
            .iter()
            .skip(1)
            .map(|part| part.split_once('"').unwrap().1);
        text = [parts[0]].into_iter().chain(rest).collect();
    }
    let parts: Vec<&str> = text.split("_ms\":").collect();
    let rest = parts
        .iter()
        .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.collect()
}
