//! A sequence of operations on a team in which each operation succeeds.

use serde_json::{Map, Value, json};

/// Returns the operations with their inputs, in order. A text that begins with `$` is a placeholder for a value of an earlier answer.
pub fn scenario() -> Vec<(&'static str, Map<String, Value>)> {
    let steps = cases![
        ("config-set", {"setting": "tasks.create_by_update", "value": "false"}),
        ("write-worker-identity", {"worker": "dev", "index": 1, "role": "executor"}),
        ("read-team", {}),
        ("read-config", {}),
        ("read-manifest", {}),
        ("config-list", {}),
        ("config-get", {"setting": "members.open"}),
        ("token-add", {"agent": "dev", "scope": "read",
            "digest": "5f0c2b7a91d3e8465f0c2b7a91d3e8465f0c2b7a91d3e8465f0c2b7a91d3e846"}),
        ("token-list", {"agent": "dev"}),
        ("token-revoke", {"token_id": "5f0c2b7a91d3e846"}),
        ("send-message", {"from_worker": "lead", "to_worker": "dev", "body": "begin"}),
        ("mode-start", {"mode": "forge", "session_id": "s1", "set": {"lane": [1]}}),
        ("mode-update", {"mode": "forge", "session_id": "s1", "iteration": 1, "unset": ["lane"]}),
        ("mode-write", {"mode": "ultrawork", "session_id": "s1", "state": {"note": 1}, "lane": 7}),
        ("mode-fail", {"mode": "ultrawork", "session_id": "s1", "error": "no disk"}),
        ("mode-complete", {"mode": "forge", "session_id": "s1", "note": "done"}),
        ("mode-prompt", {"text": "$forge $ulw mend it", "session_id": "s1", "thread_id": "t1"}),
        ("mode-list", {"session_id": "s1"}),
        ("mode-show", {"mode": "forge", "session_id": "s1"}),
        ("state-read", {"mode": "forge", "session_id": "s1"}),
        ("state-list-active", {"session_id": "s1"}),
        ("state-get-status", {"mode": "forge", "session_id": "s1"}),
        ("mode-sessions", {"limit": 2}),
        ("mode-explain", {"mode": "blueprint"}),
        ("mode-outcome", {"mode": "forge", "session_id": "s1"}),
        ("mode-cancel", {"mode": "forge", "session_id": "s1", "reason": "enough"}),
        ("mode-clear", {"mode": "forge", "session_id": "s1"}),
        ("state-write", {"mode": "forge", "session_id": "s1", "state": {"active": true}}),
        ("state-clear", {"mode": "forge", "session_id": "s1"}),
        ("mode-end-session", {"session_id": "s1", "reason": "done"}),
        ("list-deliveries", {}),
        ("list-dead-letters", {"agent": "dev"}),
        ("requeue-dead-letter", {"message_id": "m-dead", "max_retries": 1}),
        ("broadcast", {"from_worker": "lead", "body": "hello"}),
        ("mailbox-list", {"worker": "dev"}),
        ("read-inbox", {"agent": "dev"}),
        ("mailbox-mark-notified", {"worker": "dev", "message_id": "$message"}),
        ("mailbox-mark-delivered", {"worker": "dev", "message_id": "$message"}),
        ("ack", {"agent": "dev", "message_id": "$message"}),
        ("create-task", {"subject": "one", "description": "the first", "resources": ["src/io/"],
            "lane": "a"}),
        ("send", {"from": "dev", "to": "lead", "type": "task_update", "task_id": "1",
            "payload": {"status": "pending", "note": "soon"}}),
        ("config-unset", {"setting": "tasks.create_by_update"}),
        ("read-task", {"task_id": "1"}),
        ("show-task", {"task_id": "1", "history": true}),
        ("list-ready-tasks", {"agent": "dev"}),
        ("prime-agent", {"agent": "dev"}),
        ("list-tasks", {}),
        ("tasks", {}),
        ("update-task", {"task_id": "1", "subject": "first"}),
        ("set-task-resources", {"task_id": "1", "resources": ["src/io"], "shared": false}),
        ("edit-task", {"task_id": "1", "priority": "high", "labels": ["+ui"], "due_at": "friday"}),
        ("edit-task", {"task_id": "1", "labels": ["+api"], "worker": "lead"}),
        ("undo", {"worker": "lead"}),
        ("assign-task", {"task_id": "1", "owner": "dev"}),
        ("claim-task", {"task_id": "1", "worker": "dev"}),
        ("can-write", {"agent": "dev", "path": "src/io/file.rs"}),
        ("record-refused-writes", {"agent": "dev", "writes": [
            {"path": "docs/a", "tool": "Edit", "reason": "no_active_lease_for_path"},
        ]}),
        ("renew-task-claim", {"task_id": "1", "claim_token": "$token"}),
        ("request-review", {"task_id": "1", "worker": "dev", "to": "qa"}),
        ("release-task-claim", {"task_id": "1", "worker": "dev", "claim_token": "$token"}),
        ("claim-next-task", {"worker": "dev"}),
        ("transition-task-status", {"task_id": "1", "from": "in_progress", "to": "failed",
            "claim_token": "$token", "error": "no disk"}),
        ("reopen-task", {"task_id": "1"}),
        ("thread-start", {"title": "the first", "participants": ["dev", "qa"], "task_id": "1",
            "worker": "lead"}),
        ("thread-post", {"thread_id": "thread-0001", "body": "begin", "worker": "dev",
            "to": ["qa"]}),
        ("comment-task", {"task_id": "1", "body": "the schema has changed", "worker": "dev"}),
        ("list-threads", {"limit": 1}),
        ("thread-tail", {"thread_id": "thread-0001"}),
        ("thread-search", {"query": "BEGIN"}),
        ("thread-link", {"thread_id": "thread-0001", "task_id": "1"}),
        ("search", {"query": "begin by:dev", "limit": 5}),
        ("artifact-put", {"name": "fix.patch", "content": "--- a", "task_id": "1",
            "worker": "dev"}),
        ("artifact-get", {"name": "fix.patch"}),
        ("artifact-list", {"kind": "patches"}),
        ("set-budget", {"max_tokens": 1000, "soft_limit_tokens": 40}),
        ("report-usage", {"worker": "dev", "task_id": "1", "input_tokens": 30,
            "output_tokens": 12}),
        ("usage", {"task_id": "1"}),
        ("rename-agent", {"agent": "qa", "new_name": "tester", "dry_run": true}),
        ("retire-agent", {"agent": "qa", "dry_run": true}),
        ("inbox-feed", {"worker": "qa", "since": 1}),
        ("write-task-approval", {"task_id": "1", "status": "approved", "reviewer": "lead",
            "decision_reason": "good"}),
        ("read-task-approval", {"task_id": "1"}),
        ("bootstrap-start", {"domains": ["a"]}),
        ("bootstrap-record", {"event": "team_create_returned",
            "data": {"outcome": "ok", "name": "alpha"}}),
        ("bootstrap-explain", {"event": "branch_taken"}),
        ("bootstrap-record", {"event": "branch_taken"}),
        ("bootstrap-record", {"event": "roster_built"}),
        ("bootstrap-record", {"event": "team_launched",
            "data": {"method": "team_api", "members": ["a", "obstruction", "synthesizer"]}}),
        ("bootstrap-evidence", {}),
        ("bootstrap-list", {}),
        ("bootstrap-show", {"run": "1"}),
        ("write-worker-status", {"worker": "dev", "state": "idle"}),
        ("read-worker-status", {"worker": "dev"}),
        ("update-worker-heartbeat", {"worker": "dev", "pid": 7, "turn_count": 1, "alive": true}),
        ("read-worker-heartbeat", {"worker": "dev"}),
        ("write-worker-inbox", {"worker": "dev", "content": "read this"}),
        ("append-event", {"type": "worker_idle", "worker": "dev", "metadata": {"a": [1]},
            "lane": 7}),
        ("append", {"kind": "build_finished", "actor": "dev", "payload": {"ok": true}}),
        ("append-batch", {"facts": [{"kind": "build_finished", "actor": "dev"}]}),
        ("read-events", {}),
        ("list-events", {"kind": "worker_idle"}),
        ("replay-events", {"since": 1}),
        ("subscribe", {"name": "watch", "from": "start", "window": 2, "max_attempts": 1}),
        ("list-subscriptions", {}),
        ("show-subscription", {"name": "watch"}),
        ("fetch-subscription", {"name": "watch", "timeout_ms": 0}),
        ("nak-subscription", {"name": "watch", "epoch": 1, "seq": 2, "reason": "no disk"}),
        ("ack-subscription", {"name": "watch", "epoch": 1, "seqs": [1]}),
        ("replay-subscription", {"name": "watch", "seq": 2}),
        ("release-subscription", {"name": "watch", "epoch": 1}),
        ("delete-subscription", {"name": "watch"}),
        ("declare-projection", {"name": "counts", "fold": "fn fold(event) { this.n += 1; }",
            "init": {"n": 0}, "key_by": "event.actor", "filter": {"kinds": ["build_finished"]}}),
        ("list-projections", {}),
        ("show-projection", {"name": "counts", "key": "dev"}),
        ("test-projection", {"name": "counts"}),
        ("remove-projection", {"name": "counts"}),
        ("read-trace", {"trace_id": "t1"}),
        ("list-traces", {}),
        ("diff", {"from": "1"}),
        ("read-task-history", {"task_id": "1"}),
        ("read-usage-series", {}),
        ("await-event", {"timeout_ms": 0}),
        ("wait", {"agent": "dev", "timeout_ms": 0}),
        ("sync-views", {}),
        ("get-summary", {}),
        ("read-team-status", {}),
        ("who", {}),
        ("list-attention", {}),
        ("list-machines", {}),
        ("verify", {}),
        ("tick", {}),
        ("nudge", {"idle_seconds": 1}),
        ("verify-last", {}),
        ("verify-start", {}),
        ("doctor-last", {}),
        ("doctor-start", {}),
        ("read-head", {"sign": false}),
        ("check-receipt", {"receipt": {
            "log": "another", "seq": 1, "segment": "s", "length": 1, "digest": "d",
        }}),
        ("read-storage", {}),
        ("read-idle-state", {}),
        ("read-stall-state", {}),
        ("write-monitor-snapshot", {"snapshot": {"workerStateByName": {"dev": "idle"}}}),
        ("read-monitor-snapshot", {}),
        ("write-leader-attention", {"source": "notify_hook", "leader_session_active": true}),
        ("cancel-task", {"task_id": "1"}),
        ("write-shutdown-request", {"worker": "dev", "requested_by": "lead"}),
        ("write-shutdown-ack", {"worker": "dev", "status": "accept"}),
        ("read-shutdown-ack", {"worker": "dev"}),
        ("cleanup", {}),
        ("orphan-cleanup", {}),
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

/// Values of earlier answers.
#[derive(Debug, Default)]
pub struct Given {
    token: Value,
    message: Value,
}

impl Given {
    /// Keeps the values of an answer for later steps.
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

    /// Returns the input with its placeholders replaced.
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

/// Fields that contain names. A file path could be built from such a name.
pub const NAMES: [&str; 5] = ["worker", "from_worker", "to_worker", "task_id", "team_name"];

/// Returns values whose types do not fit the field. Returns no value if every type fits.
pub fn mistyped(field: &teamlog_team::api::shape::Field) -> Vec<Value> {
    use teamlog_team::api::shape::Kind;
    match &field.kind {
        // A required text and a name also accept a number or a boolean.
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
