//! The commands that agents type every day, in one shell in which only the name of the agent is set.

use crate::prelude::*;
use std::fs;

/// Runs lines as a shell script, which ends at the first failure. `teamlog` is the built program.
fn shell(cli: &Cli, dir: &str, lines: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_teamlog"));
    let path = program.parent().unwrap().display();
    let script = format!("trap 'echo \"FAILED: $BASH_COMMAND\" >&2' ERR\n{lines}");
    let mut bash = Command::new("bash");
    bash.args(["-eu", "-o", "pipefail", "-c", &script])
        .current_dir(cli.dir().join(dir))
        .env_clear()
        .env("HOME", cli.outside())
        .env("PATH", format!("{path}:/usr/bin:/bin"))
        .stdin(Stdio::null());
    Ran::of(&mut bash)
}

/// Runs lines that must all succeed and print no error.
#[track_caller]
fn runs(cli: &Cli, dir: &str, lines: &str) -> String {
    let ran = shell(cli, dir, lines);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    ran.stdout
}

#[test]
fn the_lines_of_a_day_work_in_one_shell() {
    let cli = Cli::new();
    let said = runs(
        &cli,
        "",
        "\
export TEAMLOG_AGENT=lead
teamlog init
teamlog add 'Fix the login' --label api
teamlog add 'Ship' --label ui
teamlog add 'Write the tests' --after 1 --parent 2 --due friday
export TEAMLOG_AGENT=dev
teamlog next
teamlog note 1 '40 %, needs the schema'
teamlog done 1 'on branch fix-login'
export TEAMLOG_AGENT=lead
teamlog show 1
teamlog assign 3 qa
teamlog edit 3 --priority high --label +ui
export TEAMLOG_AGENT=dev
teamlog say qa 'the schema is on main'
echo 'from a pipe' | teamlog say qa -
export TEAMLOG_AGENT=qa
teamlog inbox
teamlog ack --all
teamlog list --mine
teamlog list --label api --status completed
teamlog find 'fix-login -kind:message'
teamlog find 'schem* to:qa'
teamlog find 'login after:1d \"exact words\"'
teamlog next
teamlog log --since yesterday --by dev
teamlog",
    );
    for part in [
        "1  pending  Fix the login\n",
        "dev holds it until",
        "1  completed  Fix the login\n  on branch fix-login\n",
        "40 %, needs the schema",
        "3  pending  Write the tests\n",
        "the schema is on main",
        "from a pipe",
        "acked 2 messages\n",
        "teamlog done 3 RESULT\n",
        "dev  Fix the login\n",
        "dev  the schema is on main\n",
        "nothing matches login after:1d \"exact words\" in the tasks, messages, threads and posts of team ",
    ] {
        assert!(said.contains(part), "{part:?} is missing in\n{said}");
    }
    shows!(cli.ok("list --mine --as dev") => lacks "Ship");
}

#[test]
fn a_search_fits_on_a_screen_and_a_bad_query_is_a_usage_error() {
    let cli = Cli::with_team();
    for n in 0..25 {
        cli.ok(&format!("say dev 'login {n}' --as lead"));
    }
    let said = cli.ok("find login");
    assert_eq!(said.lines().count(), 21, "{said}");
    shows!(said.clone() => has "login 24");
    shows!(said => has "5 more: --all");
    assert_eq!(cli.ok("find login --all").lines().count(), 25);
    shows!(cli.ok("find login --limit 3") => has "more: --cursor ");
    shows!(cli.run("find 'login 24' --at 3").stdout => has "nothing matches");
    shows!(cli.refused(2, "find 'kind:tsak login'") => has "\"kind:tsak\": kind must be one of task");
    shows!(cli.refused(2, "find 'login \"exact'") => has "the quote is not closed");
    shows!(cli.ok("find -- -login") => has "nothing matches");
}

