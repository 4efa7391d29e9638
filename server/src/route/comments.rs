//! Routes of the comments on a task.

use super::problem::Problem;
use super::request::RequestContext;
use super::threads::message;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::projections::thread::PostShown;
use teamlog_team::task::show::TaskShow;
use teamlog_team::thread::comment::{CommentAnswer, TaskComment};
use teamlog_team::thread::tail::ThreadTail;
use teamlog_team::{Code, Exchange, Team};

/// A page of comments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentsInput {
    /// Id of the task
    task_id: String,
    /// Number of comments from the end, at most 200; default: 20
    limit: Option<usize>,
    /// The `nextCursor` of the previous page
    cursor: Option<String>,
}

/// `{taskId, threadId?, count, comments, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CommentsBody")]
pub struct SomeComments {
    /// Id of the task
    task_id: String,
    /// Thread of the task, if there are comments
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// Number of all comments on the task
    count: u64,
    /// The comments of the page, oldest first
    comments: Vec<PostShown>,
    /// Cursor of the page with older comments, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Error codes for reading comments.
pub const READING: &[Code] = &[Code::TaskNotFound, Code::CursorUnknown];

/// `GET /v1/tasks/{taskId}/comments`.
pub fn list(asked: CommentsInput, team: &mut Team) -> Result<SomeComments, Problem> {
    let task_id = asked.task_id;
    let shown = team.task_show(TaskShow {
        task_id: task_id.clone(),
        ..TaskShow::default()
    })?;
    let Some(found) = shown.comments else {
        return Ok(SomeComments {
            task_id,
            thread_id: None,
            count: 0,
            comments: Vec::new(),
            next_cursor: None,
        });
    };
    let tail = team.thread_tail(&ThreadTail {
        thread_id: found.thread_id.clone(),
        limit: asked.limit,
        cursor: asked.cursor,
    })?;
    Ok(SomeComments {
        task_id,
        thread_id: Some(found.thread_id),
        count: found.count,
        comments: tail.messages.into_iter().map(message).collect(),
        next_cursor: tail.next_cursor,
    })
}

/// A comment on a task.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentInput {
    /// Id of the task
    task_id: String,
    /// Text of the comment
    body: String,
    /// Author
    agent_id: String,
}

/// `POST /v1/tasks/{taskId}/comments`.
pub fn write(input: CommentInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let comment = TaskComment {
        task_id: input.task_id,
        body: input.body,
        worker: input.agent_id,
    };
    request.exchange(comment, |_, answer: &CommentAnswer, _| {
        let answer = CommentAnswer {
            message: message(answer.message.clone()),
            ..answer.clone()
        };
        Exchange::new(201, &Commented::from(answer))
    })
}

/// `{taskId, comments, message}`, with warnings about the recipients.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CommentBody")]
pub struct Commented {
    /// Id of the task
    task_id: String,
    /// Number of comments on the task
    comments: u64,
    /// The comment
    message: PostShown,
    /// Recipients that never acted in the team, with the known agents
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recipients_unknown: Vec<String>,
}

impl From<CommentAnswer> for Commented {
    fn from(answer: CommentAnswer) -> Commented {
        Commented {
            task_id: answer.task_id,
            comments: answer.comments,
            message: answer.message,
            recipients_unknown: answer.doubts.recipients_unknown,
        }
    }
}
