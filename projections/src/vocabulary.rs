//! Every reserved kind of event, in one table.
//!
//! The table has been complete since the first release, so that no log has a foreign event of a kind that a later version
//! defines. `append` refuses these names, and names the command that records them.

use crate::common::*;
pub use crate::event::Kind;
use crate::event::undecodable;
use crate::fact::{Fact, NOUNS, Read};
use std::sync::LazyLock;

/// A reserved kind, and the reader of its payloads.
struct Reserved {
    kind: Kind,
    read: Read,
}

/// Latest version of the payloads' formats.
const SCHEMA_VERSION: u32 = 1;

/// Returns the reserved kind with this name; `None` for the name of a foreign event.
pub fn find(name: &str) -> Option<&'static Kind> {
    Some(&reserved(name)?.kind)
}

/// Returns all reserved kinds, sorted by name.
pub fn kinds() -> impl Iterator<Item = &'static Kind> {
    RESERVED.iter().map(|reserved| &reserved.kind)
}

fn reserved(name: &str) -> Option<&'static Reserved> {
    let at = RESERVED
        .binary_search_by(|reserved| reserved.kind.name.cmp(name))
        .ok()?;
    RESERVED.get(at)
}

impl Fact {
    /// Decodes an event. Must not be called for foreign events.
    ///
    /// # Errors
    /// `Undecodable` if the payload does not have the format of its kind; the engine's `Newer` if the kind is not in the
    /// vocabulary, or if the format is newer.
    pub fn decode(event: &Event<'_>) -> Result<Fact> {
        let why = match reserved(&event.kind) {
            None => "this version does not know its kind".to_owned(),
            Some(_) if event.schema_version > SCHEMA_VERSION => {
                let version = event.schema_version;
                format!(
                    "its payload has version {version}, and this version reads up to {SCHEMA_VERSION}"
                )
            }
            Some(reserved) => {
                return (reserved.read)(&event.kind, &event.payload).map_err(undecodable(event));
            }
        };
        Err(Error::Engine(teamlog_engine::Error::Newer {
            seq: event.seq,
            kind: event.kind.clone().into_owned(),
            why,
        }))
    }
}

const fn log(name: &'static str, command: &'static str, doc: &'static str) -> Kind {
    Kind {
        name,
        command: Some(command),
        doc,
    }
}

const fn unused(name: &'static str, doc: &'static str) -> Kind {
    Kind {
        name,
        command: None,
        doc,
    }
}

/// Kinds about the log itself.
#[rustfmt::skip]
const LOG: &[Kind] = &[
    log("log_converted", "teamlog convert TEAM", "The log was copied from another format or file system."),
    log("log_imported", "teamlog import TEAM", "History was imported; the payload counts left-out items."),
    log("log_journal_adopted", "teamlog journal adopt TEAM", "The log was adopted by a journal, which orders it from now on."),
    log("log_journal_left", "teamlog journal leave TEAM", "The log left its journal, which no longer orders it."),
    log("log_restored", "teamlog import TEAM --events", "The log was restored from an export or a backup."),
    log("log_salvaged", "teamlog rehydrate TEAM --salvage", "The readable part of a damaged log was copied."),
    log("log_tail_quarantined", "teamlog append TEAM", "A torn tail was set aside."),
];

/// Kinds that no command records. These kinds stay reserved, because a log could otherwise have foreign events of such a kind,
/// whose meaning would change when a later version uses it.
#[rustfmt::skip]
const UNUSED: &[Kind] = &[
    unused("manifest_written", "The team's manifest changed."),
    unused("members_removed", "Agents ceased to be members."),
    unused("resource_policy_set", "The policy for overlapping paths was set."),
    unused("team_settings_changed", "The setting of open membership or of view files changed."),
    unused("thread_participants_added", "Agents joined a thread."),
];

/// All reserved kinds, sorted by name.
static RESERVED: LazyLock<Vec<Reserved>> = LazyLock::new(|| {
    let counted: Read = |_, _| Ok(Fact::Counted);
    let nouns = NOUNS.iter().map(|noun| (noun.kinds, noun.read));
    let others = [(LOG, counted), (UNUSED, counted)];
    let mut all: Vec<Reserved> = nouns
        .chain(others)
        .flat_map(|(kinds, read)| kinds.iter().map(move |kind| Reserved { kind: *kind, read }))
        .collect();
    all.sort_by_key(|reserved| reserved.kind.name);
    all
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_kind_stands_twice() {
        let names: Vec<&str> = kinds().map(|kind| kind.name).collect();
        for pair in names.windows(2) {
            let (one, next) = (pair[0], pair[1]);
            assert!(one < next, "{one} {next}");
        }
    }

    #[test]
    fn every_row_is_complete_and_names_match_the_pattern() {
        for kind in kinds() {
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
