//! `send`: puts one message into one inbox. Assignments and updates are messages too.
//!
//! The checks come in this order: envelope, time, sender and recipient, known id, cooldown. A known id is checked before
//! the cooldown, so that a retry is answered with `duplicate`.

use crate::command::unrecorded;
use crate::handle::next;
use crate::log::recorded::Recorded;
use crate::message::dead_letter::DeadLetterShown;
use crate::message::effect::{self, Applied, Doubts, Effect};
use crate::operation::json_text;
use crate::operation::prelude::*;
use crate::projections::delivery::Delivery;
use crate::projections::delivery::event::DeliveryFact;
use crate::projections::message::{MessageInfo, Names, NotApplied};
use crate::projections::{Envelope, Policy};
use crate::task::approval;
use crate::task::blocking::{self, Turn};

operation! {
    /// Send a message of any type to an agent
    "send": Records(Send {
        /// Sender of the message
        from: String,
        /// Recipient of the message
        to: String,
        /// Type of the message, listed in docs/protocol.md, for example `handoff`
        #[serde(rename = "type")]
        #[schemars(with = "MessageType")]
        kind: String,
        /// Id of the message; `msg_` and 12 hex digits if absent. If the id is known, the message counts as a duplicate
        message_id: Option<String>,
        /// Task that the message concerns
        task_id: Option<String>,
        /// Trace of the message; the trace of the task if absent
        trace_id: Option<String>,
        /// Priority: `low`, `normal`, `high` or `critical`; `normal` if absent
        #[schemars(with = "Option<Priority>")]
        priority: Option<String>,
        /// Payload; `{}` if absent
        #[serde(with = "json_text")]
        #[schemars(with = "Map<String, Value>")]
        payload: Option<String>,
        /// Time of the message, ISO 8601, at most five minutes ahead; now if absent
        created_at: Option<String>,
        /// Suppress the message if the recipient got a message about this task and of this type within this number of seconds
        cooldown_seconds: Option<u64>,
        /// Require an ack: without an ack the message is repeated, and finally becomes a dead letter
        delivery: Option<Require>,
    }) -> SendAnswer = Team::send,
    refuses = [WorkerNotFound, TaskNotFound, CreatedAtAhead, MessageIdReused, BudgetExceeded]
}

/// Delivery terms of one message. If a value is absent, the team's setting applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Require {
    /// Seconds that each attempt waits for the ack; default: the team's setting for the type
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_timeout_seconds: Option<u64>,
    /// Number of further attempts after the first; default: the team's setting for the type
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u64>,
}

/// Outcome of a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SendStatus {
    /// The message is in the inbox.
    Sent,
    /// A message with the given id exists already; nothing changed.
    Duplicate,
    /// The cooldown suppressed the message.
    Suppressed,
    /// The recipient acknowledged the message while the sender waited.
    Acked,
    /// No ack came while the sender waited. The command exits with 1.
    DeadLetter,
}

/// The answer `{status, message, event}`. If suppressed: also `reason` and `cooldown_remaining_seconds`. If an ack is required:
/// also `delivery`. If the command waited for the ack: also `attempt` and `ack`, or `dead_letter`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SendAnswer {
    /// Outcome of the send.
    pub status: SendStatus,
    /// The message; for a duplicate, the stored message.
    #[serde(serialize_with = "crate::shapes::message")]
    #[serde(deserialize_with = "crate::shapes::read_message")]
    pub message: Message,
    /// The event that records the outcome.
    pub event: Recorded,
    /// Effect of the message on its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Applied>,
    /// Reason. `cooldown` if suppressed. If not applied: `newer_message`, `claim_governed`, or a reason of `not_applied`.
    /// `delivery_unchanged` if a duplicate requires an ack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'static, str>>,
    /// Seconds until the cooldown ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown_remaining_seconds: Option<u64>,
    /// The task, if it is claim-governed. The message did not change the task and is kept as a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<KeptAsReport>,
    /// Fields that were not applied to the task, each with its reason: `no_task_id`, `unknown_status`,
    /// `dependency_cycle`, `approval_required`. The other fields were applied.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_applied: BTreeMap<String, NotApplied>,
    /// Warnings about the names in the message.
    #[serde(flatten)]
    pub doubts: Doubts,
    /// Terms of the delivery, if an ack is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Terms>,
    /// Number of the attempt after which the ack came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The event of the ack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack: Option<Recorded>,
    /// The dead letter, if no ack came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_letter: Option<DeadLetterShown>,
}

