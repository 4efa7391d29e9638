//! Test: every option that names a file is listed, either as written by the command or as read only.

use super::{Command, EFFECTS};
use crate::global::Global;
use clap::Subcommand;
use teamlog_guard::{Effect, Own, Place, Programs, shell};

/// Options that name a file or program that the command only reads.
const READ: &[&str] = &[
    "add --description-file",
    "add --resource",
    "append --batch",
    "append --payload-file",
    "artifact put FILE|-",
    "can-write PATH",
    "doctor check --backup",
    "guard --root",
    "guard --scratch",
    // The guard treats every use of `guard exec` as unknown.
    "guard exec --root",
    "guard exec --scratch",
    "guard exec COMMAND",
    "head --sign",
    "hooks doctor --dir",
    "hooks install --dir",
    "hooks install --root",
    "hooks install --scratch",
    "import --events",
    "import --messages",
    "import --team-chat",
    "man COMMAND",
    "project --fold",
    "schema COMMAND",
    "send --payload-file",
    "task create --description-file",
    "task create --resource",
    "task resources --resource",
    "verify --against",
    "verify --backup",
    "verify --key",
];

#[test]
fn the_guard_asks_about_every_command_that_can_discard_events() {
    let own = Own {
        commands: EFFECTS,
        options: Global::options(),
    };
    let programs = Programs::trusting(own, "");
    for (command, asks) in [
        ("doctor repair demo --to 2 --yes", true),
        ("doctor repair demo --accept-rollback", true),
        ("--json doctor repair demo --to 2", true),
        ("doctor clean --yes", true),
        ("rehydrate demo --salvage", true),
        ("convert demo --format binary", true),
        ("restore demo --from b", true),
        ("join demo --journal j", true),
        ("journal list", true),
        ("purge demo --yes", true),
        ("doctor check demo --deep", false),
        ("rehydrate demo", false),
        ("verify demo", false),
    ] {
        let command = format!("teamlog {command}");
        let writes = shell::writes(&command, &Place::at("/repo"), &programs);
        assert_eq!(!writes.unknown().is_empty(), asks, "{command}");
    }
}

#[test]
fn every_option_that_names_a_file_is_told_from_those_that_write_it() {
    let mut args =
        Command::augment_subcommands(clap::Command::new("teamlog")).disable_help_subcommand(true);
    args.build();
    let mut unknown = Vec::new();
    for command in args.get_subcommands() {
        let row = EFFECTS.iter().find(|row| row.name == command.get_name());
        let row = row.unwrap();
        if matches!(row.effect, Effect::Reads | Effect::TeamData) {
            named(command, command.get_name(), row.raised, &mut unknown);
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Collects into `unknown` the options that name a file but are in no list, for a command and its subcommands.
fn named(command: &clap::Command, path: &str, raised: &[&str], unknown: &mut Vec<String>) {
    for argument in command.get_arguments() {
        let takes = argument.get_action().takes_values();
        let names = argument.get_value_names().unwrap_or_default();
        let is_file = names.iter().any(|name| {
            ["FILE", "DIR", "PATH", "PROGRAM", "COMMAND"]
                .iter()
                .any(|word| name.contains(word) && !name.contains("@FILE"))
        });
        let spelled = match argument.get_long() {
            Some(long) => format!("--{long}"),
            None => names.iter().map(|name| name.as_str()).collect(),
        };
        let said = raised.contains(&spelled.as_str())
            || spelled == "--data-root"
            || READ.contains(&format!("{path} {spelled}").as_str());
        if takes && is_file && !said {
            unknown.push(format!("{path} {spelled}"));
        }
    }
    for inner in command.get_subcommands() {
        let path = format!("{path} {}", inner.get_name());
        named(inner, &path, raised, unknown);
    }
}
