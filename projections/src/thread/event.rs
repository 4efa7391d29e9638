//! Threads: their facts and the JSON of their payloads.
//!
//! | kind | payload, beside `thread_id` |
//! |---|---|
//! | `thread_started` | `{title, participants[], task_id?}` |
//! | `thread_message_posted` | `{from, to[], body}`: `to` is who is told, whoever that was meant to be |
//! | `thread_linked` | `{task_id}` |

use crate::fact::event;
use crate::fact::events::{Payload, events};
use crate::fact::stored::{Decoded, name, read, write};
use serde::{Deserialize, Serialize};
use teamlog_engine::{NewEvent, RefKind};

/// What happened to a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadFact {
    /// The thread.
    pub thread_id: String,
    /// What happened.
    #[serde(flatten)]
    pub act: ThreadAct,
}

events! {
    /// One thing that happens to a thread.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum ThreadAct {
        /// It began.
        "thread_started" => Started(ThreadStarted),
        /// Somebody said something.
        "thread_message_posted" => Posted(Posted),
        /// It belongs to a task from now on.
        "thread_linked" => Linked(ThreadLinked),
    }
}

/// `thread_started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadStarted {
    /// What it is about.
    pub title: String,
    /// Who takes part.
    pub participants: Vec<String>,
    /// The task that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

/// `thread_message_posted`. The message's id is that of its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// Who said it.
    pub from: String,
    /// Who is told of it.
    pub to: Vec<String>,
    /// What was said.
    pub body: String,
}

/// `thread_linked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadLinked {
    /// The task.
    pub task_id: String,
}

impl Payload for ThreadStarted {
    fn check(&self) -> Decoded<()> {
        for one in &self.participants {
            name("participants", one)?;
        }
        self.task_id
            .iter()
            .try_for_each(|task| name("task_id", task))
    }
}

impl Payload for Posted {
    fn check(&self) -> Decoded<()> {
        name("from", &self.from)?;
        self.to.iter().try_for_each(|one| name("to", one))
    }
}

impl Payload for ThreadLinked {
    fn check(&self) -> Decoded<()> {
        name("task_id", &self.task_id)
    }
}

impl ThreadFact {
    /// What an event of that kind says; `None` where it is about something else than a thread.
    pub(crate) fn parse(kind: &str, payload: &str) -> Option<Decoded<ThreadFact>> {
        #[derive(Deserialize)]
        struct Named {
            thread_id: String,
        }
        let act = ThreadAct::parse(kind, payload)?;
        Some(act.and_then(|act| {
            let Named { thread_id } = read(payload)?;
            name("thread_id", &thread_id)?;
            Ok(ThreadFact { thread_id, act })
        }))
    }

    /// The event that records it; `task` and `trace` are those of the thread.
    pub fn event(&self, actor: &str, task: Option<&str>, trace: Option<&str>) -> NewEvent {
        let mut event = event(self.act.kind(), actor, write(self));
        event.refs.set_given([
            (RefKind::Thread, Some(&*self.thread_id)),
            (RefKind::Task, task),
            (RefKind::Trace, trace),
        ]);
        event
    }
}
