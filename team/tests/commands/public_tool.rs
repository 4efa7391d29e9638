//! The public tool of the message protocol beside ours: for any directory that it can write, its `rehydrate` and what
//! `import --team-chat` makes of it agree field by field, after the mapping that `docs/migrating.md` lists.
//!
//! The model here is written from that tool's rules as `docs/migrating.md` tells them, and shares no code with ours. It
//! writes directories, and says what the tool answers about them. One such directory lies in `fixtures/team-chat-v1` with
//! its answers.

use crate::prelude::*;
use proptest::prelude::*;
use serde_json::json as value;
use teamlog_team::import::team_chat::ChatAnswer;

const AGENTS: [&str; 4] = ["lead", "dev", "qa", "ops"];

/// Seconds since the last of December; all history here is of one January.
fn instant(text: &str) -> i64 {
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().unwrap();
    let offset = match text.rfind('+') {
        Some(at) => number(at + 1, at + 3) * 3600,
        None => 0,
    };
    let time = number(11, 13) * 3600 + number(14, 16) * 60 + number(17, 19);
    number(8, 10) * 86_400 + time - offset
}

/// A minute of that January, by a clock of one zone or another.
fn minute(at: u32, zone: bool) -> String {
    let (hours, minute) = (at / 60, at % 60);
    let (day, hour) = (hours / 24 + 2, hours % 24);
    match zone {
        true if hour < 22 => format!("2026-01-{day:02}T{:02}:{minute:02}:00+02:00", hour + 2),
        _ => format!("2026-01-{day:02}T{hour:02}:{minute:02}:00Z"),
    }
}

/// The public tool with the files that it wrote.
#[derive(Default)]
struct Tool {
    inboxes: BTreeMap<String, Vec<Value>>,
    events: Vec<Value>,
    letters: Vec<Value>,
    acked: BTreeMap<String, String>,
}

impl Tool {
    fn new() -> Tool {
        let inboxes = AGENTS.map(|agent| (agent.to_string(), Vec::new()));
        given!(Tool, inboxes: BTreeMap::from(inboxes))
    }

