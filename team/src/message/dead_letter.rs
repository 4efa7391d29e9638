//! `dead-letter`: lists and requeues messages that were not acknowledged in time.

use crate::log::recorded::Recorded;
use crate::message::send::{Require, Terms};
use crate::operation::prelude::*;
use crate::projections::delivery::State;
use crate::projections::delivery::event::DeliveryFact;
use crate::projections::{DeadLetter, event};

operation! {
    /// List the newest dead letters, oldest first
    "list-dead-letters": Reads(DeadLetterList {
        /// Only dead letters of this recipient
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Largest number of dead letters; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "ID")]
        cursor: Option<String>,
    }) -> DeadLetterListAnswer = Team::dead_letters,
    refuses = [WorkerNotFound, CursorUnknown]
}

operation! {
    /// Requeue a dead letter: the delivery of its message begins anew
    "requeue-dead-letter": Records(DeadLetterRequeue {
        /// Id of a message; its newest dead letter is requeued
        #[arg(long, value_name = "ID", conflicts_with = "id")]
        message_id: Option<String>,
        /// Id of the dead letter, instead of the id of the message
        #[arg(long, value_name = "ID", required_unless_present = "message_id")]
        id: Option<String>,
        /// Seconds that each attempt waits for its ack; unchanged if absent
        #[arg(long, value_name = "SECONDS", value_parser = crate::argv::whole::<u64>)]
        ack_timeout_seconds: Option<u64>,
        /// Number of repeated attempts; unchanged if absent
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        max_retries: Option<u64>,
    }) -> RequeueAnswer as dead_letter_requeue,
    refuses = [DeadLetterNotFound, AlreadyAcked, DeliveryOpen]
}

/// Status of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetterStatus {
    /// Not requeued and not acknowledged.
    Dead,
    /// Requeued: the delivery of its message began anew.
    Requeued,
    /// Acknowledged by the recipient after all.
    Acked,
}

/// The JSON object `{id, schema_version, team, message_id, task_id, trace_id, reason, attempts, created_at, message, status,
/// acked_at?, requeued_at?}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetterShown {
    /// Id of the dead letter.
    pub id: String,
    /// Always 1.
    pub schema_version: u32,
    /// Name of the team.
    pub team: String,
    /// Id of the message.
    pub message_id: String,
    /// Task of the message.
    pub task_id: Option<String>,
    /// Trace of the message.
    pub trace_id: Option<String>,
    /// Reason: `ack_timeout`.
    pub reason: String,
    /// Number of delivery attempts.
    pub attempts: u32,
    /// Time at which the dead letter was recorded.
    pub created_at: String,
    /// The message; `null` if the log does not contain it.
    #[schemars(with = "Option<Message>")]
    pub message: Option<Box<RawValue>>,
    /// Status of the dead letter.
    pub status: DeadLetterStatus,
    /// Time of the recipient's late ack; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acked_at: Option<String>,
    /// Time of the last requeue; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeued_at: Option<String>,
    /// Recipient of the message; empty if the answer was parsed from JSON.
    #[serde(skip)]
    to: String,
}

impl DeadLetterShown {
    /// Returns the message's recipient; empty if the answer was parsed from JSON without a message.
    pub fn recipient(&self) -> Cow<'_, str> {
        #[derive(Deserialize)]
        struct Addressed {
            to: String,
        }
        if !self.to.is_empty() {
            return Cow::Borrowed(&self.to);
        }
        let message = self.message.as_ref().map_or("", |message| message.get());
        let read = serde_json::from_str::<Addressed>(message);
        read.map_or(Cow::Borrowed(""), |message| Cow::Owned(message.to))
    }
}

/// The answer `{team, dead_letters, count, next_cursor}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetterListAnswer {
    /// Name of the team.
    pub team: String,
    /// The newest dead letters before the cursor, oldest first.
    pub dead_letters: Vec<DeadLetterShown>,
    /// Number of dead letters on the page.
    pub count: usize,
    /// Cursor of the next page, towards older dead letters; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// The answer `{status:"requeued", team, id, message_id, delivery, event}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RequeueAnswer {
    /// Always `requeued`.
    pub status: Cow<'static, str>,
    /// Name of the team.
    pub team: String,
    /// Id of the dead letter.
    pub id: String,
    /// Id of its message.
    pub message_id: String,
    /// Terms of the new delivery: timeouts and number of attempts.
    pub delivery: Terms,
    /// The event that records the requeue.
    pub event: Recorded,
}

impl Team {
    /// Returns a page of dead letters.
    pub fn dead_letters(&mut self, list: DeadLetterList) -> Result<DeadLetterListAnswer> {
        self.query(|live, reader| {
            if let Some(agent) = &list.agent {
                membership::check(live, "agent", agent)?;
            }
            let before = list.cursor.as_deref().map(|cursor| at(live, &list, cursor));
            let limit = page::limit(list.limit, page::PAGE);
            let page = live.dead_letters(list.agent.as_deref(), before.transpose()?, limit)?;
            let mut dead_letters = Vec::with_capacity(page.seqs.len());
            for seq in &page.seqs {
                if let Some(letter) = live.dead_letter_at(*seq)? {
                    dead_letters.push(shown(live, reader, letter)?);
                }
            }
            let oldest = dead_letters.first().filter(|_| page.older);
            Ok(DeadLetterListAnswer {
                team: reader.identity().name.clone(),
                count: dead_letters.len(),
                next_cursor: oldest.map(|oldest| oldest.id.clone()),
                dead_letters,
            })
        })
    }
}