#[test]
fn the_other_ends_of_a_task_work_in_one_shell() {
    let cli = Cli::with_team();
    let said = runs(
        &cli,
        "",
        "\
export TEAMLOG_AGENT=dev
for subject in A B C; do teamlog add $subject; done
teamlog claim 1
teamlog fail 1 'the schema is missing'
teamlog reopen 1
teamlog drop 2
teamlog claim 3
echo 'all of it' | teamlog done 3 -
teamlog add D --requires-approval
teamlog claim 4
teamlog reject 4 'no tests' --as lead
teamlog approve 4 --as lead
teamlog done 4
teamlog add E
teamlog claim 5
teamlog release 5
teamlog claim 5
teamlog drop 5 --epoch 2",
    );
    for part in [
        "1  failed  A\n  the schema is missing\n",
        "1  pending  A\n",
        "2  canceled  B\n",
        "3  completed  C\n  all of it\n",
        "4  rejected\n",
        "4  approved\n",
        "4  completed  D\n",
        "5  pending  E\n",
        "5  canceled  E\n",
    ] {
        assert!(said.contains(part), "{part:?} is missing in\n{said}");
    }
    let ran = cli.run("reopen 3 --as dev");
    assert_eq!(ran.code, Some(1));
    shows!(ran.stderr => has "teamlog add SUBJECT --after 3");
}

#[test]
fn a_question_is_answered_in_another_shell() {
    let cli = Cli::with_team();
    let mut asks = cli.command("ask lead 'which database?' --wait --as dev");
    let asking = asks.stdout(Stdio::piped()).spawn().unwrap();
    until("the question is in the inbox", || {
        cli.ok("inbox --as lead").contains("which database?")
    });
    shows!(cli.ok("ack --all --as lead") => has "1 question left to answer");
    cli.ok("reply postgres --as lead");
    let answered = asking.wait_with_output().unwrap();
    assert_eq!(answered.status.code(), Some(0));
    assert_eq!(String::from_utf8(answered.stdout).unwrap(), "postgres\n");
    shows!(cli.refused(1, "reply again --as lead") => has "no unread question to lead");
}

#[test]
fn two_worktrees_of_a_repository_share_a_team() {
    let cli = Cli::new();
    for dir in ["main", "main/src"] {
        fs::create_dir(cli.dir().join(dir)).unwrap();
    }
    let said = runs(
        &cli,
        "main",
        "\
export TEAMLOG_AGENT=lead GIT_CONFIG_GLOBAL=/dev/null
git init -q .
git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
teamlog init
git worktree add -q ../other
teamlog add 'Fix the login'
teamlog add 'Ship'
cd ../other
export TEAMLOG_AGENT=dev
teamlog next
teamlog done 1 'on branch other'
cd ../main/src
export TEAMLOG_AGENT=lead
teamlog show 1",
    );
    shows!(said.clone() => has "main created");
    shows!(said => has "on branch other");
}

#[test]
fn a_shell_in_a_container_has_a_session() {
    let cli = Cli::with_team();
    let plain = "unshare --pid --fork --mount-proc";
    let as_user = "unshare --user --map-root-user --pid --fork --mount-proc";
    let allowed = |unshare: &&str| shell(&cli, "", &format!("{unshare} true")).code == Some(0);
    let Some(unshare) = [plain, as_user].into_iter().find(allowed) else {
        return; // This machine allows no namespaces.
    };
    let lines = "\
export TEAMLOG_AGENT=dev
teamlog add A
teamlog claim 1
teamlog done 1";
    let inside = format!("{unshare} bash -eu -c '{lines}\ncat /proc/self/stat'");
    let said = runs(&cli, "", &inside);
    shows!(said.clone() => has "1  completed  A\n");
    let fields = said.rsplit_once(')').unwrap().1;
    let session = fields.split_whitespace().nth(3);
    assert_eq!(
        session,
        Some("0"),
        "the session's leader is outside: {said}"
    );
}

/// Runs a command as `dev` in a session.
fn in_session(cli: &Cli, session: &str, line: &str) -> Ran {
    let mut command = cli.command(line);
    let command = command
        .env("TEAMLOG_AGENT", "dev")
        .env("TEAMLOG_SESSION", session);
    Ran::of(command)
}

