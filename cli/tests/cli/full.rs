//! Reads never need to write. Every command, operation, tool and endpoint that only reads answers
//! on a full disk, on a read-only disk, and under a file size limit of zero, even if the log has a
//! torn tail. The list of readers comes from the program's own tables, so a new reader is tested
//! automatically.
//!
//! Disks of a fixed size are mounted in a separate mount namespace. If this is not permitted, these tests print a note
//! and pass, and only the tests with a file size limit run.

mod served;

use crate::mcp::Client;
use crate::prelude::*;
use crate::reference::{
    SERVING, WRITING_ELSEWHERE, commands, examples, help, needs_more, prepared,
};
use crate::schemas;
use serde_json::Map;
use std::io::Write;
use teamlog_team::api::{OPERATIONS, Operation};
use teamlog_team::projections::agent_token::event::AgentScope;

/// The file system of the teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    /// A file system of 4 MiB without free space.
    Full,
    /// A read-only file system.
    ReadOnly,
    /// Any file system, under a file size limit of zero (`ulimit -f 0`).
    Limited,
    /// A file system of 4 MiB with free space.
    Small,
}

/// Script that mounts a disk for the teams and then runs its arguments.
const MOUNT: &str = "\
mount -t tmpfs -o size=4m,mode=700 tmpfs \"$DISK\"
cp -a \"$HOME/teams/.\" \"$DISK\"
mount --bind \"$DISK\" \"$HOME/teams\"
";

impl Medium {
    /// Returns a command that runs its arguments with the teams of a world on this medium.
    fn on(self, cli: &Cli) -> Command {
        let script = match self {
            Medium::Limited => "ulimit -f 0\nexec \"$@\"".to_owned(),
            Medium::Small => format!("{MOUNT}exec \"$@\""),
            Medium::ReadOnly => {
                format!("{MOUNT}mount -o remount,ro,bind \"$HOME/teams\"\nexec \"$@\"")
            }
            Medium::Full => {
                format!(
                    "{MOUNT}cat /dev/zero > \"$HOME/teams/.filler\" 2> /dev/null || true\nexec \"$@\""
                )
            }
        };
        let disk = cli.outside().join("disk");
        std::fs::create_dir_all(&disk).unwrap();
        let mut command = match self {
            Medium::Limited => Command::new("sh"),
            _ => {
                let mut command = Command::new("unshare");
                command.args(["-m", "sh"]);
                command
            }
        };
        command
            .args(["-e", "-c", &script, "sh"])
            .current_dir(cli.dir())
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", cli.dir())
            .env("TMPDIR", cli.dir())
            .env("DISK", disk)
            .stdin(Stdio::null());
        command
    }

    /// Runs teamlog with these arguments.
    fn run(self, cli: &Cli, words: &[&str]) -> Ran {
        Ran::of(self.on(cli).arg(env!("CARGO_BIN_EXE_teamlog")).args(words))
    }

    /// Returns true if this machine supports the medium.
    fn is_there(self) -> bool {
        let cli = Cli::new();
        std::fs::create_dir(cli.dir().join("teams")).unwrap();
        let tried = self.on(&cli).arg("true").output();
        let there = tried.is_ok_and(|tried| tried.status.success());
        if !there {
            eprintln!("skipped: nothing can be mounted here, so there is no {self:?} disk");
        }
        there
    }
}

/// Appends an incomplete event, as a crash during a write would.
fn torn(cli: &Cli) {
    let mut segment = std::fs::OpenOptions::new()
        .append(true)
        .open(cli.segment("demo"))
        .unwrap();
    segment.write_all(b"{\"seq\":99,\"id\":\"torn").unwrap();
}

/// Appends an incomplete event, and removes files that writers create again: derived store, views
/// and lock file.
fn bare(cli: &Cli) {
    torn(cli);
    let team = cli.dir().join("teams/demo");
    for dir in ["derived", "inboxes", "tasks", "threads"] {
        let _ = std::fs::remove_dir_all(team.join(dir));
    }
    for file in ["lock", "derived.lock", "views", "team.json"] {
        let _ = std::fs::remove_file(team.join(file));
    }
}

