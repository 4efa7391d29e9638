//! What a call is answered with.

use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use teamlog_team::projections::hidden::escaped_in_json;

/// The type of every JSON answer.
pub const JSON: &str = "application/json; charset=utf-8";

/// An error's body is never longer.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// What else the head says.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// One JSON object and a line end.
    pub fn json(status: u16, body: &impl Serialize) -> Reply {
        match serde_json::to_vec(body) {
            Ok(body) => Reply::json_text(status, body),
            Err(error) => Reply::error(500, "internal", &error.to_string()),
        }
    }

    /// The code of an error; of ours, so that there are not more of them than the code has.
    pub(crate) fn code(&self) -> Option<String> {
        if self.body.len() > ERROR_BYTES_MAX {
            return None;
        }
        let body: Value = serde_json::from_slice(&self.body).ok()?;
        Some(body.get("error")?.get("code")?.as_str()?.to_owned())
    }

    /// `{"error":{"code","message"}}`.
    pub fn error(status: u16, code: &str, message: &str) -> Reply {
        let body = serde_json::json!({"error": {"code": code, "message": message}});
        Reply::json_text(status, body.to_string().into_bytes())
    }

    /// What is answered to whoever presents nothing that lets them in, or not any more.
    pub(crate) fn unauthorized(message: &str) -> Reply {
        Reply::error(401, "unauthorized", message).header("www-authenticate", "Bearer")
    }

    /// The text of a JSON object and a line end.
    pub(crate) fn json_text(status: u16, mut body: Vec<u8>) -> Reply {
        // Errors repeat what a caller sent, which must not hide in a terminal or a page.
        if status >= 400
            && let Ok(Cow::Owned(escaped)) = std::str::from_utf8(&body).map(escaped_in_json)
        {
            body = escaped.into_bytes();
        }
        body.push(b'\n');
        Reply::new(status, JSON, body)
    }

    /// A body of that type.
    pub(crate) fn new(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> Reply {
        Reply {
            status,
            content_type,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }
}

/// What a call is answered with: at once, or as long as the client listens.
#[derive(Debug)]
pub enum Answer {
    /// A whole answer.
    Whole(Reply),
    /// An answer that goes on.
    Streamed(Streamed),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer::Whole(reply)
    }
}

/// An answer that goes on, with status 200, until whoever sends it drops the sender, the client goes, or the daemon stops.
///
/// The channel is bounded: where the client is slower than what there is to tell, the sender finds it full and ends the
/// stream. A client that takes nothing at all is cut by the connection.
#[derive(Debug)]
pub struct Streamed {
    /// The type of the body.
    pub content_type: &'static str,
    /// The body, piece by piece.
    pub frames: tokio::sync::mpsc::Receiver<hyper::body::Bytes>,
    /// What is sent when there was nothing to send for a while.
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
