//! Tests against a model of the public tool of the message protocol. For any directory that the tool can write, the tool's
//! `rehydrate` and teamlog's `import --team-chat` must agree field by field, after the mapping in `docs/migrating.md`.
//!
//! The model follows the tool's rules in `docs/migrating.md` and shares no code with teamlog. The model writes directories, and
//! returns the tool's answers about these directories. `fixtures/team-chat-v1` contains such a directory with its answers.

mod snapshot;
mod tool;

use crate::prelude::*;
use proptest::prelude::*;
use serde_json::json as value;
use teamlog_team::import::team_chat::ChatAnswer;
use tool::{AGENTS, Tool, instant, minute};

fn put(memory: &Memory, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let path = Path::new(path);
        memory.create_dir_all(path.parent().unwrap()).unwrap();
        memory.replace(path, text.as_bytes(), true).unwrap();
    }
}

fn import(world: &World, files: &BTreeMap<String, String>) -> ChatAnswer {
    let source = Memory::new();
    put(&source, files);
    let import = given!(ImportTeamChat, team: "old");
    world.root.import_team_chat(&import, &source).unwrap()
}

/// Compares teamlog's answers with the expected ones.
fn agrees(team: &mut Team, answer: &ChatAnswer, expected: &Value) {
    let status = status(team);
    let rebuilt = team.rehydrate(Rehydrate::default(), &mut |_, _| {});
    let rebuilt = json(&rebuilt.unwrap());
    for count in ["message_count", "ack_count", "task_count"] {
        assert_eq!(rebuilt[count], expected[count], "{count}");
    }
    for (agent, unread) in expected["unread_counts"].as_object().unwrap() {
        assert_eq!(value!(status.unread_counts[agent]), *unread, "{agent}");
    }
    assert_eq!(json(&answer.counts.not_applied), expected["not_applied"]);
    for (id, task) in expected["tasks"].as_object().unwrap() {
        let show = given!(TaskShow, task_id: id.clone());
        let ours = json(&team.task_show(show).unwrap())["task"].clone();
        for (field, expected) in task["here"].as_object().unwrap() {
            let comparable = |value: &Value| match field.ends_with("_at") {
                true => instant(value.as_str().unwrap()).into(),
                false => value.clone(),
            };
            let found = comparable(&ours[field]);
            assert_eq!(found, comparable(expected), "{id} {field}: {ours}");
        }
    }
    for (trace, expected) in expected["traces"].as_object().unwrap() {
        let ask = given!(Trace, trace_id: trace.clone());
        let found = json(&team.trace(ask).unwrap());
        let kind_and_time = |event: &Value| {
            let at = instant(event["created_at"].as_str().unwrap());
            (event["kind"].as_str().unwrap().to_owned(), at)
        };
        let events = found["events"].as_array().unwrap().iter();
        let mut found: Vec<(String, i64)> = events.map(kind_and_time).collect();
        found.sort();
        assert_eq!(value!(found), *expected, "{trace}");
    }
    settled_digest(team);
    assert!(team.verify(None).unwrap().ok);
}

type Step = (u8, (usize, usize), u8, (u8, u8), [u8; 5], (u32, bool));

fn step() -> impl Strategy<Value = Step> {
    (
        0..12u8,
        (0..4usize, 0..4usize),
        0..8u8,
        (0..4u8, 0..5u8),
        [0..10u8, 0..4u8, 0..3u8, 0..4u8, 0..4u8],
        (0..40u32, any::<bool>()),
    )
}

fn payload(kind: &str, said: [u8; 5]) -> Value {
    let [status, progress, eta, blocked, note] = said.map(usize::from);
    let mut payload = Map::new();
    let mut say = |field: &str, value: Value| payload.insert(field.into(), value);
    if kind == "task_assign" {
        let subjects = [value!("one"), value!("two"), Value::Null, value!(7)];
        say("subject", subjects[blocked].clone());
        if note > 1 {
            say("details", subjects[note].clone());
        }
    } else {
        let statuses = value!([
            "assigned",
            "in_progress",
            "blocked",
            "done",
            "skipped",
            "parked",
            "",
            5
        ]);
        let values = value!(["half", 0.5, { "left": [1, null] }]);
        for (field, values, at) in [
            ("status", statuses, status),
            ("progress", values.clone(), progress),
            ("eta", values, eta + 1),
            ("blocked", value!([true, false, "yes"]), blocked),
            ("note", value!(["why", "", 3]), note),
        ] {
            if let Some(value) = values.get(at) {
                say(field, value.clone());
            }
        }
    }
    Value::Object(payload)
}

