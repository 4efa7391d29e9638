//! Events as the search finds them: messages, threads, posts, and events with tags.

use crate::event::message::MessageType;
use crate::event::thread::ThreadAct;
use crate::prelude::*;
use crate::tag::tagged;
use crate::terms::Words;
use serde_json::Value;
use teamlog_engine::limits::NESTING_MAX;

words! {
    /// The kind of an entry in the answers of the search.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum Kind {
        /// A task.
        Task = "task",
        /// A message to an agent.
        Message = "message",
        /// A message that reports on a task.
        Report = "report",
        /// A thread, by its title.
        Thread = "thread",
        /// A post in a thread.
        Post = "post",
        /// A post in the thread of a task.
        Comment = "comment",
        /// An event of another program, which a query finds only by a tag.
        Event = "event",
    }
}

impl Kind {
    /// Returns the kind of which this kind is a part: a report is a message, and a comment is a post.
    pub fn whole(self) -> Kind {
        match self {
            Kind::Report => Kind::Message,
            Kind::Comment => Kind::Post,
            kind => kind,
        }
    }
}

/// Fields of a message's payload that are no text.
const NO_TEXTS: [&str; 2] = ["status", "deps"];

/// A message, a thread, a post, or an event with tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Kind of the document.
    pub kind: Kind,
    /// Author of the document.
    pub by: String,
    /// Agents to which the document is addressed.
    pub to: Vec<String>,
    /// Task that the document is about.
    pub task: Option<String>,
    /// Thread to which the document belongs.
    pub thread: Option<String>,
    /// Id of the message.
    pub message: Option<String>,
    /// Texts of the document. The first text of a thread is its title, and of an event its kind.
    pub texts: Vec<String>,
    /// Tags of an event of another program.
    pub tags: Vec<String>,
}

impl Document {
    /// Returns the document that an event adds to the search; `None` for an event without text.
    pub fn from_event(event: &Event<'_>, fact: &Fact) -> Option<Document> {
        if let Some(sent) = fact.sent() {
            return Some(from_message(event, sent));
        }
        let Fact::Thread(fact) = fact else {
            return None;
        };
        let task = event.refs.get(RefKind::Task).map(str::to_owned);
        let document = Document {
            kind: Kind::Thread,
            by: event.actor.to_string(),
            to: Vec::new(),
            task,
            thread: Some(fact.thread_id.clone()),
            message: None,
            texts: Vec::new(),
            tags: Vec::new(),
        };
        match &fact.act {
            ThreadAct::Started(started) => Some(Document {
                task: started.task_id.clone(),
                texts: vec![started.title.clone()],
                ..document
            }),
            ThreadAct::Posted(posted) => Some(Document {
                kind: match document.task {
                    Some(_) => Kind::Comment,
                    None => Kind::Post,
                },
                by: posted.from.clone(),
                to: posted.to.clone(),
                texts: vec![posted.body.clone()],
                ..document
            }),
            ThreadAct::Linked(_) => None,
        }
    }

    /// Returns the document of an event of another program; `None` for an event without tags.
    pub fn from_tagged(event: &Event<'_>) -> Option<Document> {
        let content = tagged(event)?;
        let name = |kind| event.refs.get(kind).map(str::to_owned);
        let mut texts = vec![event.kind.to_string()];
        if let Ok(payload) = serde_json::from_str(content.payload) {
            collect(payload, NESTING_MAX, &mut texts);
        }
        Some(Document {
            kind: Kind::Event,
            by: event.actor.to_string(),
            to: name(RefKind::Agent).into_iter().collect(),
            task: name(RefKind::Task),
            thread: None,
            message: None,
            texts,
            tags: content.tags,
        })
    }

    /// Returns the words of its texts.
    pub fn words(&self) -> Words {
        Words::from_texts(self.texts.iter().map(String::as_str))
    }
}

fn from_message(event: &Event<'_>, sent: &MessageSent) -> Document {
    #[derive(Deserialize)]
    struct Envelope {
        payload: Value,
    }
    let mut texts = Vec::new();
    let envelope = serde_json::from_str(sent.envelope(event));
    if let Ok(Envelope { payload }) = envelope {
        collect(payload, NESTING_MAX, &mut texts);
    }
    Document {
        kind: match sent.kind {
            MessageType::TaskUpdate => Kind::Report,
            _ => Kind::Message,
        },
        by: sent.from.clone(),
        to: vec![sent.to.clone()],
        task: sent.task_id.clone(),
        thread: None,
        message: Some(sent.id.clone()),
        texts,
        tags: Vec::new(),
    }
}

/// Collects the strings of a payload, down to a depth.
fn collect(value: Value, depth: usize, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) if depth > 0 => {
            for value in values {
                collect(value, depth - 1, texts);
            }
        }
        Value::Object(fields) if depth > 0 => {
            for (name, value) in fields {
                if !NO_TEXTS.contains(&name.as_str()) {
                    collect(value, depth - 1, texts);
                }
            }
        }
        _ => {}
    }
}
