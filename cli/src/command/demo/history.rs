//! Writes the history of the demo: a team of three agents works for two and a half hours, until now.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teamlog_team::engine::{Clock, ManualClock, SystemClock, Timestamp};
use teamlog_team::lifecycle::init::{Init, InitAnswer};
use teamlog_team::log::append::{Append, AppendAnswer};
use teamlog_team::message::ack::{Ack, AckAnswer};
use teamlog_team::message::send::SendAnswer;
use teamlog_team::message::task_assign::TaskAssign;
use teamlog_team::message::task_update::TaskUpdate;
use teamlog_team::{Failure, Root, RootOptions, Team};

pub const TEAM: &str = "demo";
/// Trace id of most events of the demo.
pub const TRACE: &str = "tr-login";
/// Task id of the demo.
pub const TASK: &str = "T-1";
/// Id of the message that is sent twice.
pub const REPEATED: &str = "msg_t1_done";

const MINUTE: i64 = 60_000_000;
const STORY_MINUTES: i64 = 150;

pub struct Stage {
    pub root: Root,
    clock: Arc<ManualClock>,
    start: Timestamp,
}

impl Stage {
    pub fn new(dir: &Path) -> Result<Stage, Failure> {
        let start = SystemClock.now().plus_micros(-STORY_MINUTES * MINUTE);
        let clock = Arc::new(ManualClock::new(start));
        let options = RootOptions {
            clock: clock.clone(),
            ..RootOptions::default()
        };
        let root = Root::open(dir, options)?;
        Ok(Stage { root, clock, start })
    }

    /// Returns the time `minute` minutes after the start.
    pub fn minute(&self, minute: i64) -> Timestamp {
        self.start.plus_micros(minute * MINUTE)
    }

    pub fn init(&self) -> Result<InitAnswer, Failure> {
        self.root.init(Init {
            team: TEAM.to_owned(),
            members: ["lead", "dev", "qa"].map(str::to_owned).to_vec(),
            ..Init::default()
        })
    }

    pub fn assign(
        &self,
        team: &mut Team,
        minute: i64,
        task: &str,
        to: &str,
        subject: &str,
    ) -> Result<SendAnswer, Failure> {
        self.clock.set(self.minute(minute));
        team.task_assign(TaskAssign {
            from: "lead".to_owned(),
            to: to.to_owned(),
            task_id: task.to_owned(),
            subject: subject.to_owned(),
            trace_id: Some(TRACE.to_owned()),
            ..TaskAssign::default()
        })
    }

    pub fn update(
        &self,
        team: &mut Team,
        minute: i64,
        update: Update<'_>,
    ) -> Result<SendAnswer, Failure> {
        self.clock.set(self.minute(minute));
        team.task_update(TaskUpdate {
            from: update.from.to_owned(),
            to: "lead".to_owned(),
            task_id: update.task.to_owned(),
            status: Some(update.status.to_owned()),
            note: Some(update.note.to_owned()),
            message_id: update.message_id.map(str::to_owned),
            created_at: update
                .written_at
                .map(|minute| self.minute(minute).to_string()),
            trace_id: Some(TRACE.to_owned()),
            ..TaskUpdate::default()
        })
    }

    /// Appends an event of a kind that teamlog does not interpret.
    pub fn foreign(&self, team: &mut Team, minute: i64) -> Result<AppendAnswer, Failure> {
        self.clock.set(self.minute(minute));
        team.append(Append {
            kind: "ci_run_finished".to_owned(),
            actor: Some("ci".to_owned()),
            trace_id: Some(TRACE.to_owned()),
            task_id: Some(TASK.to_owned()),
            payload: Some(r#"{"run":512,"result":"green"}"#.to_owned()),
            ..Append::default()
        })
    }

    /// Acknowledges, as the lead, the message that reports the completed task.
    pub fn ack(&self, team: &mut Team, minute: i64) -> Result<AckAnswer, Failure> {
        self.clock.set(self.minute(minute));
        team.ack(Ack {
            agent: "lead".to_owned(),
            message_id: REPEATED.to_owned(),
        })
    }
}

/// A task update of the demo.
pub struct Update<'a> {
    pub from: &'a str,
    pub task: &'a str,
    pub status: &'a str,
    pub note: &'a str,
    pub message_id: Option<&'a str>,
    /// Minute of the message's own timestamp, if it differs from the minute of its arrival.
    pub written_at: Option<i64>,
}

/// Appends the first half of an event, as a crash during a write would. Returns the number of appended bytes.
pub fn tear(segment: &Path) -> io::Result<usize> {
    let mut text = Vec::new();
    File::open(segment)?.read_to_end(&mut text)?;
    let last = text
        .trim_ascii_end()
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let half = last.get(..last.len() / 2).unwrap_or_default();
    OpenOptions::new()
        .append(true)
        .open(segment)?
        .write_all(half)?;
    Ok(half.len())
}

pub fn segment(dir: &Path, name: &str) -> PathBuf {
    dir.join("teams").join(TEAM).join("events").join(name)
}
