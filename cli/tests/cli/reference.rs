//! The reference of commands: every command has examples that run and a schema that matches its answers, and the generated
//! documents are current.
//!
//! `TEAMLOG_BLESS=1 cargo test -p teamlog` generates the documents.

use crate::prelude::*;
use crate::schemas;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "a field is there because the answer must have it")]
struct Man {
    dir: String,
    pages: Vec<Page>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    pub command: String,
    file: String,
    pub group: bool,
}

/// Returns the help page of every command, including groups and `teamlog` itself.
pub fn commands(cli: &Cli) -> Vec<Page> {
    cli.json::<Man>("man --out man").pages
}

pub fn help(cli: &Cli, command: &str) -> String {
    cli.ok(format!("{command} --help").trim_start())
}

/// Returns the example commands of a help text, without their explanations.
pub fn examples(help: &str) -> Vec<String> {
    let shown = help.split("\nExamples:\n").nth(1).unwrap_or_default();
    let shown = shown.split("\n\n").next().unwrap_or_default();
    shown
        .lines()
        .map(|line| line.trim_start().split("   ").next().unwrap().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// Creates the world in which examples run: a team at work, a backup that contains another team,
/// and files to import.
pub fn prepared() -> Cli {
    let cli = Cli::with_team();
    cli.file("counts.rhai", "fn fold(event) { this.count += 1; }");
    cli.file("done.rhai", "fn fold(event) { this.done = true; }");
    cli.ok("init old");
    cli.ok("backup --all ../backups");
    std::fs::remove_dir_all(cli.dir().join("teams/old")).unwrap();
    for line in [
        "task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix it' --trace-id tr-1 --message-id m-0",
        "send demo --from lead --to dev --type decision_required --message-id m-1 --trace-id tr-1",
        "task-update demo --from dev --to lead --task-id T-1 --status in_progress --message-id m-2",
        "send demo --from lead --to dev --type handoff --message-id msg_1 --require-ack --ack-timeout-seconds 1 --max-retries 0",
        "task create demo --task-id T-5 --subject 'Test it'",
        "task create demo --task-id T-6 --subject 'Ship it'",
        "task claim demo T-6 --worker dev",
        "task create demo --task-id T-7 --subject 'Tell of it'",
        "task claim demo T-7 --worker qa",
        "task fail demo T-7 --epoch 1",
        "task create demo --task-id 7 --subject 'Mend the login'",
        "task create demo --task-id T-8 --subject 'Mend reading' --resource src",
        "task claim demo T-8 --worker dev",
        "task create demo --task-id T-12 --subject 'Change the port' --requires-approval",
        "config set demo resources.root /home/me/app",
        "thread start demo --title 'Who mends the login?' --participants lead,dev",
        "subscribe demo alerts --kind task_failed --once",
        "subscribe demo fix.patch --kind task_failed --once",
        "project demo counts --fold counts.rhai --init '{\"count\":0}' --key event.actor",
        "mode start demo ultrawork",
        "api token-add --input '{\"team_name\":\"demo\",\"agent\":\"dev\",\"digest\":\"5f0c2b7a91d3e8465f0c2b7a91d3e8465f0c2b7a91d3e8465f0c2b7a91d3e846\"}'",
        "bootstrap start demo --domains a",
        "bootstrap record demo --event team_create_returned --data '{\"outcome\":{\"ok\":\"alpha\"}}'",
        "bootstrap record demo --event branch_taken",
        "bootstrap record demo --event roster_built",
        "bootstrap record demo --event team_launched --data '{\"method\":\"team_api\",\"members\":\"a,obstruction,synthesizer\"}'",
        "bootstrap record demo --event OBSTRUCTION_CORE_READY_ACK",
        "bootstrap record demo --event SYNTHESIZER_CORE_READY_ACK",
    ] {
        cli.ok(line);
    }
    // Prepare a change for `git diff`, and a patch that applies.
    let git = |words: &[&str]| {
        let git = Command::new("git")
            .args(words)
            .current_dir(cli.dir())
            .status();
        assert!(git.unwrap().success(), "{words:?}");
    };
    // `--template=` leaves out the sample hooks, which every copy would contain.
    git(&["init", "--quiet", "--template="]);
    cli.file("notes.md", "one\n");
    git(&["add", "notes.md"]);
    cli.file("notes.md", "two\n");
    cli.file(
        "new.patch",
        "diff --git a/new.md b/new.md\nnew file mode 100644\n--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+new\n",
    );
    cli.file(
        "call.json",
        r#"{"tool_name":"Write","tool_input":{"file_path":"src/a.rs"}}"#,
    );
    cli.ok("artifact put demo new.patch --name fix.patch");
    cli.file("evidence.json", &cli.ok("bootstrap evidence demo --json"));
    cli.file("payload.json", r#"{"body":"hello"}"#);
    cli.file(
        "facts.jsonl",
        "{\"kind\":\"build_finished\",\"payload\":{\"ok\":true}}\n",
    );
    cli.file(
        "messages.jsonl",
        "{\"id\":\"o-1\",\"type\":\"handoff\",\"from\":\"a\",\"to\":\"b\",\"created_at\":\"2024-01-01T00:00:00Z\"}\n",
    );
    std::fs::create_dir_all(cli.dir().join("old-chat/inboxes")).unwrap();
    cli.file(
        "old-chat/inboxes/b.jsonl",
        "{\"id\":\"o-1\",\"type\":\"handoff\",\"from\":\"a\",\"to\":\"b\",\"created_at\":\"2024-01-01T00:00:00Z\"}\n",
    );
    cli.ok("backup demo ../backups");
    cli.file("receipt.json", &cli.ok("head demo --json"));
    cli.ok("keygen --out key");
    cli.file("signed.json", &cli.ok("head demo --sign key --json"));
    cli.until_dead_letters(1);
    cli
}

/// Puts a script called `teamlog` first in the `PATH`. The script runs the real program with the words `before` and
/// stores the output of each run. The script stops commands that follow or serve after a second, and starts a daemon
/// for commands that ask one.
fn recorder(cli: &Cli, before: &str) {
    let bin = cli.dir().join(".bin");
    std::fs::create_dir_all(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\n\
         log=$(mktemp -d \"${{0%/*}}/run.XXXXXX\")\n\
         for word in \"$@\"; do printf '%s\\n' \"$word\" >> \"$log/argv\"; done\n\
         case \" $* \" in *\" serve --st\"*|*\" token rotate \"*)\n\
             \"{real}\" serve < /dev/null > /dev/null 2>&1 &\n\
             until \"{real}\" serve --status > /dev/null 2>&1; do sleep 0.1; done;; esac\n\
         case \" $* \" in *\" serve --st\"*|*\" --once \"*) set -- \"{real}\" {before} \"$@\";;\n\
           *\" -f \"*|*\" --follow \"*|*\" serve \"*|*\" subscribe \"*) set -- timeout 1 \"{real}\" {before} \"$@\";;\n\
           *) set -- \"{real}\" {before} \"$@\";; esac\n\
         \"$@\" > \"$log/out\" 2> \"$log/err\"\n\
         code=$?\n\
         [ $code -ne 124 ] || code=0\n\
         case \" $* \" in *\" serve --status\"*|*\" token rotate \"*|*\" dashboard \"*)\n\
           \"{real}\" serve --stop > /dev/null 2>&1;; esac\n\
         cat \"$log/out\"\n\
         cat \"$log/err\" >&2\n\
         exit $code\n",
        real = env!("CARGO_BIN_EXE_teamlog"),
    );
    let (written, path) = (bin.join("script"), bin.join("teamlog"));
    std::fs::write(&written, script).unwrap();
    // Another process copies the script. A child of a parallel test could still have a file open that this process wrote, and a
    // file that is open for writing cannot be executed.
    let mut install = Command::new("install");
    let installed = install.args(["-m", "755"]).args([&written, &path]).status();
    assert!(installed.unwrap().success());
}

/// Runs an example in a shell. The example must exit with 0 and may print only notes to standard error.
fn run_example(cli: &Cli, example: &str, bin: &Path) -> Result<(), String> {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-e", "-c", example])
        .current_dir(cli.dir())
        .env_clear()
        .env("PATH", path)
        .env("HOME", cli.dir())
        .env("TMPDIR", cli.dir())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let ran = Ran::from_output(output);
    let is_note = |line: &str| line.starts_with("note: ") || line.starts_with("{\"note\":");
    match ran.code == Some(0) && ran.stderr.lines().all(is_note) {
        true => Ok(()),
        false => Err(format!("{example}: {ran:?}")),
    }
}

/// Returns true if an example needs a server or a certificate. `hosts.rs` and `remote.rs` run these examples.
pub fn needs_more(example: &str) -> bool {
    example.contains("journal ") || example.contains("--tls-cert")
}

/// Commands that record no events but write files: `views sync` repairs view files, subscriptions have files of their own, and the
/// others make a daemon write its address.
pub const SERVING: [&str; 7] = [
    "dashboard",
    "serve",
    "subscribe",
    "subscription delete",
    "subscription replay",
    "token rotate",
    "views sync",
];
/// Commands that write files outside of a team. These commands also fail under a limit of file sizes.
pub const WRITING_ELSEWHERE: [&str; 9] = [
    "artifact get",
    "backup",
    "demo",
    "export",
    "hooks doctor",
    "hooks install",
    "keygen",
    "man",
    "setup",
];

/// Returns true if an example changes nothing, so that the next example can run in the same world.
fn leaves_the_world(command: &str) -> bool {
    let writes = SERVING.contains(&command) || WRITING_ELSEWHERE.contains(&command);
    !writes && !schemas::records(command)
}

/// Runs every example of every command: with `--json` until the answer of the command was compared with its schema, then without. An example that changes something runs in a separate world. Returns the commands whose answers were compared.
fn run_examples() -> BTreeSet<String> {
    let cli = Cli::new();
    let (plain, json) = (prepared(), prepared());
    recorder(&plain, "");
    recorder(&json, "--json");
    let texts = schemas::listed().into_iter().filter(|row| row.1 == "text");
    let texts: BTreeSet<String> = texts.map(|row| row.0).collect();
    let (mut faults, mut compared) = (Vec::new(), BTreeSet::new());
    for page in commands(&cli).iter().filter(|page| !page.group) {
        let examples = examples(&help(&cli, &page.command));
        let named = |example: &String| example.contains(&format!("teamlog {}", page.command));
        let whole = |example: &String| example.contains("teamlog ");
        if !examples.iter().any(named) || !examples.iter().all(whole) {
            // In the help, a line that is too wide is broken into two lines.
            faults.push(format!(
                "`{} --help` needs examples, each of which fits into a line: {examples:?}",
                page.command
            ));
            continue;
        }
        for example in examples.iter().filter(|example| !needs_more(example)) {
            let is_plain = texts.contains(&page.command) || compared.contains(&page.command);
            let first = match is_plain {
                true => &plain,
                false => &json,
            };
            let own = (!leaves_the_world(&page.command)).then(|| first.copy());
            let world = own.as_ref().unwrap_or(first);
            let bin = world.dir().join(".bin");
            faults.extend(run_example(world, example, &bin).err());
            for run in std::fs::read_dir(&bin).unwrap() {
                let run = run.unwrap().path();
                if let Ok(argv) = std::fs::read_to_string(run.join("argv")) {
                    let argv: Vec<String> = argv.lines().map(String::from).collect();
                    if !is_plain {
                        let out = std::fs::read_to_string(run.join("out")).unwrap();
                        compared.extend(schemas::check(&argv, &out));
                    }
                    std::fs::remove_dir_all(run).unwrap();
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    compared
}

#[test]
fn examples_run_and_keep_the_schema_of_their_command() {
    let compared = run_examples();
    let listed = schemas::listed().into_iter();
    let unseen: Vec<String> = listed
        .filter(|(name, prints)| !matches!(&**prints, "text" | "error") && !compared.contains(name))
        .filter(|(name, _)| !name.starts_with("journal") && name != "join")
        .map(|(name, _)| name)
        .collect();
    assert!(
        unseen.is_empty(),
        "nothing was printed to hold against the schemas of {unseen:?}"
    );
}

#[test]
fn every_command_stands_in_the_table_of_schemas() {
    let cli = Cli::new();
    let listed: BTreeSet<String> = schemas::listed()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let missing: Vec<String> = commands(&cli)
        .into_iter()
        .filter(|page| !page.group && !listed.contains(&page.command))
        .map(|page| page.command)
        .collect();
    assert!(
        missing.is_empty(),
        "missing in cli/src/command/mod.rs, or the file of its noun: {missing:?}"
    );
    let error = cli.refused_json(2, "schema nonsense");
    assert_eq!(error.field.as_deref(), Some("command"));
    assert!(error.hint.unwrap().ends_with("teamlog schema"));
    assert!(cli.refused(2, "schema completions").contains("prints JSON"));
}

/// Compares a document in `docs/` with its expected text. Under `TEAMLOG_BLESS`, writes the document.
#[track_caller]
pub fn document(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(name);
    if std::env::var_os("TEAMLOG_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/{name} is out of date; `TEAMLOG_BLESS=1 cargo test -p teamlog` writes it anew"
    );
}

#[test]
fn the_reference_in_docs_is_what_the_help_says() {
    let cli = Cli::new();
    let mut text = String::from(
        "# Command line reference\n\n\
         For those who type or script commands: the help of every command. A test makes this page from `--help`\n\
         (`TEAMLOG_BLESS=1 cargo test -p teamlog` writes it). The global options, shown once, go before or after every\n\
         command. [commands.md](../protocol/commands.md) explains the answers; their JSON Schemas are in [schemas.json](schemas.json).\n",
    );
    let all = commands(&cli);
    let whole = cli.ok("help --all");
    for (heading, names) in groups(&whole) {
        text.push_str(&format!("\n### {heading}\n\n"));
        text.push_str("| command | what it does |\n|---|---|\n");
        let of_group = |page: &&Page| names.iter().any(|name| is_below(&page.command, name));
        for page in all.iter().filter(of_group) {
            let shown = help(&cli, &page.command);
            let about = shown.lines().next().unwrap_or_default().replace('|', "\\|");
            let anchor = format!("teamlog-{}", page.command.replace(' ', "-"));
            text.push_str(&format!("| [`{}`](#{anchor}) | {about} |\n", page.command));
        }
    }
    text.push_str(&format!(
        "\n## teamlog help --all\n\n```text\n{}\n```\n",
        whole.trim_end()
    ));
    for page in &all {
        let shown = help(&cli, &page.command);
        let name = format!("teamlog {}", page.command);
        text.push_str(&format!("\n## {}\n\n```text\n", name.trim_end()));
        text.push_str(
            match page.command.is_empty() {
                true => shown.clone(),
                false => without_global_options(&shown),
            }
            .trim_end(),
        );
        text.push_str("\n```\n");
    }
    document("reference/cli.md", &text);
}

/// Returns each group of the whole help, with the names of its commands.
fn groups(help: &str) -> Vec<(&str, Vec<&str>)> {
    let sections = help.split("\n\n").skip(1);
    let sections = sections.take_while(|section| !section.starts_with("Topics:"));
    sections
        .map(|section| {
            let mut lines = section.lines();
            let heading = lines.next().unwrap().trim_end_matches(':');
            let names = lines.map(|line| line.split_whitespace().next().unwrap());
            (heading, names.collect())
        })
        .collect()
}

/// Returns true if the command is this subcommand or one of its commands.
fn is_below(command: &str, name: &str) -> bool {
    command.split(' ').next() == Some(name)
}

/// Returns the help without the section of global options. In the long help, each of these options is a paragraph.
fn without_global_options(help: &str) -> String {
    let mut is_global = false;
    let kept: Vec<&str> = help
        .split("\n\n")
        .filter(|part| {
            is_global = part.starts_with("Global options:") || is_global && part.starts_with(' ');
            !is_global
        })
        .collect();
    kept.join("\n\n")
}

#[test]
fn manual_pages_are_pages() {
    let cli = Cli::new();
    let pages = commands(&cli);
    assert!(
        pages.iter().any(|page| page.file == "teamlog-task-show.1"),
        "{pages:?}"
    );
    for page in &pages {
        let text = std::fs::read_to_string(cli.dir().join("man").join(&page.file)).unwrap();
        if ["", "task", "task show"].contains(&&*page.command) {
            assert_eq!(text, cli.ok(format!("man {}", page.command).trim_end()));
        }
        for section in [
            "TH TEAMLOG",
            "SH NAME",
            "SH SYNOPSIS",
            "SH DESCRIPTION",
            "SH OPTIONS",
        ] {
            assert!(
                text.contains(&format!("\n.{section}")),
                "{section} in {page:?}:\n{text}"
            );
        }
        assert!(
            page.group || text.contains("\n.SH EXAMPLES\n.EX\n"),
            "{page:?}:\n{text}"
        );
        if let Some(complaints) = formatted(&cli, &page.file) {
            assert_eq!(complaints, "", "{page:?}");
        }
    }
    shows!(cli.refused(2, "man task nonsense") => has "\"task nonsense\"");
}

/// Returns the warnings of `groff` about a manual page, or `None` if `groff` is missing.
fn formatted(cli: &Cli, file: &str) -> Option<String> {
    let output = Command::new("groff")
        .args(["-Kutf8", "-man", "-Tutf8", "-ww", "-z", file])
        .current_dir(cli.dir().join("man"))
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_listing_of_schemas_is_for_people_too() {
    let shown = Cli::new().ok("schema");
    assert!(shown.contains("\ntask show      one line\n"), "{shown}");
    shows!(shown => has "\nreplay         a line for each item\n");
    let _: serde_json::Value = serde_json::from_str(&Cli::new().ok("schema task show")).unwrap();
    let _: serde_json::Value = parse(&Cli::new().ok("schema status --json"));
}
