//! A call: a request that was admitted, on the team that its token belongs to.

use crate::caller::Caller;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::handle::batch::Batch;

/// The methods that anything is routed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Records, or asks with a body.
    Post,
}

impl Method {
    /// As it stands in a request line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
        }
    }
}

/// A request as the routes see it.
#[derive(Debug, Clone)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The segments of the path, percent-decoded one by one: `["v1", "tasks", "7"]`. A segment may hold anything, a `/`
    /// as well; nothing becomes a path on the disk.
    pub path: Vec<String>,
    /// The query, decoded, in order; names may repeat.
    pub query: Vec<(String, String)>,
    /// Who asks.
    pub caller: Caller,
    /// The team that is asked about: that of the token, or the one that whoever reaches all of them names. Empty where
    /// none is asked about.
    pub team: String,
    /// `Idempotency-Key`, unless absent or empty.
    pub key: Option<String>,
    /// `X-Trace-Id`, else the trace id of `traceparent`.
    pub trace_id: Option<String>,
    /// `Last-Event-ID`.
    pub last_event_id: Option<String>,
    /// Whether `Accept` asks for `text/event-stream`.
    pub wants_stream: bool,
    /// How long the client may wait for its answer, and whether it still does.
    pub deadline: Deadline,
    /// The batch that it is carried out in.
    pub batch: Option<Batch>,
    /// The body; empty means `{}`.
    pub body: Vec<u8>,
}

/// Whether any path takes the method. What follows another one, such as CONNECT, may be no request.
pub(crate) fn is_known(method: &hyper::Method) -> bool {
    ["GET", "HEAD", "POST"].contains(&method.as_str())
}