#[test]
fn the_short_form_presents_the_claim_of_its_session_only() {
    let cli = Cli::with_team();
    cli.ok("add A --as lead");
    assert_eq!(in_session(&cli, "a", "claim 1").code, Some(0));
    for (line, said) in [
        ("done 1", "another session of dev"),
        ("task release 1", "another session of dev"),
        ("task renew 1", "another session of dev"),
    ] {
        let ran = in_session(&cli, "b", line);
        assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{line}: {ran:?}");
        shows!(ran.stderr.clone() => has said);
        shows!(ran.stderr.clone() => has "pass the --epoch that its answer gave");
        assert!(!ran.stderr.contains("--epoch 1"), "{ran:?}");
    }
    shows!(cli.refused(1, "done 1 --as qa") => has "claimed by dev");
    assert_eq!(in_session(&cli, "a", "release 1").code, Some(0));
    shows!(in_session(&cli, "a", "done 1").stderr => has "task 1 is not claimed");
    assert_eq!(in_session(&cli, "a", "claim 1").code, Some(0));
    // The leader ends the claim, so that the session possibly still works on it.
    cli.ok("release 1 --epoch 2 --force --as lead");
    assert_eq!(in_session(&cli, "a", "claim 1").code, Some(0));
    let changed = in_session(&cli, "a", "done 1 --json");
    assert_eq!(changed.code, Some(1));
    shows!(changed.stderr => has "\"claim_changed\"");
    assert_eq!(in_session(&cli, "a", "release 1 --epoch 3").code, Some(0));
    // The session ended this claim itself.
    assert_eq!(in_session(&cli, "a", "claim 1").code, Some(0));
    assert_eq!(in_session(&cli, "a", "done 1").code, Some(0));
}

#[test]
fn the_agent_that_creates_a_team_is_its_leader() {
    let cli = Cli::new();
    cli.ok("init demo --members dev,qa --as boss");
    cli.ok("add A --as dev");
    cli.ok("claim 1 --as dev");
    cli.ok("note 1 'half of it' --as dev");
    cli.ok("review 1 --as dev");
    shows!(cli.ok("inbox --as boss") => has "half of it", has "please review task 1");
    shows!(cli.refused(1, "assign 1 ops --as boss") => has "known agents: boss, dev, qa");
    cli.refused(1, "assign 1 qa --as qa");
    cli.ok("assign 1 qa --as boss");
    for line in [
        "add B",
        "edit 1 --priority high",
        "config set demo nudge.idle_seconds 60",
        "drop 1",
        "undo",
    ] {
        let said = cli.refused(1, &format!("{line} --as mallory"));
        shows!(said => has "\"mallory\" is not a member of this team");
    }
    cli.ok("append demo --kind build_done --as ci");
}

#[test]
fn an_assignment_names_an_agent_or_nobody() {
    let cli = Cli::with_team();
    cli.ok("add A --as lead --owner dev");
    let said = cli.refused(2, "assign 1 --as lead");
    shows!(said => has "assign to whom? name an agent, or pass --nobody", has "assign 1 --nobody");
    shows!(cli.ok("list --mine --as dev") => has "A");
    cli.ok("assign 1 --nobody --as lead");
    shows!(cli.ok("list --mine --as dev") => lacks "A");
}

#[test]
fn damage_that_a_verification_found_is_said_until_the_next_verification() {
    let cli = Cli::with_team();
    cli.ok("add A --as lead");
    shows!(cli.ok("status demo") => lacks "damaged");
    cli.ok("verify demo");
    let result = cli.dir().join("teams/demo/derived/verify.json");
    let found = fs::read_to_string(&result).unwrap();
    assert!(found.contains("\"ok\":true"), "{found}");
    fs::write(&result, found.replace("\"ok\":true", "\"ok\":false")).unwrap();
    let status = cli.ok("status demo");
    shows!(status => has "the log of team demo is damaged", has "verify demo");
    for line in ["prime", "", "prime --json"] {
        let mut command = cli.command(line);
        let ran = Ran::of(command.env("TEAMLOG_AGENT", "dev"));
        shows!(ran.stderr => has "the log of team demo is damaged");
    }
    cli.ok("verify demo");
    shows!(cli.ok("status demo") => lacks "damaged");
}

