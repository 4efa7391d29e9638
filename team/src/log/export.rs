//! `export`: every event as its public JSON line, which `import --events` reads back without loss. `export` can also write
//! an audit log, whose lines have the shape of the HTTP protocol's audit log (docs/migrating.md).

use crate::log::replay::BOOKKEEPING;
use crate::log::replay::Replay;
use crate::operation::prelude::*;
use crate::time::milliseconds;
use teamlog_projections::task::transitions::{Transition, Transitions};

/// Type of an audit line about a change of a task's status.
const STATUS_CHANGED: &str = "task_status_changed";

impl Team {
    /// Passes every event to `each` as its public JSON line without newline, until `each` breaks. Returns the number of events.
    pub fn export(&mut self, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<u64> {
        self.replay(Replay::default(), &mut |_, line| each(line))
    }

    /// Like [`Team::export`], but passes lines of an audit log. A line about a change of status contains the old and the new
    /// status, so this function keeps the statuses of all tasks in memory.
    pub fn export_audit(&mut self, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<u64> {
        let mut transitions = Transitions::default();
        let (mut given, mut failed) = (0, None);
        let mut audit = |event: &Event<'_>, _: &[u8]| match line(event, &mut transitions) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(line)) => {
                given += 1;
                each(&line)
            }
            Err(failure) => {
                failed = Some(failure);
                ControlFlow::Break(())
            }
        };
        self.replay(Replay::default(), &mut audit)?;
        failed.map_or(Ok(given), Err)
    }
}

/// A line of an audit log: `{schemaVersion, id, actor, type, refs, data, ts}`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditLine<'a> {
    schema_version: &'static str,
    id: String,
    actor: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    refs: AuditRefs<'a>,
    data: Box<RawValue>,
    ts: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditRefs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

fn line(event: &Event<'_>, transitions: &mut Transitions) -> Result<Option<Vec<u8>>> {
    if event.kind == BOOKKEEPING && !event.foreign {
        return Ok(None);
    }
    let change = transitions.next(event)?;
    let (kind, data) = match &change {
        Some(Transition { old, new, .. }) => {
            let old = old.map(Status::name);
            let data = json!({"old": old, "new": new.name(), "event": event.kind});
            (STATUS_CHANGED, data.to_string())
        }
        None => (&*event.kind, event.payload.to_string()),
    };
    let refs = |kind| event.refs.get(kind);
    let line = AuditLine {
        schema_version: "1.0.0",
        id: event.id.to_string(),
        actor: &event.actor,
        kind,
        refs: AuditRefs {
            task_id: refs(RefKind::Task),
            agent_id: refs(RefKind::Agent),
            message_id: refs(RefKind::Message),
            thread_id: refs(RefKind::Thread),
            session_id: refs(RefKind::Session),
            trace_id: refs(RefKind::Trace),
            cause: event.refs.cause.map(|cause| cause.to_string()),
        },
        // Always valid, because all parts are JSON.
        data: RawValue::from_string(data).unwrap_or_default(),
        ts: milliseconds(event.created_at),
    };
    Ok(Some(serde_json::to_vec(&line).unwrap_or_default()))
}
