//! What is answered to whoever presents nothing that lets them in.

use crate::reply::Reply;

/// What is told to whoever presents none, or one that is worth nothing any more.
pub(crate) const CODE_WANTED: &str =
    "authorization must be Bearer and a one-time code that was not used yet: teamlog dashboard";

/// What is answered to whoever has no token, or not any more.
pub(crate) fn unauthorized(message: &str) -> Reply {
    Reply::error(401, "unauthorized", message).header("www-authenticate", "Bearer")
}