    fn event(&mut self, kind: &str, at: &str, message: Option<&Value>, payload: Value) {
        let mut event = value!({
            "id": format!("evt_{:04}", self.events.len()), "schema_version": 1, "kind": kind, "team": "old",
            "payload": payload, "created_at": at,
        });
        for field in ["trace_id", "task_id"] {
            let text = message.and_then(|message| message[field].as_str());
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                event[field] = text.into();
            }
        }
        self.events.push(event);
    }

    fn message(&self, id: &str) -> Option<Value> {
        let mut all = self.inboxes.values().flatten();
        all.find(|message| message["id"] == id).cloned()
    }

    fn send(&mut self, message: Value) {
        let at = message["created_at"].as_str().unwrap().to_owned();
        let known = self.message(message["id"].as_str().unwrap()).is_some();
        let kind = if known {
            "message_duplicate"
        } else {
            "message_sent"
        };
        self.event(kind, &at, Some(&message), value!({ "message": message }));
        if !known {
            let to = message["to"].as_str().unwrap().to_owned();
            self.inboxes.entry(to).or_default().push(message);
        }
    }

    fn ack(&mut self, id: &str, agent: &str, at: &str) {
        let message = self.message(id);
        let payload = value!({ "agent": agent, "message_id": id });
        let kind = match &message {
            Some(message) if message["to"] == agent => match self.acked.contains_key(id) {
                false => "message_acked",
                true => "message_ack_duplicate",
            },
            _ => "ack_rejected",
        };
        if kind == "message_acked" {
            self.acked.insert(id.to_owned(), at.to_owned());
        }
        self.event(kind, at, message.as_ref(), payload);
    }

    fn dead_letter(&mut self, id: &str, at: &str) {
        let Some(message) = self.message(id) else {
            return;
        };
        let number = format!("dlq_{:04}", self.letters.len());
        self.letters.push(value!({
            "id": number, "schema_version": 1, "team": "old", "message_id": id, "task_id": message["task_id"],
            "trace_id": message["trace_id"], "reason": "ack_timeout", "attempts": 3, "created_at": at, "message": message,
        }));
        let payload = value!({ "dead_letter_id": number, "message_id": id, "attempts": 3 });
        self.event("delivery_dead_letter", at, Some(&message), payload);
    }

    /// The files of the directory.
    fn files(&self) -> BTreeMap<String, String> {
        let lines = |rows: &[Value]| {
            rows.iter()
                .map(|row| format!("{row}\n"))
                .collect::<String>()
        };
        let mut files = BTreeMap::new();
        let team = value!({ "team": "old", "members": AGENTS, "schema_version": 1, "created_at": "2026-01-01T00:00:00Z" });
        files.insert("team.json".to_owned(), team.to_string());
        for (agent, messages) in &self.inboxes {
            files.insert(format!("inboxes/{agent}.jsonl"), lines(messages));
        }
        files.insert("events/2026-01-02.jsonl".to_owned(), lines(&self.events));
        files.insert(
            "dead-letter/2026-01-02.jsonl".to_owned(),
            lines(&self.letters),
        );
        for (id, task) in self.tasks() {
            files.insert(
                format!("tasks/{id}.json"),
                Value::Object(task.public).to_string(),
            );
        }
        files
    }

    /// Its rehydrate: every task message in the order of `(created_at, id)`, applied without looking back.
    fn tasks(&self) -> BTreeMap<String, Snapshot> {
        let mut messages: Vec<&Value> = self.inboxes.values().flatten().collect();
        messages.sort_by_key(|message| {
            let id = message["id"].as_str().unwrap().to_owned();
            (instant(message["created_at"].as_str().unwrap()), id)
        });
        let mut tasks: BTreeMap<String, Snapshot> = BTreeMap::new();
        for message in messages {
            let about = ["task_assign", "task_update"].contains(&message["type"].as_str().unwrap());
            if let Some(id) = message["task_id"].as_str().filter(|_| about) {
                tasks.entry(id.to_owned()).or_default().apply(message);
            }
        }
        tasks
    }

    /// What the tool, and the mapping, say of it.
    fn answers(&self) -> Value {
        let tasks: Map<String, Value> = self
            .tasks()
            .into_iter()
            .map(|(id, task)| {
                let both = value!({ "public": task.public, "here": task.here() });
                (id, both)
            })
            .collect();
        let unread: BTreeMap<&str, usize> = self
            .inboxes
            .iter()
            .map(|(agent, messages)| {
                let open =
                    |message: &&Value| !self.acked.contains_key(message["id"].as_str().unwrap());
                (agent.as_str(), messages.iter().filter(open).count())
            })
            .collect();
        value!({
            "message_count": self.inboxes.values().map(Vec::len).sum::<usize>(),
            "ack_count": self.acked.len(),
            "task_count": tasks.len(),
            "tasks": tasks,
            "unread_counts": unread,
            "traces": self.traces(),
            "not_applied": self.not_applied(),
        })
    }

    /// Its traces: kind and time of every event, sorted. An ack and a dead letter come no earlier than their message.
    fn traces(&self) -> BTreeMap<String, Vec<(String, i64)>> {
        let mut traces: BTreeMap<String, Vec<(String, i64)>> = BTreeMap::new();
        for event in &self.events {
            let Some(trace) = event["trace_id"].as_str() else {
                continue;
            };
            let kind = event["kind"].as_str().unwrap();
            let mut at = instant(event["created_at"].as_str().unwrap());
            if ["message_acked", "delivery_dead_letter"].contains(&kind) {
                let message = self.message(event["payload"]["message_id"].as_str().unwrap());
                at = at.max(instant(message.unwrap()["created_at"].as_str().unwrap()));
            }
            traces
                .entry(trace.to_owned())
                .or_default()
                .push((kind.to_owned(), at));
        }
        traces.values_mut().for_each(|events| events.sort());
        traces
    }

    /// How many messages say of a task what is not applied here, by reason.
    fn not_applied(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for message in self.inboxes.values().flatten() {
            for reason in reasons(message) {
                *counts.entry(reason).or_default() += 1;
            }
        }
        counts
    }
}

const VOCABULARY: [(&str, &str); 10] = [
    ("pending", "pending"),
    ("blocked", "blocked"),
    ("assigned", "assigned"),
    ("in_progress", "in_progress"),
    ("completed", "completed"),
    ("done", "completed"),
    ("failed", "failed"),
    ("canceled", "canceled"),
    ("cancelled", "canceled"),
    ("skipped", "canceled"),
];

