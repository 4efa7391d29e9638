//! `thread-post`: posts a message in a thread, for its participants or for named agents.

use crate::doubts::RecipientsDoubts;
use crate::projections::thread::event::Posted;
use crate::thread::prelude::*;
use crate::thread::start::agents;

operation! {
    /// Post a message in a thread and notify its participants
    "thread-post": Records(ThreadPost {
        /// Id of the thread
        #[arg(value_name = "THREAD")]
        thread_id: String,
        /// Text of the message; on the command line, `-` reads standard input
        #[arg(value_name = "TEXT|-")]
        body: String,
        /// Author; `system` if absent
        #[arg(id = "agent", long, value_name = "AGENT")]
        worker: Option<String>,
        /// Agents to notify, separated by commas; all participants if absent, but never the author
        #[arg(long, value_name = "A,B", value_delimiter = ',')]
        to: Option<Vec<String>>,
    }) -> ThreadPostAnswer as thread_post,
    refuses = [WorkerNotFound, ThreadNotFound, BudgetExceeded],
    rules = RULES
}

/// Maximum length of a post, in bytes.
pub const BODY_BYTES_MAX: usize = 256 << 10;

/// The answer `{message}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPostAnswer {
    /// The post
    pub message: PostShown,
    /// Warnings about the recipients
    #[serde(flatten)]
    pub doubts: RecipientsDoubts,
}

impl Command for ThreadPost {
    type Decided = (Posted, RecipientsDoubts);
    type Answer = ThreadPostAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::of_named(self.worker.as_deref())).named(self.worker.is_some())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        let body = check_body(&self.body)?;
        let worker = ctx.agent(self.worker.as_deref());
        let mut events = author(live, worker)?;
        let thread = found(live, &self.thread_id)?;
        budget::check(live, worker)?;
        let author = worker.unwrap_or(SYSTEM);
        let posted = Posted {
            from: author.to_owned(),
            to: self.recipients(live, &thread, author)?,
            body: body.to_owned(),
        };
        let fact = ThreadFact {
            thread_id: self.thread_id.clone(),
            act: ThreadAct::Posted(posted.clone()),
        };
        let trace = match &thread.trace_id {
            Some(trace) => Some(trace.clone()),
            None => page::trace_of_task(live, thread.task_id.as_deref())?,
        };
        events.push(fact.event(author, thread.task_id.as_deref(), trace.as_deref()));
        let doubts = RecipientsDoubts::find(live, &posted.to, &posted.from)?;
        Ok(Decision::Granted((posted, doubts), events))
    }

    fn answer(
        &self,
        (posted, doubts): &Self::Decided,
        after: &After<'_>,
    ) -> Result<ThreadPostAnswer> {
        Ok(ThreadPostAnswer {
            message: posted_last(after, &self.thread_id, posted)?,
            doubts: doubts.clone(),
        })
    }
}

impl ThreadPost {
    fn recipients(&self, live: &Live, thread: &Thread, author: &str) -> Result<Vec<String>> {
        let mut recipients = match self.to.as_deref() {
            None | Some([]) => receiving(live, &thread.participants)?,
            Some(named) => agents(live, "to", named)?,
        };
        recipients.retain(|agent| agent != author);
        Ok(recipients)
    }
}

/// Returns the text of a post without white space around it. Refuses a blank or too long text.
pub(crate) fn check_body(body: &str) -> Result<&str, Refusal> {
    let text = body.trim();
    if text.is_empty() {
        return Err(Refusal::invalid("body", body, "must not be blank"));
    }
    if text.len() > BODY_BYTES_MAX {
        let bytes = text.len();
        let message = format!("body must have at most {BODY_BYTES_MAX} bytes, but has {bytes}");
        return Err(Refusal::new(Code::TooLarge, message).field("body"));
    }
    Ok(text)
}

/// Returns the post that a command just recorded as the last post of its thread.
pub(crate) fn posted_last(
    after: &After<'_>,
    thread_id: &str,
    posted: &Posted,
) -> Result<PostShown> {
    let last: Option<(u64, EventId)> = found(after.live, thread_id)?.last_post;
    let missing = || Failure::from(Error::Poisoned("the post recorded no message".into()));
    let (seq, id) = last.ok_or_else(missing)?;
    let message = PostShown::new(thread_id, posted, seq, id);
    let recorded = after.events.iter().find(|event| event.seq == seq);
    Ok(match recorded {
        Some(event) => message.by(&event.actor),
        None => message,
    })
}

/// Returns the recipients of mail to the given agents: renamed agents under their new names, without retired agents.
pub(crate) fn receiving(live: &Live, agents: &[String]) -> Result<Vec<String>> {
    let mut told: Vec<String> = Vec::new();
    for agent in agents {
        let agent = membership::recipient(live, agent)?;
        if !live.is_retired(&agent)? && !told.contains(&agent) {
            told.push(agent);
        }
    }
    Ok(told)
}