impl SendAnswer {
    /// Returns true if an ack is required and neither the ack nor the dead letter is in the answer.
    pub fn is_open(&self) -> bool {
        let settled = matches!(self.status, SendStatus::Acked | SendStatus::DeadLetter);
        self.delivery.is_some() && !settled
    }
}

/// The JSON object `{task_id, status, holder?, epoch?, next?}`: a task whose status a message does not change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptAsReport {
    /// Id of the task.
    pub task_id: String,
    /// Status of the task, which the message leaves unchanged.
    #[schemars(with = "Status")]
    pub status: Cow<'static, str>,
    /// Holder of the live claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Fencing epoch of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Commands for the next steps of the task, if the sender is the holder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// The JSON object `{ack_timeout_seconds, max_retries, dead_letter_at}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// Seconds that each attempt waits for the ack.
    pub ack_timeout_seconds: u64,
    /// Number of further attempts after the first.
    pub max_retries: u32,
    /// Time at which the message becomes a dead letter if no ack comes.
    pub dead_letter_at: String,
}

/// Kind of the event that follows `message_sent` if an ack is required.
const REQUIRED: &str = "delivery_required";
/// Kind of the event that records a message.
const SENT: &str = "message_sent";
/// Kinds of events between `message_sent` and `delivery_required`, if the message completes or resumes a task with
/// dependents.
const DEPENDENTS: [&str; 2] = ["task_unblocked", "task_blocked"];

/// Maximum time that `created_at` may be ahead of now. The tolerance covers hosts whose clocks
/// differ.
pub const AHEAD_MAX_MICROS: i64 = 5 * 60 * 1_000_000;

/// A send and the random bits of its message id. Drawing the bits before `decide` keeps `decide` pure.
#[derive(Debug, Clone)]
pub(crate) struct NewMessage {
    pub send: Send,
    pub random: u64,
    /// The recorded message with this message's id, and the seq of its event; `None` if not read yet.
    pub first: Option<(u64, Message)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    Sent(Message, Doubts),
    Duplicate(Message),
    Suppressed { message: Message, remaining: u64 },
}

impl Team {
    /// Sends a message.
    ///
    /// # Errors
    /// `invalid_input`, `worker_not_found`, `created_at_ahead`, `message_id_reused`; errors of the log.
    pub fn send(&mut self, mut send: Send) -> Result<SendAnswer> {
        send.trace_id = send.trace_id.or_else(|| self.control.trace_id.clone());
        let mut new = NewMessage {
            send,
            random: self.options.ids.random()?,
            first: None,
        };
        loop {
            let failure = match self.execute(new.clone()) {
                Err(failure) => failure,
                sent => return sent,
            };
            let seq = failure.refusal().and_then(|refusal| {
                let seq = refusal.details.get(UNREAD)?;
                seq.as_u64()
            });
            let Some(seq) = seq else {
                return Err(failure);
            };
            let first = self.query(|live, reader| page::sent(live, reader, seq))?;
            new.first = Some((seq, first));
        }
    }
}

/// Detail of a refusal: the seq of a recorded message with this message's id. The caller reads that message, compares the two messages, and
/// decides again.
const UNREAD: &str = "unread";

/// Refuses a known message id if the recorded message has not been read yet. The caller then reads
/// the recorded message to compare the contents.
fn unread(id: &str, seq: u64) -> Refusal {
    let text = format!(
        "message id {} was already used; try again to compare the contents",
        shown(id)
    );
    Refusal::new(Code::MessageIdReused, text).detail(UNREAD, seq)
}

