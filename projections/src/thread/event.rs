//! Threads: their facts and the JSON of their payloads.
//!
//! | kind | payload, beside `thread_id` |
//! |---|---|
//! | `thread_started` | `{title, participants[], task_id?}` |
//! | `thread_message_posted` | `{from, to[], body}`: `to` is who is told, whoever that was meant to be |
//! | `thread_linked` | `{task_id}` |

use crate::fact::event;
use crate::fact::stored::{Decoded, name, read, write};
use serde::{Deserialize, Serialize};
use teamlog_engine::{NewEvent, RefKind};

/// The kinds that [`parse`] knows.
pub(crate) const KINDS: &[&str] = &[STARTED, POSTED, LINKED];

const STARTED: &str = "thread_started";
const POSTED: &str = "thread_message_posted";
const LINKED: &str = "thread_linked";

/// What happened to a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadFact {
    /// The thread.
    pub thread_id: String,
    /// What happened.
    pub act: ThreadAct,
}

/// One thing that happens to a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadAct {
    /// It began.
    Started(ThreadStarted),
    /// Somebody said something.
    Posted(Posted),
    /// It belongs to that task from now on.
    Linked(String),
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

#[derive(Deserialize)]
struct Named {
    thread_id: String,
}

#[derive(Serialize)]
struct Whole<'a, T> {
    thread_id: &'a str,
    #[serde(flatten)]
    act: T,
}

#[derive(Serialize, Deserialize)]
struct StoredLink {
    task_id: String,
}

pub(crate) fn parse(kind: &str, payload: &str) -> Decoded<ThreadFact> {
    let Named { thread_id } = read(payload)?;
    name("thread_id", &thread_id)?;
    let act = match kind {
        STARTED => ThreadAct::Started(started(payload)?),
        POSTED => ThreadAct::Posted(posted(payload)?),
        LINKED => {
            let StoredLink { task_id } = read(payload)?;
            name("task_id", &task_id)?;
            ThreadAct::Linked(task_id)
        }
        kind => return Err(format!("{kind} is not known")),
    };
    Ok(ThreadFact { thread_id, act })
}

fn started(payload: &str) -> Decoded<ThreadStarted> {
    let started: ThreadStarted = read(payload)?;
    for one in &started.participants {
        name("participants", one)?;
    }
    if let Some(task) = &started.task_id {
        name("task_id", task)?;
    }
    Ok(started)
}

fn posted(payload: &str) -> Decoded<Posted> {
    let posted: Posted = read(payload)?;
    name("from", &posted.from)?;
    for one in &posted.to {
        name("to", one)?;
    }
    Ok(posted)
}

impl ThreadFact {
    /// The event that records it; `task` and `trace` are those of the thread.
    pub fn event(&self, actor: &str, task: Option<&str>, trace: Option<&str>) -> NewEvent {
        let thread_id = &*self.thread_id;
        let (kind, payload) = match &self.act {
            ThreadAct::Started(act) => (STARTED, write(&Whole { thread_id, act })),
            ThreadAct::Posted(act) => (POSTED, write(&Whole { thread_id, act })),
            ThreadAct::Linked(task_id) => {
                let task_id = task_id.clone();
                let act = StoredLink { task_id };
                (LINKED, write(&Whole { thread_id, act }))
            }
        };
        let mut event = event(kind, actor, payload);
        event.refs.set(RefKind::Thread, thread_id.to_owned());
        for (kind, value) in [(RefKind::Task, task), (RefKind::Trace, trace)] {
            if let Some(value) = value {
                event.refs.set(kind, value.to_owned());
            }
        }
        event
    }
}
