//! A call: an admitted request, for the team of its token.

use crate::caller::Caller;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::handle::batch::Batch;

/// Methods that routes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// GET: reads.
    Get,
    /// POST: records, or reads with a body.
    Post,
}

impl Method {
    /// Returns the method's name in a request line.
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
    /// Method.
    pub method: Method,
    /// Segments of the path, percent-decoded one by one: `["v1", "tasks", "7"]`. A segment may contain any character,
    /// including `/`; segments never become paths on the disk.
    pub path: Vec<String>,
    /// Query parameters, decoded, in order; names may repeat.
    pub query: Vec<(String, String)>,
    /// The authenticated caller.
    pub caller: Caller,
    /// Team of the call: the token's team, or the team named by a caller who may use all teams. Empty if the call
    /// concerns no team.
    pub team: String,
    /// `Idempotency-Key`, unless absent or empty.
    pub key: Option<String>,
    /// `X-Trace-Id`, else the trace id of `traceparent`.
    pub trace_id: Option<String>,
    /// `Last-Event-ID`.
    pub last_event_id: Option<String>,
    /// True if `Accept` asks for `text/event-stream`.
    pub wants_stream: bool,
    /// Deadline of the answer; ends early if the client disconnects.
    pub deadline: Deadline,
    /// Batch that executes the call, if any.
    pub batch: Option<Batch>,
    /// Body; an empty one counts as `{}`.
    pub body: Vec<u8>,
}

/// Returns true if routes have the method. After another method, such as CONNECT, the connection may carry bytes that
/// are no request.
pub(crate) fn is_known(method: &hyper::Method) -> bool {
    ["GET", "HEAD", "POST"].contains(&method.as_str())
}