fn canonical(status: &str) -> Option<&'static str> {
    let known = VOCABULARY.iter().find(|(name, _)| *name == status);
    known.map(|(_, canonical)| *canonical)
}

fn reasons(message: &Value) -> BTreeSet<&'static str> {
    let (kind, payload) = (message["type"].as_str().unwrap(), &message["payload"]);
    let text = |field: &str| payload[field].is_null() || payload[field].is_string();
    let wrong = match kind {
        "task_assign" => !text("subject") || !text("details"),
        "task_update" => {
            let blocked = &payload["blocked"];
            !text("status") || !text("note") || !(blocked.is_null() || blocked.is_boolean())
        }
        _ => return BTreeSet::new(),
    };
    if message["task_id"].is_null() {
        return BTreeSet::from(["no_task_id"]);
    }
    let mut reasons = BTreeSet::new();
    if wrong {
        reasons.insert("wrong_type");
    }
    let status = payload["status"].as_str().filter(|_| kind == "task_update");
    if status.is_some_and(|status| canonical(status).is_none()) {
        reasons.insert("unknown_status");
    }
    reasons
}

/// A task as the tool has it, and for the fields that the mapping names what is taken here.
#[derive(Default)]
struct Snapshot {
    public: Map<String, Value>,
    taken: Map<String, Value>,
}

impl Snapshot {
    fn apply(&mut self, message: &Value) {
        let payload = message["payload"].as_object().unwrap();
        let said = |field: &str| payload.get(field).filter(|value| !value.is_null());
        let public = &mut self.public;
        let at = &message["created_at"];
        public.insert("task_id".into(), message["task_id"].clone());
        public.entry("created_at").or_insert_with(|| at.clone());
        public.insert("updated_at".into(), at.clone());
        public
            .entry("owner")
            .or_insert_with(|| message["to"].clone());
        public
            .entry("trace_id")
            .or_insert_with(|| message["trace_id"].clone());
        let versions = public.get("snapshot_version").and_then(Value::as_u64);
        public.insert(
            "snapshot_version".into(),
            (versions.unwrap_or(0) + 1).into(),
        );
        public.insert("last_message_id".into(), message["id"].clone());
        public.insert("last_message_created_at".into(), at.clone());
        let policy = "created_at_then_message_id_monotonic";
        public.insert("snapshot_conflict_policy".into(), policy.into());
        if message["type"] == "task_assign" {
            public.insert("status".into(), "assigned".into());
            public.insert("owner".into(), message["to"].clone());
            public.insert("assigned_by".into(), message["from"].clone());
            for field in ["subject", "details"] {
                let value = payload.get(field).cloned().unwrap_or_default();
                public.insert(field.into(), value);
            }
        } else {
            for field in ["progress", "eta", "note"] {
                if let Some(value) = said(field) {
                    public.insert(field.into(), value.clone());
                }
            }
            if let Some(status) = said("status").and_then(Value::as_str)
                && !status.is_empty()
            {
                public.insert("status".into(), status.into());
            }
            if let Some(blocked) = said("blocked") {
                let falsy = [value!(false), value!(0), value!("")].contains(blocked);
                public.insert("blocked".into(), (!falsy).into());
            }
            public.insert("last_update_from".into(), message["from"].clone());
        }
        self.take(message);
    }

    /// The mapping: of what a message says, these fields are taken where they are of the task's type.
    fn take(&mut self, message: &Value) {
        let payload = message["payload"].as_object().unwrap();
        let assign = message["type"] == "task_assign";
        let of_text = if assign {
            vec!["subject", "details"]
        } else {
            vec!["note"]
        };
        for field in of_text {
            if let Some(Value::String(text)) = payload.get(field) {
                self.taken.insert(field.into(), text.as_str().into());
            }
        }
        if assign {
            self.taken.insert("status".into(), "assigned".into());
        } else {
            if let Some(Value::Bool(blocked)) = payload.get("blocked") {
                self.taken.insert("blocked".into(), (*blocked).into());
            }
            let status = payload.get("status").and_then(Value::as_str);
            if let Some(status) = status.and_then(canonical) {
                self.taken.insert("status".into(), status.into());
            }
        }
        let trace = message["trace_id"]
            .as_str()
            .filter(|trace| !trace.is_empty());
        if let Some(trace) = trace {
            self.taken.entry("trace_id").or_insert_with(|| trace.into());
        }
    }

