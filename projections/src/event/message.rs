//! What can happen to messages, and to requests to tell their recipients; and the JSON of those payloads but for messages
//! themselves.

use super::stored::name;
use super::*;

/// Version of the envelope.
pub const SCHEMA_VERSION: u32 = 1;

words! {
    /// The type of a message.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    #[repr(u8)]
    pub enum MessageType {
        /// A task is given to the recipient.
        TaskAssign = "task_assign",
        /// Something about a task changed.
        TaskUpdate = "task_update",
        /// The sender has nothing to do.
        IdleNotification = "idle_notification",
        /// Work goes over to the recipient.
        Handoff = "handoff",
        /// The recipient has to decide.
        DecisionRequired = "decision_required",
        /// The recipient is asked to stop.
        ShutdownRequest = "shutdown_request",
        /// The sender agrees to stop.
        ShutdownApproved = "shutdown_approved",
        /// The recipient should wake an agent.
        AgentWakeupRequired = "agent_wakeup_required",
        /// The recipient should stop an agent.
        AgentShutdownRequired = "agent_shutdown_required",
        /// An agent started.
        AgentStarted = "agent_started",
        /// An agent stopped.
        AgentStopped = "agent_stopped",
        /// An agent failed.
        AgentError = "agent_error",
        /// An agent did not answer in time.
        AgentTimeout = "agent_timeout",
        /// Plain mail with a `body`.
        #[default]
        Message = "message",
    }
}

words! {
    /// How urgent a message is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    #[repr(u8)]
    pub enum Priority {
        /// Can wait.
        Low = "low",
        /// The default.
        #[default]
        Normal = "normal",
        /// Soon.
        High = "high",
        /// Now.
        Critical = "critical",
    }
}

/// The field of an envelope that names the task.
pub(crate) const TASK_ID: &str = "task_id";

events! {
    /// What happens to a message.
    #[expect(clippy::large_enum_variant, reason = "a fact lies in a box")]
    pub enum MessageFact {
        /// A message was put into its recipient's inbox.
        "message_sent" by "teamlog send TEAM" => Sent(Sent),
        /// A message came again under an id that is known.
        "message_duplicate" by "teamlog send TEAM" => Duplicate,
        /// A message was held back because the like was sent a moment ago.
        "message_suppressed" by "teamlog send TEAM --cooldown-seconds" => Suppressed(Suppressed),
        /// A message's recipient acknowledged it.
        "message_acked" by "teamlog ack TEAM" => Acked: MessageAcked [id message_id, name agent] {
            /// The message.
            pub message_id: String,
            /// Its recipient.
            pub agent: String,
        },
        /// An acknowledged message was acknowledged again.
        "message_ack_duplicate" by "teamlog ack TEAM" => AckedAgain,
        /// An ack named an unknown message or came from somebody else than its recipient.
        "ack_rejected" by "teamlog ack TEAM" => AckRejected,
    }
}

events! {
    /// What becomes of a message on its way, and of requests to tell its recipient.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum MailFact {
        /// A message's recipient was notified of it.
        "message_notified" by "teamlog api mailbox-mark-notified" => Notified: MessageMarked [id message_id, name agent] {
            /// The message.
            pub message_id: String,
            /// Its recipient.
            pub agent: String,
        },
        /// A message was marked delivered.
        "message_delivered" by "teamlog api mailbox-mark-delivered" => Delivered(MessageMarked),
        /// A notification of a worker was requested.
        "dispatch_requested" by "teamlog api send-message" => Requested:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        DispatchRequested [id request_id, name to_worker, id message_id] {
            /// The request's own id, which rows have in their keys.
            #[rkyv(with = Skip)]
            pub request_id: String,
            /// What it is about: `mailbox`, `inbox`, `nudge`.
            pub kind: String,
            /// Who is to be told.
            pub to_worker: String,
            /// What it is to be told.
            pub trigger_message: String,
            /// What it is to do about it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub intent: Option<String>,
            /// The message it is about.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub message_id: Option<String>,
            /// How it would best be told.
            pub transport_preference: String,
            /// Whether any other way does as well.
            pub fallback_allowed: bool,
        },
        /// A dispatch request's recipient was notified.
        "dispatch_notified" by "teamlog api mailbox-mark-delivered" => DispatchNotified: DispatchMoved [id request_id] {
            /// The request.
            pub request_id: String,
            /// Why it failed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reason: Option<String>,
        },
        /// A dispatch request was delivered.
        "dispatch_delivered" by "teamlog api mailbox-mark-delivered" => DispatchDelivered(DispatchMoved),
        /// A dispatch request failed, since its message became a dead letter.
        "dispatch_failed" by "teamlog tick TEAM" => DispatchFailed(DispatchMoved),
    }
}

