//! Hints after failures of a journal.

use teamlog_team::engine::JournalFault;

/// Returns the next step. Returns `None` after an unknown outcome, because the next step depends on the command.
pub fn hint(fault: JournalFault) -> Option<String> {
    let hint = match fault {
        JournalFault::Conflict => {
            "nothing was recorded; try again, or wait longer with --lock-timeout 60"
        }
        JournalFault::Unreachable => {
            "nothing was recorded; try again: reads of local data work meanwhile"
        }
        JournalFault::Unknown => return None,
        JournalFault::Behind => {
            "an older state of the journal was restored, or the wrong standby promoted; the host with the most events can restore them"
        }
        JournalFault::Forked => {
            "this host and the journal have recorded different events; an operator has to decide which ones count"
        }
        JournalFault::Trimmed => {
            "move the team's directory away, then let this host join again from a backup"
        }
        JournalFault::NotDurable | JournalFault::OtherJournal => return None,
        JournalFault::Moved => {
            "the journal is on another database system: accept it on each host, if the former one accepts nothing any more"
        }
        JournalFault::Denied => "correct the password, the certificate or the rights of its role",
        JournalFault::Unconfigured => "add it to journals.toml",
        JournalFault::UnknownKind => {
            "reads work; to continue the team on this host alone, take its log off the journal"
        }
        JournalFault::ClockSkew => {
            "set the clock of this host, or run a time service: nothing was recorded"
        }
        JournalFault::NewerHost => {
            "install the other hosts' version of teamlog on this host: nothing was recorded"
        }
        JournalFault::Loading => "it continues if the host that started adopts the log again",
        JournalFault::Left => {
            "this copy can be read; later events are on the host that took the log off"
        }
        JournalFault::Refused | JournalFault::Opened => "to use a team of the journal, join it",
        JournalFault::Shared => {
            "to get a separate log, export it, and import it under another name"
        }
    };
    Some(hint.to_owned())
}
