//! Events of messages and of dispatch requests, and the JSON of their payloads, except messages themselves (`sent.rs`).

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
        /// Gives a task to the recipient.
        TaskAssign = "task_assign",
        /// Changes a task.
        TaskUpdate = "task_update",
        /// Tells that the sender is idle.
        IdleNotification = "idle_notification",
        /// Hands work over to the recipient.
        Handoff = "handoff",
        /// Asks the recipient for a decision.
        DecisionRequired = "decision_required",
        /// Asks the recipient to stop.
        ShutdownRequest = "shutdown_request",
        /// Tells that the sender agrees to stop.
        ShutdownApproved = "shutdown_approved",
        /// Asks the recipient to wake an agent.
        AgentWakeupRequired = "agent_wakeup_required",
        /// Asks the recipient to stop an agent.
        AgentShutdownRequired = "agent_shutdown_required",
        /// Tells that an agent started.
        AgentStarted = "agent_started",
        /// Tells that an agent stopped.
        AgentStopped = "agent_stopped",
        /// Tells that an agent failed.
        AgentError = "agent_error",
        /// Tells that an agent did not answer in time.
        AgentTimeout = "agent_timeout",
        /// Plain mail with a `body`.
        #[default]
        Message = "message",
    }
}

words! {
    /// Urgency of a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    #[repr(u8)]
    pub enum Priority {
        /// Not urgent.
        Low = "low",
        /// The default.
        #[default]
        Normal = "normal",
        /// Urgent.
        High = "high",
        /// Needs attention at once.
        Critical = "critical",
    }
}

/// Field of an envelope that holds the task id.
pub(crate) const TASK_ID: &str = "task_id";

events! {
    /// Events of a message.
    #[expect(clippy::large_enum_variant, reason = "facts are boxed")]
    pub enum MessageFact {
        /// A message was put into its recipient's inbox.
        "message_sent" by "teamlog send TEAM" => Sent(MessageSent),
        /// A message was sent again under a known id.
        "message_duplicate" by "teamlog send TEAM" => Duplicate,
        /// A message was held back because a similar one was sent shortly before.
        "message_suppressed" by "teamlog send TEAM --cooldown-seconds" => Suppressed(Suppressed),
        /// The recipient of a message acknowledged the message.
        "message_acked" by "teamlog ack TEAM" => Acked: MessageAcked [id message_id, name agent] {
            /// Id of the message.
            pub message_id: String,
            /// Recipient of the message.
            pub agent: String,
        },
        /// An acknowledged message was acknowledged again.
        "message_ack_duplicate" by "teamlog ack TEAM" => AckedAgain,
        /// An ack was rejected: the message is unknown, or the agent is not its recipient.
        "ack_rejected" by "teamlog ack TEAM" => AckRejected,
    }
}

events! {
    /// Events of a message on its way, and of requests to notify its recipient.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum MailFact {
        /// The recipient of a message got a notification of the message.
        "message_notified" by "teamlog api mailbox-mark-notified" => Notified: MessageMarked [id message_id, name agent] {
            /// Id of the message.
            pub message_id: String,
            /// Recipient of the message.
            pub agent: String,
        },
        /// A message was marked delivered.
        "message_delivered" by "teamlog api mailbox-mark-delivered" => Delivered(MessageMarked),
        /// A notification of a worker was requested.
        "dispatch_requested" by "teamlog api send-message" => Requested:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        DispatchRequested [id request_id, name to_worker, id message_id] {
            /// Id of the request; rows have the id in their keys.
            #[rkyv(with = Skip)]
            pub request_id: String,
            /// Sort of request: `mailbox`, `inbox`, `nudge`.
            pub kind: String,
            /// Worker to be notified.
            pub to_worker: String,
            /// Text of the notification.
            pub trigger_message: String,
            /// Action expected of the worker.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub intent: Option<String>,
            /// Message that the request is for, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub message_id: Option<String>,
            /// Preferred transport of the notification.
            pub transport_preference: String,
            /// True if any other transport may be used instead.
            pub fallback_allowed: bool,
        },
        /// A dispatch request's recipient was notified.
        "dispatch_notified" by "teamlog api mailbox-mark-delivered" => DispatchNotified: DispatchMoved [id request_id] {
            /// Id of the request.
            pub request_id: String,
            /// Reason of the failure.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reason: Option<String>,
        },
        /// A dispatch request was delivered.
        "dispatch_delivered" by "teamlog api mailbox-mark-delivered" => DispatchDelivered(DispatchMoved),
        /// A dispatch request failed, because the request's message became a dead letter.
        "dispatch_failed" by "teamlog tick TEAM" => DispatchFailed(DispatchMoved),
    }
}

words! {
    /// Reason for which an ack was rejected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AckRefused {
        /// No such message.
        NotFound = "not_found",
        /// The message has another recipient.
        WrongRecipient = "wrong_recipient",
    }
}

/// Payload of `message_suppressed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    /// Recipient whose wake-up was withheld because an earlier wake-up is unread. Absent if the message was suppressed for
    /// another reason.
    pub withheld: Option<String>,
}

/// A mark of a message. The two marks are independent of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The recipient was notified.
    Notified,
    /// The message was delivered.
    Delivered,
}

/// Reason of a suppressed wake-up: the recipient has an unread wake-up.
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
    /// Returns the fact that a message got this mark.
    pub fn on(self, marked: MessageMarked) -> MailFact {
        match self {
            Mark::Notified => MailFact::Notified(marked),
            Mark::Delivered => MailFact::Delivered(marked),
        }
    }
}

impl DispatchMoved {
    /// Returns the step of a dispatch request.
    pub fn new(request_id: &str, reason: Option<&str>) -> DispatchMoved {
        DispatchMoved {
            request_id: request_id.to_owned(),
            reason: reason.map(str::to_owned),
        }
    }
}

impl MessageAcked {
    /// Builds the `message_acked` event; `trace` and `task` are the trace id and the task of the message.
    pub fn event(&self, trace: Option<&str>, task: Option<&str>) -> NewEvent {
        let mut event = self.record(&MessageFact::Acked(self.clone()), self);
        let refs = [(RefKind::Trace, trace), (RefKind::Task, task)];
        event.refs.set_given(refs);
        event
    }
    /// Builds the `message_ack_duplicate` event.
    pub fn repeated(&self) -> NewEvent {
        self.record(&MessageFact::AckedAgain, self)
    }
    /// Builds the `ack_rejected` event; `expected` is the message's real recipient.
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
