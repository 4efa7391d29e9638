//! Commands and values of other tools, and the equivalent commands and values of teamlog.

/// Commands of other tools, each with the equivalent command line of teamlog.
const COMMANDS: [(&str, &str); 50] = [
    ("abandon", "teamlog release TASK"),
    ("agents", "teamlog who"),
    ("block", "teamlog note TASK TEXT --blocked"),
    ("blocked", "teamlog list --status blocked"),
    ("cancel", "teamlog drop TASK"),
    ("complete", "teamlog done TASK"),
    (
        "create",
        "for a task: teamlog add SUBJECT\nfor a team: teamlog init TEAM",
    ),
    (
        "delete",
        "for a task: teamlog drop TASK\nfor a team: teamlog close TEAM, then teamlog purge TEAM",
    ),
    ("dep", "teamlog edit TASK --after OTHER"),
    ("events", "teamlog log"),
    ("finish", "teamlog done TASK"),
    ("follow", "teamlog log --follow"),
    ("get", "teamlog show TASK"),
    ("grep", "teamlog find QUERY"),
    ("heartbeat", "teamlog task renew TASK"),
    ("history", "teamlog show TASK --history"),
    ("info", "teamlog status, or teamlog show TASK"),
    ("issue", "teamlog list"),
    ("issues", "teamlog list"),
    ("ls", "teamlog list"),
    ("mail", "teamlog inbox"),
    ("members", "teamlog who"),
    ("me", "teamlog prime"),
    ("message", "teamlog say AGENT TEXT"),
    ("messages", "teamlog inbox"),
    ("msg", "teamlog say AGENT TEXT"),
    ("new", "teamlog add SUBJECT"),
    ("open", "teamlog list --status pending"),
    ("pick", "teamlog next"),
    ("ps", "teamlog who"),
    ("recv", "teamlog inbox"),
    ("reassign", "teamlog assign TASK AGENT"),
    ("remove", "teamlog drop TASK"),
    ("renew", "teamlog task renew TASK"),
    ("resolve", "teamlog done TASK"),
    ("report", "teamlog note TASK TEXT"),
    ("revert", "teamlog undo"),
    ("rm", "teamlog drop TASK"),
    ("search", "teamlog find QUERY"),
    ("skip", "teamlog drop TASK"),
    ("start", "teamlog next, or teamlog claim TASK"),
    ("stop", "teamlog release TASK"),
    ("take", "teamlog claim TASK"),
    ("todo", "teamlog list"),
    ("unassign", "teamlog assign TASK --nobody"),
    ("unclaim", "teamlog release TASK"),
    (
        "update",
        "teamlog edit TASK --help, or teamlog note TASK TEXT",
    ),
    ("version", "teamlog --version"),
    ("view", "teamlog show TASK"),
    ("whoami", "teamlog prime"),
];

/// Values of other tools: the option, the other tool's value, and the equivalent value.
const VALUES: [(&str, &str, &str); 12] = [
    ("--priority", "urgent", "critical"),
    ("--priority", "highest", "critical"),
    ("--priority", "medium", "normal"),
    ("--priority", "lowest", "low"),
    ("--status", "open", "pending"),
    ("--status", "todo", "pending"),
    ("--status", "new", "pending"),
    ("--status", "doing", "in_progress"),
    ("--status", "wip", "in_progress"),
    ("--status", "closed", "completed"),
    ("--status", "finished", "completed"),
    ("--status", "error", "failed"),
];

/// Options whose valid values a command lists, each with this command.
const LISTS: [(&str, &str); 3] = [
    (
        "<WHOSE>",
        "teamlog setup claude, or teamlog setup codex\nfor another agent: teamlog mcp --help",
    ),
    ("--trace-id", "to list the traces: teamlog trace"),
    ("--type", "to send a text: teamlog say AGENT TEXT"),
];

/// Returns the command line that is equivalent to an unknown command.
pub(super) fn of_command(word: &str) -> Option<String> {
    let row = COMMANDS.iter().find(|(known, _)| *known == word)?;
    Some(row.1.to_owned())
}

/// Returns the value that is equivalent to an invalid value of an option.
pub(super) fn of_value(option: &str, value: &str) -> Option<String> {
    let option = option.split(' ').next().unwrap_or_default();
    let row = VALUES.iter().find(|row| (row.0, row.1) == (option, value));
    let meant = row.map(|(option, _, meant)| format!("did you mean {option} {meant}?"));
    meant.or_else(|| of_option(option))
}

/// Returns the command that lists the values of an option.
pub(super) fn of_option(option: &str) -> Option<String> {
    let option = option.split(' ').next().unwrap_or_default();
    let row = LISTS.iter().find(|(known, _)| *known == option)?;
    Some(row.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    #[test]
    fn every_meaning_is_a_command_line_that_exists() {
        let teamlog = Args::command();
        for (word, lines) in COMMANDS {
            assert!(teamlog.find_subcommand(word).is_none(), "{word} exists");
            for line in lines.split("teamlog ").skip(1) {
                let name = line.split([' ', ',']).next().unwrap_or_default();
                assert!(
                    name == "--version" || teamlog.find_subcommand(name).is_some(),
                    "{word}: {line}"
                );
            }
        }
    }
}