words! {
    /// Why an ack was not accepted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AckRefused {
        /// No such message.
        NotFound = "not_found",
        /// The message went to somebody else.
        WrongRecipient = "wrong_recipient",
    }
}

/// `message_suppressed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    /// Who was not sent a wake-up, where that was because of an unread one. Most say something else.
    pub withheld: Option<String>,
}

/// A mark that a message can have; the two know nothing of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Its recipient was told of it.
    Notified,
    /// Its recipient has it.
    Delivered,
}

/// Why a wake-up was held back whose recipient has an unread one.
pub(crate) const UNREAD: &str = "unread";

impl Decode for Suppressed {
    fn decode(text: &str) -> Decoded<Suppressed> {
        #[derive(Deserialize)]
        struct Recipient {
            #[serde(rename = "type")]
            kind: String,
            to: String,
        }
        #[derive(Deserialize)]
        struct Stored {
            message: Recipient,
            reason: String,
        }
        let wakeup = |stored: &Stored| {
            stored.reason == UNREAD
                && stored.message.kind == MessageType::AgentWakeupRequired.name()
                && name("message.to", &stored.message.to).is_ok()
        };
        let stored: Option<Stored> = read(text).ok().filter(wakeup);
        let withheld = stored.map(|stored| stored.message.to);
        Ok(Suppressed { withheld })
    }
}

impl Mark {
    /// That a message got it.
    pub fn on(self, marked: MessageMarked) -> MailFact {
        match self {
            Mark::Notified => MailFact::Notified(marked),
            Mark::Delivered => MailFact::Delivered(marked),
        }
    }
}

impl DispatchMoved {
    /// That a request took a step.
    pub fn of(request_id: &str, reason: Option<&str>) -> DispatchMoved {
        DispatchMoved {
            request_id: request_id.to_owned(),
            reason: reason.map(str::to_owned),
        }
    }
}

impl MessageAcked {
    /// The `message_acked` event; `trace` and `task` are those of the message.
    pub fn event(&self, trace: Option<&str>, task: Option<&str>) -> NewEvent {
        let mut event = self.record(&MessageFact::Acked(self.clone()), self);
        let refs = [(RefKind::Trace, trace), (RefKind::Task, task)];
        event.refs.set_given(refs);
        event
    }
    /// The `message_ack_duplicate` event.
    pub fn repeated(&self) -> NewEvent {
        self.record(&MessageFact::AckedAgain, self)
    }
    /// The `ack_rejected` event; `expected` is the message's real recipient.
    pub fn rejected(&self, why: AckRefused, expected: Option<&str>) -> NewEvent {
        #[derive(Serialize)]
        struct Rejection<'a> {
            #[serde(flatten)]
            ack: &'a MessageAcked,
            reason: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            expected: Option<&'a str>,
        }
        let rejection = Rejection {
            ack: self,
            reason: why.name(),
            expected,
        };
        self.record(&MessageFact::AckRejected, &rejection)
    }
    fn record(&self, fact: &MessageFact, payload: &impl Serialize) -> NewEvent {
        let refs = [
            (RefKind::Agent, Some(&*self.agent)),
            (RefKind::Message, Some(&*self.message_id)),
        ];
        event(fact.kind(), &self.agent, write(payload), refs)
    }
}
