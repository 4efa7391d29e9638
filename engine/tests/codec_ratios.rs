//! How fast the codec is beside `serde_json` and a bare checksum walk over the same events, in one run:
//! `cargo test --release -p teamlog-engine --test codec_ratios -- --ignored --nocapture`.
//! Prints ratios and asserts nothing: a busy machine is no fault of the code.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::hint::black_box;
use std::time::{Duration, Instant};
use teamlog_engine::codec::{decode, encode_group, envelope};
use teamlog_engine::{Event, EventId, Format, Json, RefKind, Refs, Timestamp};

/// Few, so that a round fits into a slice of the processor's time even beside busy neighbours.
const EVENTS: u64 = 1_000;
const ROUNDS: usize = 400;

#[derive(serde::Serialize, serde::Deserialize)]
struct Payload {
    subject: String,
    body: String,
    status: String,
    attempt: u32,
    labels: Vec<String>,
}

/// What `serde_json` would read and write: every field owned and typed.
#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    seq: u64,
    id: String,
    created_at: String,
    kind: String,
    actor: String,
    trace_id: Option<String>,
    task_id: Option<String>,
    agent: Option<String>,
    message_id: Option<String>,
    schema_version: u32,
    payload: Payload,
    #[serde(default)]
    crc: String,
}

fn payload(seq: u64) -> Payload {
    Payload {
        subject: format!("Review of part {seq}"),
        body: "Please look at the parser again; the second half has no test for an empty line."
            .to_owned(),
        status: "in_progress".to_owned(),
        attempt: 3,
        labels: vec!["review".to_owned(), "parser".to_owned()],
    }
}

fn event(seq: u64) -> Event<'static> {
    let at = Timestamp::from_micros(1_795_255_200_000_000 + seq as i64 * 37).unwrap();
    let id = EventId::new(at, seq.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut refs = Refs::default();
    refs.set(RefKind::Trace, format!("trace-{}", seq / 20));
    refs.set(RefKind::Task, (seq / 5).to_string());
    refs.set(RefKind::Agent, "worker-3");
    refs.set(RefKind::Message, format!("msg-{seq:08}"));
    Event {
        seq,
        id,
        created_at: at,
        kind: "message_sent".into(),
        actor: "leader-fixed".into(),
        refs,
        schema_version: 1,
        foreign: false,
        payload: Json::of(&payload(seq)).unwrap().as_str().to_owned().into(),
    }
}

/// Calls `visit` with the rest of `bytes` at each frame; it answers the frame's length.
fn walk(bytes: &[u8], visit: impl Fn(&[u8]) -> usize) {
    let mut at = 0;
    while at < bytes.len() {
        at += visit(&bytes[at..]);
    }
}

/// What is measured, by name.
type Run<'a> = (&'a str, Box<dyn FnMut() + 'a>);

