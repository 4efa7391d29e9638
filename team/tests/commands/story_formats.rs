//! Tests of the machine formats of stories against their published structure.

use crate::prelude::*;
use crate::stories::{Made, trace};
use teamlog_engine::EventId;
use teamlog_team::story::OutsideCause;
use teamlog_team::story::chrome::Chrome;
use teamlog_team::story::otlp::Otlp;
use teamlog_team::story::trace::TraceAnswer;

/// Returns a trace with overlapping tasks, acks, a duplicate, a late update, and a foreign fact with a cause.
fn busy(world: &World) -> TraceAnswer {
    let mut team = world.demo();
    world.later(SECOND);
    for task in ["T-1", "T-2", "T-3"] {
        let assignment = given!(TaskAssign, trace_id: "tr", message_id: format!("give-{task}"),
            ..assign(task, "dev"));
        team.task_assign(assignment).unwrap();
        world.later(SECOND);
    }
    let mail = given!(Send, trace_id: "tr", message_id: "mail", ..message("qa", "lead"));
    let sent = team.send(mail.clone()).unwrap().event.event.id;
    team.send(mail).unwrap();
    let checked = given!(Append, kind: "x_checked", actor: "ci", trace_id: "tr", cause: sent,
        payload: r#"{"text":"a \"b\" ü"}"#);
    team.append(checked).unwrap();
    for id in ["give-T-2", "give-T-1"] {
        world.later(SECOND);
        team.ack(given!(Ack, agent: "dev", message_id: id)).unwrap();
    }
    team.task_update(update("T-1", "done")).unwrap();
    world.later(SECOND);
    team.task_update(update("T-3", "failed")).unwrap();
    trace(&mut team, "tr")
}

fn chrome(answer: &TraceAnswer) -> Value {
    serde_json::to_value(Chrome::from_answer(answer)).unwrap()
}

fn otlp(answer: &TraceAnswer) -> Value {
    serde_json::to_value(Otlp::from_answer(answer)).unwrap()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    let keys = value.as_object().unwrap().keys();
    keys.map(|key| &**key).collect()
}

/// Checks the JSON object format of the Trace Event Format: the required and allowed fields of each phase.
fn check_chrome(document: &Value) {
    let parts = ["displayTimeUnit", "otherData", "traceEvents"];
    assert_eq!(keys(document), BTreeSet::from(parts));
    assert_eq!(document["displayTimeUnit"], "ms");
    let (mut named, mut used) = (BTreeSet::new(), BTreeSet::new());
    let mut bars: BTreeMap<(u64, u64), Vec<(i64, i64)>> = BTreeMap::new();
    for entry in document["traceEvents"].as_array().unwrap() {
        let [pid, tid] = ["pid", "tid"].map(|id| entry[id].as_u64().unwrap());
        let track = (pid, tid);
        let ts = entry["ts"].as_i64().unwrap();
        assert!(entry["name"].is_string() && entry["args"].is_object());
        match entry["ph"].as_str().unwrap() {
            "M" => {
                assert!(["process_name", "thread_name"].contains(&entry["name"].as_str().unwrap()));
                assert!(entry["args"]["name"].is_string());
                named.insert(track);
            }
            "i" => {
                assert_eq!((entry["s"].as_str(), entry.get("dur")), (Some("t"), None));
                assert!(entry["cat"].is_string());
                used.insert(track);
            }
            "X" => {
                let dur = entry["dur"].as_i64().unwrap();
                assert!(dur >= 0 && entry.get("s").is_none() && entry["cat"].is_string());
                bars.entry(track).or_default().push((ts, ts + dur));
                used.insert(track);
            }
            other => panic!("phase {other}"),
        }
    }
    assert!(used.is_subset(&named), "{used:?} {named:?}");
    for (track, mut bars) in bars {
        bars.sort();
        for pair in bars.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{track:?}: {pair:?} overlap");
        }
    }
}

fn check_id(value: &Value, len: usize) -> String {
    let text = value.as_str().unwrap();
    assert_eq!(text.len(), len, "{text}");
    let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    assert!(text.bytes().all(is_hex), "{text}");
    assert!(text.bytes().any(|b| b != b'0'));
    text.to_owned()
}