    /// The task as it must be here.
    fn here(&self) -> Map<String, Value> {
        let mut here = self.public.clone();
        for field in [
            "subject", "details", "note", "blocked", "status", "trace_id",
        ] {
            let value = self.taken.get(field).cloned().unwrap_or_default();
            here.insert(field.into(), value);
        }
        if here["blocked"].is_null() {
            here.insert("blocked".into(), false.into());
        }
        if here["status"].is_null() {
            here.insert("status".into(), "pending".into());
        }
        for field in ["assigned_by", "progress", "eta", "last_update_from"] {
            here.entry(field).or_insert(Value::Null);
        }
        here
    }
}

fn put(memory: &Memory, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let path = Path::new(path);
        memory.create_dir(path.parent().unwrap()).unwrap();
        memory.replace(path, text.as_bytes(), true).unwrap();
    }
}

fn import(world: &World, files: &BTreeMap<String, String>) -> ChatAnswer {
    let source = Memory::new();
    put(&source, files);
    let import = given!(ImportTeamChat, team: "old");
    world.root.import_team_chat(&import, &source).unwrap()
}

/// Ours against those answers.
fn agrees(team: &mut Team, answer: &ChatAnswer, expected: &Value) {
    let status = status(team);
    let rebuilt = rehydrate(team);
    assert_eq!(
        value!([rebuilt.message_count, rebuilt.ack_count, rebuilt.task_count]),
        value!([
            expected["message_count"],
            expected["ack_count"],
            expected["task_count"]
        ])
    );
    for (agent, unread) in expected["unread_counts"].as_object().unwrap() {
        assert_eq!(value!(status.unread_counts[agent]), *unread, "{agent}");
    }
    assert_eq!(json(&answer.counts.not_applied), expected["not_applied"]);
    for (id, task) in expected["tasks"].as_object().unwrap() {
        let show = given!(TaskShow, task_id: id.clone());
        let ours = json(&team.task_show(show).unwrap())["task"].clone();
        for (field, expected) in task["here"].as_object().unwrap() {
            match field.ends_with("_at") {
                true => assert_eq!(
                    instant(ours[field].as_str().unwrap()),
                    instant(expected.as_str().unwrap()),
                    "{id} {field}"
                ),
                false => assert_eq!(&ours[field], expected, "{id} {field}: {ours}"),
            }
        }
    }
    for (trace, expected) in expected["traces"].as_object().unwrap() {
        let ask = given!(Trace, trace_id: trace.clone());
        let found = json(&team.trace(ask).unwrap());
        let mut found: Vec<(String, i64)> = found["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| {
                let kind = event["kind"].as_str().unwrap().to_owned();
                (kind, instant(event["created_at"].as_str().unwrap()))
            })
            .collect();
        found.sort();
        assert_eq!(value!(found), *expected, "{trace}");
    }
    settled_digest(team);
    assert!(team.verify(None).unwrap().ok);
}

// --- any directory ----------------------------------------------------------------------------------

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
        let statuses = [
            value!("assigned"),
            value!("in_progress"),
            value!("blocked"),
            value!("done"),
            value!("skipped"),
            value!("parked"),
            value!(""),
            value!(5),
        ];
        if let Some(value) = statuses.get(status) {
            say("status", value.clone());
        }
        let values = [value!("half"), value!(0.5), value!({ "left": [1, null] })];
        if let Some(value) = values.get(progress) {
            say("progress", value.clone());
        }
        if let Some(value) = values.get(eta + 1) {
            say("eta", value.clone());
        }
        if let Some(value) = [value!(true), value!(false), value!("yes")].get(blocked) {
            say("blocked", value.clone());
        }
        if let Some(value) = [value!("why"), value!(""), value!(3)].get(note) {
            say("note", value.clone());
        }
    }
    Value::Object(payload)
}

/// What the tool wrote after those steps, each at a time of its own, by clocks that disagree.
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
        // No event is lost: each is a fact of ours, or kept, or told by what is recorded.
        let counts = &answer.counts;
        let told = counts.events_kept + counts.events_passed_by + counts.acks;
        prop_assert_eq!(told, tool.events.len() as u64);
    }
}

// --- the stored one ---------------------------------------------------------------------------------

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/team-chat-v1")
}

