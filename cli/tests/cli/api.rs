//! `api` as a process: its envelope, its grammar, the sources of its input, and the program's name `rcs`.

use crate::prelude::*;
use teamlog_team::api::OPERATIONS;

/// Checks the format of the timestamp in an output line, and masks the timestamp.
#[track_caller]
fn masked(line: &str) -> String {
    let before = r#"{"schema_version":"1.0","timestamp":""#;
    let rest = line.strip_prefix(before);
    let rest = rest.unwrap_or_else(|| panic!("no envelope: {line:?}"));
    let (time, rest) = rest.split_at(24);
    let form: String = time
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    assert_eq!(form, "0000-00-00T00:00:00.000Z", "{line}");
    format!("{before}TIME{rest}")
}

/// Runs a command. Checks its exit code, that standard output is one line, and that standard error is empty.
#[track_caller]
fn envelope(cli: &Cli, code: i32, line: &str) -> Value {
    let ran = cli.run(line);
    assert_eq!(
        (ran.code, &*ran.stderr),
        (Some(code), ""),
        "{line}: {ran:?}"
    );
    parse(&ran.stdout)
}

/// Runs a call that cannot be parsed, and checks its error. Returns the message of the error.
#[track_caller]
fn unread(cli: &Cli, line: &str) -> String {
    let answer = envelope(cli, 1, &format!("--json {line}"));
    assert_eq!(answer["ok"], false, "{line}: {answer}");
    assert_eq!(answer["operation"], "unknown", "{line}: {answer}");
    assert_eq!(answer["command"], "teamlog api", "{line}: {answer}");
    assert_eq!(answer["error"]["code"], "invalid_input", "{line}: {answer}");
    let message = answer["error"]["message"].as_str().unwrap().to_owned();
    // Without --json, the message goes to standard error.
    let ran = cli.run(line);
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{line}: {ran:?}");
    let first = message.lines().next().unwrap();
    assert!(
        ran.stderr.starts_with(&format!("Error: {first}")),
        "{line}: {ran:?}"
    );
    message
}

#[test]
fn envelopes_are_those_of_the_contract_to_the_byte() {
    let cli = Cli::with_team();
    for (code, line, golden) in [
        (
            0,
            "write-worker-inbox --input '{\"team_name\":\"demo\",\"worker\":\"dev\",\"content\":\"hi\"}'",
            r#"{"schema_version":"1.0","timestamp":"TIME","command":"teamlog api write-worker-inbox","ok":true,"operation":"write-worker-inbox","data":{"worker":"dev"}}"#,
        ),
        (
            0,
            "mailbox-list --input '{\"team_name\":\"demo\",\"worker\":\"dev\"}'",
            r#"{"schema_version":"1.0","timestamp":"TIME","command":"teamlog api mailbox-list","ok":true,"operation":"mailbox-list","data":{"worker":"dev","count":0,"messages":[]}}"#,
        ),
        (
            1,
            "read-task --input '{\"team_name\":\"demo\",\"task_id\":\"7\"}'",
            r#"{"schema_version":"1.0","timestamp":"TIME","command":"teamlog api read-task","ok":false,"operation":"read-task","error":{"code":"task_not_found","message":"no task \"7\" in this team","details":{"field":"task_id","hint":"to see all tasks: list-tasks","task_id":"7"}}}"#,
        ),
        (
            1,
            "list-tasks",
            r#"{"schema_version":"1.0","timestamp":"TIME","command":"teamlog api list-tasks","ok":false,"operation":"list-tasks","error":{"code":"invalid_input","message":"team_name is required; list-tasks needs team_name","details":{"field":"team_name","missing":["team_name"],"required":["team_name"]}}}"#,
        ),
        (
            1,
            "read-events --input '{\"team_name\":\"demo\",\"wakeable_only\":1}'",
            r#"{"schema_version":"1.0","timestamp":"TIME","command":"teamlog api read-events","ok":false,"operation":"read-events","error":{"code":"operation_failed","message":"wakeable_only must be a boolean when provided, but is 1","details":{"code":"invalid_input","field":"wakeable_only"}}}"#,
        ),
        (
            1,
            "read-task --input=[]",
            r#"{"schema_version":"1.0","timestamp":"TIME","command":"teamlog api","ok":false,"operation":"unknown","error":{"code":"invalid_input","message":"Invalid --input JSON: input must be a JSON object"}}"#,
        ),
    ] {
        let ran = cli.run(&format!("api {line} --json"));
        assert_eq!(
            (ran.code, &*ran.stderr),
            (Some(code), ""),
            "{line}: {ran:?}"
        );
        assert_eq!(masked(&ran.stdout), format!("{golden}\n"), "{line}");
        crate::schemas::check(&["api".to_owned()], &ran.stdout);
    }
}