fn check_nanos(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

fn check_attributes(value: &Value) -> BTreeMap<String, Value> {
    let mut attributes = BTreeMap::new();
    for attribute in value.as_array().unwrap() {
        assert_eq!(keys(attribute), BTreeSet::from(["key", "value"]));
        let value = attribute["value"].as_object().unwrap();
        assert_eq!(value.len(), 1, "{value:?}");
        let (kind, inner) = value.iter().next().unwrap();
        match kind.as_str() {
            "stringValue" => assert!(inner.is_string()),
            // The JSON form of protocol buffers writes 64-bit numbers as strings.
            "intValue" => drop(inner.as_str().unwrap().parse::<i64>().unwrap()),
            "boolValue" => assert!(inner.is_boolean()),
            other => panic!("{other}"),
        }
        let key = attribute["key"].as_str().unwrap().to_owned();
        let before = attributes.insert(key, inner.clone());
        assert!(before.is_none(), "a key twice");
    }
    attributes
}

/// Checks an `ExportTraceServiceRequest` in OTLP's JSON encoding. Returns its spans by id.
fn check_otlp(document: &Value) -> BTreeMap<String, Value> {
    assert_eq!(keys(document), BTreeSet::from(["resourceSpans"]));
    let mut spans = BTreeMap::new();
    for resource in document["resourceSpans"].as_array().unwrap() {
        assert_eq!(keys(resource), BTreeSet::from(["resource", "scopeSpans"]));
        let attributes = check_attributes(&resource["resource"]["attributes"]);
        assert_eq!(attributes["service.name"], "teamlog");
        for scope in resource["scopeSpans"].as_array().unwrap() {
            assert_eq!(keys(&scope["scope"]), BTreeSet::from(["name", "version"]));
            for span in scope["spans"].as_array().unwrap() {
                check_span(span);
                let id = span["spanId"].as_str().unwrap().to_owned();
                assert!(spans.insert(id, span.clone()).is_none(), "a span id twice");
            }
        }
    }
    spans
}

fn check_span(span: &Value) {
    let known = "attributes endTimeUnixNano events kind links name parentSpanId spanId startTimeUnixNano status traceId";
    assert!(keys(span).is_subset(&known.split(' ').collect()), "{span}");
    check_id(&span["traceId"], 32);
    check_id(&span["spanId"], 16);
    if let Some(parent) = span.get("parentSpanId") {
        assert_ne!(check_id(parent, 16), span["spanId"].as_str().unwrap());
    }
    let [start, end] = ["startTimeUnixNano", "endTimeUnixNano"].map(|at| check_nanos(&span[at]));
    assert!(start <= end);
    assert!((1..=5).contains(&span["kind"].as_u64().unwrap()));
    assert!((0..=2).contains(&span["status"]["code"].as_u64().unwrap()));
    check_attributes(&span["attributes"]);
    for event in span["events"].as_array().unwrap() {
        let fields = ["attributes", "name", "timeUnixNano"];
        assert_eq!(keys(event), BTreeSet::from(fields));
        check_nanos(&event["timeUnixNano"]);
        check_attributes(&event["attributes"]);
    }
    for link in span["links"].as_array().into_iter().flatten() {
        check_id(&link["traceId"], 32);
        check_id(&link["spanId"], 16);
    }
}

fn named<'a>(spans: &'a BTreeMap<String, Value>, name: &str) -> &'a Value {
    let mut found = spans.values().filter(|span| span["name"] == name);
    let span = found.next().unwrap_or_else(|| panic!("no span {name}"));
    assert!(found.next().is_none(), "{name} twice");
    span
}

