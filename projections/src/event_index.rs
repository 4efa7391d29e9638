//! The index of events by kind and tag, beside the engine's postings of refs, and the search in all of them.
//!
//! Each event has a posting under its kind. A tagged event also has a posting per tag, and a posting per tag and kind, so that a
//! query for a kind and a tag reads one series.

use crate::common::*;
use crate::postings::Stream;
use crate::state::TeamState;
use crate::tag::tagged;

/// Version of the keys of this index, a part of `FOLD_DIGEST`.
#[cfg(test)]
pub(crate) const EVENT_INDEX_VERSION: u32 = 1;

/// Namespaces of the index. Like the engine's postings of refs, they are no part of the state digest.
const KINDS: u8 = 0xF8;
const TAGS: u8 = 0xF9;
const TAGS_OF_KINDS: u8 = 0xFA;

/// Calls `each` with every posting key of an event, except the keys of its refs.
pub(crate) fn postings(event: &Event<'_>, mut each: impl FnMut(Vec<u8>)) {
    each(posting(KINDS, &event.kind, event.seq));
    for tag in tagged(event)
        .map(|content| content.tags)
        .unwrap_or_default()
    {
        each(posting(TAGS, &tag, event.seq));
        each(posting(
            TAGS_OF_KINDS,
            &tag_of_kind(&event.kind, &tag),
            event.seq,
        ));
    }
}

/// Names the series of a tag on events of a kind. A kind has no space, so the name is unique.
fn tag_of_kind(kind: &str, tag: &str) -> String {
    [kind, tag].join(" ")
}

/// Returns the series of the events with a tag.
pub(crate) fn tag_series(tag: &str) -> Vec<u8> {
    key::series(TAGS, tag.as_bytes())
}

fn posting(namespace: u8, name: &str, seq: u64) -> Vec<u8> {
    let mut key = key::series(namespace, name.as_bytes());
    key.extend_from_slice(&seq.to_be_bytes());
    key
}

/// Values that an event must have. The index finds every value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexQuery<'a> {
    /// Kinds of which the event must have one; empty for any kind.
    pub kinds: Vec<&'a str>,
    /// Tags that the event must have.
    pub tags: Vec<&'a str>,
    /// Refs that the event must have.
    pub refs: Vec<(RefKind, &'a str)>,
}

impl IndexQuery<'_> {
    /// Returns true if the query names nothing, so that every event would match.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.tags.is_empty() && self.refs.is_empty()
    }

    /// Returns one group of series per condition. A matching event is in at least one series of every group.
    fn series(&self) -> Vec<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        for tag in &self.tags {
            all.push(match self.kinds.is_empty() {
                true => vec![tag_series(tag)],
                false => {
                    let kinds = self.kinds.iter();
                    let names = kinds.map(|kind| tag_of_kind(kind, tag));
                    names
                        .map(|name| key::series(TAGS_OF_KINDS, name.as_bytes()))
                        .collect()
                }
            });
        }
        for (kind, value) in &self.refs {
            let namespace = key::POSTINGS + *kind as u8;
            all.push(vec![key::series(namespace, value.as_bytes())]);
        }
        if self.tags.is_empty() && !self.kinds.is_empty() {
            let kinds = self.kinds.iter();
            all.push(
                kinds
                    .map(|kind| key::series(KINDS, kind.as_bytes()))
                    .collect(),
            );
        }
        all
    }
}

/// A page of matching events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexMatches {
    /// Seqs of the events, newest first.
    pub seqs: Vec<u64>,
    /// The seq before which the next page begins; `None` if everything was examined.
    pub before: Option<u64>,
}

/// The newest event of a range that matches a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexMatch {
    /// The event with this seq.
    Seq(u64),
    /// No more look-ups are left; everything after this seq was examined.
    Stopped(u64),
    /// No event matches.
    None,
}

impl TeamState {
    /// Returns the newest `limit` events that match a query, from `first` up to and including `last`. Stops after `steps_max` look-ups
    /// of postings.
    ///
    /// Each look-up skips to the newest posting that the other values allow, so the cost depends on the rarest value and the number
    /// of matches. Only postings are read, so that folded events are found before they are written.
    pub fn indexed(
        &self,
        query: &IndexQuery<'_>,
        (first, last): (u64, u64),
        limit: usize,
        steps_max: usize,
    ) -> Result<IndexMatches> {
        let mut streams = self.streams(query);
        let mut page = IndexMatches::default();
        let mut left = steps_max;
        let mut at = Some(last);
        while let Some(seq) = at.filter(|seq| *seq >= first) {
            match newest_common(&mut streams, (first, seq), &mut left)? {
                IndexMatch::Seq(found) if page.seqs.len() < limit => {
                    page.seqs.push(found);
                    at = found.checked_sub(1);
                }
                IndexMatch::Seq(seq) | IndexMatch::Stopped(seq) => {
                    page.before = Some(seq.saturating_add(1));
                    break;
                }
                IndexMatch::None => break,
            }
        }
        Ok(page)
    }

    /// Returns the newest event in a range that matches a query. Subtracts every look-up from `left`, and stops at zero.
    pub fn newest_indexed(
        &self,
        query: &IndexQuery<'_>,
        (first, last): (u64, u64),
        left: &mut usize,
    ) -> Result<IndexMatch> {
        match first <= last {
            true => newest_common(&mut self.streams(query), (first, last), left),
            false => Ok(IndexMatch::None),
        }
    }

    fn streams(&self, query: &IndexQuery<'_>) -> Vec<Stream<'_>> {
        let names = query.series().into_iter();
        names.map(|names| Stream::new(self.rows(), names)).collect()
    }
}

fn newest_common(
    streams: &mut [Stream<'_>],
    (first, mut seq): (u64, u64),
    left: &mut usize,
) -> Result<IndexMatch> {
    let count = streams.len();
    // Number of consecutive streams that contain `seq`.
    let mut agreed = 0;
    while agreed < count {
        for stream in &mut *streams {
            if agreed == count {
                break;
            }
            if *left == 0 {
                return Ok(IndexMatch::Stopped(seq));
            }
            *left -= 1;
            match stream.at_most(seq)? {
                Some(found) if found == seq => agreed += 1,
                Some(found) if found >= first => (seq, agreed) = (found, 1),
                _ => return Ok(IndexMatch::None),
            }
        }
    }
    Ok(IndexMatch::Seq(seq))
}
