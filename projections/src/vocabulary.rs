//! Every reserved kind of event, in one table.
//!
//! The table is complete from the first release, so that no log can hold a foreign event of a kind that a later
//! version gives a meaning: `append` refuses these names, and names the command that records them.

use crate::fact::stored::Decoded;
use crate::fact::{self, Fact};
use std::sync::LazyLock;

/// One reserved kind.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The kind, snake_case, a fact in the past.
    pub name: &'static str,
    /// The command that records it, as a user types it; `None` where none does.
    pub command: Option<&'static str>,
    /// What it says.
    pub doc: &'static str,
    /// Reads the payload of such an event.
    pub(crate) decode: fn(&str) -> Decoded<Fact>,
}

/// The reserved kind of that name; `None` for a foreign one.
pub fn find(name: &str) -> Option<&'static Kind> {
    let at = KINDS.binary_search_by(|kind| kind.name.cmp(name)).ok()?;
    KINDS.get(at)
}

const fn log(name: &'static str, command: &'static str, doc: &'static str) -> Kind {
    Kind {
        command: Some(command),
        ..unused(name, doc)
    }
}

const fn unused(name: &'static str, doc: &'static str) -> Kind {
    Kind {
        name,
        command: None,
        doc,
        decode: |_| Ok(Fact::Counted),
    }
}

/// Kinds about the log itself.
#[rustfmt::skip]
const LOG: &[Kind] = &[
    log("log_converted", "teamlog convert TEAM", "The log was copied from another format or file system."),
    log("log_imported", "teamlog import TEAM", "History was imported, with counts of what was left out."),
    log("log_journal_adopted", "teamlog journal adopt TEAM", "From here on a journal orders the log."),
    log("log_journal_left", "teamlog journal leave TEAM", "From here on no journal orders the log."),
    log("log_restored", "teamlog import TEAM --events", "The log was restored from an export or a backup."),
    log("log_salvaged", "teamlog rehydrate TEAM --salvage", "What could be read of a damaged log was taken over."),
    log("log_tail_quarantined", "teamlog append TEAM", "A torn tail was set aside."),
];

/// Kinds that no command records. They stay reserved: a log that holds one as a foreign event would change its meaning.
#[rustfmt::skip]
const UNUSED: &[Kind] = &[
    unused("manifest_written", "The team's manifest changed."),
    unused("members_removed", "Agents ceased to be members."),
    unused("resource_policy_set", "How overlapping paths are treated was set."),
    unused("task_assigned", "A task got an owner without a claim."),
    unused("team_settings_changed", "Whether agents join by acting, or views are kept, changed."),
    unused("thread_participants_added", "Agents joined a thread."),
];

/// All reserved kinds, sorted by name.
pub static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let mut kinds = [fact::KINDS, &[LOG, UNUSED]].concat().concat();
    kinds.sort_by_key(|kind| kind.name);
    kinds
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kind_stands_twice() {
        for pair in KINDS.windows(2) {
            let (one, next) = (pair[0].name, pair[1].name);
            assert!(one < next, "{one} {next}");
        }
    }

    #[test]
    fn every_row_is_complete_and_names_match_the_pattern() {
        for kind in KINDS.iter() {
            let name = kind.name;
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            assert!(
                name.starts_with(|letter: char| letter.is_ascii_lowercase()),
                "{name}"
            );
            assert!(name.bytes().all(plain), "{name}");
            let typed = |command: &str| command.starts_with("teamlog ");
            assert!(kind.command.is_none_or(typed), "{name}");
            assert!(kind.doc.ends_with('.') && kind.doc.len() > 10, "{name}");
            assert_eq!(find(kind.name).map(|found| found.doc), Some(kind.doc));
        }
    }

    #[test]
    fn the_kinds_that_the_protocols_name_are_there() {
        let names = "message_sent message_duplicate message_suppressed delivery_acked delivery_retry \
            delivery_dead_letter message_acked message_ack_duplicate ack_rejected task_lease_expired \
            bootstrap_breached bootstrap_blocked worker_event_reported task_completed task_failed task_imported \
            team_created members_added log_tail_quarantined response_stored";
        for name in names.split_whitespace() {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn other_names_are_foreign() {
        let names = [
            "",
            "message",
            "deploy_finished",
            "message_sent_",
            "MESSAGE_SENT",
            "zz",
        ];
        for name in names {
            assert!(find(name).is_none(), "{name}");
        }
    }
}