/// Returns the tool after `steps`. Each step has its own time, from one of several clocks that
/// disagree.
fn written(steps: &[Step]) -> Tool {
    let mut tool = Tool::new();
    for (n, step) in steps.iter().enumerate() {
        let (what, (from, to), kind, (task, trace), said, (jitter, zone)) = *step;
        let at = minute(n as u32 * 7 + jitter, zone);
        let earlier = format!("m{}", n.saturating_sub(1 + from));
        match what {
            0..=6 => {
                let kind = match kind {
                    0..=1 => "task_assign",
                    2..=5 => "task_update",
                    6 => "handoff",
                    _ => "decision_required",
                };
                let mut message = value!({
                    "id": format!("m{n}"), "type": kind, "from": AGENTS[from], "to": AGENTS[to], "priority": "normal",
                    "payload": payload(kind, said), "created_at": at, "schema_version": 1,
                });
                if task > 0 && kind != "handoff" {
                    message["task_id"] = format!("T-{task}").into();
                }
                if let Some(trace) = ["", "tr-1", "tr-2"].get(usize::from(trace)) {
                    message["trace_id"] = (*trace).into();
                }
                tool.send(message);
            }
            7..=8 => {
                let recipient = tool.message(&earlier).map(|message| message["to"].clone());
                let agent = match (what, recipient) {
                    (7, Some(Value::String(to))) => to,
                    _ => AGENTS[to].to_owned(),
                };
                tool.ack(&earlier, &agent, &at);
            }
            9 => tool.dead_letter(&earlier, &at),
            10 => {
                let message = tool.message(&earlier);
                let payload =
                    value!({ "message_id": earlier, "attempt": 1, "timeout_seconds": 60 });
                tool.event("delivery_retry", &at, message.as_ref(), payload);
            }
            _ => match tool.message(&earlier) {
                Some(message) => tool.send(message),
                None => {
                    let payload = value!({ "agent": AGENTS[to], "count": 0, "unread_only": true });
                    tool.event("inbox_read", &at, None, payload);
                }
            },
        }
    }
    tool
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_the_public_tool_wrote_is_the_same_team_here(steps in prop::collection::vec(step(), 1..60)) {
        let tool = written(&steps);
        let world = World::new();
        let answer = import(&world, &tool.files());
        prop_assert_eq!((answer.status, answer.counts.malformed, answer.counts.orphans), ("ok", 0, 0));
        let mut team = world.root.team("old").unwrap();
        agrees(&mut team, &answer, &tool.answers());
        // No event is lost: each event of the directory becomes an event of teamlog, is kept
        // unchanged, or is implied by recorded events.
        let counts = &answer.counts;
        let told = counts.events_kept + counts.events_passed_by + counts.acks;
        prop_assert_eq!(told, tool.events.len() as u64);
    }
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/team-chat-v1")
}

