//! `mailbox-mark-notified`, `mailbox-mark-delivered`: record that a recipient was notified of a message or received it.
//!
//! The two marks are independent of each other. A message keeps its first mark of each kind. A delivery mark also completes the newest
//! dispatch request for the message.

use crate::message::mail::DispatchShown;
use crate::operation::prelude::*;
use crate::projections::message::event::{DispatchMoved, MailFact, Mark, MessageMarked};
use crate::projections::message::{Dispatch, DispatchStatus, MessageInfo};

operation! {
    /// Record that the recipient of a message was notified of it
    "mailbox-mark-notified": Records(MarkNotified {
        /// Owner of the mailbox
        worker: String,
        /// Id of the message
        message_id: String,
    }) -> MarkNotifiedAnswer = Team::mark_notified
}

operation! {
    /// Record that the recipient of a message received it
    "mailbox-mark-delivered": Records(MarkDelivered {
        /// Owner of the mailbox
        worker: String,
        /// Id of the message
        message_id: String,
    }) -> MarkDeliveredAnswer = Team::mark_delivered,
    warns = true
}

/// The answer `{worker, message_id, notified}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarkNotifiedAnswer {
    /// Owner of the mailbox
    pub worker: String,
    /// Id of the message
    pub message_id: String,
    /// True if the message has the mark; false if the mailbox does not contain the message
    pub notified: bool,
}

/// The answer `{worker, message_id, updated, dispatch_request_id, dispatch_updated, dispatch?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarkDeliveredAnswer {
    /// Owner of the mailbox
    pub worker: String,
    /// Id of the message
    pub message_id: String,
    /// True if the message has the mark; false if the mailbox does not contain the message
    pub updated: bool,
    /// Id of the newest dispatch request for the message; `null` if there is none
    pub dispatch_request_id: Option<String>,
    /// True if the dispatch request counts as delivered; false for a failed request
    pub dispatch_updated: bool,
    /// The dispatch request after the change
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DispatchShown>,
}

#[derive(Debug, Clone)]
struct MarkMessage {
    mark: Mark,
    marked: MessageMarked,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Outcome {
    known: bool,
    dispatch: Option<DispatchShown>,
}

impl Team {
    /// Records that the recipient was notified of the message.
    pub fn mark_notified(&mut self, mark: MarkNotified) -> Result<MarkNotifiedAnswer> {
        let MarkNotified { worker, message_id } = mark;
        let outcome = self.mark(Mark::Notified, &worker, &message_id)?;
        Ok(MarkNotifiedAnswer {
            worker,
            message_id,
            notified: outcome.known,
        })
    }

    /// Records that the recipient received the message.
    pub fn mark_delivered(&mut self, mark: MarkDelivered) -> Result<MarkDeliveredAnswer> {
        let MarkDelivered { worker, message_id } = mark;
        let Outcome { known, dispatch } = self.mark(Mark::Delivered, &worker, &message_id)?;
        let delivered = DispatchStatus::Delivered.name();
        let shown = dispatch.as_ref();
        Ok(MarkDeliveredAnswer {
            worker,
            message_id,
            updated: known,
            dispatch_request_id: shown.map(|shown| shown.request_id.clone()),
            dispatch_updated: shown.is_some_and(|shown| shown.status == delivered),
            dispatch,
        })
    }

    fn mark(&mut self, mark: Mark, worker: &str, message_id: &str) -> Result<Outcome> {
        names::check_known("worker", worker)?;
        names::check_known_free("message_id", message_id)?;
        self.execute(MarkMessage {
            mark,
            marked: MessageMarked {
                message_id: message_id.to_owned(),
                agent: worker.to_owned(),
            },
        })
    }
}

impl Command for MarkMessage {
    type Decided = bool;
    type Answer = Outcome;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<bool>> {
        let Some(message) = self.message(live)? else {
            return Ok(Decision::Granted(false, Vec::new()));
        };
        let marks = live.marks(&message.id)?;
        let worker = &*self.marked.agent;
        // The actor of a delivery mark is the worker. The actor of a notification mark is the
        // default actor, because the worker did nothing.
        let (was, actor, ends) = match self.mark {
            Mark::Notified => (marks.notified_at, DEFAULT_ACTOR, false),
            Mark::Delivered => (marks.delivered_at, worker, true),
        };
        let mut events = Vec::new();
        if was.is_none() {
            events.extend(membership::joining(live, worker)?.filter(|_| ends));
            let marked = self.mark.on(self.marked.clone());
            events.push(marked.event(actor, &message));
        }
        let marked = events.len().checked_sub(1).map(Cause::Earlier);
        if let Some(dispatch) = dispatch(live, &message.id)?.filter(|_| ends) {
            for mut event in end(&dispatch, worker, &message) {
                event.cause = marked;
                events.push(event);
            }
        }
        Ok(Decision::Granted(true, events))
    }

    fn answer(&self, known: &bool, after: &After<'_>) -> Result<Outcome> {
        if !known {
            return Ok(Outcome::default());
        }
        let dispatch = dispatch(after.live, &self.marked.message_id)?;
        Ok(Outcome {
            known: true,
            dispatch: dispatch.map(|dispatch| DispatchShown::new(dispatch, after.team)),
        })
    }
}

impl MarkMessage {
    fn message(&self, live: &Live) -> Result<Option<MessageInfo>> {
        let message = live.message(&self.marked.message_id)?;
        Ok(message.filter(|message| message.to == self.marked.agent))
    }
}

/// Returns the newest dispatch request for a message.
pub(crate) fn dispatch(live: &Live, message_id: &str) -> Result<Option<Dispatch>> {
    match live.marks(message_id)?.dispatch {
        Some(request) => Ok(live.dispatch(&request)?),
        None => Ok(None),
    }
}

/// Returns the events that change the state of a dispatch request to `delivered`; no event if the
/// request has ended already.
fn end(dispatch: &Dispatch, actor: &str, message: &MessageInfo) -> Vec<NewEvent> {
    let left: &[fn(DispatchMoved) -> MailFact] = match dispatch.status {
        DispatchStatus::Pending => &[MailFact::DispatchNotified, MailFact::DispatchDelivered],
        DispatchStatus::Notified => &[MailFact::DispatchDelivered],
        DispatchStatus::Delivered | DispatchStatus::Failed => &[],
    };
    let id = &dispatch.request.request_id;
    let moved = || DispatchMoved::new(id, None);
    let events = left.iter().map(|step| step(moved()).event(actor, message));
    events.collect()
}
