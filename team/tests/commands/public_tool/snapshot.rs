//! Effects of messages on a task, in the public tool and after the import into teamlog.

use crate::prelude::*;
use serde_json::json as value;

fn canonical(status: &str) -> Option<&str> {
    match status {
        "pending" | "blocked" | "assigned" | "in_progress" | "completed" | "failed" => Some(status),
        "done" => Some("completed"),
        "canceled" | "cancelled" | "skipped" => Some("canceled"),
        _ => None,
    }
}

pub fn reasons(message: &Value) -> BTreeSet<&'static str> {
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

/// A task in the public tool, with the values that the import takes for the mapped fields.
#[derive(Default)]
pub struct Snapshot {
    pub public: Map<String, Value>,
    taken: Map<String, Value>,
}

impl Snapshot {
    pub fn apply(&mut self, message: &Value) {
        let payload = message["payload"].as_object().unwrap();
        let said = |field: &str| payload.get(field).filter(|value| !value.is_null());
        let public = &mut self.public;
        for (field, first) in [
            ("created_at", "created_at"),
            ("owner", "to"),
            ("trace_id", "trace_id"),
        ] {
            public
                .entry(field)
                .or_insert_with(|| message[first].clone());
        }
        let versions = public.get("snapshot_version").and_then(Value::as_u64);
        let mut set = |field: &str, value: Value| public.insert(field.into(), value);
        set("snapshot_version", (versions.unwrap_or(0) + 1).into());
        set("task_id", message["task_id"].clone());
        set("updated_at", message["created_at"].clone());
        set("last_message_id", message["id"].clone());
        set("last_message_created_at", message["created_at"].clone());
        let policy = "created_at_then_message_id_monotonic";
        set("snapshot_conflict_policy", policy.into());
        if message["type"] == "task_assign" {
            set("status", "assigned".into());
            set("owner", message["to"].clone());
            set("assigned_by", message["from"].clone());
            for field in ["subject", "details"] {
                set(field, payload.get(field).cloned().unwrap_or_default());
            }
        } else {
            for field in ["progress", "eta", "note"] {
                if let Some(value) = said(field) {
                    set(field, value.clone());
                }
            }
            let status = said("status").and_then(Value::as_str);
            if let Some(status) = status.filter(|status| !status.is_empty()) {
                set("status", status.into());
            }
            if let Some(blocked) = said("blocked") {
                let falsy = [value!(false), value!(0), value!("")].contains(blocked);
                set("blocked", (!falsy).into());
            }
            set("last_update_from", message["from"].clone());
        }
        self.take(message);
    }

    /// Applies the mapping: takes fields of a message if their values have the type of the task's fields.
    fn take(&mut self, message: &Value) {
        let payload = message["payload"].as_object().unwrap();
        let assign = message["type"] == "task_assign";
        let of_text: &[&str] = match assign {
            true => &["subject", "details"],
            false => &["note"],
        };
        for &field in of_text {
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
        let trace = message["trace_id"].as_str();
        if let Some(trace) = trace.filter(|trace| !trace.is_empty()) {
            self.taken.entry("trace_id").or_insert_with(|| trace.into());
        }
    }

    /// Returns the expected task after the import.
    pub fn here(&self) -> Map<String, Value> {
        let mut here = self.public.clone();
        for (field, unsaid) in [
            ("subject", Value::Null),
            ("details", Value::Null),
            ("note", Value::Null),
            ("blocked", false.into()),
            ("status", "pending".into()),
            ("trace_id", Value::Null),
        ] {
            let value = self.taken.get(field).cloned().unwrap_or(unsaid);
            here.insert(field.into(), value);
        }
        for field in ["assigned_by", "progress", "eta", "last_update_from"] {
            here.entry(field).or_insert(Value::Null);
        }
        here
    }
}