impl KeptAsReport {
    /// Describes the claim-governed task that a message is about.
    pub(crate) fn read(after: &After<'_>, task: &Task, message: &Message) -> Result<KeptAsReport> {
        let claim = task
            .claim()
            .filter(|claim| claim.leased_until > after.ctx.now);
        let epoch = task.governed.epoch;
        let session = after.ctx.control.origin.claim_session.as_deref();
        let own = claim.filter(|claim| claim.owner == message.from);
        let own = own.filter(|claim| !claim.is_of_other_session(session));
        let waits = approval::is_missing(after.live, task)?;
        let (team, id) = (after.team, &task.task_id);
        let next = own.map(|claim| next::of_holder(team, id, &claim.owner, epoch, waits));
        Ok(KeptAsReport {
            next: next.unwrap_or_default(),
            task_id: task.task_id.clone(),
            status: task.status.name().into(),
            holder: claim.map(|claim| claim.owner.clone()),
            epoch: claim.map(|_| epoch),
        })
    }
}

impl Command for NewMessage {
    type Decided = Settled;
    type Answer = SendAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Agent(&self.send.from))
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Settled>> {
        let (settled, events) = self.settle(live, ctx.now)?;
        Ok(Decision::Granted(settled, events))
    }

    fn answer(&self, settled: &Settled, after: &After<'_>) -> Result<SendAnswer> {
        let effect = match settled {
            Settled::Sent(message, _) => effect::read(after, message, recorded_at(after, message))?,
            _ => Effect::default(),
        };
        let follows = |kind: &str| kind == REQUIRED || DEPENDENTS.contains(&kind);
        let mut own = after.events.iter().filter(|event| !follows(&event.kind));
        let event = own.next_back().cloned().ok_or_else(unrecorded)?;
        let mut answer = SendAnswer {
            status: SendStatus::Sent,
            message: match settled {
                Settled::Sent(message, _) | Settled::Suppressed { message, .. } => {
                    message.clone().by(&event.actor)
                }
                Settled::Duplicate(first) => first.clone(),
            },
            event: Recorded::plain(event),
            applied: effect.applied,
            reason: effect.reason.map(Cow::from),
            cooldown_remaining_seconds: None,
            reported: effect.reported,
            not_applied: effect.not_applied,
            doubts: Doubts::default(),
            delivery: None,
            attempt: None,
            ack: None,
            dead_letter: None,
        };
        match settled {
            Settled::Sent(message, doubts) => {
                answer.doubts = doubts.clone();
                if self.send.delivery.is_some() {
                    let delivery = after.live.delivery(&message.id)?;
                    answer.delivery = delivery.as_ref().map(Terms::from_delivery);
                }
            }
            Settled::Duplicate(_) => {
                answer.status = SendStatus::Duplicate;
                let asks_for_ack = self.send.delivery.is_some();
                answer.reason = asks_for_ack.then(|| "delivery_unchanged".into());
            }
            Settled::Suppressed { remaining, .. } => {
                answer.status = SendStatus::Suppressed;
                answer.reason = Some("cooldown".into());
                answer.cooldown_remaining_seconds = Some(*remaining);
            }
        }
        Ok(answer)
    }
}

impl NewMessage {
    /// Refuses a message that has the id of a recorded message but differs from it. If the caller gave no time or trace,
    /// does not compare these fields.
    fn check_same(&self, first: &Message, message: &Message) -> Result<(), Refusal> {
        let differs = [
            ("from", first.from != message.from),
            ("to", first.to != message.to),
            ("type", first.kind != message.kind),
            ("task_id", first.task_id != message.task_id),
            ("payload", !is_same_json(&first.payload, &message.payload)),
            (
                "created_at",
                self.send.created_at.is_some() && first.created_at != message.created_at,
            ),
            (
                "trace_id",
                self.send.trace_id.is_some() && first.trace_id != message.trace_id,
            ),
        ];
        let fields = differs.iter().filter(|(_, differs)| *differs);
        let fields: Vec<&str> = fields.map(|(field, _)| *field).collect();
        if fields.is_empty() {
            return Ok(());
        }
        let text = format!(
            "message id {} was already used with another {}; this message was not sent",
            shown(&message.id),
            fields.join(", ")
        );
        let refusal = Refusal::new(Code::MessageIdReused, text).field("message_id");
        Err(refusal
            .detail("differs", fields)
            .hint("omit the message id, or use a new one"))
    }

