//! Measures replay: `jsonl` compared with bare `serde_json`, and `binary` compared with a bare walk over checksums, with one
//! worker and with two.

use crate::options::Options;
use std::hint::black_box;
use teamlog_benches::events::{self, Line};
use teamlog_benches::rounds::{Contestant, Times, run, timed};
use teamlog_benches::scan::{envelopes, full, full_typed, spans, workers};
use teamlog_benches::table::Target;
use teamlog_benches::workspace::log;
use teamlog_engine::{Durability, Format, Reader, internals::codec};

const EVENTS: u64 = 40_000;

/// Prints the rows about replay.
pub fn rows(options: &Options) {
    let names = [
        "T8 jsonl replay, envelope and lazy payload",
        "T9 jsonl replay, every field typed",
        "T9 jsonl replay, two workers against one",
    ];
    if names.iter().any(|name| options.wants(name)) {
        jsonl(names, options);
    }
    let names = [
        "T10 binary replay, verify and envelope",
        "T10 binary replay, verify and full",
    ];
    if names.iter().any(|name| options.wants(name)) {
        binary(names, options);
    }
}

/// Returns a closed log of `EVENTS` events, and the bytes of its only segment after the header.
fn written(format: Format, options: &Options) -> (Reader, Vec<u8>) {
    let dir = options.fresh();
    let log = log(&dir, format);
    let writer = log.lock().unwrap().into_writer(());
    for seq in 1..=EVENTS {
        let event = events::new_event(seq);
        writer.append(vec![event], Durability::Buffered).unwrap();
    }
    writer.close().unwrap();
    let reader = log.reader().unwrap();
    let bytes = spans(&reader).flat_map(|span| span.content().to_vec());
    let bytes = bytes.collect();
    (reader, bytes)
}

fn jsonl(names: [&str; 3], options: &Options) {
    let (reader, bytes) = written(Format::Jsonl, options);
    let bare: Contestant<'_> = Box::new(|| {
        timed(|| {
            for line in bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
            {
                black_box(serde_json::from_slice::<Line>(line).unwrap());
            }
        })
    });
    let contestants: Vec<Contestant<'_>> = vec![
        bare,
        Box::new(|| timed(|| assert_eq!(envelopes(&reader), EVENTS))),
        Box::new(|| timed(|| assert_eq!(full_typed(&reader), EVENTS))),
        Box::new(|| timed(|| workers(&reader, 1))),
        Box::new(|| timed(|| workers(&reader, 2))),
    ];
    let times = run(options.rounds(21), contestants);
    rows_of(
        &times,
        options,
        &[
            (names[0], [1, 0], 4.0),
            (names[1], [2, 0], 1.0),
            (names[2], [4, 3], 1.4),
        ],
    );
}

fn binary(names: [&str; 2], options: &Options) {
    let (reader, bytes) = written(Format::Binary, options);
    let mut lengths = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let len = codec::extent(Format::Binary, rest).unwrap();
        lengths.push(len);
        rest = &rest[len..];
    }
    // The bare loop reads the same file in pieces of the same size.
    let bare: Contestant<'_> = Box::new(|| {
        timed(|| {
            let mut lengths = lengths.iter();
            for span in spans(&reader) {
                let mut rest = span.content();
                while !rest.is_empty() {
                    let (frame, behind) = rest.split_at(*lengths.next().unwrap());
                    black_box(crc32fast::hash(frame));
                    rest = behind;
                }
            }
        })
    });
    let contestants: Vec<Contestant<'_>> = vec![
        bare,
        Box::new(|| timed(|| assert_eq!(envelopes(&reader), EVENTS))),
        Box::new(|| timed(|| assert_eq!(full(&reader), EVENTS))),
    ];
    let times = run(options.rounds(21), contestants);
    rows_of(
        &times,
        options,
        &[(names[0], [1, 0], 0.5), (names[1], [2, 0], 0.25)],
    );
}

/// Prints the wanted rows. A row has two contestants, and the required ratio of the first contestant to the second.
fn rows_of(times: &Times, options: &Options, rows: &[(&str, [usize; 2], f64)]) {
    for (name, contestants, least) in rows.iter().filter(|row| options.wants(row.0)) {
        times.row_of(
            name,
            Target::AtLeast(*least),
            *contestants,
            EVENTS as u32,
            " an event",
        );
    }
}
