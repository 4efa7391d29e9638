//! A team's life in which every operation has something to do, in an order in which each of them can be done.

use serde_json::{Map, Value, json};

/// What every operation is given, one behind the other. A text that begins with `$` stands for what an earlier answer
/// gave.
pub fn scenario() -> Vec<(&'static str, Map<String, Value>)> {
    let steps = [
        (
            "write-worker-identity",
            json!({"worker": "dev", "index": 1, "role": "executor"}),
        ),
        ("read-config", json!({})),
        ("read-manifest", json!({})),
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "dev", "body": "begin"}),
        ),
        (
            "mode-start",
            json!({"mode": "forge", "session_id": "s1", "set": {"lane": [1]}}),
        ),
        (
            "mode-update",
            json!({"mode": "forge", "session_id": "s1", "iteration": 1, "unset": ["lane"]}),
        ),
        (
            "mode-write",
            json!({"mode": "ultrawork", "session_id": "s1", "state": {"note": 1}, "lane": 7}),
        ),
        (
            "mode-fail",
            json!({"mode": "ultrawork", "session_id": "s1", "error": "no disk"}),
        ),
        (
            "mode-complete",
            json!({"mode": "forge", "session_id": "s1", "note": "done"}),
        ),
        (
            "mode-prompt",
            json!({"text": "$forge $ulw mend it", "session_id": "s1", "thread_id": "t1"}),
        ),
        ("mode-list", json!({"session_id": "s1"})),
        ("mode-show", json!({"mode": "forge", "session_id": "s1"})),
        ("mode-sessions", json!({"limit": 2})),
        ("mode-explain", json!({"mode": "blueprint"})),
        ("mode-outcome", json!({"mode": "forge", "session_id": "s1"})),
        (
            "mode-cancel",
            json!({"mode": "forge", "session_id": "s1", "reason": "enough"}),
        ),
        ("mode-clear", json!({"mode": "forge", "session_id": "s1"})),
        (
            "mode-end-session",
            json!({"session_id": "s1", "reason": "done"}),
        ),
        ("broadcast", json!({"from_worker": "lead", "body": "hello"})),
        ("mailbox-list", json!({"worker": "dev"})),
        (
            "mailbox-mark-notified",
            json!({"worker": "dev", "message_id": "$message"}),
        ),
        (
            "mailbox-mark-delivered",
            json!({"worker": "dev", "message_id": "$message"}),
        ),
        (
            "create-task",
            json!({"subject": "one", "description": "the first", "resources": ["src/io/"], "lane": "a"}),
        ),
        ("read-task", json!({"task_id": "1"})),
        ("list-tasks", json!({})),
        ("update-task", json!({"task_id": "1", "subject": "first"})),
        ("claim-task", json!({"task_id": "1", "worker": "dev"})),
        (
            "can-write",
            json!({"agent": "dev", "path": "src/io/file.rs"}),
        ),
        (
            "renew-task-claim",
            json!({"task_id": "1", "claim_token": "$token"}),
        ),
        (
            "release-task-claim",
            json!({"task_id": "1", "worker": "dev", "claim_token": "$token"}),
        ),
        ("claim-next-task", json!({"worker": "dev"})),
        (
            "transition-task-status",
            json!({"task_id": "1", "from": "in_progress", "to": "failed", "claim_token": "$token",
                "error": "no disk"}),
        ),
        ("reopen-task", json!({"task_id": "1"})),
        (
            "thread-start",
            json!({"title": "the first", "participants": ["dev", "qa"], "task_id": "1", "worker": "lead"}),
        ),
        (
            "thread-post",
            json!({"thread_id": "thread-0001", "body": "begin", "worker": "dev", "to": ["qa"]}),
        ),
        ("thread-tail", json!({"thread_id": "thread-0001"})),
        ("thread-search", json!({"query": "BEGIN"})),
        (
            "thread-link",
            json!({"thread_id": "thread-0001", "task_id": "1"}),
        ),
        (
            "artifact-put",
            json!({"name": "fix.patch", "content": "--- a", "task_id": "1", "worker": "dev"}),
        ),
        ("artifact-get", json!({"name": "fix.patch"})),
        ("artifact-list", json!({"kind": "patches"})),
        (
            "set-budget",
            json!({"max_tokens": 1000, "soft_limit_tokens": 40}),
        ),
        (
            "report-usage",
            json!({"worker": "dev", "task_id": "1", "input_tokens": 30, "output_tokens": 12}),
        ),
        ("usage", json!({"task_id": "1"})),
        ("inbox-feed", json!({"worker": "qa", "since": 1})),
        (
            "write-task-approval",
            json!({"task_id": "1", "status": "approved", "reviewer": "lead", "decision_reason": "good"}),
        ),
        ("read-task-approval", json!({"task_id": "1"})),
        ("bootstrap-start", json!({"domains": ["a"]})),
        (
            "bootstrap-record",
            json!({"event": "team_create_returned", "data": {"outcome": "ok", "name": "alpha"}}),
        ),
        ("bootstrap-explain", json!({"event": "branch_taken"})),
        ("bootstrap-record", json!({"event": "branch_taken"})),
        ("bootstrap-record", json!({"event": "roster_built"})),
        (
            "bootstrap-record",
            json!({"event": "team_launched", "data": {"method": "team_api", "members": ["a", "obstruction", "synthesizer"]}}),
        ),
        ("bootstrap-evidence", json!({})),
        ("bootstrap-list", json!({})),
        ("bootstrap-show", json!({"run": "1"})),
        (
            "write-worker-status",
            json!({"worker": "dev", "state": "idle"}),
        ),
        ("read-worker-status", json!({"worker": "dev"})),
        (
            "update-worker-heartbeat",
            json!({"worker": "dev", "pid": 7, "turn_count": 1, "alive": true}),
        ),
        ("read-worker-heartbeat", json!({"worker": "dev"})),
        (
            "write-worker-inbox",
            json!({"worker": "dev", "content": "read this"}),
        ),
        (
            "append-event",
            json!({"type": "worker_idle", "worker": "dev", "metadata": {"a": [1]}, "lane": 7}),
        ),
        ("read-events", json!({})),
        ("await-event", json!({"timeout_ms": 0})),
        ("get-summary", json!({})),
        ("who", json!({})),
        ("read-idle-state", json!({})),
        ("read-stall-state", json!({})),
        (
            "write-monitor-snapshot",
            json!({"snapshot": {"workerStateByName": {"dev": "idle"}}}),
        ),
        ("read-monitor-snapshot", json!({})),
        (
            "write-leader-attention",
            json!({"source": "notify_hook", "leader_session_active": true}),
        ),
        ("cancel-task", json!({"task_id": "1"})),
        (
            "write-shutdown-request",
            json!({"worker": "dev", "requested_by": "lead"}),
        ),
        (
            "write-shutdown-ack",
            json!({"worker": "dev", "status": "accept"}),
        ),
        ("read-shutdown-ack", json!({"worker": "dev"})),
        ("cleanup", json!({})),
        ("orphan-cleanup", json!({})),
    ];
    let steps = steps.into_iter().map(|(operation, input)| {
        let Value::Object(mut input) = input else {
            panic!("{operation}: {input}");
        };
        input.insert("team_name".to_owned(), json!("demo"));
        (operation, input)
    });
    steps.collect()
}

