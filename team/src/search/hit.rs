//! Matches of a search, as answers show them.

use crate::prelude::*;
use crate::projections::search::{Document, Kind, Match, Matcher, Query};

/// Maximum length of an excerpt, in characters.
const EXCERPT_CHARS: usize = 160;
/// Number of characters before the first match in an excerpt.
const BEFORE_CHARS: usize = 40;

/// A match of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHit {
    /// `task`, `message`, `report` (a message that reports on a task), `thread`, `post`, `comment` (a post in a task's thread), or
    /// `event` (an event of another program)
    pub kind: String,
    /// Id of the task, the message, the thread, the post or the event
    pub id: String,
    /// Seq of the event that recorded it
    pub seq: u64,
    /// Time at which it was recorded
    pub created_at: Timestamp,
    /// Author of a text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Recipients of a text, or the owner of a task
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Task that a text is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Thread of a post
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Status of a task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Subject of a task, title of a thread, or kind of an event
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Part of the text around the first word that was searched for, in one line; absent if the title is all
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Tags of an event
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl SearchHit {
    /// Builds the answer of a match.
    pub(super) fn new(found: Match, query: &Query) -> SearchHit {
        match found {
            Match::Task(seq, task) => from_task(seq, &task, query),
            Match::Text(event, document) => from_text(&event, *document, query),
        }
    }
}

fn from_task(seq: u64, task: &Task, query: &Query) -> SearchHit {
    let others: Vec<&str> = task
        .texts()
        .skip(usize::from(task.subject.is_some()))
        .collect();
    SearchHit {
        kind: Kind::Task.name().to_owned(),
        id: task.task_id.clone(),
        seq,
        created_at: task.created_at,
        by: None,
        to: task.owner.iter().cloned().collect(),
        task_id: None,
        thread_id: None,
        status: Some(task.status.name().to_owned()),
        title: task.subject.clone(),
        excerpt: excerpt(&others, query),
        tags: Vec::new(),
    }
}

fn from_text(event: &Event<'static>, document: Document, query: &Query) -> SearchHit {
    let texts: Vec<&str> = document.texts.iter().map(String::as_str).collect();
    let is_thread = document.kind == Kind::Thread;
    let titles = usize::from(matches!(document.kind, Kind::Thread | Kind::Event));
    let id = match (document.message, &document.thread) {
        (Some(message), _) => message,
        (None, Some(thread)) if is_thread => thread.clone(),
        _ => event.id.to_string(),
    };
    SearchHit {
        kind: document.kind.name().to_owned(),
        id,
        seq: event.seq,
        created_at: event.created_at,
        by: Some(document.by),
        to: document.to,
        task_id: document.task,
        title: texts
            .first()
            .filter(|_| titles > 0)
            .map(|title| (*title).to_owned()),
        excerpt: match is_thread {
            true => None,
            false => excerpt(texts.get(titles..).unwrap_or_default(), query),
        },
        tags: document.tags,
        thread_id: document.thread,
        status: None,
    }
}

/// Returns, as one line, the part of the texts around the first word that matches the search.
fn excerpt(texts: &[&str], query: &Query) -> Option<String> {
    let texts = texts.iter().flat_map(|text| text.split_whitespace());
    let text = texts.collect::<Vec<&str>>().join(" ");
    let lower = text.to_lowercase();
    let words = query.terms.iter().filter_map(|term| match &term.matcher {
        Matcher::Words { phrase, .. } if !term.is_negated => phrase.first(),
        _ => None,
    });
    let at = words.filter_map(|word| lower.find(word.as_str())).min();
    let before = lower.get(..at.unwrap_or_default()).unwrap_or_default();
    let skipped = before.chars().count().saturating_sub(BEFORE_CHARS);
    let mut part: String = text.chars().skip(skipped).take(EXCERPT_CHARS).collect();
    if skipped > 0 {
        part.insert(0, '…');
    }
    if text.chars().count() > skipped + EXCERPT_CHARS {
        part.push('…');
    }
    (!part.is_empty()).then_some(part)
}