    pub(crate) fn settle(&self, live: &Live, now: Timestamp) -> Result<(Settled, Vec<NewEvent>)> {
        let mut message = self.message(live, now)?;
        if message.created_at > now.plus_micros(AHEAD_MAX_MICROS) {
            return Err(ahead(&message, now).into());
        }
        membership::check(live, "message.from", &message.from)?;
        match live.message(&message.id)? {
            // A repeated message names the recipient of the first message, even if that agent has
            // left the team.
            Some(_) => membership::check_known(live, "message.to", &message.to)?,
            None => {
                message.to = membership::recipient(live, &message.to)?;
                membership::check(live, "message.to", &message.to)?;
            }
        }
        if let Some(id) = &message.task_id {
            let task = live.task(id)?;
            if task.is_none() {
                names::check_new("message.task_id", id)?;
                effect::check_creation(live, &message, id)?;
            }
            message.trace_id = message.trace_id.or(task.and_then(|task| task.trace_id));
        }
        if let Some(known) = live.message(&message.id)? {
            match &self.first {
                Some((seq, first)) if *seq == known.seq => self.check_same(first, &message)?,
                _ => return Err(unread(&message.id, known.seq).into()),
            }
        }
        let first = self.first.as_ref().map(|(_, first)| first);
        let (settled, event) = settle(live, message, first, self.send.cooldown_seconds, now)?;
        let sent = matches!(settled, Settled::Sent(..));
        let joins = membership::joining(live, &self.send.from)?.filter(|_| sent);
        let mut events: Vec<NewEvent> = joins.into_iter().chain([event]).collect();
        let Settled::Sent(message, _) = &settled else {
            return Ok((settled, events));
        };
        // Accepts an update even if the budget is spent, because the update reports on work that has begun.
        if message.kind != MessageType::TaskUpdate {
            budget::check(live, Some(&message.from))?;
        }
        let cause = events.len() - 1;
        match blocking::turned_by(live, message)? {
            Some((task, Turn::Completed)) => {
                blocking::unblock(live, task, cause, DEFAULT_ACTOR, &mut events)?;
            }
            Some((task, Turn::Resumed)) => {
                blocking::reblock(live, task, cause, DEFAULT_ACTOR, &mut events)?;
            }
            None => {}
        }
        if let Some(require) = self.send.delivery {
            let required = require.fact(live, message, now)?;
            let mut event = required.event(&message.from, &info(message));
            event.cause = Some(Cause::Earlier(cause));
            events.push(event);
        }
        Ok((settled, events))
    }
}

impl Require {
    /// Completes the terms of the delivery from the team's settings for the message type.
    fn fact(self, live: &Live, message: &Message, now: Timestamp) -> Result<DeliveryFact> {
        let policy = self.over(live.policy(message.kind)?)?;
        Ok(DeliveryFact::required(now, &message.id, policy, false))
    }

    pub(crate) fn over(self, mut policy: Policy) -> Result<Policy, Refusal> {
        if let Some(seconds) = self.ack_timeout_seconds {
            policy.ack_timeout_seconds =
                within("ack_timeout_seconds", Setting::AckTimeout(None), seconds)?;
        }
        if let Some(retries) = self.max_retries {
            let retries = within("max_retries", Setting::MaxRetries(None), retries)?;
            policy.max_retries = u32::try_from(retries).unwrap_or(u32::MAX);
        }
        Ok(policy)
    }
}

/// Checks a number of the caller against the range of a setting.
pub(crate) fn within(field: &str, setting: Setting, number: u64) -> Result<u64, Refusal> {
    let text = number.to_string();
    match setting.parse(&text) {
        Ok(value) => Ok(value.number()),
        Err(rule) => Err(Refusal::invalid(field, &text, &rule)),
    }
}

impl Terms {
    pub(crate) fn from_delivery(delivery: &Delivery) -> Terms {
        Terms {
            ack_timeout_seconds: delivery.policy.ack_timeout_seconds,
            max_retries: delivery.policy.max_retries,
            dead_letter_at: delivery.dead_at().to_string(),
        }
    }
}

/// Returns the index entry of a message before the message is recorded.
fn info(message: &Message) -> MessageInfo {
    MessageInfo {
        id: message.id.clone(),
        seq: 0,
        kind: message.kind,
        to: message.to.clone(),
        task_id: message.task_id.clone(),
        trace_id: message.trace_id.clone(),
        acked: None,
    }
}