/// Runs documented examples of every reading command, at most `per_command` of each, and checks exit code and notes. Returns
/// the commands that printed a note about the torn tail.
fn every_reading_command(medium: Medium, harm: fn(&Cli), per_command: usize) -> BTreeSet<String> {
    let cli = Cli::new();
    let first = prepared();
    harm(&first);
    let bin = cli.dir().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let (faults, noting, runs) = (&mut Vec::new(), &mut BTreeSet::new(), &mut 0);
    // `setup` can also record the guard's settings, so leave out `setup`.
    let reads = |command: &str| {
        !schemas::records(command) && !SERVING.contains(&command) && command != "setup"
    };
    for page in commands(&cli)
        .iter()
        .filter(|page| !page.group && reads(&page.command))
    {
        if medium == Medium::Limited && WRITING_ELSEWHERE.contains(&&*page.command) {
            continue;
        }
        let of_page = examples(&help(&cli, &page.command));
        // Leave out examples that only prepare the command of this page.
        let of_command = of_page.into_iter().filter(|example| {
            !needs_more(example) && example.contains(&format!("teamlog {}", page.command))
        });
        for example in of_command.take(per_command) {
            *runs += 1;
            // Changes on a mounted disk vanish with the disk. An example that can change other
            // files runs in a copy of the world.
            let stays = medium == Medium::Limited || WRITING_ELSEWHERE.contains(&&*page.command);
            let own = stays.then(|| first.copy());
            let ran = run_example(medium, own.as_ref().unwrap_or(&first), &example);
            let is_note = |line: &str| line.starts_with("note: ") || line.starts_with("{\"note\":");
            // `doctor check` may report a full disk.
            let codes: &[i32] = match &*page.command {
                "doctor check" => &[0, 2],
                _ => &[0],
            };
            if !ran.code.is_some_and(|code| codes.contains(&code))
                || !ran.stderr.lines().all(is_note)
            {
                faults.push(format!("{example}: {ran:?}"));
            }
            if ran.stderr.contains("after the durable head") {
                noting.insert(page.command.clone());
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(*runs > 30, "{runs}");
    std::mem::take(noting)
}

/// Runs an example in a shell. A command that follows the log is stopped after one second. Pipes and files that the example
/// names have no size limit.
fn run_example(medium: Medium, world: &Cli, example: &str) -> Ran {
    let bin = world.outside().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let limit = match medium {
        Medium::Limited => "ulimit -f 0;",
        _ => "",
    };
    let script = format!(
        "#!/bin/sh\n\
         case \" $* \" in *\" -f \"*|*\" --follow \"*) set -- timeout 1 \"{real}\" \"$@\";; *) set -- \"{real}\" \"$@\";; esac\n\
         code=$( {{ {{ ({limit} \"$@\" 3>&-; echo $? >&3) | cat >&4; }} 3>&1; }} ) 4>&1\n\
         [ \"$code\" -ne 124 ] || code=0\n\
         exit \"$code\"\n",
        real = env!("CARGO_BIN_EXE_teamlog"),
    );
    let written = bin.join("script");
    std::fs::write(&written, script).unwrap();
    // Another process copies the script, because a file that this process has open for writing cannot be executed.
    let mut install = Command::new("install");
    let installed = install
        .args(["-m", "755"])
        .arg(&written)
        .arg(bin.join("teamlog"))
        .status();
    assert!(installed.unwrap().success());
    let mut command = match medium {
        // This medium needs no mount, so every machine supports it.
        Medium::Limited => {
            let mut command = Command::new("sh");
            command
                .current_dir(world.dir())
                .env_clear()
                .env("HOME", world.dir());
            command.env("TMPDIR", world.dir()).stdin(Stdio::null());
            command
        }
        _ => {
            let mut command = medium.on(world);
            command.arg("sh");
            command
        }
    };
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    Ran::of(command.env("PATH", path).args(["-e", "-c", example]))
}

/// Checks that the commands that need the log printed a note about the part of the log that they cannot read.
#[track_caller]
fn say_what_they_do_not_see(noting: &BTreeSet<String>) {
    for command in [
        "can-write",
        "config list",
        "head",
        "mode list",
        "prime",
        "read",
        "ready",
        "replay",
        "status",
        "tail",
        "task show",
        "tasks",
        "trace",
        "wait",
    ] {
        assert!(noting.contains(command), "{command}: {noting:?}");
    }
}

#[test]
fn every_reading_command_answers_on_a_full_disk_behind_a_torn_tail() {
    if Medium::Full.is_there() {
        say_what_they_do_not_see(&every_reading_command(Medium::Full, torn, usize::MAX));
    }
}

#[test]
fn every_reading_command_answers_on_a_full_disk_without_anything_that_saves_time() {
    if Medium::Full.is_there() {
        say_what_they_do_not_see(&every_reading_command(Medium::Full, bare, 1));
    }
}

#[test]
fn every_reading_command_answers_on_a_disk_that_may_only_be_read() {
    if Medium::ReadOnly.is_there() {
        say_what_they_do_not_see(&every_reading_command(Medium::ReadOnly, bare, 1));
    }
}

#[test]
fn every_reading_command_answers_where_no_file_may_grow() {
    let noting = every_reading_command(Medium::Limited, bare, 1);
    assert!(
        ["status", "tasks"]
            .iter()
            .all(|name| noting.contains(*name))
    );
}

/// Returns a sample value for a required field: by its name if it needs a particular value, else by its type.
fn sample(name: &str, schema: &Value) -> Value {
    match name {
        "team_name" | "team" | "teamId" => json!("demo"),
        "task_id" | "taskId" => json!("T-1"),
        "run" | "from" => json!("1"),
        "worker" | "agent" | "agentId" | "agent_id" | "from_worker" | "actor" => json!("dev"),
        "thread_id" | "threadId" => json!("thread-0001"),
        "trace_id" | "traceId" => json!("tr-1"),
        "message_id" => json!("m-1"),
        "mode" => json!("ultrawork"),
        "paths" => json!(["src/a.rs"]),
        "path" => json!("src/a.rs"),
        "q" | "query" | "text" => json!("login"),
        "name" | "artifact" => json!("fix.patch"),
        _ => match schema["type"].as_str() {
            Some("integer" | "number") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("x"),
        },
    }
}

/// Returns a sample for each required field of a schema.
fn filled(schema: &Value) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .map(|name| (name.to_owned(), sample(name, &schema["properties"][name])))
        .collect()
}

/// Returns the outcome of an envelope: `ok`, or its error codes.
fn ended(ran: &Ran) -> String {
    let envelope: Value = serde_json::from_str(ran.stdout.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    match envelope["ok"] == true {
        true => "ok".to_owned(),
        false => {
            envelope["error"]["code"].to_string()
                + envelope["error"]["details"]["code"].to_string().as_str()
        }
    }
}

fn every_reading_operation(medium: Medium) {
    let first = prepared();
    bare(&first);
    let ordinary = first.copy();
    let mut well = 0;
    // An operation with the scope `act` writes files of a subscription.
    let reads = |operation: &&Operation| !operation.mutates() && operation.scope != AgentScope::Act;
    for operation in OPERATIONS.iter().filter(reads) {
        let mut input = filled(operation.input_schema().as_value());
        input.insert("team_name".to_owned(), json!("demo"));
        // Limit the wait of operations that wait for an event, because no event comes.
        if operation.input_schema().as_value()["properties"]
            .get("timeout_ms")
            .is_some()
        {
            input.insert("timeout_ms".to_owned(), json!(1));
        }
        let input = Value::Object(input).to_string();
        let words = ["api", operation.name, "--input", &input, "--json"];
        let there = medium.run(&first.copy(), &words);
        let usual = Ran::of(ordinary.command("").args(words));
        assert_eq!(
            ended(&there),
            ended(&usual),
            "{}: {there:?}",
            operation.name
        );
        well += usize::from(ended(&usual) == "ok");
    }
    assert!(well >= 15, "only {well} were asked well");
}

#[test]
fn every_reading_operation_answers_on_a_full_disk_as_on_any() {
    if Medium::Full.is_there() {
        every_reading_operation(Medium::Full);
    }
}

#[test]
fn every_reading_operation_answers_where_no_file_may_grow() {
    every_reading_operation(Medium::Limited);
}

#[test]
fn every_reading_tool_answers_where_no_file_may_grow() {
    let first = prepared();
    bare(&first);
    let (mut client, _) = Client::initialized(&first, "mcp");
    let tools = client.tools();
    client.end();
    let ordinary = first.copy();
    let mut asked = 0;
    for tool in tools {
        if tool["annotations"]["readOnlyHint"] != true {
            continue;
        }
        asked += 1;
        let name = tool["name"].as_str().unwrap();
        let mut arguments = filled(&tool["inputSchema"]);
        arguments.entry("team").or_insert(json!("demo"));
        let world = first.copy();
        let mut limited = Medium::Limited.on(&world);
        limited.arg(env!("CARGO_BIN_EXE_teamlog")).arg("mcp");
        let mut here = Client::initialized_of(limited);
        let mut usual = Client::initialized(&ordinary, "mcp").0;
        let (there, failed) = here.call(name, Value::Object(arguments.clone()));
        let (_, fails) = usual.call(name, Value::Object(arguments));
        assert_eq!(failed, fails, "{name}: {there}");
        assert!(
            !there.contains("no_space") && !there.contains("\"io\""),
            "{name}: {there}"
        );
    }
    assert!(asked >= 5, "{asked}");
}

#[test]
fn usage_and_rm_are_possible_on_a_full_disk() {
    if !Medium::Full.is_there() {
        return;
    }
    let cli = prepared();
    torn(&cli);
    let shown = Medium::Full.run(&cli.copy(), &["usage", "demo", "--json"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    let call = r#"{"tool_name":"Bash","tool_input":{"command":"rm -rf src/target"}}"#;
    for agent in ["dev", "qa"] {
        let guard = |mut command: Command| {
            let words = ["guard", "demo", "--agent", agent, "--root", "."];
            let mut child = command.args(words).stdin(Stdio::piped());
            child = child.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = child.spawn().unwrap();
            child
                .stdin
                .take()
                .unwrap()
                .write_all(call.as_bytes())
                .unwrap();
            Ran::from_output(child.wait_with_output().unwrap())
        };
        let usual = guard(cli.copy().command(""));
        let world = cli.copy();
        let mut full = Medium::Full.on(&world);
        full.arg(env!("CARGO_BIN_EXE_teamlog"));
        let there = guard(full);
        // Only `dev`, who holds `src`, may write.
        assert_eq!(
            usual.code,
            Some(if agent == "dev" { 0 } else { 2 }),
            "{usual:?}"
        );
        assert_eq!(
            (there.code, &there.stdout),
            (usual.code, &usual.stdout),
            "{there:?}"
        );
    }
}

#[test]
fn a_writer_on_a_full_disk_cuts_nothing_and_says_what_is_wrong() {
    if !Medium::Full.is_there() {
        return;
    }
    let cli = prepared();
    torn(&cli);
    let script = "\
        before=$(wc -c < \"$SEGMENT\")\n\
        set +e; \"$TEAMLOG\" send demo --from lead --to dev --type handoff --json; code=$?; set -e\n\
        [ $code = 74 ] || { echo \"exit $code\"; exit 1; }\n\
        [ \"$(wc -c < \"$SEGMENT\")\" = \"$before\" ] || { echo cut; exit 1; }\n\
        rm \"$HOME/teams/.filler\"\n\
        \"$TEAMLOG\" send demo --from lead --to dev --type handoff\n\
        \"$TEAMLOG\" verify demo\n";
    let ran = Ran::of(
        Medium::Full
            .on(&cli)
            .env("SEGMENT", cli.segment("demo"))
            .env("TEAMLOG", env!("CARGO_BIN_EXE_teamlog"))
            .args(["sh", "-e", "-c", script]),
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut lines = ran.stderr.lines();
    let error: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "no_space", "{ran:?}");
    shows!(error["error"]["hint"].as_str().unwrap() => has "make room");
    assert!(lines.next().unwrap().contains("moved "), "{ran:?}");
}

#[test]
fn a_write_past_the_limit_for_files_is_an_error_and_kills_nothing() {
    let cli = Cli::with_team();
    let ran = Medium::Limited.run(
        &cli,
        &["append", "demo", "--kind", "build_finished", "--json"],
    );
    assert_eq!(ran.code, Some(74), "{ran:?}");
    let error: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "no_space", "{ran:?}");
    cli.ok("append demo --kind build_finished");
}

#[test]
fn a_batch_that_fails_in_the_middle_says_what_is_recorded() {
    let cli = Cli::with_team();
    let line = format!(
        "{{\"kind\":\"seen\",\"payload\":{{\"text\":\"{}\"}}}}\n",
        "x".repeat(10_000)
    );
    cli.file("facts", &line.repeat(60));
    let mut limited = cli.command("");
    limited = {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "ulimit -f 400; exec \"$0\" \"$@\""])
            .arg(limited.get_program())
            .args([
                "append",
                "demo",
                "--batch",
                "facts",
                "--batch-size",
                "1",
                "--json",
            ])
            .current_dir(cli.dir());
        shell
    };
    let ran = Ran::of(&mut limited);
    assert_eq!((ran.code, &*ran.stdout), (Some(74), ""), "{ran:?}");
    let line: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    let error = &line["error"];
    assert_eq!(error["code"], "no_space", "{ran:?}");
    let appended = error["details"]["appended"].as_u64().unwrap();
    // The bytes of the failed group are moved aside, and a note reports this.
    let replayed = cli.run("replay demo --json --kind seen");
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    let found = replayed.stdout.lines().count();
    assert!(appended > 0 && appended == found as u64, "{found}: {ran:?}");
    assert_eq!(error["details"]["last_seq"], appended + 1);
    assert_eq!(error["details"]["first_line"], appended + 1);
    let told = format!(
        "; {appended} recorded before, up to event {}, which is all before line {}",
        appended + 1,
        appended + 1
    );
    assert!(
        error["message"].as_str().unwrap().ends_with(&told),
        "{ran:?}"
    );
}
