//! Hints after failures of a journal.

use teamlog_team::engine::JournalFault;

/// Returns the next step. After an unknown outcome it depends on the command, so there is none.
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
            "an older state of the journal was put back, or the wrong standby promoted; the host that has most gives back what it lacks"
        }
        JournalFault::Forked => {
            "this host and the journal have recorded different things; a person has to decide which one counts"
        }
        JournalFault::Trimmed => {
            "move the team's directory away, then let this host join again from a backup"
        }
        JournalFault::NotDurable | JournalFault::OtherJournal => return None,
        JournalFault::Moved => {
            "the journal answers from another database system: accept it on each host, if the former one takes nothing any more"
        }
        JournalFault::Denied => "mend the password, the certificate or the rights of its role",
        JournalFault::Unconfigured => "name it in journals.toml",
        JournalFault::UnknownKind => {
            "reads work; to continue the team on this host alone, take its log off the journal"
        }
        JournalFault::ClockSkew => {
            "set the clock of this host, or have it kept: nothing was recorded"
        }
        JournalFault::NewerHost => {
            "install the version of teamlog on this host that the others have: nothing was recorded"
        }
        JournalFault::Loading => "it goes on if the host that began adopts the log again",
        JournalFault::Left => {
            "what is here can be read; the events behind it are recorded on the host that took the log off"
        }
        JournalFault::Refused | JournalFault::Opened => {
            "a team that the journal has is taken in by joining it"
        }
        JournalFault::Shared => {
            "to have a log of its own from it, export it, and import it under another name"
        }
    };
    Some(hint.to_owned())
}
