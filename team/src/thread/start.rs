//! `thread-start`: starts a thread between agents, optionally linked to a task.

use crate::claim::existing;
use crate::doubts::RecipientsDoubts;
use crate::projections::message::check_title;
use crate::projections::thread;
use crate::projections::thread::event::ThreadStarted;
use crate::thread::prelude::*;

operation! {
    /// Start a thread between agents, optionally linked to a task
    "thread-start": Records(ThreadStart {
        /// Title of the thread; `Thread` if absent
        #[arg(long, value_name = "TEXT")]
        title: Option<String>,
        /// Participants, separated by commas; the agent that starts the thread is one of them
        #[arg(long, value_name = "A,B", value_delimiter = ',')]
        participants: Option<Vec<String>>,
        /// Task that the thread belongs to
        #[arg(long, value_name = "TASK")]
        task_id: Option<String>,
        /// Agent that starts the thread
        #[arg(id = "agent", long, value_name = "AGENT")]
        worker: Option<String>,
    }) -> ThreadAnswer as thread_start,
    refuses = [WorkerNotFound, TaskNotFound, BudgetExceeded],
    rules = RULES
}

/// Maximum number of agents in a thread.
pub const PARTICIPANTS_MAX: usize = 256;
/// Maximum length of a title, in bytes.
pub const TITLE_BYTES_MAX: usize = 1024;
/// Default title of a thread.
const TITLE: &str = "Thread";
/// Author of a message without a named author.
pub const SYSTEM: &str = "system";

/// The answer `{thread}` about a new or changed thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadAnswer {
    /// The thread
    pub thread: ThreadShown,
    /// Warnings about the participants
    #[serde(flatten)]
    pub doubts: RecipientsDoubts,
}

impl Command for ThreadStart {
    type Decided = (String, RecipientsDoubts);
    type Answer = ThreadAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::of_named(self.worker.as_deref())).named(self.worker.is_some())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        let worker = ctx.agent(self.worker.as_deref());
        let mut events = author(live, worker)?;
        budget::check(live, worker)?;
        let started = ThreadStarted {
            title: self.title()?,
            participants: self.participants(live, worker)?,
            task_id: self.task_id.clone(),
        };
        let trace = existing(live, self.task_id.as_deref())?;
        let thread_id = thread::id(live.next_thread_number()?);
        let fact = ThreadFact {
            thread_id: thread_id.clone(),
            act: ThreadAct::Started(started),
        };
        let actor = worker.unwrap_or(SYSTEM);
        let named = self.participants.as_deref().unwrap_or_default();
        let doubts = RecipientsDoubts::find(live, named, actor)?;
        events.push(fact.event(actor, self.task_id.as_deref(), trace.as_deref()));
        Ok(Decision::Granted((thread_id, doubts), events))
    }

    fn answer(&self, (id, doubts): &Self::Decided, after: &After<'_>) -> Result<ThreadAnswer> {
        Ok(ThreadAnswer {
            doubts: doubts.clone(),
            ..shown(after.live, id)?
        })
    }
}

impl ThreadStart {
    fn title(&self) -> Result<String, Refusal> {
        let title = self.title.as_deref().unwrap_or_default().trim();
        if title.len() > TITLE_BYTES_MAX {
            let bytes = title.len();
            let message =
                format!("title must have at most {TITLE_BYTES_MAX} bytes, but has {bytes}");
            return Err(Refusal::new(Code::TooLarge, message).field("title"));
        }
        check_title("title", title).map_err(Refusal::from)?;
        Ok(match title {
            "" => TITLE.to_owned(),
            title => title.to_owned(),
        })
    }

    /// Returns the named participants and the agent that starts the thread, without duplicates.
    fn participants(&self, live: &Live, worker: Option<&str>) -> Result<Vec<String>> {
        let named = self.participants.as_deref().unwrap_or_default();
        let mut participants = agents(live, "participants", named)?;
        if let Some(worker) = worker.filter(|worker| *worker != SYSTEM)
            && !participants.iter().any(|agent| agent == worker)
        {
            participants.push(worker.to_owned());
        }
        Ok(participants)
    }
}

/// Checks that the named agents belong to the team, and removes duplicates.
pub(crate) fn agents(live: &Live, field: &'static str, named: &[String]) -> Result<Vec<String>> {
    let mut agents: Vec<String> = Vec::new();
    for agent in named {
        if !agents.contains(agent) {
            membership::check(live, field, agent)?;
            agents.push(agent.clone());
        }
        if agents.len() > PARTICIPANTS_MAX {
            let message = format!("{field} must name at most {PARTICIPANTS_MAX} agents");
            return Err(Refusal::new(Code::TooLarge, message).field(field).into());
        }
    }
    Ok(agents)
}

/// Checks that an agent may post. Returns the event that adds the agent to the team; no event if
/// the agent is a member.
pub(crate) fn author(live: &Live, worker: Option<&str>) -> Result<Vec<NewEvent>> {
    match worker {
        None | Some(SYSTEM) => Ok(Vec::new()),
        Some(worker) => membership::enter(live, "worker", worker),
    }
}

pub(crate) fn shown(live: &Live, id: &str) -> Result<ThreadAnswer> {
    Ok(ThreadAnswer {
        thread: ThreadShown::from(&found(live, id)?),
        doubts: RecipientsDoubts::default(),
    })
}

pub(crate) fn found(live: &Live, id: &str) -> Result<thread::Thread> {
    names::check_known("thread_id", id)?;
    if let Some(thread) = live.thread(id)? {
        return Ok(thread);
    }
    let message = format!("no thread {id:?} in this team");
    let refusal = Refusal::new(Code::ThreadNotFound, message)
        .field("thread_id")
        .detail("thread_id", id);
    Err(refusal.into())
}
