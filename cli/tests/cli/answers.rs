//! Types of the documented answers. Every field is named, and unknown fields are refused.

#![allow(
    dead_code,
    reason = "a field is there because the answer must have it, looked at or not"
)]

use crate::prelude::*;
use serde::Deserialize;

macro_rules! answers {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name { $(pub $field: $kind),* }
        )*
    };
}

/// A message. The JSON field `type` has another name here, because `type` is a Rust keyword.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub from: String,
    pub to: String,
    pub task_id: Option<String>,
    pub trace_id: Option<String>,
    pub priority: String,
    pub created_at: String,
    pub schema_version: u32,
    pub payload: Value,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    pub seq: u64,
    pub id: String,
    pub created_at: String,
    pub kind: String,
    pub actor: String,
    pub trace_id: Option<String>,
    pub task_id: Option<String>,
    pub agent: Option<String>,
    pub message_id: Option<String>,
    pub thread_id: Option<String>,
    pub session_id: Option<String>,
    pub cause: Option<String>,
    pub key: Option<String>,
    pub schema_version: u32,
    #[serde(default)]
    pub foreign: bool,
    pub payload: Value,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub superseded: bool,
    #[serde(default)]
    pub duplicate: bool,
    #[serde(default)]
    pub refused: bool,
    #[serde(default)]
    pub acked: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaleMessage {
    pub id: String,
    pub message_id: String,
    pub agent: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub from: String,
    pub to: String,
    pub task_id: Option<String>,
    pub trace_id: Option<String>,
    pub priority: String,
    pub created_at: String,
    pub schema_version: u32,
    pub payload: Value,
    pub age_minutes: u64,
}

answers! {
    Init { status: String, team: String, members: Vec<String> }
    Sent {
        status: String,
        message: Message,
        event: Event,
        reason: Option<String>,
        cooldown_remaining_seconds: Option<u64>,
        not_applied: Option<BTreeMap<String, String>>,
        applied: Option<String>,
        created: Option<bool>,
        did_you_mean: Option<String>,
        unknown_deps: Option<Vec<String>>,
        recipient_unknown: Option<String>,
        recipient_gone: Option<String>,
    }
    Read {
        team: String,
        agent: String,
        messages: Vec<Message>,
        count: usize,
        next_cursor: Option<String>,
    }
    Ack { status: String, message_id: String, agent: String, expected: Option<String> }
    Malformed { total: u64, files: Vec<String> }
    Status {
        team: String,
        members: Vec<String>,
        unread_counts: BTreeMap<String, u64>,
        blocked_tasks: Vec<Value>,
        stale_tasks: Vec<Value>,
        stale_messages: Vec<StaleMessage>,
        malformed_jsonl: Malformed,
        active_modes: Vec<Value>,
        bootstrap_runs: Vec<Value>,
        task_count: u64,
        tasks_by_status: BTreeMap<String, u64>,
        message_count: u64,
        events: u64,
        last_seq: u64,
        log: String,
        format: String,
        truncated: Option<Vec<String>>,
        state_digest: Option<String>,
    }
    Trace {
        team: String,
        trace_id: String,
        events: Vec<Event>,
        count: usize,
        next_cursor: Option<String>,
        spans: Vec<Span>,
        causes_outside: Vec<OutsideCause>,
    }
    Span {
        kind: String,
        id: String,
        agent: String,
        outcome: String,
        first_seq: u64,
        last_seq: Option<u64>,
        started_at: String,
        duration_us: Option<i64>,
    }
    OutsideCause {
        id: String,
        seq: Option<u64>,
        kind: Option<String>,
        trace_id: Option<String>,
    }
    Rehydrate {
        status: String,
        team: String,
        message_count: u64,
        event_count: u64,
        ack_count: u64,
        task_count: u64,
        elapsed_ms: u64,
        events_per_second: u64,
        state_digest: String,
        salvaged: Option<Value>,
    }
    Tasks { tasks: Vec<Value>, count: usize, next_cursor: Option<String> }
    Ready {
        team: String,
        agent: Option<String>,
        tasks: Vec<Value>,
        count: usize,
        total: u64,
        next_cursor: Option<String>,
    }
    Wait {
        status: String,
        team: String,
        agent: String,
        events: Vec<Event>,
        count: usize,
        last_seq: u64,
    }
    TaskShow {
        team: String,
        task: Value,
        unknown_dependencies: Option<Vec<String>>,
        leader: String,
        history: Option<Vec<Event>>,
        next_cursor: Option<String>,
    }
    Append { seq: u64, id: String, created_at: String, replayed: Option<bool> }
    Batch {
        count: u64,
        first_seq: Option<u64>,
        last_seq: Option<u64>,
        replayed_lines: Option<u64>,
        replayed: Option<bool>,
    }
    Problem {
        kind: String,
        severity: String,
        file: String,
        offset: u64,
        seq: Option<u64>,
        message: String,
    }
    Verify {
        ok: bool,
        events: u64,
        segments: u64,
        bytes: u64,
        last_seq: u64,
        problems: Vec<Problem>,
        problems_omitted: u64,
        signed_by: Option<String>,
        team_signed: Option<bool>,
    }
    Head { team: String, log: String, seq: u64, segment: String, length: u64, digest: String }
    LineProblem { line: u64, kind: String, message: String }
    Import {
        status: String,
        team: String,
        created: bool,
        imported: u64,
        duplicates: u64,
        malformed: u64,
        not_applied: BTreeMap<String, u64>,
        problems: Vec<LineProblem>,
        problems_omitted: u64,
        first_seq: Option<u64>,
        last_seq: Option<u64>,
        elapsed_ms: u64,
    }
    Check { claim: String, holds: bool }
    Demo {
        ok: bool,
        dir: String,
        team: String,
        events: u64,
        torn_bytes: u64,
        recovered: Vec<String>,
        live_digest: String,
        rebuilt_digest: String,
        checks: Vec<Check>,
    }
}