impl NewMessage {
    /// Returns the rule for reading names. Accepts names that begin with a hyphen; `decide` checks such names against the team's
    /// names.
    fn names(&self) -> Names {
        let send = &self.send;
        let given = [Some(&send.from), Some(&send.to), send.task_id.as_ref()];
        match given.iter().flatten().any(|name| name.starts_with('-')) {
            true => Names::Known,
            false => Names::New,
        }
    }

    /// Returns the complete message. If the caller gave no id, generates a new unique id.
    pub(crate) fn message(&self, live: &Live, now: Timestamp) -> Result<Message> {
        let send = &self.send;
        let envelope = Envelope {
            id: send.message_id.clone(),
            kind: Some(send.kind.clone()),
            from: Some(send.from.clone()),
            to: Some(send.to.clone()),
            task_id: send.task_id.clone(),
            trace_id: send.trace_id.clone(),
            priority: send.priority.clone(),
            created_at: send.created_at.clone(),
            payload: send.payload.clone(),
            ..Envelope::default()
        };
        let mut random = self.random;
        loop {
            let message = envelope.clone().complete(self.names(), now, random);
            let message = message.map_err(Refusal::from)?;
            if send.message_id.is_some() || live.message(&message.id)?.is_none() {
                return Ok(message);
            }
            random = random.wrapping_add(1);
        }
    }
}

/// Compares two payloads as JSON values, regardless of the order of their fields.
fn is_same_json(first: &Json, second: &Json) -> bool {
    let value = |json: &Json| serde_json::from_str::<Value>(json.as_str()).ok();
    first == second || value(first).is_some_and(|first| Some(first) == value(second))
}

/// Decides if the message is a duplicate, suppressed or sent, and returns the event for that outcome.
fn settle(
    live: &Live,
    message: Message,
    first: Option<&Message>,
    cooldown_seconds: Option<u64>,
    now: Timestamp,
) -> Result<(Settled, NewEvent)> {
    if let Some(first) = first {
        return Ok((Settled::Duplicate(first.clone()), message.duplicate()));
    }
    let remaining = cooling(live, &message, cooldown_seconds, now)?;
    if remaining > 0 {
        let event = message.suppressed(remaining).map_err(Refusal::from)?;
        return Ok((Settled::Suppressed { message, remaining }, event));
    }
    let mut left_out = message.unapplied();
    left_out.extend(approval::withheld(live, &message)?);
    let event = message.sent_without(now, &left_out);
    let event = event.map_err(Refusal::from)?;
    let doubts = Doubts::find(live, &message)?;
    Ok((Settled::Sent(message, doubts), event))
}

/// Returns the seq of the event with which this command recorded the message.
fn recorded_at(after: &After<'_>, message: &Message) -> u64 {
    let is_own = |event: &&Event<'static>| {
        event.kind == SENT && event.refs.get(RefKind::Message) == Some(&message.id)
    };
    after
        .events
        .iter()
        .find(is_own)
        .map_or(0, |event| event.seq)
}

/// Returns the remaining seconds of the cooldown of (recipient, task, type), rounded up; 0 if the cooldown is over.
fn cooling(
    live: &Live,
    message: &Message,
    cooldown_seconds: Option<u64>,
    now: Timestamp,
) -> Result<u64> {
    let cooldown = cooldown_seconds.unwrap_or(0);
    if cooldown == 0 {
        return Ok(0);
    }
    let kind: MessageType = message.kind;
    let Some(last) = live.last_sent(&message.to, message.task_id.as_deref(), kind)? else {
        return Ok(0);
    };
    // If the clock went back, the whole cooldown remains.
    let passed = u64::try_from(now.micros() - last.at.micros()).unwrap_or(0);
    let whole = cooldown.saturating_mul(1_000_000);
    Ok(whole.saturating_sub(passed).div_ceil(1_000_000))
}

fn ahead(message: &Message, now: Timestamp) -> Refusal {
    let text = format!(
        "message.created_at must be at most 5 minutes ahead of now ({now}), but is {}",
        message.created_at
    );
    Refusal::new(Code::CreatedAtAhead, text).field("message.created_at")
}
