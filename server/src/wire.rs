//! Reads request heads within limits, sends the bodies of answers, and enforces timeouts.

pub(crate) mod body;
mod head;
pub(crate) mod sending;
pub(crate) mod timeouts;
pub(crate) mod watched;
