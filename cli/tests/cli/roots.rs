//! Location and owner of a data root, and git beside it.

use crate::prelude::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;

/// Id of a user that is neither root nor the user of the tests.
const USER: u32 = 41_000;
const GROUP: u32 = 42_000;

/// Runs git in a directory. Returns `None` if git fails or is missing.
fn git(dir: &Path, line: &str) -> Option<String> {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(["-c", "init.defaultBranch=main"])
        .args(line.split(' '))
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .ok()?;
    assert!(output.status.success(), "git {line}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Creates a repository with one commit. Returns `None` without git.
fn repository(dir: &Path) -> Option<()> {
    fs::create_dir_all(dir).unwrap();
    fs::write(dir.join("README"), "read me\n").unwrap();
    for line in ["init -q", "add -A", "commit -q -m first"] {
        git(dir, line)?;
    }
    Some(())
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns a directory and everything below it.
fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut all = vec![dir.to_owned()];
    for entry in fs::read_dir(dir).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(walk(&entry.path())),
            false => all.push(entry.path()),
        }
    }
    all
}

/// Makes `USER` the owner of a directory and of everything below it.
fn give(dir: &Path) {
    for path in walk(dir) {
        chown(path, Some(USER), Some(GROUP)).unwrap();
    }
}

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: only root can act for several users");
    }
    root
}

/// Runs a command as another user.
fn run_as(cli: &Cli, uid: u32, gid: u32, line: &str) -> Ran {
    Ran::of(cli.command(line).uid(uid).gid(gid))
}

/// Creates a world whose directory and team belong to `USER`. Returns `None` if the tests do not
/// run as root, or if `USER` has no right to run the program.
fn team_of_user() -> Option<Cli> {
    if !is_root() {
        return None;
    }
    let cli = Cli::new();
    chown(cli.outside(), Some(USER), Some(GROUP)).unwrap();
    give(cli.dir());
    let mut version = cli.command("--version");
    if version.uid(USER).gid(GROUP).output().is_err() {
        eprintln!("skipped: other users may not run the program");
        return None;
    }
    let ran = run_as(&cli, USER, GROUP, "init demo --members lead,dev");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    Some(cli)
}

#[test]
fn git_tracks_nothing_of_a_log() {
    let cli = Cli::new();
    let Some(()) = repository(cli.dir()) else {
        return;
    };
    cli.ok("init demo --members lead,dev");
    cli.ok("task create demo --task-id T-1 --subject one");
    git(cli.dir(), "add -A").unwrap();
    assert_eq!(git(cli.dir(), "status --porcelain").unwrap(), "");
    for line in ["stash -q -u", "checkout -- .", "clean -q -fd"] {
        git(cli.dir(), line).unwrap();
    }
    let shown = cli.ok("task show demo T-1");
    assert!(shown.contains("one"), "{shown}");
    assert!(cli.ok("doctor check demo").contains("healthy"));
}

/// Older versions leave this state: git tracks the log, and only staging directories in `teams/` are ignored.
#[test]
fn a_root_of_an_older_program_is_ignored_with_the_next_write_and_doctor_names_what_is_tracked() {
    let cli = Cli::new();
    let Some(()) = repository(cli.dir()) else {
        return;
    };
    cli.ok("init demo --members lead,dev");
    let (teams, team) = (
        cli.dir().join("teams/.gitignore"),
        cli.dir().join("teams/demo/.gitignore"),
    );
    let own = "# Written by teamlog, and replaced by it.\n";
    let whole = format!("{own}*\n");
    fs::write(&teams, format!("{own}/.new-*\n/.purged-*\n")).unwrap();
    fs::write(&team, format!("{own}/lock\n/derived/\n/tasks/\n")).unwrap();
    git(cli.dir(), "add -A").unwrap();
    git(cli.dir(), "commit -q -m log").unwrap();
    cli.ok("status demo");
    assert_ne!(fs::read_to_string(&team).unwrap(), whole);
    cli.ok("append demo --kind k --actor ci");
    for path in [&teams, &team] {
        assert_eq!(fs::read_to_string(path).unwrap(), whole);
    }

    let of_git = || {
        let answer: Value = parse(&cli.ok("doctor check demo --json"));
        let checks = answer["checks"].as_array().unwrap().clone();
        checks
            .into_iter()
            .find(|check| check["name"] == "git")
            .unwrap()
    };
    let found = of_git();
    assert_eq!(found["status"], "warn", "{found}");
    assert!(found["summary"].as_str().unwrap().contains("teams/demo/"));
    let command = found["recommendations"][0].as_str().unwrap();
    let untracked = Command::new("sh").args(["-c", command]).status().unwrap();
    assert!(untracked.success());
    assert_eq!(of_git()["status"], "healthy");
    cli.ok("verify demo");
    git(cli.dir(), "commit -q -a -m untracked").unwrap();
    assert_eq!(git(cli.dir(), "status --porcelain").unwrap(), "");
}