/// What earlier answers gave.
#[derive(Debug, Default)]
pub struct Given {
    token: Value,
    message: Value,
}

impl Given {
    /// Keeps what later steps need.
    pub fn learn(&mut self, data: &Value) {
        for (known, place) in [
            (&mut self.token, "/claimToken"),
            (&mut self.message, "/message/message_id"),
        ] {
            if let Some(value) = data.pointer(place) {
                *known = value.clone();
            }
        }
    }

    /// The input with what was given in its place.
    pub fn fill(&self, mut input: Map<String, Value>) -> Map<String, Value> {
        for value in input.values_mut() {
            match value.as_str() {
                Some("$token") => *value = self.token.clone(),
                Some("$message") => *value = self.message.clone(),
                _ => {}
            }
        }
        input
    }
}

/// Names by which callers reach a file, a task or a mailbox.
pub const NAMES: [&str; 5] = ["worker", "from_worker", "to_worker", "task_id", "team_name"];

/// Values of a type that the field does not take; none where it takes everything.
pub fn mistyped(field: &teamlog_team::api::shape::Field) -> Vec<Value> {
    use teamlog_team::api::shape::Kind;
    match &field.kind {
        // A scalar stands for a text that is required, and for a name.
        Kind::Text if field.required || NAMES.contains(&&*field.name) => {
            vec![json!(["x"]), json!({"a": 1})]
        }
        Kind::Text => vec![json!(["x"]), json!(7), json!({})],
        Kind::Choice(_) => vec![json!("sideways"), json!(["x"])],
        Kind::Integer { .. } => vec![json!("1"), json!(1.5), json!(-1), json!([1])],
        Kind::Number => vec![json!("1"), json!([1])],
        Kind::Boolean => vec![json!("yes"), json!(1)],
        Kind::Texts => vec![json!("x"), json!([1]), json!({"a": 1})],
        Kind::List => vec![json!("x"), json!({"a": 1})],
        Kind::Object => vec![json!("x"), json!([1]), json!(7)],
        Kind::Any => Vec::new(),
    }
}
