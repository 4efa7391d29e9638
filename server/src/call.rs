//! A call: a request after admission, for one team.

use crate::caller::Caller;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::handle::batch::Batch;

/// HTTP methods that routes accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// GET, for reads.
    Get,
    /// POST, for recording, and for reads with a body.
    Post,
}

impl Method {
    /// Returns the name of the method in a request line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
        }
    }
}

/// A request in the form that the routes use.
#[derive(Debug, Clone)]
pub struct Call {
    /// HTTP method.
    pub method: Method,
    /// Segments of the path, each percent-decoded: `["v1", "tasks", "7"]`. A segment may contain any character, including `/`.
    /// Segments are never used as paths on the disk.
    pub path: Vec<String>,
    /// Query parameters, decoded, in their order. A name may occur several times.
    pub query: Vec<(String, String)>,
    /// The authenticated caller.
    pub caller: Caller,
    /// Team of the call: the team of the token, or the team that the request names if the caller may use all teams.
    /// Empty if the call concerns no team.
    pub team: String,
    /// Value of `Idempotency-Key`; `None` if it is absent or empty.
    pub key: Option<String>,
    /// Value of `X-Trace-Id`, or else the trace id in `traceparent`.
    pub trace_id: Option<String>,
    /// Value of `Last-Event-ID`.
    pub last_event_id: Option<String>,
    /// True if `Accept` asks for `text/event-stream`.
    pub wants_stream: bool,
    /// Deadline of the answer. The deadline ends early if the client disconnects.
    pub deadline: Deadline,
    /// Batch that executes the call, if any.
    pub batch: Option<Batch>,
    /// Request body. An empty body counts as `{}`.
    pub body: Vec<u8>,
}

/// Returns true if routes accept the method. After another method, such as CONNECT, the connection may carry bytes that are
/// not a request.
pub(crate) fn is_known(method: &hyper::Method) -> bool {
    ["GET", "HEAD", "POST"].contains(&method.as_str())
}
