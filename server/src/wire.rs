//! The wire: heads of requests within limits, bodies of answers, and timeouts.

pub(crate) mod body;
mod head;
pub(crate) mod sending;
pub(crate) mod timeouts;
pub(crate) mod watched;
