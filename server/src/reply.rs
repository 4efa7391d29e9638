//! Answers to calls.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use teamlog_team::projections::hidden::escaped_in_json;

/// Content type of JSON answers.
pub const JSON: &str = "application/json; charset=utf-8";

/// Largest body of an error.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Status.
    pub status: u16,
    /// Content type.
    pub content_type: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Reply {
    /// Builds a reply with one JSON object and a line end.
    pub fn json(status: u16, body: &impl Serialize) -> Reply {
        match serde_json::to_vec(body) {
            Ok(body) => Reply::json_text(status, body),
            Err(error) => Reply::error(500, "internal", &error.to_string()),
        }
    }

    /// Returns the code of an error; only codes of this program, which bounds their number in metrics.
    pub(crate) fn code(&self) -> Option<String> {
        if self.body.len() > ERROR_BYTES_MAX {
            return None;
        }
        let body: Value = serde_json::from_slice(&self.body).ok()?;
        Some(body.get("error")?.get("code")?.as_str()?.to_owned())
    }

    /// Builds an error reply: `{"error":{"code","message"}}`.
    pub fn error(status: u16, code: &str, message: &str) -> Reply {
        let body = serde_json::json!({"error": {"code": code, "message": message}});
        Reply::json_text(status, body.to_string().into_bytes())
    }

    /// Builds the 401 reply for a missing or invalid credential.
    pub(crate) fn unauthorized(message: &str) -> Reply {
        Reply::error(401, "unauthorized", message).header("www-authenticate", "Bearer")
    }

    /// Builds a reply from the text of a JSON object, with a line end.
    pub(crate) fn json_text(status: u16, mut body: Vec<u8>) -> Reply {
        // Errors repeat input of the caller: escape characters that a terminal or a page would hide.
        if status >= 400
            && let Ok(Cow::Owned(escaped)) = std::str::from_utf8(&body).map(escaped_in_json)
        {
            body = escaped.into_bytes();
        }
        body.push(b'\n');
        Reply::new(status, JSON, body)
    }

    /// Builds a reply with a body of the given type.
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

/// Answer to a call: complete, or a stream.
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

/// A stream with status 200, until the sender is dropped, the client disconnects or the daemon stops.
///
/// The channel is bounded: if the client is too slow, the sender finds it full and ends the stream. The connection is
/// cut if the client accepts nothing.
#[derive(Debug)]
pub struct Streamed {
    /// Content type.
    pub content_type: &'static str,
    /// Pieces of the body.
    pub frames: tokio::sync::mpsc::Receiver<hyper::body::Bytes>,
    /// Sent after a period without frames.
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
