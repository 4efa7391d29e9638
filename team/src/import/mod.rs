//! Imports of message envelopes, of exported events, and of directories of the team chat protocol.

pub mod events;
pub mod messages;
pub mod report;
pub(crate) mod source;
pub mod team_chat;
pub(crate) mod team_chat_config;
pub(crate) mod team_chat_events;
pub(crate) mod team_chat_history;
pub mod team_chat_source;
