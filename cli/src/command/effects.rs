//! What each subcommand does to files, for the guard: an agent that types one is asked only where that says nothing of it.
//!
//! A subcommand without a row is one that the guard does not know; a test holds that there is none.

use teamlog_guard::{Command, Effect};

/// Every subcommand, once.
pub const EFFECTS: &[Command] = &[
    reads("await"),
    reads("can-write"),
    reads("completions"),
    reads("diff"),
    reads("export"),
    reads("head"),
    reads("prime"),
    reads("read"),
    reads("ready"),
    reads("replay"),
    reads("schema"),
    reads("status"),
    reads("tail"),
    reads("tasks"),
    reads("teams"),
    reads("trace"),
    reads("traces"),
    reads("verify"),
    reads("wait"),
    reads("who"),
    reads("man").raised(&["--out"]),
    // `guard exec` runs a program.
    reads("guard").raised(&["exec"]),
    // `hooks doctor` runs what a hook runs.
    reads("hooks").raised(&["--write", "doctor"]),
    // An agent that changes a setting may change what the guard believes.
    team_data("config").raised(&["set", "unset"]),
    team_data("ack"),
    team_data("api"),
    team_data("append"),
    team_data("artifact").raised(&["--out"]),
    team_data("bootstrap"),
    team_data("dead-letter"),
    team_data("doctor"),
    team_data("import"),
    team_data("mode"),
    team_data("nudge").raised(&["--exec"]),
    team_data("rehydrate"),
    team_data("send"),
    team_data("state"),
    team_data("task"),
    team_data("task-assign"),
    team_data("task-update"),
    team_data("thread"),
    team_data("tick"),
    team_data("usage"),
    // Where no team is, it makes the place for them in the working directory.
    does("init", Effect::Files),
    does("backup", Effect::Files),
    does("keygen", Effect::Files),
    does("setup", Effect::Files),
    does("token", Effect::Files),
    // They remove or replace whole logs.
    does("convert", Effect::Files),
    does("purge", Effect::Files),
    does("restore", Effect::Files),
    does("demo", Effect::Runs),
    does("mcp", Effect::Runs),
    does("serve", Effect::Runs),
];

const fn does(name: &'static str, effect: Effect) -> Command {
    Command {
        name,
        effect,
        raised: &[],
    }
}

const fn reads(name: &'static str) -> Command {
    does(name, Effect::Reads)
}

const fn team_data(name: &'static str) -> Command {
    does(name, Effect::TeamData)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Options that name a file or a program which is only read.
    const READ: &[&str] = &[
        "append --batch",
        "append --payload-file",
        "artifact put FILE|-",
        "can-write PATH",
        "doctor check --backup",
        "guard --root",
        "guard --scratch",
        // All of `guard exec` is asked about.
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
        "schema COMMAND",
        "send --payload-file",
        "task create --resource",
        "verify --against",
        "verify --backup",
        "verify --key",
    ];

    #[test]
    fn every_subcommand_has_one_row() {
        let args = crate::args::Args::command();
        let mut names: Vec<&str> = args
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let mut rows: Vec<&str> = EFFECTS.iter().map(|row| row.name).collect();
        names.sort();
        rows.sort();
        assert_eq!(rows, names);
    }

    #[test]
    fn every_option_that_names_a_file_is_told_from_those_that_write_it() {
        let mut args = crate::args::Args::command();
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

    /// Collects the options of a command and its own that name a file, and of which nothing is said.
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
}