/// Returns a small history with every case of the mapping.
fn golden() -> Tool {
    let mut tool = Tool::new();
    let t1 = |payload: Value| value!({ "task_id": "T-1", "trace_id": "tr-1", "payload": payload });
    let t2 =
        |trace: &str, payload| value!({ "task_id": "T-2", "trace_id": trace, "payload": payload });
    let [begun, parked] = [
        value!({ "status": "in_progress", "note": "begun" }),
        value!({ "status": "parked", "progress": 0.5 }),
    ];
    let [build, again] = [
        value!({ "subject": "Build", "details": "all of it" }),
        value!({ "subject": "again" }),
    ];
    let [found, skipped] = [
        value!({ "note": "found one", "blocked": "yes" }),
        value!({ "status": "skipped" }),
    ];
    let which = value!({ "trace_id": "tr-1", "payload": { "subject": "which?" } });
    let ship = value!({ "trace_id": "tr-2", "payload": { "question": "ship?" } });
    for (id, kind, to, at, more) in [
        ("a1", "task_assign", "dev", 10, t1(build)),
        ("a3", "task_update", "lead", 30, t1(parked)),
        ("a2", "task_update", "lead", 20, t1(begun)),
        ("a1", "task_assign", "dev", 31, t1(again)),
        ("b1", "task_update", "qa", 40, t2("", found)),
        ("b2", "task_update", "lead", 41, t2("tr-2", skipped)),
        ("c1", "task_assign", "ops", 50, which),
        ("d1", "decision_required", "qa", 60, ship),
    ] {
        let mut message = value!({
            "id": id, "type": kind, "from": "lead", "to": to, "priority": "normal", "payload": {},
            "created_at": minute(at, at.is_multiple_of(2)), "schema_version": 1,
        });
        let more = more.as_object().unwrap().clone();
        message.as_object_mut().unwrap().extend(more);
        tool.send(message);
    }
    tool.ack("a1", "dev", &minute(5, false));
    tool.ack("a1", "dev", &minute(61, false));
    tool.ack("d1", "dev", &minute(62, false));
    let message = tool.message("d1");
    let retry = value!({ "message_id": "d1", "attempt": 1, "timeout_seconds": 180 });
    let at = minute(63, false);
    tool.event("delivery_retry", &at, message.as_ref(), retry);
    let held = value!({ "message_id": "x", "reason": "cooldown", "cooldown_remaining_seconds": 9, "to": "dev", "type": "handoff" });
    let at = minute(64, false);
    tool.event("message_suppressed", &at, message.as_ref(), held);
    tool.dead_letter("d1", &minute(65, false));
    tool
}

fn stored() -> (BTreeMap<String, String>, Value) {
    let mut files = BTreeMap::new();
    let root = fixture().join("team");
    for dir in ["", "inboxes", "events", "dead-letter", "tasks"] {
        for entry in std::fs::read_dir(root.join(dir)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
                files.insert(name.to_owned(), std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let answers = std::fs::read_to_string(fixture().join("answers.json")).unwrap();
    (files, serde_json::from_str(&answers).unwrap())
}

#[test]
fn the_stored_directory_has_the_answers_that_are_stored_with_it() {
    let (files, answers) = stored();
    let said = golden().answers();
    assert_eq!(said, answers, "the model says otherwise by now");
    let world = World::new();
    let answer = import(&world, &files);
    let mut team = world.root.team("old").unwrap();
    agrees(&mut team, &answer, &answers);
    let settings = json(&team.config_list(Default::default()).unwrap());
    let set = settings["settings"].as_array().unwrap().iter();
    let set = set.filter(|setting| setting["set"] == true);
    let set: Vec<Value> = set
        .map(|setting| value!([setting["key"], setting["value"]]))
        .collect();
    let expected = value!([
        ["delivery.default.ack_timeout_seconds", 30],
        ["delivery.decision_required.max_retries", 5],
    ]);
    assert_eq!(value!(set), expected);
    let mut foreign = events(&mut team);
    foreign.retain(|event| event["foreign"] == true);
    for event in &foreign {
        assert_eq!(
            event["payload"]["kind"], event["kind"],
            "the old event is whole"
        );
    }
    let kinds: Vec<&Value> = foreign.iter().map(|event| &event["kind"]).collect();
    let expected = value!([
        "message_duplicate",
        "message_ack_duplicate",
        "ack_rejected",
        "delivery_retry",
        "message_suppressed",
    ]);
    assert_eq!(value!(kinds), expected);
}

/// Writes the directory, and the tool's answers about it, into `fixtures/`. Run this test by hand.
#[test]
#[ignore = "writes into fixtures/"]
fn make() {
    let tool = golden();
    let mut files = tool.files();
    let config = value!({ "ack_policy": { "default": { "ack_timeout_seconds": 30 }, "decision_required": { "max_retries": 5 } } });
    files.insert("config.json".to_owned(), format!("{config}\n"));
    for (name, text) in files {
        let path = fixture().join("team").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let answers = serde_json::to_string_pretty(&tool.answers()).unwrap() + "\n";
    std::fs::write(fixture().join("answers.json"), answers).unwrap();
}