fn nanos(run: &mut dyn FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

#[test]
#[ignore = "measures; needs --release and a quiet machine"]
fn ratios() {
    let events: Vec<Event<'static>> = (1..=EVENTS).map(event).collect();
    let encode = |format| {
        let mut out = Vec::new();
        for event in &events {
            encode_group(format, std::slice::from_ref(event), &mut out);
        }
        out
    };
    let (jsonl, binary) = (encode(Format::Jsonl), encode(Format::Binary));
    println!(
        "{} and {} bytes an event",
        jsonl.len() as u64 / EVENTS,
        binary.len() as u64 / EVENTS
    );
    let lines: Vec<&[u8]> = jsonl
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .collect();
    let typed: Vec<Line> = lines
        .iter()
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let mut lengths = Vec::new();
    let mut at = 0;
    while at < binary.len() {
        let len = envelope(Format::Binary, &binary[at..]).unwrap().len;
        lengths.push(len);
        at += len;
    }
    let payloads: Vec<Json> = (1..=EVENTS)
        .map(|seq| Json::of(&payload(seq)).unwrap())
        .collect();
    let mut out: Vec<u8> = Vec::with_capacity(jsonl.len() * 2);
    let mut spare: Vec<u8> = Vec::with_capacity(jsonl.len() * 2);
    let mut binary_out: Vec<u8> = Vec::with_capacity(jsonl.len() * 2);
    let mut runs: Vec<Run<'_>> = vec![
        (
            "serde_json typed parse",
            Box::new(|| {
                for line in &lines {
                    black_box(serde_json::from_slice::<Line>(line).unwrap());
                }
            }),
        ),
        (
            "jsonl envelope",
            Box::new(|| {
                walk(&jsonl, |bytes| {
                    black_box(&envelope(Format::Jsonl, bytes).unwrap()).len
                })
            }),
        ),
        (
            "jsonl decode",
            Box::new(|| {
                walk(&jsonl, |bytes| {
                    black_box(&decode(Format::Jsonl, bytes).unwrap()).len
                })
            }),
        ),
        (
            "jsonl decode + typed payload",
            Box::new(|| {
                walk(&jsonl, |bytes| {
                    let frame = decode(Format::Jsonl, bytes).unwrap();
                    black_box(&frame);
                    black_box(serde_json::from_str::<Payload>(&frame.event.payload).unwrap());
                    frame.len
                });
            }),
        ),
        (
            "bare checksum walk (binary)",
            Box::new(|| {
                let mut at = 0;
                for len in &lengths {
                    black_box(crc32fast::hash(&binary[at..at + len]));
                    at += len;
                }
            }),
        ),
        (
            "binary envelope",
            Box::new(|| {
                walk(&binary, |bytes| {
                    black_box(&envelope(Format::Binary, bytes).unwrap()).len
                })
            }),
        ),
        (
            "binary decode",
            Box::new(|| {
                walk(&binary, |bytes| {
                    black_box(&decode(Format::Binary, bytes).unwrap()).len
                })
            }),
        ),
        (
            "serde_json serialise",
            Box::new(|| {
                out.clear();
                for line in &typed {
                    serde_json::to_writer(&mut out, line).unwrap();
                    out.push(b'\n');
                }
            }),
        ),
        (
            "jsonl encode",
            Box::new(|| {
                spare.clear();
                for event in &events {
                    encode_group(Format::Jsonl, std::slice::from_ref(event), &mut spare);
                }
            }),
        ),
        (
            "binary encode",
            Box::new(|| {
                binary_out.clear();
                for event in &events {
                    encode_group(Format::Binary, std::slice::from_ref(event), &mut binary_out);
                }
            }),
        ),
        (
            "canonicalise a canonical payload",
            Box::new(|| {
                for payload in &payloads {
                    black_box(Json::parse(payload.as_str()).unwrap());
                }
            }),
        ),
    ];
    let mut times = vec![Vec::new(); runs.len()];
    for _ in 0..ROUNDS {
        for (times, (_, run)) in times.iter_mut().zip(&mut runs) {
            times.push(nanos(run));
        }
    }
    // The least disturbed round of each: a neighbour on the machine can only add time.
    let least: Vec<(&str, f64)> = runs
        .iter()
        .zip(&times)
        .map(|((name, _), times)| {
            let least = times.iter().min().unwrap();
            (*name, least.as_nanos() as f64 / EVENTS as f64)
        })
        .collect();
    for (name, nanos) in &least {
        println!("{nanos:8.0} ns  {name}");
    }
    let of = |name: &str| least.iter().find(|(other, _)| *other == name).unwrap().1;
    for (what, base, target) in [
        ("jsonl envelope", "serde_json typed parse", 4.0),
        (
            "jsonl decode + typed payload",
            "serde_json typed parse",
            1.0,
        ),
        ("binary envelope", "bare checksum walk (binary)", 0.5),
        ("binary decode", "bare checksum walk (binary)", 0.25),
        ("jsonl encode", "serde_json serialise", 1.0),
        ("binary encode", "serde_json serialise", 1.0),
    ] {
        println!(
            "{:6.2} x {base}: {what} (target {target})",
            of(base) / of(what)
        );
    }
}