#[test]
fn a_trace_viewer_gets_every_event_and_every_duration() {
    let world = World::new();
    let answer = busy(&world);
    let document = chrome(&answer);
    check_chrome(&document);
    let entries = document["traceEvents"].as_array().unwrap();
    let of = |phase: &'static str| entries.iter().filter(move |entry| entry["ph"] == phase);
    assert_eq!(of("i").count(), answer.count);
    for (entry, recorded) in of("i").zip(&answer.events) {
        let shown: Value = serde_json::from_str(&recorded.json()).unwrap();
        assert_eq!(entry["args"], shown);
        assert_eq!(entry["ts"], recorded.event.created_at.micros());
    }
    let bars = of("X").map(|bar| json!([bar["name"], bar["dur"].as_i64().unwrap() / SECOND]));
    let expected = json!([
        ["task T-1", 5],
        ["message give-T-1", 5],
        ["task T-2", 5],
        ["message give-T-2", 3],
        ["task T-3", 4],
    ]);
    assert_eq!(bars.collect::<Value>(), expected);
    let processes = of("M").filter(|entry| entry["name"] == "process_name");
    let processes: Vec<&Value> = processes.map(|entry| &entry["args"]["name"]).collect();
    assert_eq!(processes, ["lead", "qa", "ci", "dev"]);
    assert_eq!(document["otherData"]["trace_id"], "tr");
}

#[test]
fn a_lane_that_is_free_again_is_used_again() {
    let mut made = Made::new();
    for (at, kind, task) in [
        (0, "task_claimed", "a"),
        (1, "task_claimed", "b"),
        (2, "task_completed", "a"),
        (2, "task_claimed", "c"),
        (3, "task_completed", "b"),
        (4, "task_claimed", "d"),
    ] {
        made.push(at, kind, None, &[(RefKind::Task, task)]);
    }
    let document = chrome(&made.answer(Vec::new()));
    check_chrome(&document);
    let bars = document["traceEvents"].as_array().unwrap().iter();
    let bars = bars.filter(|entry| entry["ph"] == "X");
    let lanes: Vec<&Value> = bars.map(|entry| &entry["tid"]).collect();
    assert_eq!(lanes, [1, 2, 1, 2]);
}

#[test]
fn a_collector_gets_spans_below_each_other_and_every_event_once() {
    let world = World::new();
    let answer = busy(&world);
    let document = otlp(&answer);
    let spans = check_otlp(&document);
    let page = named(&spans, "trace tr");
    let parent = |name: &str| named(&spans, name)["parentSpanId"].clone();
    let id = |name: &str| named(&spans, name)["spanId"].clone();
    assert!(page.get("parentSpanId").is_none());
    assert_eq!(parent("task T-1"), page["spanId"]);
    assert_eq!(parent("message give-T-1"), id("task T-1"));
    assert_eq!(parent("message mail"), page["spanId"]);
    let others = spans.values().filter(|span| *span != page);
    for span in others {
        assert!(spans.contains_key(span["parentSpanId"].as_str().unwrap()));
        assert_eq!(span["traceId"], page["traceId"]);
    }
    let status = |name: &str| named(&spans, name)["status"]["code"].clone();
    let codes = ["task T-1", "task T-2", "task T-3", "message give-T-1"].map(status);
    assert_eq!(codes, [1, 0, 2, 1]);
    let events = spans
        .values()
        .flat_map(|span| span["events"].as_array().unwrap());
    let seq = |event: &Value| {
        let attributes = check_attributes(&event["attributes"]);
        attributes["teamlog.seq"].as_str().unwrap().parse().unwrap()
    };
    let mut seqs: Vec<u64> = events.map(seq).collect();
    seqs.sort_unstable();
    let all = answer.events.iter().map(|recorded| recorded.event.seq);
    assert_eq!(seqs, all.collect::<Vec<u64>>());
    let on = |name: &str| -> Vec<Value> {
        let events = named(&spans, name)["events"].as_array().unwrap().iter();
        events.map(|event| event["name"].clone()).collect()
    };
    assert_eq!(on("message mail"), ["message_sent", "message_duplicate"]);
    assert_eq!(on("trace tr"), ["x_checked"]);
}

