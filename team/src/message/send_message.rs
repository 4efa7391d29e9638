//! `send-message`: sends plain mail to one worker and requests a notification of that worker. Sends no second copy of mail that is still
//! undelivered.

use crate::doubts::RecipientDoubts;
use crate::message::mail::{DispatchOutcome, Mail};
use crate::message::mailbox_mark::dispatch;
use crate::operation::prelude::*;
use crate::projections::message::event::{DispatchRequested, MailFact};
use crate::projections::message::{DispatchStatus, MessageInfo};
use crate::projections::{Envelope, Names};
use crate::uuid;

operation! {
    /// Send plain mail to a worker, and request its notification
    "send-message": Records(SendMessage {
        /// Sender of the message
        from_worker: String,
        /// Recipient of the message
        to_worker: String,
        /// Text of the message
        body: String,
    }) -> SendMessageAnswer = Team::send_message,
    refuses = [WorkerNotFound, BudgetExceeded]
}

/// The answer `{message, dispatch}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SendMessageAnswer {
    /// The message; if equal mail is still undelivered, the existing message
    pub message: Mail,
    /// Outcome of the request to notify the recipient
    pub dispatch: DispatchOutcome,
    /// Warnings about the recipient and the sender
    #[serde(flatten)]
    pub doubts: RecipientDoubts,
}

/// Preferred transport of a dispatch request.
const TRANSPORT: &str = "hook_preferred_with_fallback";
/// Intent of a dispatch request: the action that the worker should take on it.
const INTENT: &str = "pending-mailbox-review";

/// Plain mail, new or already in the inbox.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingMail {
    pub id: String,
    pub from: String,
    pub to: String,
    pub body: String,
    pub trace_id: Option<String>,
}

/// Mail as stored in the state or in its new event.
#[derive(Debug, Clone)]
pub(crate) struct StoredMail {
    pub mail: Mail,
    /// The event that stores the mail; `None` if the mail was already stored.
    pub event: Option<NewEvent>,
}

/// A send with its generated ids. Generating the ids before `decide` keeps `decide` pure.
#[derive(Debug, Clone)]
struct SendLetter {
    letter: OutgoingMail,
    request_id: String,
    team: String,
}

impl Team {
    /// Sends plain mail to a worker, and requests a notification of that worker.
    pub fn send_message(&mut self, send: SendMessage) -> Result<SendMessageAnswer> {
        let send = SendLetter {
            letter: OutgoingMail {
                id: self.new_id()?,
                from: send.from_worker,
                to: send.to_worker,
                body: body(&send.body)?,
                trace_id: self.control.trace_id.clone(),
            },
            request_id: self.new_id()?,
            team: self.name().to_owned(),
        };
        self.execute(send)
    }

    fn new_id(&self) -> Result<String> {
        Ok(uuid::new(&*self.options.ids)?)
    }
}

/// Trims a text. Refuses an empty text.
pub(crate) fn body(text: &str) -> Result<String, Refusal> {
    match text.trim() {
        "" => Err(Refusal::invalid("body", text, "must not be blank")),
        body => Ok(body.to_owned()),
    }
}

impl OutgoingMail {
    /// Returns the mail in the inbox with this sender and this text. If there is no such mail, returns new mail with its event.
    pub fn post(&self, live: &Live, now: Timestamp) -> Result<StoredMail> {
        if let Some(same) = live.same_mail(&self.from, &self.to, &self.body)? {
            let marks = live.marks(&same.id)?;
            let stored = live.message(&same.id)?;
            let stored = stored.map(|stored| (stored.task_id, stored.trace_id));
            let (task_id, trace_id) = stored.unwrap_or_default();
            let mail = Mail {
                task_id,
                trace_id,
                ..Mail::plain(&same.id, &self.from, &self.to, &self.body, same.created_at)
            };
            return Ok(StoredMail {
                mail: mail.marked(&marks),
                event: None,
            });
        }
        let payload =
            Json::from_value(&serde_json::json!({ "body": self.body })).map_err(|error| {
                Refusal::invalid("body", &self.body, format!("must be text ({error})"))
            })?;
        let envelope = Envelope {
            id: Some(self.id.clone()),
            kind: Some(MessageType::Message.name().to_owned()),
            from: Some(self.from.clone()),
            to: Some(self.to.clone()),
            trace_id: self.trace_id.clone(),
            payload: Some(payload.into_string()),
            ..Envelope::default()
        };
        // Allows all names, because sender and recipient were already checked against the team's known names.
        let message = envelope.complete(Names::Known, now, 0);
        let message = message.map_err(Refusal::from)?;
        Ok(StoredMail {
            event: Some(message.sent_at(now).map_err(Refusal::from)?),
            mail: Mail::from_message(&message),
        })
    }
}

