//! Speed of folds in the script language: a small counter per key, over payloads like those of a team.
//! Run with `cargo bench --workspace --bench folds`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use std::collections::BTreeMap;
use std::time::Instant;
use teamlog_script::{EventView, Script, Source};

const EVENTS: usize = 500_000;

const COUNTER: &str = "fn fold(event) { this.count += 1; }";
const DURATIONS: &str = "fn fold(event) {
    if event.kind == \"task_claimed\" { this.open[event.task] = event.at_ms; }
    else if event.kind == \"task_completed\" {
        let begin = this.open.remove(event.task);
        if begin != () { this.done += 1; this.ms += event.at_ms - begin; }
    }
}";
const PAYLOAD: &str =
    "fn fold(event) { this.files += event.payload.files.len(); this.last = event.payload.result; }";

fn main() {
    let agents = [
        "lead", "dev", "qa", "ops", "docs", "build", "review", "plan",
    ];
    let payload = r#"{"worker":"dev","epoch":12345,"result":"parser done, 14 tests","files":["src/a.rs","src/b.rs"],"usage":{"input":1200,"output":340}}"#;
    let tasks: Vec<String> = (0..64).map(|task| task.to_string()).collect();
    for (name, fold, init, key) in [
        ("counter, one state", COUNTER, r#"{"count":0}"#, None),
        (
            "counter per actor",
            COUNTER,
            r#"{"count":0}"#,
            Some("event.actor"),
        ),
        (
            "counter per payload.worker",
            COUNTER,
            r#"{"count":0}"#,
            Some("event.payload.worker"),
        ),
        (
            "durations per actor",
            DURATIONS,
            r#"{"open":{},"done":0,"ms":0}"#,
            Some("event.actor"),
        ),
        (
            "payload per actor",
            PAYLOAD,
            r#"{"files":0,"last":""}"#,
            Some("event.actor"),
        ),
    ] {
        let script = Script::compile(&Source { fold, init, key }).unwrap();
        let mut states: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let begin = Instant::now();
        for at in 0..EVENTS {
            let kind = if at % 2 == 0 {
                "task_claimed"
            } else {
                "task_completed"
            };
            let event = EventView {
                seq: at as u64,
                kind,
                actor: agents[(at / 2) % agents.len()],
                task: Some(&tasks[(at / 2) % tasks.len()]),
                at_ms: at as i64,
                payload,
                ..EventView::default()
            };
            let folding = script.begin(&event).unwrap().unwrap();
            let key = folding.key().to_owned();
            let before = states.get(&key).map(Vec::as_slice);
            let state = script.fold(folding, before).unwrap();
            states.insert(key, state);
        }
        let took = begin.elapsed().as_secs_f64();
        println!("{name}: {:.0} events/s", EVENTS as f64 / took);
    }
}
