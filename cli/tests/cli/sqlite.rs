//! `export --to sqlite FILE` runs the program `teamlog-sqlite`, from the directory of `teamlog` or from `PATH`.

use crate::prelude::*;

/// A directory with a copy of `teamlog`, and an empty directory as `PATH`.
struct Installed {
    dir: tempfile::TempDir,
}

impl Installed {
    fn new() -> Installed {
        let dir = tempfile::tempdir().unwrap();
        for name in ["bin", "path"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let installed = Installed { dir };
        let teamlog = env!("CARGO_BIN_EXE_teamlog");
        installed.shell(&format!("cp {teamlog} bin/teamlog"));
        installed
    }

    /// Runs a shell. This process must not write a program itself: a child process of another test would inherit the open file, and no
    /// process can run a program that is open for writing.
    fn shell(&self, script: &str) {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(self.dir.path());
        assert!(shell.status().unwrap().success());
    }

    /// Puts a program that prints its arguments into a directory.
    fn program(&self, place: &str) {
        let path = format!("{place}/teamlog-sqlite");
        let lines = format!("'#!/bin/sh' 'echo {place} \"$@\"' 'exit 7'");
        self.shell(&format!(
            "printf '%s\\n' {lines} > {path} && chmod +x {path}"
        ));
    }

    fn run(&self, cli: &Cli, line: &str) -> Ran {
        let mut command = Command::new(self.dir.path().join("bin/teamlog"));
        command
            .args(line.split(' '))
            .current_dir(cli.dir())
            .env("PATH", self.dir.path().join("path"));
        Ran::of(&mut command)
    }
}

#[test]
fn a_missing_program_names_the_command_that_installs_it() {
    let (cli, installed) = (Cli::with_team(), Installed::new());
    let ran = installed.run(&cli, "export demo --to sqlite team.db");
    assert_eq!(ran.code, Some(69), "{}", ran.stderr);
    let hint = "cargo install --locked --path sqlite";
    shows!(ran.stderr => has "teamlog-sqlite", has hint);
}

#[test]
fn the_program_is_searched_beside_teamlog_and_then_in_path() {
    let (cli, installed) = (Cli::with_team(), Installed::new());
    for place in ["path", "bin"] {
        installed.program(place);
        let ran = installed.run(&cli, "export --to sqlite team.db --follow --replace --json");
        // The program takes the place of this process.
        assert_eq!(ran.code, Some(7), "{}", ran.stderr);
        let root = cli.dir().display();
        let expected =
            format!("{place} --data-root {root} --follow --replace --json -- demo team.db\n");
        assert_eq!(ran.stdout, expected);
    }
}

#[test]
fn wrong_forms_are_refused() {
    let cli = Cli::with_team();
    for (line, said) in [
        ("export demo --to csv a.csv", "--to must be sqlite FILE"),
        ("export demo --follow", "--to"),
        ("export demo --format audit --to sqlite a.db", "--format"),
    ] {
        let refused = cli.refused(2, line);
        assert!(refused.contains(said), "{line}: {refused}");
    }
    cli.refused(1, "export none --to sqlite a.db");
    let remote = cli
        .command("export demo --to sqlite a.db")
        .env("TEAMLOG_REMOTE", "https://127.0.0.1:1")
        .env_remove("TEAMLOG_DATA_ROOT")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&remote.stderr).into_owned();
    assert_eq!(remote.status.code(), Some(1), "{said}");
    assert!(said.contains("data root"), "{said}");
    assert!(!cli.dir().join("a.db").exists());
}
