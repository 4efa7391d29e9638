//! What to do where a journal did not take part.

use teamlog_team::engine::JournalFault;

/// What to do next; where the outcome is unknown that hangs on the command.
pub fn hint(fault: JournalFault) -> Option<String> {
    let hint = match fault {
        JournalFault::Conflict => {
            "nothing was recorded; try again, or wait longer with --lock-timeout 60"
        }
        JournalFault::Unreachable => {
            "nothing was recorded; try again: what is here can be read meanwhile"
        }
        JournalFault::Unknown => return None,
        JournalFault::Behind => {
            "an older state of the journal was put back, or the wrong standby promoted; to give back what it lacks, on the host that has most: teamlog journal heal TEAM"
        }
        JournalFault::Forked => {
            "this host and the journal have recorded different things; a person has to decide which one counts"
        }
        JournalFault::Trimmed => {
            "move the team's directory away, then take it in from a backup: teamlog join TEAM --journal NAME --from DIR"
        }
        JournalFault::NotDurable => "to see what it lacks: teamlog journal check NAME",
        JournalFault::OfAnother => "to see which one it is: teamlog journal check NAME",
        JournalFault::Unconfigured => "name it in journals.toml: teamlog journal create --help",
        JournalFault::UnknownKind => {
            "reads work; to continue the team on this host alone: teamlog journal leave TEAM --offline"
        }
        JournalFault::ClockSkew => {
            "set the clock of this host, or have it kept: nothing was recorded"
        }
        JournalFault::NewerHost => {
            "install the version of teamlog on this host that the others have: nothing was recorded"
        }
        JournalFault::Loading => {
            "to go on with it, on the host that began: teamlog journal adopt TEAM --journal NAME"
        }
        JournalFault::Left => {
            "what is here can be read; the events behind it are recorded on the host that took the log off"
        }
        JournalFault::Refused | JournalFault::Opened => {
            "to take a team in that the journal has: teamlog join TEAM --journal NAME"
        }
        JournalFault::Shared => {
            "to have a log of its own from it: teamlog export, then import under another name"
        }
    };
    Some(hint.to_owned())
}