impl Command for DeadLetterRequeue {
    type Decided = DeadLetter;
    type Answer = RequeueAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<DeadLetter>> {
        let letter = self.letter(live)?;
        let Some(message) = live.message(&letter.message_id)? else {
            return Err(not_found("message_id", &letter.message_id).into());
        };
        let delivery = live.delivery(&letter.message_id)?;
        let state = delivery.as_ref().map(|found| found.state);
        let open = state == Some(State::Open);
        let id = &letter.message_id;
        if message.acked.is_some() {
            let why = format!("message {id} cannot be requeued: its recipient has acknowledged it");
            return Err(closed(Code::AlreadyAcked, &letter, why).into());
        }
        if open {
            let why = format!("message {id} cannot be requeued: it still waits for its ack");
            return Err(closed(Code::DeliveryOpen, &letter, why).into());
        }
        let before = delivery.filter(|found| found.required != 0);
        let policy = match before {
            Some(delivery) => delivery.policy,
            None => live.policy(message.kind)?,
        };
        let policy = self.required().over(policy)?;
        let required = DeliveryFact::required(ctx.now, &message.id, policy, true);
        let mut event = required.event(DEFAULT_ACTOR, &message);
        event.cause = letter.event.map(Cause::Event);
        Ok(Decision::Granted(letter, vec![event]))
    }

    fn answer(&self, letter: &DeadLetter, after: &After<'_>) -> Result<RequeueAnswer> {
        let event = after.last_event()?;
        let delivery = after.live.delivery(&letter.message_id)?;
        let delivery = delivery.ok_or_else(|| page::missing(event.seq))?;
        Ok(RequeueAnswer {
            status: "requeued".into(),
            team: after.team.to_owned(),
            id: letter.id.clone(),
            message_id: letter.message_id.clone(),
            delivery: Terms::from_delivery(&delivery),
            event: Recorded::plain(event),
        })
    }
}

impl DeadLetterRequeue {
    /// Returns the caller's terms for the new delivery.
    fn required(&self) -> Require {
        Require {
            ack_timeout_seconds: self.ack_timeout_seconds,
            max_retries: self.max_retries,
        }
    }

    fn letter(&self, live: &Live) -> Result<DeadLetter> {
        let (field, asked, id) = match (&self.id, &self.message_id) {
            (Some(id), _) => {
                names::check_known_free("id", id)?;
                ("id", id, Some(id.clone()))
            }
            (None, Some(message)) => {
                names::check_known_free("message_id", message)?;
                let delivery = live.delivery(message)?;
                let id = delivery.and_then(|delivery| delivery.dead_letter);
                ("message_id", message, id)
            }
            (None, None) => {
                let message = "either id or message_id is required";
                return Err(Refusal::new(Code::InvalidInput, message).field("id").into());
            }
        };
        let letter = id.map(|id| live.dead_letter(&id)).transpose()?.flatten();
        Ok(letter.ok_or_else(|| not_found(field, asked))?)
    }
}

fn not_found(field: &str, asked: &str) -> Refusal {
    let asked = crate::refusal::shown(asked);
    let message = match field {
        "id" => format!("no dead letter {asked}"),
        _ => format!("message {asked} has no dead letter"),
    };
    Refusal::new(Code::DeadLetterNotFound, message).field(field)
}

fn closed(code: Code, letter: &DeadLetter, message: String) -> Refusal {
    Refusal::new(code, message)
        .field("message_id")
        .detail("message_id", letter.message_id.clone())
        .detail("id", letter.id.clone())
}

/// Returns the seq of the dead letter that a cursor names.
fn at(live: &Live, list: &DeadLetterList, cursor: &str) -> Result<u64> {
    names::check_known_free("cursor", cursor)?;
    let letter = live.dead_letter(cursor)?;
    let theirs = |letter: &DeadLetter| list.agent.as_ref().is_none_or(|agent| *agent == letter.to);
    let unknown = || page::unknown_cursor(cursor, "the id of a dead letter of this listing");
    Ok(letter.filter(theirs).ok_or_else(unknown)?.seq)
}

/// Returns a dead letter with its message and its status.
pub(crate) fn shown(live: &Live, reader: &Reader, letter: DeadLetter) -> Result<DeadLetterShown> {
    let time = |seq: Option<u64>| -> Result<Option<String>> {
        let event = seq.map(|seq| page::event(live, reader, seq)).transpose()?;
        Ok(event.map(|event| event.created_at.to_string()))
    };
    let message = match live.message(&letter.message_id)? {
        None => None,
        Some(message) => {
            let event = page::event(live, reader, message.seq)?;
            RawValue::from_string(event::envelope(&event)?.to_owned()).ok()
        }
    };
    Ok(DeadLetterShown {
        status: match (letter.acked, letter.requeued) {
            (Some(_), _) => DeadLetterStatus::Acked,
            (None, Some(_)) => DeadLetterStatus::Requeued,
            (None, None) => DeadLetterStatus::Dead,
        },
        acked_at: time(letter.acked)?,
        requeued_at: time(letter.requeued)?,
        id: letter.id,
        schema_version: 1,
        team: reader.identity().name.clone(),
        message_id: letter.message_id,
        task_id: letter.task_id,
        trace_id: letter.trace_id,
        reason: letter.reason,
        attempts: letter.attempts,
        created_at: letter.created_at.to_string(),
        message,
        to: letter.to,
    })
}
