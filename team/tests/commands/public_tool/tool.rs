//! A model of the public tool and of the files that it writes.

use super::snapshot::{Snapshot, reasons};
use crate::prelude::*;
use serde_json::json as value;

pub const AGENTS: [&str; 4] = ["lead", "dev", "qa", "ops"];

/// Returns the number of seconds since December 31. All times in the model are in one January.
pub fn instant(text: &str) -> i64 {
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().unwrap();
    let offset = match text.rfind('+') {
        Some(at) => number(at + 1, at + 3) * 3600,
        None => 0,
    };
    let time = number(11, 13) * 3600 + number(14, 16) * 60 + number(17, 19);
    number(8, 10) * 86_400 + time - offset
}

/// Returns the time `at` minutes after the start of January 2, in one of two time zones.
pub fn minute(at: u32, zone: bool) -> String {
    let (hours, minute) = (at / 60, at % 60);
    let (day, hour) = (hours / 24 + 2, hours % 24);
    match zone {
        true if hour < 22 => format!("2026-01-{day:02}T{:02}:{minute:02}:00+02:00", hour + 2),
        _ => format!("2026-01-{day:02}T{hour:02}:{minute:02}:00Z"),
    }
}

/// The public tool, with the files that it wrote.
#[derive(Default)]
pub struct Tool {
    inboxes: BTreeMap<String, Vec<Value>>,
    pub events: Vec<Value>,
    letters: Vec<Value>,
    acked: BTreeMap<String, String>,
}

impl Tool {
    pub fn new() -> Tool {
        let inboxes = AGENTS.map(|agent| (agent.to_string(), Vec::new()));
        given!(Tool, inboxes: BTreeMap::from(inboxes))
    }

    pub fn event(&mut self, kind: &str, at: &str, message: Option<&Value>, payload: Value) {
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

    pub fn message(&self, id: &str) -> Option<Value> {
        let mut all = self.inboxes.values().flatten();
        all.find(|message| message["id"] == id).cloned()
    }

    pub fn send(&mut self, message: Value) {
        let at = message["created_at"].as_str().unwrap().to_owned();
        let known = self.message(message["id"].as_str().unwrap()).is_some();
        let kind = ["message_sent", "message_duplicate"][usize::from(known)];
        self.event(kind, &at, Some(&message), value!({ "message": message }));
        if !known {
            let to = message["to"].as_str().unwrap().to_owned();
            self.inboxes.entry(to).or_default().push(message);
        }
    }

    pub fn ack(&mut self, id: &str, agent: &str, at: &str) {
        let message = self.message(id);
        let payload = value!({ "agent": agent, "message_id": id });
        let own = message
            .as_ref()
            .is_some_and(|message| message["to"] == agent);
        let kind = match (own, self.acked.contains_key(id)) {
            (false, _) => "ack_rejected",
            (true, true) => "message_ack_duplicate",
            (true, false) => "message_acked",
        };
        if kind == "message_acked" {
            self.acked.insert(id.to_owned(), at.to_owned());
        }
        self.event(kind, at, message.as_ref(), payload);
    }

    pub fn dead_letter(&mut self, id: &str, at: &str) {
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

    /// Returns the files of the directory.
    pub fn files(&self) -> BTreeMap<String, String> {
        let lines =
            |rows: &[Value]| -> String { rows.iter().map(|row| format!("{row}\n")).collect() };
        let mut files = BTreeMap::new();
        let team = value!({ "team": "old", "members": AGENTS, "schema_version": 1, "created_at": "2026-01-01T00:00:00Z" });
        files.insert("team.json".to_owned(), team.to_string());
        for (agent, messages) in &self.inboxes {
            files.insert(format!("inboxes/{agent}.jsonl"), lines(messages));
        }
        files.insert("events/2026-01-02.jsonl".to_owned(), lines(&self.events));
        let letters = lines(&self.letters);
        files.insert("dead-letter/2026-01-02.jsonl".to_owned(), letters);
        for (id, task) in self.tasks() {
            let task = Value::Object(task.public).to_string();
            files.insert(format!("tasks/{id}.json"), task);
        }
        files
    }

    /// Models the tool's `rehydrate`: applies every task message in the order of `(created_at, id)`.
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

    /// Returns the expected answers of the tool and of the import.
    pub fn answers(&self) -> Value {
        let both = |task: Snapshot| value!({ "public": task.public, "here": task.here() });
        let tasks = self.tasks().into_iter();
        let tasks: Map<String, Value> = tasks.map(|(id, task)| (id, both(task))).collect();
        let open = |message: &&Value| !self.acked.contains_key(message["id"].as_str().unwrap());
        let unread = self.inboxes.iter();
        let unread: BTreeMap<&String, usize> = unread
            .map(|(agent, messages)| (agent, messages.iter().filter(open).count()))
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

    /// Returns the tool's traces: kind and time of every event, sorted. An ack or dead letter is not earlier than its message.
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
            let events = traces.entry(trace.to_owned()).or_default();
            events.push((kind.to_owned(), at));
        }
        traces.values_mut().for_each(|events| events.sort());
        traces
    }

    /// Counts, per reason, the messages with task data that the import does not apply.
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
