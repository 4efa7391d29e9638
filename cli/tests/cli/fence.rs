//! `guard exec`: the command can write only the paths that its agent holds. If the kernel has no Landlock, these tests print a
//! note and pass.

use crate::daemon::Daemon;
use crate::prelude::*;
use crate::terminal::on_terminal;
use std::fs;
use std::io::BufRead;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A repository beside the data root, and a directory outside of the repository. `dev` holds a part
/// of the repository.
struct World {
    cli: Cli,
    repo: PathBuf,
    free: PathBuf,
}

impl World {
    /// Creates the world. Returns `None` if the kernel has no Landlock.
    fn new() -> Option<World> {
        let world = World::with("");
        match world.cli.run(&world.line("-- /bin/true")).code {
            Some(78) => {
                eprintln!("this kernel has no Landlock; nothing was fenced, and nothing tested");
                None
            }
            _ => Some(world),
        }
    }

    /// Creates the world. `claim` has options for the claim.
    fn with(claim: &str) -> World {
        let cli = Cli::with_team();
        let (repo, free) = (cli.outside().join("repo"), cli.outside().join("free"));
        for dir in [
            &repo.join("src/io"),
            &repo.join("docs"),
            &repo.join("notes"),
            &repo.join("build"),
            &free,
        ] {
            fs::create_dir_all(dir).unwrap();
        }
        for file in ["src/io/a", "src/b", "docs/c", "notes/x.md"] {
            fs::write(repo.join(file), "as it was").unwrap();
        }
        fs::write(free.join("f"), "as it was").unwrap();
        symlink("../../docs", repo.join("src/io/out")).unwrap();
        cli.ok("task create demo --subject io --resource src/io --resource 'notes/*.md'");
        cli.ok(&format!("task claim demo 1 --worker dev {claim}"));
        cli.ok(&format!(
            "config set demo resources.root {}",
            repo.display()
        ));
        World { cli, repo, free }
    }

    fn line(&self, rest: &str) -> String {
        format!("guard exec demo --agent dev {rest}")
    }

    /// Returns a command that runs a shell script in the repository.
    fn shell(&self, options: &str, script: &str) -> Command {
        let mut command = self.cli.command(&self.line(options));
        command
            .args(["--", "/bin/sh", "-c", script])
            .current_dir(&self.repo)
            .env("TEAMLOG_DATA_ROOT", self.cli.dir())
            .env("TEAMLOG", env!("CARGO_BIN_EXE_teamlog"));
        command
    }

    fn run(&self, script: &str) -> Ran {
        Ran::of(&mut self.shell("", script))
    }

    /// Returns checksums of the files that must not change.
    fn closed(&self) -> String {
        let mut find = Command::new("find");
        find.args(["repo/docs", "repo/src/b", "home"])
            .args(["-type", "f", "-exec", "cksum", "{}", "+"])
            .current_dir(self.cli.outside());
        let mut lines: Vec<String> = Ran::of(&mut find)
            .stdout
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        lines.join("\n")
    }
}