#[test]
fn the_text_of_a_briefing_uses_everyday_words() {
    let cli = Cli::with_team();
    cli.ok("add A --as lead --owner dev");
    cli.ok("say dev hello --as lead");
    cli.ok("next --as dev");
    let said = cli.ok("prime --agent dev");
    shows!(said.clone() => has "  teamlog inbox --as dev\n");
    shows!(said => has "  teamlog done 1 RESULT --as dev\n");
    let mut acting = cli.command("prime");
    let said = Ran::of(acting.env("TEAMLOG_AGENT", "dev")).stdout;
    shows!(said => has "  teamlog inbox\n");
}

/// Lines that a newcomer types, each with its exit code and a part of the output. If the line is wrong, this part of the output is the hint
/// with the right line.
const NAIVE: &[(&str, i32, &str)] = &[
    ("help", 0, "Usage: teamlog"),
    ("status", 0, "demo: "),
    ("claim demo 1", 2, "TEAMLOG_AGENT=NAME"),
    ("close demo", 1, "--force"),
    ("inbox demo", 2, "TEAMLOG_AGENT=NAME"),
    ("init 'my team'", 1, "init my-team"),
    ("init ../x", 1, "init x"),
    ("init demo --members 'a b'", 1, "--members A,B"),
    ("init demo --format binary", 1, "convert demo"),
    (
        "send demo --from lead --to qa --type hello",
        2,
        "teamlog say AGENT TEXT",
    ),
    (
        "send demo --from nobody --to qa --type message",
        1,
        "known agents: dev, lead, qa",
    ),
    (
        "send demo --from lead --to qa --type message --payload-json '[1]'",
        1,
        "must be an object",
    ),
    (
        "send demo --from lead --to qa --type message --priority urgent",
        2,
        "--priority critical",
    ),
    ("read demo", 2, "TEAMLOG_AGENT=NAME"),
    ("read dmo --agent qa", 1, "did you mean demo?"),
    ("ack demo", 2, "--all"),
    (
        "ack demo --agent qa --message-id nope",
        1,
        "read demo --agent qa",
    ),
    ("task list demo", 2, "teamlog list"),
    ("task create demo --title x", 0, "created 2"),
    ("task create demo --subject x --deps 1", 0, "waits for 1"),
    (
        "task create demo --subject x --priority urgent",
        2,
        "--priority critical",
    ),
    (
        "task create demo --subject x --task-id 1",
        1,
        "task show demo 1",
    ),
    (
        "task create demo --subject x --resource /etc",
        1,
        "must be relative",
    ),
    ("task claim demo 1 --worker qa", 0, "qa holds it"),
    ("task claim demo 99 --worker qa", 1, "tasks demo"),
    ("task complete demo 1", 2, "TEAMLOG_AGENT=NAME"),
    ("task complete demo 1 --worker qa --epoch 1", 0, "completed"),
    ("task cancel demo 1 --actor lead", 1, "already completed"),
    ("task assign demo 1 --to qa", 2, "teamlog assign"),
    (
        "task-update demo --from dev --to lead --task-id 1 --status dnoe",
        2,
        "did you mean done?",
    ),
    (
        "task-update demo --from dev --to lead --task-id TYPO --status done",
        1,
        "tasks demo",
    ),
    ("tasks demo --status open", 2, "--status pending"),
    ("trace demo", 0, "no recent event belongs to a trace"),
    ("trace demo --trace-id nope", 0, "teamlog trace demo"),
    ("replay demo --since foo", 2, "yesterday"),
    ("diff demo --from yesterday", 0, "demo: "),
    ("status demo --at foo", 2, "yesterday"),
    (
        "config set demo nudge.idle_secnds 5",
        1,
        "did you mean nudge.idle_seconds?",
    ),
    ("mode start demo swarm", 1, "use team"),
    ("verify demo --against nope", 1, "teamlog head demo"),
    ("purge demo --yes", 1, "to close it"),
    (
        "api claim-task --input '{bad'",
        1,
        "teamlog api claim-task --help",
    ),
    ("setup gemini", 2, "teamlog setup claude"),
];

#[test]
fn each_line_of_a_newcomer_has_an_effect_or_names_its_fix() {
    let cli = Cli::with_team();
    cli.ok("add One --as lead");
    let mut wrong = Vec::new();
    for (line, code, part) in NAIVE {
        let ran = cli.run(line);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        if ran.code != Some(*code) || !said.contains(part) {
            wrong.push(format!("{line}: {ran:?} lacks {part:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
