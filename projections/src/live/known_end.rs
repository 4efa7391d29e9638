//! Events that files outside the log record: the derived store, the cursor of the views, the inboxes. After a rollback of the
//! log, these files are ahead of the log.

use crate::live::{DERIVED_DIR, derived_dir};
use crate::message::view::DIR as INBOXES;
use crate::prelude::*;
use crate::views::ViewsSource;
use teamlog_engine::LostEvent;
use teamlog_engine::internals::derived::{Anchor, Store};

/// Largest part of an inbox that is read.
const INBOX_BYTES_MAX: u64 = 64 << 20;

/// The last event that a file records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEnd {
    /// Seq of the event.
    pub seq: u64,
    /// Id of the event, if the file has it.
    pub id: Option<EventId>,
    /// Path of the file, relative to the team's directory.
    pub file: &'static str,
}

/// Returns the last event that derived files record, even if the log does not have that event. Reads the manifest of the
/// derived store and the cursor of the views.
pub fn known_end(log: &Log) -> Result<Option<KnownEnd>> {
    let stored = anchors(log)?.last().map(|last| KnownEnd {
        seq: last.seq,
        id: Some(last.id),
        file: DERIVED_DIR,
    });
    let shown = ViewsSource::new(log).cursor().unwrap_or_default();
    let shown = shown.map(|seq| KnownEnd {
        seq,
        id: None,
        file: "views",
    });
    Ok([stored, shown]
        .into_iter()
        .flatten()
        .max_by_key(|end| end.seq))
}

/// Returns the last events of the derived store's runs, in order.
fn anchors(log: &Log) -> Result<Vec<Anchor>> {
    let storage = Arc::clone(log.storage());
    match Store::open(storage, &derived_dir(log.dir()), &mut |_| Ok(true)) {
        Ok(store) => Ok(store.runs().iter().map(|run| run.last).collect()),
        // If a file is in place of the directory, there are no runs.
        Err(teamlog_engine::Error::Io { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the events after `last_seq` that derived files record, in order.
pub fn known_behind(log: &Log, last_seq: u64) -> Result<Vec<LostEvent>> {
    let mut known: BTreeMap<u64, LostEvent> = BTreeMap::new();
    for anchor in anchors(log)? {
        let event = known.entry(anchor.seq).or_default();
        event.id = Some(anchor.id.to_string());
    }
    for seq in sent(log) {
        let event = known.entry(seq).or_default();
        event.kind = Some("message_sent".to_owned());
    }
    let behind = known.into_iter().filter(|(seq, _)| *seq > last_seq);
    Ok(behind
        .map(|(seq, event)| LostEvent { seq, ..event })
        .collect())
}

/// Returns the seqs of all messages in the readable inboxes.
fn sent(log: &Log) -> Vec<u64> {
    let (storage, dir) = (log.storage(), log.dir().join(INBOXES));
    let mut seqs = Vec::new();
    for name in storage.list(&dir).unwrap_or_default() {
        let Ok(text) = storage.read(&dir.join(name), INBOX_BYTES_MAX) else {
            continue;
        };
        let lines = text.split(|byte| *byte == b'\n');
        seqs.extend(lines.filter_map(seq_of));
    }
    seqs
}

/// Returns the seq at the start of an inbox's line, `{"seq":N,`.
fn seq_of(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let digits = rest.split(|byte| !byte.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}
