//! `comment-task`: comments on a task. A comment is a post of the task's thread; the first comment also starts the thread.

use crate::claim::holding;
use crate::doubts::RecipientsDoubts;
use crate::projections::thread;
use crate::projections::thread::event::{Posted, ThreadStarted};
use crate::thread::post::{check_body, posted_last, receiving};
use crate::thread::prelude::*;
use crate::thread::start::PARTICIPANTS_MAX;

operation! {
    /// Comment on a task, in the thread of the task
    "comment-task": Records(TaskComment {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Text of the comment
        body: String,
        /// Author
        #[arg(id = "agent", long, value_name = "AGENT")]
        worker: String,
    }) -> CommentAnswer as comment_task,
    refuses = [WorkerNotFound, TaskNotFound, BudgetExceeded],
    rules = RULES
}

/// Number of comments that `show-task` returns.
const SHOWN: usize = 5;

/// `{task_id, comments, message}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentAnswer {
    /// Id of the task
    pub task_id: String,
    /// Number of comments on the task
    pub comments: u64,
    /// The comment, a post of the task's thread
    pub message: PostShown,
    /// Warnings about the recipients
    #[serde(flatten)]
    pub doubts: RecipientsDoubts,
}

/// The comments on a task
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comments {
    /// Thread of the task
    pub thread_id: String,
    /// Number of comments
    pub count: u64,
    /// The newest comments, oldest first
    pub newest: Vec<PostShown>,
}

impl Command for TaskComment {
    type Decided = (String, Posted, RecipientsDoubts);
    type Answer = CommentAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Agent(&self.worker))
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<Self::Decided>> {
        let (worker, task_id) = (&*self.worker, &*self.task_id);
        let body = check_body(&self.body)?;
        names::check_known("task_id", task_id)?;
        let mut events = author(live, Some(worker))?;
        let missing = || holding::not_found(task_id);
        let task = live.task(task_id)?.ok_or_else(missing)?;
        budget::check(live, Some(worker))?;
        let thread = live.thread_of_task(task_id)?;
        let mut told = concerned(live, &task, thread.as_ref())?;
        let thread_id = match &thread {
            Some(thread) => thread.id.clone(),
            None => {
                let id = thread::id(live.next_thread_number()?);
                let mut participants = told.clone();
                if !participants.iter().any(|agent| agent == worker) {
                    participants.push(worker.to_owned());
                }
                let started = ThreadStarted {
                    title: format!("Comments on task {task_id}"),
                    participants,
                    task_id: Some(self.task_id.clone()),
                };
                let act = ThreadAct::Started(started);
                events.push(fact(&id, act).event(worker, Some(task_id), task.trace_id.as_deref()));
                id
            }
        };
        told.retain(|agent| agent != worker);
        let doubts = RecipientsDoubts::find(live, &told, worker)?;
        let posted = Posted {
            from: self.worker.clone(),
            to: told,
            body: body.to_owned(),
        };
        let trace = thread.and_then(|thread| thread.trace_id).or(task.trace_id);
        let act = ThreadAct::Posted(posted.clone());
        events.push(fact(&thread_id, act).event(worker, Some(task_id), trace.as_deref()));
        Ok(Decision::Granted((thread_id, posted, doubts), events))
    }

    fn answer(
        &self,
        (thread_id, posted, doubts): &Self::Decided,
        after: &After<'_>,
    ) -> Result<CommentAnswer> {
        Ok(CommentAnswer {
            task_id: self.task_id.clone(),
            comments: after.live.comments(&self.task_id)?,
            message: posted_last(after, thread_id, posted)?,
            doubts: doubts.clone(),
        })
    }
}

fn fact(thread_id: &str, act: ThreadAct) -> ThreadFact {
    let thread_id = thread_id.to_owned();
    ThreadFact { thread_id, act }
}

/// Returns the agents that a comment notifies: the task's owner and its leader, the participants of the thread, and the authors
/// of earlier comments.
fn concerned(live: &Live, task: &Task, thread: Option<&Thread>) -> Result<Vec<String>> {
    let mut agents: Vec<String> = task.owner.clone().into_iter().collect();
    agents.push(membership::supervisor(live, task, "")?);
    if let Some(thread) = thread {
        agents.extend(thread.participants.iter().cloned());
        agents.extend(live.thread_authors(&thread.id, PARTICIPANTS_MAX)?);
    }
    let mut told: Vec<String> = Vec::new();
    for agent in receiving(live, &agents)? {
        let receives = agent != SYSTEM && membership::check(live, "to", &agent).is_ok();
        if receives && !told.contains(&agent) && told.len() < PARTICIPANTS_MAX {
            told.push(agent);
        }
    }
    Ok(told)
}

/// Returns the newest comments on a task, if there are any.
pub(crate) fn newest(live: &Live, reader: &Reader, task_id: &str) -> Result<Option<Comments>> {
    let Some(thread) = live.thread_of_task(task_id)? else {
        return Ok(None);
    };
    let page = live.thread_posts(&thread.id, None, SHOWN)?;
    let mut newest = Vec::new();
    for seq in page.seqs {
        newest.extend(post(live, reader, seq)?);
    }
    Ok((thread.messages > 0).then_some(Comments {
        thread_id: thread.id,
        count: thread.messages,
        newest,
    }))
}

/// Returns the numbers of comments on the given tasks, by task id. If no task of the team has a thread, reads no task.
pub(crate) fn counts(live: &Live, tasks: &[Task]) -> Result<BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    if !live.has_task_threads()? {
        return Ok(found);
    }
    for task in tasks {
        let comments = live.comments(&task.task_id)?;
        if comments > 0 {
            found.insert(task.task_id.clone(), comments);
        }
    }
    Ok(found)
}