#[test]
fn worktrees_share_the_root_of_the_main_one() {
    let cli = Cli::new();
    let main = cli.dir().join("main");
    let Some(()) = repository(&main) else { return };
    let linked = cli.dir().join("linked");
    git(&main, "worktree add -q ../linked").unwrap();
    let run_in = |dir: &Path, line: &str| Ran::of(cli.command(line).current_dir(dir));
    // `init` in the linked worktree uses the data root of the main worktree.
    fs::create_dir(linked.join("src")).unwrap();
    let created = run_in(&linked.join("src"), "init demo --members lead,dev");
    assert_eq!(created.code, Some(0), "{created:?}");
    assert!(main.join("teams/demo/log.json").is_file());
    assert!(!linked.join("teams").exists() && !linked.join("src/teams").exists());
    let sent = run_in(&linked, "task create demo --task-id T-1 --subject one");
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let shown = run_in(&main, "task show demo T-1");
    assert!(shown.stdout.contains("one"), "{shown:?}");

    // git also checks out a committed log in the other worktree, but teamlog must not use that copy.
    fs::remove_file(main.join("teams/.gitignore")).unwrap();
    git(
        &main,
        "add -f teams/demo/log.json teams/demo/head teams/demo/events",
    )
    .unwrap();
    git(&main, "commit -q -m log").unwrap();
    git(&main, "worktree add -q ../third").unwrap();
    let third = cli.dir().join("third");
    assert!(third.join("teams/demo/log.json").is_file());
    let claimed = run_in(&third, "task claim demo T-1 --worker dev");
    assert_eq!(claimed.code, Some(0), "{claimed:?}");
    let again = run_in(&main, "task claim demo T-1 --worker lead --json");
    assert!(again.stderr.contains("claim_conflict"), "{again:?}");
}

#[test]
fn a_hint_names_another_root_of_the_repository_instead_of_init() {
    let cli = Cli::new();
    let main = cli.dir().join("main");
    let Some(()) = repository(&main) else { return };
    git(&main, "worktree add -q ../linked").unwrap();
    let linked = cli.dir().join("linked");
    let run_in = |dir: &Path, line: &str| Ran::of(cli.command(line).current_dir(dir));
    // There is no team yet, so a hint to run `init` is right.
    let none = run_in(&main, "status demo");
    assert!(none.stderr.contains("init demo"), "{none:?}");
    let made = format!("--data-root {} init demo", linked.display());
    assert_eq!(run_in(&main, &made).code, Some(0));
    for line in [
        "status demo",
        "send demo --from a --to b --type handoff",
        "setup claude --dry-run",
    ] {
        let told = run_in(&main, line).stderr;
        assert!(
            told.contains(&format!("--data-root {} ", linked.display())),
            "{told}"
        );
        assert!(!told.contains("init"), "{told}");
    }
    let listed = run_in(&main, "teams").stdout;
    assert!(
        listed.contains("linked") && !listed.contains("init"),
        "{listed}"
    );
    let mistyped = run_in(&linked, "--data-root nowhere status demo").stderr;
    assert!(
        mistyped.contains("linked") && !mistyped.contains("init"),
        "{mistyped}"
    );
}

