//! `SKILL.md` teaches what is so: every command in it runs as it is printed, and it stays short.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

const LINES_MAX: usize = 240;

/// What the commands find.
const BEFORE: &str = "\
teamlog init demo --members lead,dev,qa
teamlog task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix the login' --trace-id tr-1
teamlog send demo --from lead --to dev --type handoff --message-id m-1
export TEAMLOG_AGENT=dev
";

#[test]
fn every_command_of_the_skill_runs_as_it_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../SKILL.md");
    let skill = std::fs::read_to_string(path).unwrap();
    assert!(skill.lines().count() < LINES_MAX);
    assert!(skill.starts_with("---\nname: teamlog\ndescription: "));
    let blocks: Vec<&str> = skill
        .split("<!-- run -->\n```sh\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 10, "{blocks:?}");
    // Only the one that says who acts is not run here, since it would end with its shell.
    assert_eq!(skill.matches("```sh\n").count(), blocks.len() + 1);

    let binary = Path::new(env!("CARGO_BIN_EXE_teamlog"));
    let home = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-e", "-c", &(BEFORE.to_owned() + &blocks.concat())])
        .current_dir(home.path())
        .env(
            "PATH",
            format!("{}:{path}", binary.parent().unwrap().display()),
        )
        .env("HOME", home.path())
        .env_remove("TEAMLOG_DATA_ROOT")
        .env_remove("TEAMLOG_AGENT")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
    // Beside its answer a look back says which point it looks at, and nothing else is said there.
    let beside: Vec<&str> = failed
        .lines()
        .filter(|line| !line.starts_with("note: as of event "))
        .collect();
    assert!(beside.is_empty(), "{failed}");
    for claim in [
        "T-1",
        "sent",
        "healthy",
        "mode transiting: blueprint -> forge",
        "TEAM_READY",
    ] {
        assert!(said.contains(claim), "{claim:?} is missing in:\n{said}");
    }
}
