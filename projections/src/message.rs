//! The message envelope (schema 1): its rules, and its stored shape.

use teamlog_engine::{Json, NewEvent, Timestamp};

/// Version of the envelope.
pub const SCHEMA_VERSION: u32 = 1;

/// The type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MessageType {
    /// A task is given to the recipient.
    TaskAssign,
    /// Something about a task changed.
    TaskUpdate,
    /// The sender has nothing to do.
    IdleNotification,
    /// Work goes over to the recipient.
    Handoff,
    /// The recipient has to decide.
    DecisionRequired,
    /// The recipient is asked to stop.
    ShutdownRequest,
    /// The sender agrees to stop.
    ShutdownApproved,
    /// The recipient should wake an agent.
    AgentWakeupRequired,
    /// The recipient should stop an agent.
    AgentShutdownRequired,
    /// An agent started.
    AgentStarted,
    /// An agent stopped.
    AgentStopped,
    /// An agent failed.
    AgentError,
    /// An agent did not answer in time.
    AgentTimeout,
    /// Plain mail with a `body`.
    Message,
}

impl MessageType {
    /// All of them.
    pub const ALL: [MessageType; 14] = [
        MessageType::TaskAssign,
        MessageType::TaskUpdate,
        MessageType::IdleNotification,
        MessageType::Handoff,
        MessageType::DecisionRequired,
        MessageType::ShutdownRequest,
        MessageType::ShutdownApproved,
        MessageType::AgentWakeupRequired,
        MessageType::AgentShutdownRequired,
        MessageType::AgentStarted,
        MessageType::AgentStopped,
        MessageType::AgentError,
        MessageType::AgentTimeout,
        MessageType::Message,
    ];
    /// The name in the envelope.
    pub fn name(self) -> &'static str {
        match self {
            MessageType::TaskAssign => "task_assign",
            MessageType::TaskUpdate => "task_update",
            MessageType::IdleNotification => "idle_notification",
            MessageType::Handoff => "handoff",
            MessageType::DecisionRequired => "decision_required",
            MessageType::ShutdownRequest => "shutdown_request",
            MessageType::ShutdownApproved => "shutdown_approved",
            MessageType::AgentWakeupRequired => "agent_wakeup_required",
            MessageType::AgentShutdownRequired => "agent_shutdown_required",
            MessageType::AgentStarted => "agent_started",
            MessageType::AgentStopped => "agent_stopped",
            MessageType::AgentError => "agent_error",
            MessageType::AgentTimeout => "agent_timeout",
            MessageType::Message => "message",
        }
    }
    /// The type of that name.
    pub fn from_name(name: &str) -> Option<MessageType> {
        MessageType::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// How urgent a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Priority {
    /// Can wait.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Soon.
    High,
    /// Now.
    Critical,
}

impl Priority {
    /// All of them.
    pub const ALL: [Priority; 4] = [
        Priority::Low,
        Priority::Normal,
        Priority::High,
        Priority::Critical,
    ];
    /// The name in the envelope.
    pub fn name(self) -> &'static str {
        match self {
            Priority::Low => "low",
            Priority::Normal => "normal",
            Priority::High => "high",
            Priority::Critical => "critical",
        }
    }
    /// The priority of that name.
    pub fn from_name(name: &str) -> Option<Priority> {
        Priority::ALL
            .into_iter()
            .find(|priority| priority.name() == name)
    }
}

/// How strict the rule for names is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// New names begin with neither `.` nor `-`.
    #[default]
    New,
    /// Imported names may begin with `-`.
    Imported,
}

/// A field of an envelope breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {rule}, but is {value}")]
pub struct InvalidMessage {
    /// The field: `message.from`, `message.payload.status` …
    pub field: &'static str,
    /// Its value as JSON text, shortened; `missing` where there is none.
    pub value: String,
    /// The rule, as the rest of the sentence: `must match ^[A-Za-z0-9._-]+$`.
    pub rule: String,
}

/// An envelope as callers hand it in: nothing checked, anything may be missing.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// `id`.
    pub id: Option<String>,
    /// `type`.
    pub kind: Option<String>,
    /// `from`.
    pub from: Option<String>,
    /// `to`.
    pub to: Option<String>,
    /// `task_id`.
    pub task_id: Option<String>,
    /// `trace_id`.
    pub trace_id: Option<String>,
    /// `priority`.
    pub priority: Option<String>,
    /// `created_at`.
    pub created_at: Option<String>,
    /// `schema_version`.
    pub schema_version: Option<u64>,
    /// `payload` as JSON text.
    pub payload: Option<String>,
}

/// A message that keeps all rules of the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// 1 to 128 bytes without control characters.
    pub id: String,
    /// `type` in the envelope.
    pub kind: MessageType,
    /// The sender.
    pub from: String,
    /// The recipient.
    pub to: String,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// How urgent it is.
    pub priority: Priority,
    /// When its sender says that it was created.
    pub created_at: Timestamp,
    /// A JSON object, canonical.
    pub payload: Json,
}

impl Envelope {
    /// Reads an envelope from one JSON object.
    ///
    /// # Errors
    /// Malformed JSON, or a field of another JSON type than the envelope's.
    pub fn parse(text: &str) -> Result<Envelope, InvalidMessage> {
        let _ = text;
        todo!()
    }
    /// Fills the defaults (`id` from `random`, `created_at` from `now`, payload `{}`, priority `normal`) and checks every rule.
    ///
    /// # Errors
    /// The first field that breaks a rule.
    pub fn complete(
        self,
        names: Names,
        now: Timestamp,
        random: u64,
    ) -> Result<Message, InvalidMessage> {
        let _ = (names, now, random);
        todo!()
    }
}

/// Checks the name of a team, an agent or a task: 1 to 128 bytes of `^[A-Za-z0-9._-]+$`, no `..`.
///
/// # Errors
/// Names `field`, the value and the rule ("path separator", "traversal token", the pattern).
pub fn check_name(field: &'static str, value: &str, names: Names) -> Result<(), InvalidMessage> {
    let _ = (field, value, names);
    todo!()
}

/// Checks a message or trace id: 1 to 128 bytes without control characters.
///
/// # Errors
/// Names `field`, the value and the rule.
pub fn check_id(field: &'static str, value: &str) -> Result<(), InvalidMessage> {
    let _ = (field, value);
    todo!()
}

impl Message {
    /// Checks every rule of the envelope (of a message that was put together by hand).
    ///
    /// # Errors
    /// The first field that breaks a rule.
    pub fn validate(&self, names: Names) -> Result<(), InvalidMessage> {
        let _ = names;
        todo!()
    }
    /// The envelope as canonical JSON: `id type from to task_id? trace_id? priority created_at schema_version payload`.
    pub fn to_json(&self) -> Json {
        todo!()
    }
    /// The `message_sent` event of this message: actor is the sender, refs are recipient, message, task and trace.
    pub fn sent(&self) -> NewEvent {
        todo!()
    }
    /// The `message_duplicate` event: a message with this id is known already.
    pub fn duplicate(&self) -> NewEvent {
        todo!()
    }
    /// The `message_suppressed` event: the cooldown still runs.
    pub fn suppressed(&self, remaining_seconds: u64) -> NewEvent {
        let _ = remaining_seconds;
        todo!()
    }
}
