//! What people see: colours where they want them, and a word where a name is not known.

use crate::harness::Cli;

#[test]
fn an_owner_that_nobody_knows_is_said() {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject x");
    let ran = cli.run("tasks demo --owner dve");
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stderr.contains("\"dve\"") && ran.stderr.contains("did you mean dev?"),
        "{ran:?}"
    );
    assert_eq!(cli.run("tasks demo --owner qa").stderr, "");
}

#[test]
fn colours_can_be_forced_and_refused() {
    let cli = Cli::with_team();
    let shown = |set: &[(&str, &str)]| {
        let mut command = cli.command("status demo");
        command.envs(set.iter().copied());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(!shown(&[]).contains('\u{1b}'));
    assert!(shown(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[1m"));
    assert!(!shown(&[("CLICOLOR_FORCE", "0")]).contains('\u{1b}'));
    assert!(!shown(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}
