//! Threads: begun, posted to, read, searched, linked.

use super::endpoint::{Endpoint, Facts};
use super::problem::Problem;
use super::record::moment;
use super::request::RequestContext;
use super::tasks::names;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::Exchange;
use teamlog_team::projections::thread::{PostShown, ThreadShown};
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::post::{ThreadPost, ThreadPostAnswer};
use teamlog_team::thread::search::ThreadSearch;
use teamlog_team::thread::start::{ThreadAnswer, ThreadStart};
use teamlog_team::thread::tail::ThreadTail;

/// `{thread, messages, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ThreadTailBody")]
pub struct TailBody {
    /// The thread
    thread: ThreadShown,
    /// Its newest messages, oldest first
    messages: Vec<PostShown>,
    /// Where to go on towards older ones, while there are any
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// `{threads, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ThreadsBody")]
pub struct ThreadsBody {
    /// The threads, the newest first
    threads: Vec<ThreadShown>,
    /// Where to go on, while not everything was looked at; a page may then hold no thread at all
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A thread as this surface shows it.
fn thread(shown: ThreadShown) -> ThreadShown {
    ThreadShown {
        created_at: moment(&shown.created_at),
        updated_at: moment(&shown.updated_at),
        ..shown
    }
}

/// `{thread}` as this surface shows it.
fn one(answer: &ThreadAnswer) -> ThreadAnswer {
    ThreadAnswer {
        thread: thread(answer.thread.clone()),
    }
}

/// A message as this surface shows it.
fn post(shown: PostShown) -> PostShown {
    PostShown {
        ts: moment(&shown.ts),
        ..shown
    }
}

/// `POST /v1/threads`.
pub struct Start;

/// What the thread is about.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StartInput {
    /// What it is about; else `Thread`
    title: Option<String>,
    /// Who takes part
    participants: Option<Vec<String>>,
    /// The task that it belongs to
    task_id: Option<String>,
    /// Who starts it, and takes part too
    agent_id: Option<String>,
}

impl Endpoint for Start {
    type Input = StartInput;
    type Answer = ThreadAnswer;
    const FACTS: Facts = Facts::post("/v1/threads", "startThread", "Start a thread")
        .status(201)
        .codes(&["task_not_found", "worker_not_found", "budget_exceeded"]);

    fn answer(input: StartInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        let start = ThreadStart {
            title: input.title,
            participants: input.participants.map(names),
            task_id: input.task_id,
            worker: input.agent_id,
        };
        request.exchange(request.team()?, start, |_, answer: &ThreadAnswer, _| {
            Exchange::of(Start::FACTS.status, &one(answer))
        })
    }
}

/// `GET /v1/threads/search`.
pub struct Search;

/// What is looked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// What a title, a message, a participant or the task's id must hold, in any case; else every thread
    q: Option<String>,
    /// Most threads; else 50
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
    /// The `nextCursor` of the page before
    cursor: Option<String>,
}

impl Endpoint for Search {
    type Input = SearchInput;
    type Answer = ThreadsBody;
    const FACTS: Facts = Facts::get(
        "/v1/threads/search",
        "searchThreads",
        "Threads that hold a text in their title, their messages, their participants or their task's id",
    )
    .codes(&["cursor_unknown"]);

    fn answer(input: SearchInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        request.look(|team| {
            let found = team.thread_search(&ThreadSearch {
                query: input.q,
                limit: input.limit,
                cursor: input.cursor,
            })?;
            Ok(ThreadsBody {
                threads: found.threads.into_iter().map(thread).collect(),
                next_cursor: found.next_cursor,
            })
        })
    }
}

/// `POST /v1/threads/{threadId}/messages`.
pub struct Post;

/// What is said: `body`, or `message` in its place.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PostInput {
    /// The thread
    thread_id: String,
    /// What is said
    body: Option<String>,
    /// The same under another name
    message: Option<String>,
    /// Who says it; else `system`
    agent_id: Option<String>,
    /// Who is told; else whoever takes part. Its author never is
    to: Option<Vec<String>>,
}