#[test]
fn a_span_lies_below_its_cause_and_an_assignment_within_its_task() {
    let world = World::new();
    let mut answer = busy(&world);
    let (first, mail) = (answer.events[0].event.id, 3);
    let message = answer.events[mail].event.refs.get(RefKind::Message);
    assert_eq!(message, Some("mail"));
    for effect in [1, mail] {
        answer.events[effect].event.refs.cause = Some(first);
    }
    let spans = check_otlp(&otlp(&answer));
    let parent = |name: &str| named(&spans, name)["parentSpanId"].clone();
    let id = |name: &str| named(&spans, name)["spanId"].clone();
    assert_eq!(parent("message mail"), id("message give-T-1"));
    assert_eq!(parent("task T-2"), id("message give-T-1"));
    assert_eq!(parent("message give-T-2"), id("task T-2"));
}

#[test]
fn a_cause_of_another_trace_is_a_link_and_one_of_another_page_a_parent() {
    let task = &[(RefKind::Task, "T-1")];
    let cause = EventId::new(time(NOON).plus_micros(-1), 9);
    let outside = |trace: &str| given!(OutsideCause; id: cause.to_string(), seq: 3, kind: "message_sent", trace_id: trace);
    let span_of = |outside: OutsideCause| {
        let mut made = Made::new();
        made.push(0, "task_claimed", Some(cause), task);
        let spans = check_otlp(&otlp(&made.answer(vec![outside])));
        named(&spans, "task T-1").clone()
    };
    let (here, there) = (span_of(outside("tr")), span_of(outside("other")));
    // The span of the message has the same id as on the page with the message's event.
    let hash = |what: &[u8], of: &[u8]| {
        let bytes = [&b"teamlog "[..], what, b"\0", of].concat();
        blake3::hash(&bytes).to_hex().to_string()
    };
    let expected = hash(b"message", &cause.bytes());
    assert_eq!(here["parentSpanId"], expected[..16]);
    assert!(here.get("links").is_none());
    assert_eq!(there["links"][0]["spanId"], expected[..16]);
    assert_eq!(there["links"][0]["traceId"], hash(b"trace", b"other")[..32]);
    assert_ne!(there["parentSpanId"], expected[..16]);
}

#[test]
fn a_trace_id_that_collectors_know_is_kept() {
    let known = "4bf92f3577b34da6a3ce929d0e0e4736";
    let (upper, zeros) = (known.to_uppercase(), "0".repeat(32));
    for (id, kept) in [(known, true), (&upper, false), (&zeros, false)] {
        let mut made = Made::new();
        made.push(0, "x_began", None, &[]);
        let mut answer = made.answer(Vec::new());
        answer.trace_id = id.to_owned();
        let spans = check_otlp(&otlp(&answer));
        let span = spans.values().next().unwrap();
        assert_eq!(span["traceId"] == id, kept, "{id}");
    }
}

#[test]
fn a_story_without_events_has_no_spans_and_a_page_names_the_next() {
    let mut answer = Made::new().answer(Vec::new());
    assert_eq!(otlp(&answer)["resourceSpans"], json!([]));
    check_chrome(&chrome(&answer));
    let mut made = Made::new();
    made.push(0, "x_began", None, &[]);
    answer = made.answer(Vec::new());
    answer.next_cursor = Some("older".into());
    let resource = otlp(&answer)["resourceSpans"][0]["resource"]["attributes"].clone();
    assert_eq!(check_attributes(&resource)["teamlog.next_cursor"], "older");
    assert_eq!(chrome(&answer)["otherData"]["next_cursor"], "older");
}

#[test]
fn ten_thousand_events_are_laid_out_in_a_moment() {
    let mut made = Made::new();
    for (from, kind) in [(0, "task_claimed"), (5_000, "task_completed")] {
        for n in 0..5_000 {
            let task = format!("T-{n}");
            made.push(from + n, kind, None, &[(RefKind::Task, &task)]);
        }
    }
    let answer = made.answer(Vec::new());
    let started = std::time::Instant::now();
    let lengths = [
        serde_json::to_vec(&Chrome::from_answer(&answer))
            .unwrap()
            .len(),
        serde_json::to_vec(&Otlp::from_answer(&answer))
            .unwrap()
            .len(),
    ];
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    let short = lengths.iter().all(|length| *length < 16 << 20);
    assert!(short, "{lengths:?}");
}
