//! Reads a whole log: only envelopes, every field, or also typed payloads; with one thread or with several.

use crate::events::Payload;
use std::convert::Infallible;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Mutex;
use teamlog_engine::internals::reader::{SPAN_BYTES, Span};
use teamlog_engine::{Error, Event, Reader, internals::codec};

/// Returns the spans of the log, in the best size for reading.
pub fn spans(reader: &Reader) -> impl Iterator<Item = Span> + use<> {
    reader.spans(None, SPAN_BYTES).map(Result::unwrap)
}

/// Reads every envelope with its raw payload, and checks the checksums. Returns the number of events.
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

/// Reads every event with its raw payload, and checks the order. Returns the number of events.
pub fn full(reader: &Reader) -> u64 {
    each(reader, |event| {
        black_box(event);
    })
}

/// Reads every event with every field typed, including the fields of the payload. Returns the number of events.
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

/// Parses the payload of a generated event. The first event of a team has another payload, so a failure is ignored.
fn typed(payload: &str) {
    black_box(serde_json::from_str::<Payload>(payload).ok());
}

/// Reads every event with its typed payload, by `count` threads that take one span after another.
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
