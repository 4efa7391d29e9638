//! Routes of threads: start, post, read, search and link.

use super::problem::Problem;
use super::record::moment;
use super::request::RequestContext;
use super::tasks::names;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::projections::thread::{PostShown, ThreadShown};
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::post::{ThreadPost, ThreadPostAnswer};
use teamlog_team::thread::search::ThreadSearch;
use teamlog_team::thread::start::{ThreadAnswer, ThreadStart};
use teamlog_team::thread::tail::ThreadTail;
use teamlog_team::{Exchange, Team};

/// `{thread, messages, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ThreadTailBody")]
pub struct TailBody {
    /// The thread
    thread: ThreadShown,
    /// Newest messages, oldest first
    messages: Vec<PostShown>,
    /// Cursor of the page with older messages, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// `{threads, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ThreadsBody")]
pub struct ThreadsBody {
    /// Threads, newest first
    threads: Vec<ThreadShown>,
    /// Cursor of the next page, if the search is not finished; a page may be empty
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Converts a thread to the form of this API.
fn thread(shown: ThreadShown) -> ThreadShown {
    ThreadShown {
        created_at: moment(&shown.created_at),
        updated_at: moment(&shown.updated_at),
        ..shown
    }
}

/// Converts an answer with a thread to the form of this API.
fn one(answer: &ThreadAnswer) -> ThreadAnswer {
    ThreadAnswer {
        thread: thread(answer.thread.clone()),
        doubts: answer.doubts.clone(),
    }
}

/// Converts a message to the form of this API.
pub fn message(shown: PostShown) -> PostShown {
    PostShown {
        ts: moment(&shown.ts),
        ..shown
    }
}

/// `POST /v1/threads`.
pub fn start(input: ThreadStart, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let start = ThreadStart {
        participants: input.participants.map(names),
        ..input
    };
    request.exchange(start, |_, answer, _| Exchange::new(201, &one(answer)))
}

/// `POST /v1/threads/{threadId}/link`.
pub fn link(link: ThreadLink, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    request.exchange(link, |_, answer, _| Exchange::new(200, &one(answer)))
}

/// `GET /v1/threads/search`.
pub fn search(asked: ThreadSearch, team: &mut Team) -> Result<ThreadsBody, Problem> {
    let found = team.thread_search(&asked)?;
    Ok(ThreadsBody {
        threads: found.threads.into_iter().map(thread).collect(),
        next_cursor: found.next_cursor,
    })
}

/// A post: `body`, or `message` instead of `body`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostInput {
    /// Id of the thread
    thread_id: String,
    /// Text
    body: Option<String>,
    /// Other name of `body`
    message: Option<String>,
    /// Author; default: `system`
    agent_id: Option<String>,
    /// Agents to notify; default: all participants. The author is never notified
    to: Option<Vec<String>>,
}

/// `POST /v1/threads/{threadId}/messages`.
pub fn post(input: PostInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let body = match (input.body, input.message) {
        (Some(_), Some(_)) => {
            let message = "give body or message, not both: they are names of one field";
            return Err(Problem::invalid("message", message));
        }
        (None, None) => return Err(Problem::invalid("message", "message is required")),
        (Some(text), None) | (None, Some(text)) => text,
    };
    let post = ThreadPost {
        thread_id: input.thread_id,
        body,
        worker: input.agent_id,
        to: input.to.map(names),
    };
    request.exchange(post, |_, answer: &ThreadPostAnswer, _| {
        let message = message(answer.message.clone());
        let doubts = answer.doubts.clone();
        Exchange::new(201, &ThreadPostAnswer { message, doubts })
    })
}

/// Number of messages of a thread.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesInput {
    /// Id of the thread
    thread_id: String,
    /// Number of messages from the end, at most 200; default: 20
    tail: Option<usize>,
    /// The `nextCursor` of the previous page
    cursor: Option<String>,
}

/// Like `MessagesInput`, with `limit` instead of `tail`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TailInput {
    /// Id of the thread
    thread_id: String,
    /// Number of messages from the end, at most 200; default: 20
    limit: Option<usize>,
    /// The `nextCursor` of the previous page
    cursor: Option<String>,
}

/// `GET /v1/threads/{threadId}/messages`.
pub fn messages(asked: MessagesInput, team: &mut Team) -> Result<TailBody, Problem> {
    let asked = TailInput {
        thread_id: asked.thread_id,
        limit: asked.tail,
        cursor: asked.cursor,
    };
    tail(asked, team)
}

/// `GET /v1/threads/{threadId}/tail`.
pub fn tail(asked: TailInput, team: &mut Team) -> Result<TailBody, Problem> {
    let tail = team.thread_tail(&ThreadTail {
        thread_id: asked.thread_id,
        limit: asked.limit,
        cursor: asked.cursor,
    })?;
    Ok(TailBody {
        thread: thread(tail.thread),
        messages: tail.messages.into_iter().map(message).collect(),
        next_cursor: tail.next_cursor,
    })
}
