//! Frames of a stream, in the format `text/event-stream`.

use hyper::body::Bytes;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use teamlog_team::Recorded;
use teamlog_team::engine::Event;
use teamlog_team::redaction::redact;
use teamlog_team::story::sentence::sentence;

/// Time after which a client reconnects, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// Text between the seq and the JSON of an event.
const DATA: &str = "\ndata: ";

/// Returns the first frame of a stream. This frame shows the client that the stream works.
pub fn hello(after: u64) -> String {
    format!("retry: {RETRY_MS}\n: behind {after}\n\n")
}

/// Returns the frame of an event. The id of the frame is the seq, from which a client resumes.
pub fn event(event: &Event<'_>) -> Bytes {
    let recorded = Recorded {
        sentence: Some(sentence(event)),
        ..Recorded::plain(event.clone().into_owned())
    };
    // The JSON has no unescaped line end, so it is one line.
    format!("id: {}{DATA}{}\n\n", event.seq, recorded.json()).into()
}

/// Removes from the frame of an event the claim tokens that belong to other agents than `agent`.
pub fn redacted(frame: Bytes, agent: &str) -> Bytes {
    let text = std::str::from_utf8(&frame).unwrap_or_default();
    let Some((head, event)) = text.split_once(DATA) else {
        return frame;
    };
    match redact(event.trim_end(), agent) {
        Some(redacted) => format!("{head}{DATA}{redacted}\n\n").into(),
        None => frame,
    }
}

/// Returns a frame with the name of an event and JSON.
pub fn named(event: &str, data: &Value) -> String {
    format!("event: {event}{DATA}{data}\n\n")
}

/// Returns a frame with a seq and JSON of one line.
pub fn with_id(seq: u64, data: &str) -> String {
    format!("id: {seq}{DATA}{data}\n\n")
}

/// Returns the last frame for a client whose stream is ended: the position from which to resume, and the reason.
pub fn cut(after: u64, why: &str) -> String {
    let why = Value::from(why);
    format!("event: cut\nid: {after}\ndata: {{\"after\":{after},\"why\":{why}}}\n\n")
}

/// Bytes that are counted while they are queued.
struct CountedBytes {
    bytes: Bytes,
    load: Arc<AtomicUsize>,
}

/// Wraps bytes, so that `load` includes their number until they are dropped.
pub fn counted(bytes: Bytes, load: &Arc<AtomicUsize>) -> Bytes {
    load.fetch_add(bytes.len(), Ordering::Relaxed);
    Bytes::from_owner(CountedBytes {
        bytes,
        load: load.clone(),
    })
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        self.load.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_until_it_is_gone() {
        let load = Arc::new(AtomicUsize::new(0));
        let frame = counted(Bytes::from_static(b"12345"), &load);
        let same = frame.clone();
        drop(frame);
        assert_eq!(load.load(Ordering::Relaxed), 5);
        assert_eq!(&same[..], b"12345");
        drop(same);
        assert_eq!(load.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_last_word_says_where_to_go_on() {
        assert_eq!(
            cut(7, "a \"b\"\n"),
            "event: cut\nid: 7\ndata: {\"after\":7,\"why\":\"a \\\"b\\\"\\n\"}\n\n"
        );
    }
}