#[test]
fn the_fault_of_a_call_is_an_envelope_that_names_no_operation() {
    let cli = Cli::with_team();
    for (line, part) in cases![
        ("api" => "Usage: teamlog api"),
        ("api nonsense" => "Supported operations: send-message, broadcast,"),
        ("api team-send-message" => "Usage: teamlog api"),
        ("api team_team_broadcast" => "Usage: teamlog api"),
        ("api read-task --input=" => "Invalid --input JSON:"),
        ("api read-task --input '{'" => "Invalid --input JSON:"),
        ("api read-task --input '{} {}'" => "Invalid --input JSON:"),
        ("api read-task --input '{\"a\":1,\"a\":2}'" => "Invalid --input JSON:"),
        ("api read-task --input '[1]'" => "Invalid --input JSON: input must be a JSON object"),
        ("api read-task --input null" => "Invalid --input JSON: input must be a JSON object"),
        ("api read-task --input 7" => "Invalid --input JSON: input must be a JSON object"),
        ("api read-task --input '\"x\"'" => "Invalid --input JSON: input must be a JSON object"),
        ("api read-task --input" => "Missing value after --input"),
        ("api read-task --input ''" => "Missing value after --input"),
        ("api read-task extra" => "Unknown argument for \"teamlog api\": extra"),
        ("api read-task --nonsense" => "Unknown argument for \"teamlog api\": --nonsense"),
        ("api read-task --worktree" => "Unknown argument for \"teamlog api\": --worktree"),
        ("api --list read-task" => "Unknown argument for \"teamlog api\": read-task"),
        ("api read-task --input @missing.json" => "missing.json"),
        ("api read-task --input @." => "--input"),
    ] {
        let message = unread(&cli, line);
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn nothing_that_a_call_names_breaks_a_line() {
    let cli = Cli::with_team();
    let ran = cli.run("api list-tasks '\u{1b}[31m\nforged'");
    assert_eq!(ran.code, Some(1));
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    let ran = cli.run("api list-tasks --input '{\"team_name\":\"\\u001b[31m\\nok operation=x\"}'");
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""));
    assert!(!ran.stderr.contains('\u{1b}'), "{ran:?}");
    assert!(
        ran.stderr.lines().all(|line| !line.starts_with("ok ")),
        "{ran:?}"
    );
    // The error stays short for a deep or long input.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for input in [
        deep,
        format!("{{\"team_name\":\"{}\"}}", "x".repeat(9 << 20)),
    ] {
        let ran = cli.run_with_input("api list-tasks --input - --json", &input);
        assert_eq!((ran.code, &*ran.stderr), (Some(1), ""));
        let answer: Value = parse(&ran.stdout);
        assert_eq!(answer["operation"], "unknown");
        assert!(ran.stdout.len() < 1_000, "{}", ran.stdout.len());
    }
}

#[test]
fn an_input_is_given_in_words_by_file_or_on_standard_input() {
    let cli = Cli::with_team();
    let text = r#"{"team_name":"demo","worker":"dev"}"#;
    let file = cli.file("input.json", text);
    let other = r#"{"team_name":"demo","worker":"qa"}"#;
    for line in [
        format!("api mailbox-list --json --input '{text}'"),
        format!("api mailbox-list --input='{text}' --json"),
        format!("--json api mailbox-list --input '{other}' --input '{text}'"),
        format!("api --json mailbox-list --input nonsense --input='{text}'"),
        "api mailbox-list --input @input.json --json".to_owned(),
        format!("api mailbox-list --input=@{} --json", file.display()),
        format!("api ' TEAM_MAILBOX_LIST ' --input '{text}' --json"),
        format!("api mailbox_list --input '{text}' --json"),
        format!("api Mailbox-List --input '{text}' --json"),
    ] {
        let answer = envelope(&cli, 0, &line);
        assert_eq!(answer["operation"], "mailbox-list", "{line}");
        assert_eq!(answer["data"]["worker"], "dev", "{line}");
    }
    for line in [
        "api mailbox-list --input - --json",
        "api mailbox-list --input=- --json",
    ] {
        let ran = cli.run_with_input(line, text);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(parse::<Value>(&ran.stdout)["data"]["worker"], "dev");
    }
    // A missing input counts as an empty input.
    let answer = envelope(&cli, 1, "api mailbox-list --json");
    assert_eq!(answer["error"]["code"], "invalid_input", "{answer}");
    assert_eq!(answer["operation"], "mailbox-list", "{answer}");
}