/// Notification of the recipient: by a new request, by a pending request, or already done.
#[derive(Debug, Clone)]
enum Telling {
    Queued(String),
    Waiting(String),
    Told,
}

#[derive(Debug, Clone)]
struct Sending {
    mail: Mail,
    telling: Telling,
    doubts: RecipientDoubts,
}

impl Command for SendLetter {
    type Decided = Sending;
    type Answer = SendMessageAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Sending>> {
        let mut letter = self.letter.clone();
        letter.to = membership::recipient(live, &letter.to)?;
        membership::check(live, "from_worker", &letter.from)?;
        membership::check(live, "to_worker", &letter.to)?;
        let posted = letter.post(live, ctx.now)?;
        let doubts = RecipientDoubts::find(live, &letter.to, &letter.from)?;
        let telling = self.telling(live, &posted.mail)?;
        let mut events = Vec::new();
        if posted.event.is_some() {
            budget::check(live, Some(&letter.from))?;
            events.extend(membership::joining(live, &letter.from)?);
        }
        let is_new = posted.event.is_some();
        events.extend(posted.event);
        if let Telling::Queued(_) = telling {
            let mut event = self.request(live, &posted.mail)?;
            event.cause = is_new.then(|| Cause::Earlier(events.len() - 1));
            events.push(event);
        }
        let mail = posted.mail;
        let sending = Sending {
            mail,
            telling,
            doubts,
        };
        Ok(Decision::Granted(sending, events))
    }

    fn answer(&self, sending: &Sending, _: &After<'_>) -> Result<SendMessageAnswer> {
        Ok(SendMessageAnswer {
            message: sending.mail.clone(),
            dispatch: sending.outcome(),
            doubts: sending.doubts.clone(),
        })
    }
}

impl SendLetter {
    /// Decides how to notify the recipient. A failed request is repeated, an open request is kept.
    fn telling(&self, live: &Live, mail: &Mail) -> Result<Telling> {
        let known = dispatch(live, &mail.message_id)?;
        let queued = || Telling::Queued(self.request_id.clone());
        Ok(match known.map(|known| (known.status, known.request)) {
            _ if mail.notified_at.is_some() => Telling::Told,
            Some((DispatchStatus::Notified, _)) => Telling::Told,
            Some((DispatchStatus::Pending, request)) => Telling::Waiting(request.request_id),
            Some((DispatchStatus::Delivered | DispatchStatus::Failed, _)) | None => queued(),
        })
    }

    fn request(&self, live: &Live, mail: &Mail) -> Result<NewEvent> {
        let (team, to) = (&self.team, &mail.to_worker);
        let request = MailFact::Requested(DispatchRequested {
            request_id: self.request_id.clone(),
            kind: "mailbox".to_owned(),
            to_worker: to.clone(),
            trigger_message: format!(
                "{to} has mail from {}; to read it: teamlog read {team} --agent {to} --unread",
                mail.from_worker
            ),
            intent: Some(INTENT.to_owned()),
            message_id: Some(mail.message_id.clone()),
            transport_preference: TRANSPORT.to_owned(),
            fallback_allowed: true,
        });
        let known = live.message(&mail.message_id)?;
        let message = known.unwrap_or_else(|| MessageInfo {
            trace_id: self.letter.trace_id.clone(),
            ..MessageInfo::unknown(&mail.message_id, to)
        });
        Ok(request.event(&self.letter.from, &message))
    }
}

impl Sending {
    fn outcome(&self) -> DispatchOutcome {
        let mail = &self.mail;
        let hook = match mail.to_worker == LEADER {
            true => "mailbox",
            false => "hook",
        };
        let (transport, reason) = match &self.telling {
            Telling::Queued(_) => ("hook", "queued_for_hook_dispatch"),
            Telling::Waiting(_) => ("none", "duplicate_pending_dispatch_request"),
            Telling::Told => (hook, "existing_message_already_notified"),
        };
        let waits = matches!(self.telling, Telling::Waiting(_));
        DispatchOutcome {
            ok: !waits,
            transport: transport.to_owned(),
            reason: reason.to_owned(),
            request_id: match &self.telling {
                Telling::Queued(request) | Telling::Waiting(request) => Some(request.clone()),
                Telling::Told => None,
            },
            message_id: mail.message_id.clone(),
            to_worker: (!waits).then(|| mail.to_worker.clone()),
        }
    }
}
