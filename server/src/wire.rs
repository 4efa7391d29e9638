//! What goes over a connection: heads within limits on the way in, bodies on the way out, and how long each may take.

pub(crate) mod body;
mod head;
pub(crate) mod sending;
pub(crate) mod timeouts;
pub(crate) mod watched;