#[test]
fn people_read_a_line_and_the_data_or_a_line_on_standard_error() {
    let cli = Cli::with_team();
    let shown = cli.ok("api mailbox-list --input '{\"team_name\":\"demo\",\"worker\":\"dev\"}'");
    shows!(shown =>
        is "ok operation=mailbox-list\n{\n  \"worker\": \"dev\",\n  \"count\": 0,\n  \"messages\": []\n}\n");
    let ran = cli.run("api read-task --input '{\"team_name\":\"demo\",\"task_id\":7}'");
    assert_eq!((ran.code, &*ran.stdout), (Some(1), ""));
    shows!(ran.stderr => starts "error operation=read-task code=task_not_found: ");
}

#[test]
fn operations_tell_of_themselves() {
    let cli = Cli::new();
    let listing: Value = parse(&cli.ok("api --list --json"));
    let listed: Vec<&str> = listing["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| operation["name"].as_str().unwrap())
        .collect();
    let table: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    assert_eq!(listed, table);
    let help = cli.ok("api --help");
    assert_eq!(help, cli.ok("api help"));
    for operation in OPERATIONS {
        assert!(help.contains(&format!("  {} ", operation.name)), "{help}");
    }
    let claim = cli.ok("api claim-task --help");
    for line in [
        "api help claim-task",
        "api claim-task --input nonsense HELP",
        "api TEAM_CLAIM_TASK -h",
    ] {
        assert_eq!(cli.ok(line), claim, "{line}");
    }
    for part in [
        "Usage: teamlog api claim-task --input <json> [--json]",
        "Required input fields",
        "team_name",
        "task_id",
        "worker",
        "expected_version",
    ] {
        assert!(claim.contains(part), "{part}: {claim}");
    }
    let schemas: Value = parse(&cli.ok("api claim-task --schema --json"));
    has!(schemas, {"operation": "claim-task",
        "/input/required": ["team_name", "task_id", "worker"]});
    assert!(
        schemas["data"]["properties"]["claimToken"].is_object(),
        "{schemas}"
    );
    let people: Value = serde_json::from_str(&cli.ok("api claim-task --schema")).unwrap();
    assert_eq!(people, schemas);
}

/// A link to the program with the name `rcs`.
struct Link(PathBuf);

impl Link {
    fn new(cli: &Cli) -> Link {
        let path = cli.outside().join("rcs");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_teamlog"), &path).unwrap();
        Link(path)
    }

    fn run(&self, cli: &Cli, words: &[&str]) -> Ran {
        let mut command = Command::new(&self.0);
        command
            .args(words)
            .current_dir(cli.dir())
            .env_clear()
            .env("HOME", cli.dir())
            .stdin(std::process::Stdio::null());
        Ran::of(&mut command)
    }
}

#[test]
fn under_its_other_name_it_is_the_same_and_says_so() {
    let cli = Cli::with_team();
    let link = Link::new(&cli);
    let input = r#"{"team_name":"demo"}"#;
    for words in [
        &["team", "api", "list-tasks", "--input", input, "--json"][..],
        &[
            "team",
            "--worktree",
            "api",
            "list-tasks",
            "--json",
            "--input",
            input,
        ],
        &[
            "-wx",
            "team",
            "api",
            "team_list_tasks",
            "--input",
            input,
            "--json",
        ],
        &[
            "team",
            "api",
            "list-tasks",
            "--worktree=a",
            "--input",
            input,
            "--json",
        ],
    ] {
        let ran = link.run(&cli, words);
        assert_eq!(
            (ran.code, &*ran.stderr),
            (Some(0), ""),
            "{words:?}: {ran:?}"
        );
        let answer: Value = parse(&ran.stdout);
        assert_eq!(answer["command"], "rcs team api list-tasks", "{words:?}");
        has!(answer, {"data": {"count": 0, "tasks": []}}, "{words:?}");
    }
    let ran = link.run(&cli, &["team", "api", "nonsense", "--json"]);
    let answer: Value = parse(&ran.stdout);
    assert_eq!(ran.code, Some(1));
    assert_eq!(answer["command"], "rcs team api");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("Usage: rcs team api"), "{message}");
    let ran = link.run(&cli, &["team", "api", "read-task", "more", "--json"]);
    let answer: Value = parse(&ran.stdout);
    has!(answer, {"/error/message": "Unknown argument for \"rcs team api\": more"});
    let ran = link.run(&cli, &["team", "api", "read-task", "--help"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    shows!(ran.stdout => has "Usage: rcs team api read-task --input <json> [--json]");
    let ran = link.run(&cli, &["team", "api", "--help"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    shows!(ran.stdout => has "Supported operations: send-message");
}