#[test]
fn a_folder_of_sources_is_no_root() {
    let cli = Cli::new();
    fs::create_dir_all(cli.dir().join("teams/models")).unwrap();
    cli.file("teams/models/team.py", "");
    let error = cli.refused_json(1, "init demo");
    assert_eq!(
        (&*error.code, error.field.as_deref()),
        ("invalid_input", Some("data_root"))
    );
    let hint = error.hint.unwrap();
    let here = cli.dir().display();
    assert!(
        hint.contains(&format!("--data-root {here} init demo")),
        "{hint}"
    );
    cli.refused_json(1, "import demo --events teams/models/team.py");
    let names = || {
        let names = fs::read_dir(cli.dir().join("teams")).unwrap();
        let mut names: Vec<_> = names.map(|name| name.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(), ["models"]);
    // A directory that an option names is used, and git still tracks the sources.
    cli.ok(&format!("--data-root {here} init demo"));
    let whole = "# Written by teamlog, and replaced by it.\n*\n";
    let read = |path: &str| fs::read_to_string(cli.dir().join(path)).unwrap();
    assert_eq!(read("teams/demo/.gitignore"), whole);
    assert!(!read("teams/.gitignore").contains("\n*\n"));
    cli.ok("append demo --kind k --actor ci");
    // An ignore file that the user wrote is kept, and the data root is still found.
    cli.file("teams/.gitignore", "*.pyc\n");
    fs::create_dir(cli.dir().join("below")).unwrap();
    let below = Ran::of(
        cli.command("status demo")
            .current_dir(cli.dir().join("below")),
    );
    assert_eq!(below.code, Some(0), "{below:?}");
    cli.ok("init demo --members new");
    assert_eq!(read("teams/.gitignore"), "*.pyc\n");
}

#[test]
fn a_root_of_another_user_is_used_only_by_name() {
    if !is_root() {
        return;
    }
    let cli = Cli::with_team();
    let teams = cli.dir().join("teams");
    let check = r#"{"tool_name":"Write","tool_input":{"file_path":"/etc/cron.d/x"}}"#;
    let refused = |why: &str| {
        for line in [
            "status demo",
            "send demo --from lead --to dev --type handoff",
            "init other",
            "prime demo --agent dev",
            "teams",
            "read demo --agent dev",
            "serve",
            "doctor check demo",
        ] {
            let error = cli.refused_json(77, line);
            assert_eq!(error.code, "not_owned", "{line}");
            assert!(error.message.contains(why), "{line}: {}", error.message);
            let hint = error.hint.unwrap();
            let named = format!("--data-root {}", cli.dir().display());
            assert!(
                hint.contains(&named) && hint.contains("TEAMLOG_DATA_ROOT="),
                "{hint}"
            );
        }
        let guarded = cli.run_with_input("guard demo --agent dev", check);
        assert_eq!(guarded.code, Some(2), "{guarded:?}");
        assert!(!guarded.stdout.contains("allow"), "{guarded:?}");
        let hooked = cli.run_with_input("prime demo --agent dev --hook", "{}");
        assert_eq!((hooked.code, &*hooked.stdout), (Some(77), ""), "{hooked:?}");
        assert_eq!(cli.run("__complete teams").stdout, "");
    };
    chown(&teams, Some(USER), None).unwrap();
    refused(&format!("belongs to user {USER}"));
    // Commands without a data root work, and so do commands with `--data-root`.
    cli.ok("man");
    cli.ok(&format!("--data-root {} status demo", cli.dir().display()));
    let mut named = cli.command("status demo");
    assert_eq!(
        Ran::of(named.env("TEAMLOG_DATA_ROOT", cli.dir())).code,
        Some(0)
    );

    chown(&teams, Some(0), None).unwrap();
    chmod(&teams, 0o777);
    refused("everybody");
    chmod(&teams, 0o700);
    cli.ok("status demo");

    // A team of another user in the caller's data root.
    chown(teams.join("demo"), Some(USER), None).unwrap();
    let error = cli.refused_json(77, "status demo");
    assert_eq!(error.code, "not_owned");
    assert!(error.message.contains("teams/demo"), "{}", error.message);
    assert_eq!(cli.run("teams").code, Some(1));
}

#[test]
fn the_next_writer_takes_the_right_to_write_from_the_group() {
    let cli = Cli::with_team();
    let (teams, team) = (cli.dir().join("teams"), cli.dir().join("teams/demo"));
    for dir in [&teams, &team] {
        chmod(dir, 0o775);
    }
    cli.ok("status demo");
    assert_eq!((mode(&teams), mode(&team)), (0o775, 0o775));
    let answer: Value = parse(&cli.ok("doctor check demo --json"));
    assert_eq!(answer["overall_status"], "warn");
    assert!(
        answer["recommendations"][0]
            .as_str()
            .unwrap()
            .starts_with("chmod -R go-w ")
    );
    cli.ok("append demo --kind k --actor ci");
    assert_eq!((mode(&teams), mode(&team)), (0o755, 0o755));
    for dir in [&teams, &team] {
        chmod(dir, 0o2770);
    }
    cli.ok("append demo --kind k --actor ci");
    assert_eq!((mode(&teams), mode(&team)), (0o2770, 0o2770));
}

#[test]
fn a_command_of_root_leaves_everything_to_the_owner_of_the_team() {
    let Some(cli) = team_of_user() else { return };
    let root = format!("--data-root {}", cli.dir().display());
    let own = |line: &str| {
        let ran = run_as(&cli, USER, GROUP, line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    };
    own("task create demo --task-id T-1 --subject one");
    // The root user opens a new segment if there is none for the day, and writes views if they are missing.
    for line in [
        "task create demo --task-id T-2 --subject two",
        "send demo --from lead --to dev --type handoff --task-id T-2",
        "thread start demo --title t --participants lead,dev",
        "rehydrate demo",
        "convert demo --to binary",
        "init second --members lead",
        "views sync demo",
    ] {
        let ran = cli.run(&format!("{root} {line}"));
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        for path in walk(&cli.dir().join("teams")) {
            let found = fs::symlink_metadata(&path).unwrap();
            let owner = (found.uid(), found.gid());
            assert_eq!(owner, (USER, GROUP), "{line}: {}", path.display());
        }
    }
    own("task claim demo T-2 --worker dev");
    own("rehydrate demo");
    own("append second --kind k --actor lead");

    // With `sudo`, a data root that was found by search is used only if it belongs to the user who called `sudo`.
    assert_eq!(cli.refused_json(77, "status demo").code, "not_owned");
    let by_sudo = |uid: u32| {
        let mut command = cli.command("append demo --kind k --actor lead");
        Ran::of(command.env("SUDO_UID", uid.to_string())).code
    };
    assert_eq!((by_sudo(USER), by_sudo(USER + 1)), (Some(0), Some(77)));
    let served = cli.refused_json(77, &format!("{root} serve"));
    assert_eq!(served.code, "not_owned");
    assert!(
        served
            .hint
            .unwrap()
            .starts_with(&format!("sudo -u '#{USER}'"))
    );
    own("append demo --kind k --actor lead");

    // `doctor` reports a file of the root user that an older version left, with the command that repairs the owner.
    chown(cli.dir().join("teams/demo/head"), Some(0), None).unwrap();
    let ran = cli.run(&format!("{root} doctor check demo --json"));
    let answer: Value = parse(&ran.stdout);
    let command = answer["recommendations"][0].as_str().unwrap();
    assert!(
        command.starts_with(&format!("sudo chown -R {USER}:{GROUP} ")),
        "{command}"
    );
}

#[test]
fn a_new_root_of_sudo_belongs_to_its_caller() {
    if !is_root() {
        return;
    }
    let cli = Cli::new();
    chown(cli.dir(), Some(USER), Some(GROUP)).unwrap();
    let mut init = cli.command("init demo --members lead");
    assert_eq!(
        Ran::of(init.env("SUDO_UID", USER.to_string())).code,
        Some(0)
    );
    for path in walk(&cli.dir().join("teams")) {
        let found = fs::symlink_metadata(&path).unwrap();
        assert_eq!(
            (found.uid(), found.gid()),
            (USER, GROUP),
            "{}",
            path.display()
        );
    }
}

#[test]
fn a_group_shares_a_root_whatever_the_umask_is() {
    if !is_root() {
        return;
    }
    for umask in ["077", "007", "002"] {
        let cli = Cli::new();
        chmod(cli.outside(), 0o755);
        if cli
            .command("--version")
            .uid(USER)
            .gid(GROUP)
            .output()
            .is_err()
        {
            eprintln!("skipped: other users may not run the program");
            return;
        }
        let root = cli.dir().display().to_string();
        let run = |uid: u32, line: &str| {
            let mut shell = Command::new("sh");
            let binary = env!("CARGO_BIN_EXE_teamlog");
            let typed = format!("umask {umask}; exec {binary} --data-root {root} {line}");
            let ran = shell
                .args(["-c", &typed])
                .uid(uid)
                .gid(GROUP)
                .current_dir("/");
            let ran = Ran::of(ran.env_clear().env("HOME", &root));
            assert_eq!(ran.code, Some(0), "{umask}: {line}: {ran:?}");
            ran.stdout
        };
        let shared = || {
            for path in walk(&cli.dir().join("teams")) {
                let found = fs::symlink_metadata(&path).unwrap();
                let expected = if found.is_dir() { 0o2770 } else { 0o660 };
                let is = (found.gid(), found.mode() & 0o7777);
                assert_eq!(is, (GROUP, expected), "{umask}: {}", path.display());
            }
        };
        run(0, &format!("init demo --members lead,dev --shared {GROUP}"));
        shared();
        for (uid, line) in [
            (USER, "task create demo --task-id T-1 --subject one"),
            (USER + 1, "task claim demo T-1 --worker dev"),
            (
                USER,
                "send demo --from lead --to dev --type handoff --task-id T-1",
            ),
            (USER + 1, "rehydrate demo"),
            (USER, "init second --members lead"),
            (USER + 1, "append second --kind k --actor lead"),
            (0, "append second --kind k --actor lead"),
        ] {
            run(uid, line);
            shared();
        }
        assert!(run(USER, "doctor check demo").contains("healthy"));
        // `doctor` reports permissions that were changed by hand, with the command that repairs them.
        chmod(&cli.dir().join("teams/demo/events"), 0o700);
        let answer: Value = parse(&run(0, "doctor check demo --json"));
        let command = answer["recommendations"][0].as_str().unwrap().to_owned();
        assert!(
            command.ends_with(&format!("init demo --shared {GROUP}")),
            "{command}"
        );
        run(0, &format!("init demo --shared {GROUP}"));
        shared();
    }
    let cli = Cli::new();
    let error = cli.refused_json(1, "init demo --shared nobody-has-this-name");
    assert_eq!(error.field.as_deref(), Some("shared"));
    assert!(!cli.dir().join("teams").exists());
}

#[test]
fn setup_names_the_root_in_the_instructions_of_a_project() {
    let cli = Cli::with_team();
    let project = cli.outside().join("project");
    fs::create_dir(&project).unwrap();
    cli.ok(&format!("setup claude --dir {}", project.display()));
    let told = fs::read_to_string(project.join("AGENTS.md")).unwrap();
    let root = cli.dir().canonicalize().unwrap();
    let named = format!("`teamlog --data-root {} ", root.display());
    assert_eq!(told.matches(&named).count(), 6, "{told}");
}

#[test]
fn where_root_cannot_give_files_away_nothing_is_written() {
    let Some(cli) = team_of_user() else { return };
    let without = |program: &Path| {
        let mut command = Command::new("setpriv");
        command.arg("--bounding-set=-chown").arg(program);
        command.env_clear().env("HOME", cli.dir());
        command
    };
    if !without(Path::new("/bin/true"))
        .status()
        .is_ok_and(|ran| ran.success())
    {
        eprintln!("skipped: setpriv is missing");
        return;
    }
    let bytes = || fs::read(cli.segment("demo")).unwrap();
    let before = bytes();
    for line in ["append demo --kind k --actor lead", "rehydrate demo"] {
        let mut command = without(Path::new(env!("CARGO_BIN_EXE_teamlog")));
        command.arg("--data-root").arg(cli.dir());
        let ran = Ran::of(command.args(line.split(' ')));
        assert_eq!(ran.code, Some(77), "{line}: {ran:?}");
        assert!(
            ran.stderr.contains("run the command as that user"),
            "{ran:?}"
        );
    }
    assert_eq!(bytes(), before);
    for path in walk(&cli.dir().join("teams")) {
        let owner = fs::symlink_metadata(&path).unwrap().uid();
        assert_eq!(owner, USER, "{}", path.display());
    }
}
