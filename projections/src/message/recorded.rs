//! Builders of message events.

use super::{Envelope, InvalidMessage, Message, MessageInfo, Names, Unapplied};
use crate::event::message::{MailFact, MessageFact, Suppressed, UNREAD};
use crate::event::{Events, SENT_OPENING, envelope, undecodable};
use crate::prelude::*;

/// Kind of the event that records a message.
const SENT: &str = <MessageFact as Events>::KINDS[0].name;

#[derive(Serialize)]
struct StoredDuplicate<'a> {
    message_id: &'a str,
    from: &'a str,
    to: &'a str,
}

impl Message {
    /// Reads the message that a `message_sent` event recorded.
    pub fn from_event(event: &Event<'_>) -> Result<Message> {
        let message = parsed(envelope(event)?).map_err(undecodable(event))?;
        Ok(message.by(&event.actor))
    }

    /// Builds the `message_sent` event: actor is the sender, refs are recipient, message, task and trace.
    ///
    /// # Errors
    /// If the payload is nested too deep for an event.
    pub fn sent(&self) -> Result<NewEvent, InvalidMessage> {
        self.sent_at(self.created_at)
    }

    /// Builds the `message_sent` event of a message sent now. If the sender gave another creation time, the event has both
    /// times. The event also lists the fields that are not applied to a task.
    pub fn sent_at(&self, now: Timestamp) -> Result<NewEvent, InvalidMessage> {
        self.sent_without(now, &self.unapplied())
    }

    /// Like [`Message::sent_at`], for a caller that knows which fields are not applied.
    ///
    /// # Errors
    /// Errors of [`Message::sent`].
    pub fn sent_without(
        &self,
        now: Timestamp,
        left_out: &[Unapplied],
    ) -> Result<NewEvent, InvalidMessage> {
        let mut text = self.text_behind(SENT_OPENING);
        if now != self.created_at {
            text.push_str(",\"sent_at\":\"");
            text.push_str(&now.to_string());
            text.push('"');
        }
        for (at, one) in left_out.iter().enumerate() {
            text.push_str(if at == 0 { ",\"not_applied\":{" } else { "," });
            text.push_str(&format!("\"{}\":\"{}\"", one.field, one.reason.name()));
        }
        if !left_out.is_empty() {
            text.push('}');
        }
        text.push('}');
        let payload = match self.is_shallow() {
            true => Json::from_canonical(text),
            false => self.wrapped(text)?,
        };
        Ok(self.record(SENT, payload))
    }

    /// Builds the `message_duplicate` event, for a message with a known id.
    pub fn duplicate(&self) -> NewEvent {
        let stored = StoredDuplicate {
            message_id: &self.id,
            from: &self.from,
            to: &self.to,
        };
        self.record(MessageFact::Duplicate.kind(), write(&stored))
    }

    /// Builds the `message_suppressed` event, for a message within the cooldown.
    pub fn suppressed(&self, remaining_seconds: u64) -> Result<NewEvent, InvalidMessage> {
        self.held_back("cooldown", remaining_seconds)
    }

    /// Builds the `message_suppressed` event of a wake-up whose recipient has an unread wake-up.
    pub fn withheld(&self) -> Result<NewEvent, InvalidMessage> {
        self.held_back(UNREAD, 0)
    }

    fn held_back(&self, reason: &str, remaining_seconds: u64) -> Result<NewEvent, InvalidMessage> {
        let payload = self.wrapped(format!(
            "{{\"message\":{},\"reason\":\"{reason}\",\"remaining_seconds\":{remaining_seconds}}}",
            self.text()
        ))?;
        let kind = MessageFact::Suppressed(Suppressed { withheld: None }).kind();
        Ok(self.record(kind, payload))
    }

    fn wrapped(&self, text: String) -> Result<Json, InvalidMessage> {
        let rule = "must fit into an event";
        Json::parse(&text)
            .map_err(|error| InvalidMessage::new("message.payload", error.to_string(), rule))
    }

    fn record(&self, kind: &'static str, payload: Json) -> NewEvent {
        let refs = [
            (RefKind::Agent, Some(&*self.to)),
            (RefKind::Message, Some(&*self.id)),
            (RefKind::Task, self.task_id.as_deref()),
            (RefKind::Trace, self.trace_id.as_deref()),
        ];
        event(kind, &self.from, payload, refs)
    }
}

fn parsed(envelope: &str) -> Result<Message, String> {
    let envelope = Envelope::parse(envelope).map_err(|error| error.to_string())?;
    if envelope.id.is_none() || envelope.created_at.is_none() {
        return Err("the message has no id or no time".to_owned());
    }
    let complete = envelope.complete(Names::Imported, Timestamp::default(), 0);
    complete.map_err(|error| error.to_string())
}

/// Builds an event about a message, with the message's recipient, task and trace.
pub(crate) fn event_about(
    kind: &'static str,
    actor: &str,
    message: &MessageInfo,
    payload: &impl Serialize,
) -> NewEvent {
    let to = Some(&*message.to).filter(|to| !to.is_empty());
    let refs = [
        (RefKind::Message, Some(&*message.id)),
        (RefKind::Agent, to),
        (RefKind::Trace, message.trace_id.as_deref()),
        (RefKind::Task, message.task_id.as_deref()),
    ];
    event(kind, actor, write(payload), refs)
}

impl MailFact {
    /// Builds the event, with the message's recipient, task and trace.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        event_about(self.kind(), actor, message, self)
    }
}