#[test]
fn what_is_held_can_be_written_and_everything_outside() {
    let Some(world) = World::new() else { return };
    for script in [
        "echo x > src/io/new",
        "echo x >> src/io/a && : > src/io/a && truncate -s 9 src/io/a",
        "mkdir -p src/io/d/e && mv src/io/new src/io/d/e/n && rm -r src/io/d",
        "ln src/io/a src/io/hard && ln -s a src/io/soft && mkfifo src/io/fifo",
        "echo x > notes/x.md",
        "echo x > ../free/new && mkdir ../free/d && mv ../free/new ../free/d/n",
        "ln ../free/f ../free/d/g && mv ../free/d/g src/io/g && mv src/io/g ../free/g",
        "cat docs/c src/b > /dev/null && ls ../home/teams/demo > ../free/listed",
    ] {
        let ran = world.run(script);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{script}: {ran:?}");
    }
    let ran = Ran::of(&mut world.shell("--scratch build", "echo x > build/out"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_is_not_held_cannot_be_changed_in_any_way() {
    let Some(world) = World::new() else { return };
    let before = world.closed();
    for script in [
        "echo x > src/new",
        "echo x >> docs/c",
        "exec 3<> docs/c",
        ": > docs/c",
        "truncate -s 0 docs/c",
        "rm docs/c",
        "mkdir docs/d",
        "mkfifo docs/p",
        "ln -s c docs/l",
        "ln docs/c docs/l",
        "ln docs/c src/io/c",
        "ln docs/c ../free/c",
        "ln src/io/a docs/a",
        "mv docs/c docs/d",
        "mv docs/c src/io/c",
        "mv docs/c ../free/c",
        "mv -f src/io/a docs/c",
        "mv -f ../free/f docs/c",
        "mv docs src/io/docs",
        "mv src src2",
        "mv ../repo ../free/repo",
        "rmdir build",
        "echo x > src/io/out/c",
        "echo x > build/out",
        "echo x > notes/new.md",
        "echo x > ../home/x",
        "echo x > ../home/teams/demo/x",
        "rm -rf ../home/teams",
        "mv ../home/teams ../free/teams",
        "for log in ../home/teams/demo/events/*; do echo x >> $log; done",
        "cd ../free && echo x > ../repo/docs/c",
        "setsid sh -c 'echo x > docs/c'",
        "chroot ../repo /bin/sh -c 'echo x > /docs/c' || echo x > docs/c",
    ] {
        let ran = world.run(script);
        assert_ne!(ran.code, Some(0), "{script}: {ran:?}");
        let refused = ["Permission denied", "cannot", "can't", "cross-device"];
        assert!(
            refused.iter().any(|word| ran.stderr.contains(word)),
            "{script}: {ran:?}"
        );
        assert_eq!(world.closed(), before, "{script}");
    }
    assert!(world.repo.join("src/io").is_dir() && world.free.is_dir());
}

#[test]
fn the_log_is_closed_also_where_the_whole_repository_is_held_and_is_its_data_root() {
    let Some(world) = World::new() else { return };
    let cli = &world.cli;
    cli.ok("task create demo --subject all --resource . --shared=false");
    cli.ok("task release demo 1 --worker dev --epoch 1");
    cli.ok("task claim demo 2 --worker dev");
    fs::create_dir(cli.dir().join("src")).unwrap();
    let inside = |script: &str| {
        let mut shell = world.shell("--root .", script);
        Ran::of(shell.current_dir(cli.dir()))
    };
    let ran = inside("echo x > src/new");
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    let before = fs::read(cli.segment("demo")).unwrap();
    let ran = inside("for log in teams/demo/events/*; do echo x >> $log; done");
    assert!(ran.stderr.contains("Permission denied"), "{ran:?}");
    assert_eq!(fs::read(cli.segment("demo")).unwrap(), before);
}

#[test]
fn teamlog_inside_reads_freely_and_records_through_the_daemon() {
    let Some(world) = World::new() else { return };
    let send = "$TEAMLOG send demo --from dev --to qa --type handoff --message-id m-1";
    let ran = world.run("$TEAMLOG status demo && $TEAMLOG read demo --agent dev");
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    let ran = world.run(send);
    assert_eq!((ran.code, &*ran.stdout), (Some(77), ""), "{ran:?}");
    shows!(ran.stderr => has "hint: ", has "ask the operator to start the daemon\n");
    let daemon = Daemon::of(&world.cli);
    let ran = world.run(send);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    drop(daemon);
    assert!(world.cli.ok("read demo --agent qa").contains("m-1"));
}

#[test]
fn the_command_ends_as_it_would_and_keeps_its_streams() {
    let Some(world) = World::new() else { return };
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -KILL $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let ran = world.run(script);
        assert_eq!((ran.code, &*ran.stderr), (Some(code), ""), "{script}");
    }
    let plain = world.free.join("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    for (command, code) in [
        ("-- /no/such/command".to_owned(), 127),
        (format!("-- {}", plain.display()), 126),
        ("".to_owned(), 2),
        ("--scratch nowhere -- true".to_owned(), 1),
        (format!("--scratch {} -- true", world.repo.display()), 1),
    ] {
        world.cli.refused(code, &world.line(&command));
    }
    let passed = world
        .cli
        .run_with_input(&world.line("-- cat"), "through and through");
    assert_eq!(
        (passed.code, &*passed.stdout, &*passed.stderr),
        (Some(0), "through and through", ""),
    );
    if let Some(shown) = on_terminal(
        &world.cli,
        &world.line("-- sh -c \"test -t 0 && test -t 1 && test -t 2 && echo all\""),
        &[],
    ) {
        assert!(shown.starts_with("all"), "{shown}");
    }
    // An agent without a lease gets a warning on standard error; the command runs.
    let ran = world.cli.run("guard exec demo --agent qa -- /bin/true");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("qa holds no path"), "{ran:?}");
}

/// A command that has reported that it is running.
struct Running {
    child: Child,
    began: Instant,
}

impl Running {
    fn new(world: &World, script: &str) -> Running {
        let mut shell = world.shell("", script);
        let shell = shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn().unwrap();
        let mut said = String::new();
        let mut out = BufReader::new(child.stdout.as_mut().unwrap());
        out.read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        let began = Instant::now();
        Running { child, began }
    }

    fn send(&self, signal: &str) {
        let mut kill = Command::new("kill");
        let pid = self.child.id().to_string();
        assert!(kill.args([signal, &pid]).status().unwrap().success());
    }

    fn end(self) -> (Ran, Duration) {
        let ran = Ran::from_output(self.child.wait_with_output().unwrap());
        (ran, self.began.elapsed())
    }
}

#[test]
fn signals_reach_the_command() {
    let Some(world) = World::new() else { return };
    // A shell cannot trap signals that it ignores at its start, so leave out signals that the test's parent may ignore.
    for signal in ["TERM", "USR1", "USR2"] {
        let script =
            format!("trap 'exit 9' {signal}; echo ready; for n in $(seq 300); do sleep 0.1; done");
        let running = Running::new(&world, &script);
        running.send(&format!("-{signal}"));
        assert_eq!(running.end().0.code, Some(9), "{signal}");
    }
}

/// Returns true if the process with the id in the file still runs.
fn runs(file: &Path) -> bool {
    let pid = fs::read_to_string(file).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_lease_that_is_given_back_ends_the_command_and_what_it_left() {
    let Some(world) = World::new() else { return };
    let script = "setsid sh -c 'echo $$ > src/io/far; exec sleep 300' & \
        until [ -s src/io/far ]; do :; done; echo ready; sleep 300";
    let running = Running::new(&world, script);
    assert!(runs(&world.repo.join("src/io/far")));
    world.cli.ok("task release demo 1 --worker dev --epoch 1");
    let (ran, _) = running.end();
    assert_eq!(ran.code, Some(143), "{ran:?}");
    assert!(ran.stderr.contains("the lease on task 1 ended"), "{ran:?}");
    assert!(!runs(&world.repo.join("src/io/far")));
}

#[test]
fn a_lease_that_runs_out_ends_also_a_command_that_will_not_hear() {
    if World::new().is_none() {
        return;
    }
    let world = World::with("--lease-ms 4000");
    let running = Running::new(
        &world,
        "trap '' TERM; echo ready; for n in $(seq 60); do sleep 1; done",
    );
    let (ran, took) = running.end();
    assert_eq!(ran.code, Some(137), "{ran:?}");
    assert!(took >= Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_lease_that_is_renewed_does_not_end_the_command() {
    if World::new().is_none() {
        return;
    }
    let world = World::with("--lease-ms 10000");
    let running = Running::new(&world, "echo ready; sleep 12; exit 3");
    world
        .cli
        .ok("task renew demo 1 --worker dev --epoch 1 --lease-ms 60000");
    assert_eq!(running.end().0.code, Some(3));
}

/// Script that starts two writers and then prints `ready`. The first writer is in its own session.
const WRITERS: &str = "for way in 'setsid sh -c' 'sh -c'; do \
    $way '( ( while :; do date +%N > src/io/$$; sleep 0.01; done ) & ) & ' & done; \
    until [ $(ls src/io | wc -l) -ge 4 ]; do :; done; echo ready; ";

/// Returns true if a leased file still changes.
fn is_written(world: &World) -> bool {
    let read = || -> Vec<_> {
        let files = fs::read_dir(world.repo.join("src/io")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files.iter().map(|file| fs::read(file).ok()).collect()
    };
    let before = read();
    std::thread::sleep(Duration::from_millis(300));
    read() != before
}

#[test]
fn nothing_writes_once_the_supervisor_or_its_stage_is_killed() {
    let Some(world) = World::new() else { return };
    for victim in ["supervisor", "stage"] {
        let script = format!("{WRITERS} trap '' TERM; while :; do sleep 1; done");
        let running = Running::new(&world, &script);
        until("the writers write", || is_written(&world));
        match victim {
            "supervisor" => running.send("-KILL"),
            _ => {
                let pid = running.child.id();
                let children = format!("/proc/{pid}/task/{pid}/children");
                let stage = fs::read_to_string(children).unwrap();
                let mut kill = Command::new("kill");
                assert!(
                    kill.args(["-KILL", stage.trim()])
                        .status()
                        .unwrap()
                        .success()
                );
            }
        }
        until("nothing writes any more", || !is_written(&world));
        assert_eq!(running.end().0.code.unwrap_or(137), 137, "{victim}");
        for file in fs::read_dir(world.repo.join("src/io")).unwrap() {
            let file = file.unwrap();
            if file.file_name() != "a" && file.file_name() != "out" {
                fs::remove_file(file.path()).unwrap();
            }
        }
    }
}

#[test]
fn the_command_cannot_signal_its_supervisor() {
    let Some(world) = World::new() else { return };
    for (epoch, signal) in (1..).zip(["KILL", "STOP", "TERM"]) {
        // The supervisor is the grandparent of the shell.
        let script = format!(
            "read -r _ _ _ supervisor _ < /proc/$PPID/stat; echo ready; kill -{signal} $PPID && echo parent; \
             kill -{signal} $supervisor && echo supervisor; sleep 300"
        );
        let running = Running::new(&world, &script);
        world
            .cli
            .ok(&format!("task release demo 1 --worker dev --epoch {epoch}"));
        let (ran, _) = running.end();
        assert_eq!(
            (ran.code, &*ran.stdout),
            (Some(143), ""),
            "{signal} {ran:?}"
        );
        assert_eq!(ran.stderr.matches("not permitted").count(), 2, "{ran:?}");
        world.cli.ok("task claim demo 1 --worker dev");
    }
}

#[test]
fn what_the_command_left_running_ends_with_it() {
    let Some(world) = World::new() else { return };
    let ran = world.run(&format!("{WRITERS} exit 3"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(!is_written(&world));
}

/// The kernel allows at most sixteen nested rule sets.
#[test]
fn a_kernel_that_takes_no_more_rules_ends_it_in_78() {
    let Some(world) = World::new() else { return };
    let mut command = world.cli.command(&world.line("--"));
    let inner = world.line("--");
    for _ in 0..16 {
        command.arg(env!("CARGO_BIN_EXE_teamlog"));
        command.args(inner.split(' '));
    }
    let ran = Ran::of(command.args(["/bin/sh", "-c", "echo ran > ../free/ran"]));
    assert_eq!((ran.code, &*ran.stdout), (Some(78), ""), "{ran:?}");
    shows!(ran.stderr => has "cannot restrict the command to its paths: ");
    assert!(!world.free.join("ran").exists());
}
