//! `write-monitor-snapshot`, `read-monitor-snapshot`: the last snapshot of the team's monitor. A snapshot is stored unchanged. An answer
//! contains its known fields of the right type, and adds tasks that were completed after the snapshot.

use crate::operation::prelude::*;
use crate::projections::worker::supervision::{snapshot, snapshot_written};

operation! {
    /// Read the last snapshot of the team's monitor
    "read-monitor-snapshot": Reads(ReadSnapshot {}) -> SnapshotAnswer = Team::read_monitor_snapshot,
    empty = |_, _| SnapshotAnswer::default()
}

operation! {
    /// Store a snapshot of the team's monitor
    "write-monitor-snapshot": Records(WriteSnapshot {
        /// Snapshot, stored unchanged
        snapshot: Map<String, Value>,
    }) -> SnapshotWritten as write_monitor_snapshot
}

/// The answer `{}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotWritten {}

/// The answer `{snapshot}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotAnswer {
    /// The last snapshot; `null` if there is none
    pub snapshot: Option<MonitorSnapshot>,
}

/// A monitor's snapshot; missing fields are empty
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorSnapshot {
    /// Status per task
    pub task_status_by_id: Map<String, Value>,
    /// True or false per worker: alive or not
    pub worker_alive_by_name: Map<String, Value>,
    /// State per worker
    pub worker_state_by_name: Map<String, Value>,
    /// Number of turns per worker
    pub worker_turn_count_by_name: Map<String, Value>,
    /// Task per worker
    pub worker_task_id_by_name: Map<String, Value>,
    /// Time of the notification per message
    pub mailbox_notified_by_message_id: Map<String, Value>,
    /// Tasks whose completion was reported: in the snapshot, or by events after it
    pub completed_event_task_ids: Map<String, Value>,
    /// Integration state per worker
    pub integration_by_worker: Map<String, Value>,
    /// Timings of the monitor; absent if incomplete
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monitor_timings: Option<Map<String, Value>>,
}

/// Known integration states.
const INTEGRATION: [&str; 5] = [
    "idle",
    "integrated",
    "integration_failed",
    "cherry_pick_conflict",
    "rebase_conflict",
];

/// Required fields of the timings.
const TIMINGS: [&str; 4] = [
    "list_tasks_ms",
    "worker_scan_ms",
    "mailbox_delivery_ms",
    "total_ms",
];

impl MonitorSnapshot {
    /// Keeps the known fields of a stored snapshot.
    fn from_stored(mut stored: Map<String, Value>) -> MonitorSnapshot {
        let mut object = |name: &str| match stored.remove(name) {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        };
        let mut integration = object("integrationByWorker");
        integration.retain(|_, entry| entry.is_object());
        for entry in integration.values_mut().filter_map(Value::as_object_mut) {
            let status = entry.get("status").map(Value::as_str);
            if status.is_some_and(|status| !status.is_some_and(|s| INTEGRATION.contains(&s))) {
                entry.remove("status");
            }
        }
        MonitorSnapshot {
            task_status_by_id: object("taskStatusById"),
            worker_alive_by_name: object("workerAliveByName"),
            worker_state_by_name: object("workerStateByName"),
            worker_turn_count_by_name: object("workerTurnCountByName"),
            worker_task_id_by_name: object("workerTaskIdByName"),
            mailbox_notified_by_message_id: object("mailboxNotifiedByMessageId"),
            completed_event_task_ids: object("completedEventTaskIds"),
            integration_by_worker: integration,
            monitor_timings: Some(object("monitorTimings")).filter(complete),
        }
    }
}

fn complete(timings: &Map<String, Value>) -> bool {
    let number = |name: &&str| timings.get(*name).is_some_and(Value::is_number);
    TIMINGS.iter().all(number) && timings.get("updated_at").is_some_and(Value::is_string)
}

/// Returns the last snapshot and the seq of its event.
pub(crate) fn last(live: &Live, reader: &Reader) -> Result<Option<(MonitorSnapshot, u64)>> {
    let Some(seq) = live.monitor_snapshot()? else {
        return Ok(None);
    };
    let event = page::event(live, reader, seq)?;
    let stored: Map<String, Value> = serde_json::from_str(snapshot(&event)?).unwrap_or_default();
    Ok(Some((MonitorSnapshot::from_stored(stored), seq)))
}

impl Team {
    /// Returns the last snapshot of the team's monitor.
    pub fn read_monitor_snapshot(&mut self, _: ReadSnapshot) -> Result<SnapshotAnswer> {
        self.query(|live, reader| {
            let written = live.monitor_snapshot()?;
            let written = written.map(|seq| page::event(live, reader, seq));
            let since = written.transpose()?.map(|event| event.created_at);
            let seen = last(live, reader)?.map(|(snapshot, _)| snapshot);
            let completed = live.completed_since(since)?;
            if seen.is_none() && completed.is_empty() {
                return Ok(SnapshotAnswer::default());
            }
            let mut snapshot = seen.unwrap_or_default();
            let told = completed.into_iter().map(|task| (task, Value::Bool(true)));
            snapshot.completed_event_task_ids.extend(told);
            Ok(SnapshotAnswer {
                snapshot: Some(snapshot),
            })
        })
    }
}

impl Command for WriteSnapshot {
    type Decided = ();
    type Answer = SnapshotWritten;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, _: &Live) -> Result<Decision<()>> {
        let text = page::json_text(&self.snapshot).unwrap_or_default();
        let event = snapshot_written(DEFAULT_ACTOR, &text).map_err(|error| {
            let message = format!("snapshot cannot be stored: {error}");
            Refusal::new(Code::InvalidInput, message).field("snapshot")
        })?;
        Ok(Decision::Granted((), vec![event]))
    }

    fn answer(&self, (): &(), _: &After<'_>) -> Result<SnapshotWritten> {
        Ok(SnapshotWritten {})
    }
}
