//! `broadcast`: sends plain mail to every worker except the sender, in one group. A broadcast
//! creates no dispatch requests.

use crate::doubts::RecipientsDoubts;
use crate::message::mail::Mail;
use crate::message::send_message::{OutgoingMail, StoredMail, body};
use crate::operation::prelude::*;
use crate::uuid;

operation! {
    /// Send plain mail to every worker except the sender
    "broadcast": Records(Broadcast {
        /// Sender of the message
        from_worker: String,
        /// Text of the message
        body: String,
    }) -> BroadcastAnswer = Team::broadcast,
    refuses = [WorkerNotFound, BudgetExceeded]
}

/// The answer `{count, messages}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BroadcastAnswer {
    /// Number of messages
    pub count: usize,
    /// The messages, one per worker, in the order of names; if equal mail to a worker is still undelivered, the existing message
    pub messages: Vec<Mail>,
    /// Unknown or stopped workers among the recipients
    #[serde(flatten)]
    pub doubts: RecipientsDoubts,
}

/// A broadcast and the random bits of its message ids. Drawing the bits before `decide` keeps `decide` pure.
#[derive(Debug, Clone)]
struct SendLetters {
    from: String,
    body: String,
    trace_id: Option<String>,
    random: [u64; 2],
}

impl Team {
    /// Sends plain mail to every worker except the sender.
    pub fn broadcast(&mut self, broadcast: Broadcast) -> Result<BroadcastAnswer> {
        let ids = &self.options.ids;
        let letters = SendLetters {
            random: [ids.random()?, ids.random()?],
            body: body(&broadcast.body)?,
            from: broadcast.from_worker,
            trace_id: self.control.trace_id.clone(),
        };
        self.execute(letters)
    }
}

impl SendLetters {
    fn letter(&self, to: String) -> OutgoingMail {
        OutgoingMail {
            id: self.id(&to),
            from: self.from.clone(),
            to,
            body: self.body.clone(),
            trace_id: self.trace_id.clone(),
        }
    }

    fn id(&self, to: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for bits in self.random {
            hasher.update(&bits.to_le_bytes());
        }
        hasher.update(to.as_bytes());
        let mut bits = [0; 16];
        hasher.finalize_xof().fill(&mut bits);
        let bits = u128::from_le_bytes(bits);
        uuid::random((bits >> 64) as u64, bits as u64)
    }
}

impl Command for SendLetters {
    type Decided = (Vec<Mail>, RecipientsDoubts);
    type Answer = BroadcastAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        membership::check(live, "from_worker", &self.from)?;
        let (mut messages, mut events) = (Vec::new(), Vec::new());
        for to in live.members()? {
            if to == self.from || to == LEADER {
                continue;
            }
            let StoredMail { mail, event } = self.letter(to).post(live, ctx.now)?;
            messages.push(mail);
            events.extend(event);
        }
        if !events.is_empty() {
            budget::check(live, Some(&self.from))?;
            events.splice(0..0, membership::joining(live, &self.from)?);
        }
        let told: Vec<String> = messages.iter().map(|mail| mail.to_worker.clone()).collect();
        let doubts = RecipientsDoubts::find(live, &told, &self.from)?;
        Ok(Decision::Granted((messages, doubts), events))
    }

    fn answer(&self, (messages, doubts): &Self::Decided, _: &After<'_>) -> Result<BroadcastAnswer> {
        Ok(BroadcastAnswer {
            count: messages.len(),
            messages: messages.clone(),
            doubts: doubts.clone(),
        })
    }
}