impl Endpoint for Post {
    type Input = PostInput;
    type Answer = ThreadPostAnswer;
    const FACTS: Facts = Facts::post(
        "/v1/threads/{threadId}/messages",
        "postMessage",
        "Say something in a thread; who does so need not take part",
    )
    .status(201)
    .codes(&["thread_not_found", "worker_not_found", "budget_exceeded"]);

    fn answer(input: PostInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        let body = match (input.body, input.message) {
            (Some(_), Some(_)) => {
                let message = "body and message are names of one field, of which one must be given";
                return Err(Problem::invalid("message", message));
            }
            (None, None) => return Err(Problem::invalid("message", "message is required")),
            (Some(text), None) | (None, Some(text)) => text,
        };
        let said = ThreadPost {
            thread_id: input.thread_id,
            body,
            worker: input.agent_id,
            to: input.to.map(names),
        };
        request.exchange(request.team()?, said, |_, answer: &ThreadPostAnswer, _| {
            let message = post(answer.message.clone());
            Exchange::of(Post::FACTS.status, &ThreadPostAnswer { message })
        })
    }
}

/// `GET /v1/threads/{threadId}/messages`.
pub struct Messages;

/// How many messages of which thread.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct MessagesInput {
    /// The thread
    thread_id: String,
    /// Most messages, the newest, at most 200; else 20
    tail: Option<usize>,
    /// The `nextCursor` of the page before
    cursor: Option<String>,
}

impl Endpoint for Messages {
    type Input = MessagesInput;
    type Answer = TailBody;
    const FACTS: Facts = Facts::get(
        "/v1/threads/{threadId}/messages",
        "listMessages",
        "The newest messages of a thread, oldest first",
    )
    .codes(&["thread_not_found", "cursor_unknown"]);

    fn answer(input: MessagesInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        tail(request, input.thread_id, input.tail, input.cursor)
    }
}

/// `GET /v1/threads/{threadId}/tail`.
pub struct Tail;

/// The same with another name for how many.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TailInput {
    /// The thread
    thread_id: String,
    /// Most messages, the newest, at most 200; else 20
    limit: Option<usize>,
    /// The `nextCursor` of the page before
    cursor: Option<String>,
}

impl Endpoint for Tail {
    type Input = TailInput;
    type Answer = TailBody;
    const FACTS: Facts = Facts::get(
        "/v1/threads/{threadId}/tail",
        "tailThread",
        "The newest messages of a thread, oldest first",
    )
    .codes(&["thread_not_found", "cursor_unknown"]);

    fn answer(input: TailInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        tail(request, input.thread_id, input.limit, input.cursor)
    }
}

fn tail(
    request: &RequestContext<'_>,
    thread_id: String,
    limit: Option<usize>,
    cursor: Option<String>,
) -> Result<Reply, Problem> {
    request.look(|team| {
        let tail = team.thread_tail(&ThreadTail {
            thread_id,
            limit,
            cursor,
        })?;
        Ok(TailBody {
            thread: thread(tail.thread),
            messages: tail.messages.into_iter().map(post).collect(),
            next_cursor: tail.next_cursor,
        })
    })
}

/// `POST /v1/threads/{threadId}/link`.
pub struct Link;

/// Which thread belongs to which task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LinkInput {
    /// The thread
    thread_id: String,
    /// The task, in the place of the one that it belonged to
    task_id: String,
    /// Who does it
    agent_id: Option<String>,
}

impl Endpoint for Link {
    type Input = LinkInput;
    type Answer = ThreadAnswer;
    const FACTS: Facts = Facts::post(
        "/v1/threads/{threadId}/link",
        "linkThread",
        "Make a thread belong to a task",
    )
    .codes(&["task_not_found", "thread_not_found", "worker_not_found"]);

    fn answer(input: LinkInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        let link = ThreadLink {
            thread_id: input.thread_id,
            task_id: input.task_id,
            worker: input.agent_id,
        };
        request.exchange(request.team()?, link, |_, answer: &ThreadAnswer, _| {
            Exchange::of(Link::FACTS.status, &one(answer))
        })
    }
}
