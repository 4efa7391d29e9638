//! Reads a whole log: envelopes alone, every field, payloads typed; with one thread and with several.

use crate::events::Payload;
use std::convert::Infallible;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Mutex;
use teamlog_engine::internals::reader::{SPAN_BYTES, Span};
use teamlog_engine::{Error, Event, Reader, internals::codec};

/// Returns its spans, of the best size for reading.
pub fn spans(reader: &Reader) -> impl Iterator<Item = Span> + use<> {
    reader.spans(None, SPAN_BYTES).map(Result::unwrap)
}

/// Reads every envelope, with checksums checked and raw payloads. Returns their number.
pub fn envelopes(reader: &Reader) -> u64 {
    let mut seen = 0;
    for span in spans(reader) {
        let mut rest = span.content();
        while !rest.is_empty() {
            let envelope = black_box(codec::envelope(span.format, rest).unwrap());
            rest = &rest[envelope.len..];
            seen += 1;
        }
    }
    seen
}

/// Reads every event, with its order checked and raw payloads. Returns their number.
pub fn full(reader: &Reader) -> u64 {
    each(reader, |event| {
        black_box(event);
    })
}

/// Reads every event with every field typed, including the payload's. Returns their number.
pub fn full_typed(reader: &Reader) -> u64 {
    each(reader, |event| typed(&black_box(event).payload))
}

fn each(reader: &Reader, mut see: impl FnMut(&Event<'_>)) -> u64 {
    let mut seen = 0;
    let end: Option<Infallible> = reader
        .each(None, |located| {
            see(&located.frame.event);
            seen += 1;
            Ok::<_, Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    assert!(end.is_none());
    seen
}

/// Parses the payload of a generated event; the first event of a team has another one.
fn typed(payload: &str) {
    black_box(serde_json::from_str::<Payload>(payload).ok());
}

/// Reads every event with its payload typed, by `count` threads that take span after span.
pub fn workers(reader: &Reader, count: usize) {
    let spans = Mutex::new(spans(reader));
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                loop {
                    let Some(span) = spans.lock().unwrap().next() else {
                        break;
                    };
                    for located in span.decode().unwrap() {
                        typed(&black_box(&located.frame.event).payload);
                    }
                }
            });
        }
    });
}
