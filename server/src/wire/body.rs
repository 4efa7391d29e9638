//! Bodies of answers.

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use std::convert::Infallible;

/// Body of an answer, complete or a stream.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Returns a body of the given bytes.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}