/// A small history with something of everything that the mapping speaks of.
fn golden() -> Tool {
    let mut tool = Tool::new();
    let send = |tool: &mut Tool, id: &str, kind: &str, to: &str, at: u32, more: Value| {
        let mut message = value!({
            "id": id, "type": kind, "from": "lead", "to": to, "priority": "normal", "payload": {},
            "created_at": minute(at, at.is_multiple_of(2)), "schema_version": 1,
        });
        let more = more.as_object().unwrap().clone();
        message.as_object_mut().unwrap().extend(more);
        tool.send(message);
    };
    let t1 = |payload: Value| value!({ "task_id": "T-1", "trace_id": "tr-1", "payload": payload });
    send(
        &mut tool,
        "a1",
        "task_assign",
        "dev",
        10,
        t1(value!({ "subject": "Build", "details": "all of it" })),
    );
    send(
        &mut tool,
        "a3",
        "task_update",
        "lead",
        30,
        t1(value!({ "status": "parked", "progress": 0.5 })),
    );
    send(
        &mut tool,
        "a2",
        "task_update",
        "lead",
        20,
        t1(value!({ "status": "in_progress", "note": "begun" })),
    );
    send(
        &mut tool,
        "a1",
        "task_assign",
        "dev",
        31,
        t1(value!({ "subject": "again" })),
    );
    send(
        &mut tool,
        "b1",
        "task_update",
        "qa",
        40,
        value!({ "task_id": "T-2", "trace_id": "", "payload": { "note": "found one", "blocked": "yes" } }),
    );
    send(
        &mut tool,
        "b2",
        "task_update",
        "lead",
        41,
        value!({ "task_id": "T-2", "trace_id": "tr-2", "payload": { "status": "skipped" } }),
    );
    send(
        &mut tool,
        "c1",
        "task_assign",
        "ops",
        50,
        value!({ "trace_id": "tr-1", "payload": { "subject": "which?" } }),
    );
    send(
        &mut tool,
        "d1",
        "decision_required",
        "qa",
        60,
        value!({ "trace_id": "tr-2", "payload": { "question": "ship?" } }),
    );
    tool.ack("a1", "dev", &minute(5, false));
    tool.ack("a1", "dev", &minute(61, false));
    tool.ack("d1", "dev", &minute(62, false));
    let message = tool.message("d1");
    let retry = value!({ "message_id": "d1", "attempt": 1, "timeout_seconds": 180 });
    tool.event(
        "delivery_retry",
        &minute(63, false),
        message.as_ref(),
        retry,
    );
    let held = value!({ "message_id": "x", "reason": "cooldown", "cooldown_remaining_seconds": 9, "to": "dev", "type": "handoff" });
    tool.event(
        "message_suppressed",
        &minute(64, false),
        message.as_ref(),
        held,
    );
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
                let name = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                files.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let answers = std::fs::read_to_string(fixture().join("answers.json")).unwrap();
    (files, serde_json::from_str(&answers).unwrap())
}

#[test]
fn the_stored_directory_has_the_answers_that_are_stored_with_it() {
    let (files, answers) = stored();
    assert_eq!(
        golden().answers(),
        answers,
        "the model says otherwise by now"
    );
    let world = World::new();
    let answer = import(&world, &files);
    let mut team = world.root.team("old").unwrap();
    agrees(&mut team, &answer, &answers);
    let settings = json(&team.config_list(Default::default()).unwrap());
    let set: Vec<(&str, u64)> = settings["settings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|setting| setting["set"] == true)
        .map(|setting| {
            (
                setting["key"].as_str().unwrap(),
                setting["value"].as_u64().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("delivery.default.ack_timeout_seconds", 30),
        ("delivery.decision_required.max_retries", 5),
    ];
    assert_eq!(set, expected);
    let foreign: Vec<String> = events(&mut team)
        .iter()
        .filter(|event| event["foreign"] == true)
        .map(|event| {
            assert_eq!(
                event["payload"]["kind"], event["kind"],
                "the old event is whole"
            );
            event["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    let expected = [
        "message_duplicate",
        "message_ack_duplicate",
        "ack_rejected",
        "delivery_retry",
        "message_suppressed",
    ];
    assert_eq!(foreign, expected);
}

/// Writes the directory and its answers. Run by hand.
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
