//! The bodies of answers.

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use std::convert::Infallible;

/// The body of an answer: all of it at once, or a stream.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Returns a body of these bytes.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}
