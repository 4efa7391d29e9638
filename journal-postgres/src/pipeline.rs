//! Sends several requests to the server at once, so that a new connection costs few round trips.

use crate::call_error::{Answer, said};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Row, Statement};

/// The reply to a request.
pub enum Reply {
    Done,
    Rows(Vec<Row>),
    Statement(Statement),
    /// The server refuses the request, with this message.
    Refused(String),
}

impl Reply {
    pub fn into_rows(self) -> Vec<Row> {
        match self {
            Reply::Rows(rows) => rows,
            Reply::Done | Reply::Statement(_) | Reply::Refused(_) => Vec::new(),
        }
    }

    pub fn rows(&self) -> &[Row] {
        match self {
            Reply::Rows(rows) => rows,
            Reply::Done | Reply::Statement(_) | Reply::Refused(_) => &[],
        }
    }
}

/// A request that is sent when it is polled.
pub type Request<'a> = Pin<Box<dyn Future<Output = Answer<Reply>> + 'a>>;

/// Returns a request for the rows of a query.
pub fn rows<'a>(query: impl Future<Output = Answer<Vec<Row>>> + 'a) -> Request<'a> {
    Box::pin(async { Ok(Reply::Rows(query.await?)) })
}

/// Returns a request to prepare a statement.
pub fn prepare<'a>(client: &'a Client, text: &'a str) -> Request<'a> {
    Box::pin(async { Ok(Reply::Statement(client.prepare(text).await?)) })
}

/// Returns a request to run statements without rows.
pub fn run<'a>(client: &'a Client, text: &'a str) -> Request<'a> {
    Box::pin(async { client.batch_execute(text).await.map(|()| Reply::Done) })
}

/// Returns a request that the server may refuse. A refusal with a state for which `may_be` is true is a reply, not an error.
pub fn attempt(request: Request<'_>, may_be: fn(&SqlState) -> bool) -> Request<'_> {
    Box::pin(async move {
        match request.await {
            Err(error) if error.code().is_some_and(may_be) => Ok(Reply::Refused(said(&error))),
            answer => answer,
        }
    })
}

/// Sends requests at once and takes their replies in order. Stops at the first error, or when `ends` returns true for a reply,
/// because later requests may never be answered.
pub async fn pipelined(
    mut requests: Vec<Request<'_>>,
    mut ends: impl FnMut(usize, &Answer<Reply>) -> bool,
) -> Answer<Vec<Reply>> {
    let mut replies: Vec<Option<Answer<Reply>>> = requests.iter().map(|_| None).collect();
    let mut heard = 0;
    poll_fn(|cx| {
        for (request, reply) in requests.iter_mut().zip(&mut replies) {
            if reply.is_none()
                && let Poll::Ready(ready) = request.as_mut().poll(cx)
            {
                *reply = Some(ready);
            }
        }
        while let Some(Some(reply)) = replies.get(heard) {
            let is_last = ends(heard, reply) || reply.is_err();
            heard += 1;
            if is_last {
                return Poll::Ready(());
            }
        }
        match heard == replies.len() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    replies.truncate(heard);
    replies.into_iter().flatten().collect()
}
