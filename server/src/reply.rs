//! Answers to calls: complete replies and streams.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use teamlog_team::projections::hidden::escaped_in_json;

/// Content type of JSON answers.
pub const JSON: &str = "application/json; charset=utf-8";

/// Maximum size of an error body in bytes.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Reply {
    /// Makes a reply with one JSON object and a line end.
    pub fn json(status: u16, body: &impl Serialize) -> Reply {
        match serde_json::to_vec(body) {
            Ok(body) => Reply::json_text(status, body),
            Err(error) => Reply::error(500, "internal", &error.to_string()),
        }
    }

    /// Returns the error code of the reply, or `None` if the reply is no error. Only this program makes replies, so
    /// metrics have a limited number of codes.
    pub(crate) fn code(&self) -> Option<String> {
        if self.body.len() > ERROR_BYTES_MAX {
            return None;
        }
        let body: Value = serde_json::from_slice(&self.body).ok()?;
        Some(body.get("error")?.get("code")?.as_str()?.to_owned())
    }

    /// Makes an error reply: `{"error":{"code","message"}}`.
    pub fn error(status: u16, code: &str, message: &str) -> Reply {
        let body = serde_json::json!({"error": {"code": code, "message": message}});
        Reply::json_text(status, body.to_string().into_bytes())
    }

    /// Makes the 401 reply for a missing or invalid credential.
    pub(crate) fn unauthorized(message: &str) -> Reply {
        Reply::error(401, "unauthorized", message).header("www-authenticate", "Bearer")
    }

    /// Makes a reply from a JSON object that is already text. Adds a line end.
    pub(crate) fn json_text(status: u16, mut body: Vec<u8>) -> Reply {
        // Errors repeat input of the caller, so escape characters that a terminal or a page would hide.
        if status >= 400
            && let Ok(Cow::Owned(escaped)) = std::str::from_utf8(&body).map(escaped_in_json)
        {
            body = escaped.into_bytes();
        }
        body.push(b'\n');
        Reply::new(status, JSON, body)
    }

    /// Makes a reply with a body of the given content type.
    pub(crate) fn new(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> Reply {
        Reply {
            status,
            content_type,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }
}

/// Answer to a call: a complete reply or a stream.
#[derive(Debug)]
pub enum Answer {
    /// A complete answer.
    Whole(Reply),
    /// A stream.
    Streamed(Streamed),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer::Whole(reply)
    }
}

/// A stream with status 200. The stream ends when the sender is dropped, the client disconnects, or the daemon stops.
///
/// The channel is bounded. If the client is too slow, the sender finds the channel full and ends the stream. If the client
/// accepts nothing, the connection is closed.
#[derive(Debug)]
pub struct Streamed {
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// Pieces of the body.
    pub frames: tokio::sync::mpsc::Receiver<hyper::body::Bytes>,
    /// Bytes that are sent if there are no frames for some time.
    pub heartbeat: &'static [u8],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_repeats_no_hidden_character() {
        let odd = "x\u{202e}y\u{200b}";
        let body = serde_json::json!({"error": {"message": odd}});
        let refused = Reply::json(400, &body);
        let text = std::str::from_utf8(&refused.body).unwrap();
        assert!(text.contains("x\\u202ey\\u200b"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), body);
        let answer = Reply::json(200, &body);
        assert!(std::str::from_utf8(&answer.body).unwrap().contains(odd));
    }
}
