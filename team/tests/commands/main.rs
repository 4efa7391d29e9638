//! The commands of a team, each from its input to its answer and the events that record it, on storage in memory
//! with a clock that stands still unless it is told.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests may panic as tests do"
)]

mod appending;
mod broker_events;
mod costs;
mod deliveries;
mod doctor;
mod follow;
mod hand;
mod histories;
mod importing;
mod mail_histories;
mod mailbox;
mod messages;
mod moving;
mod nudges;
mod past;
mod real_messages;
mod replaying;
mod settings;
mod state;
mod stories;
mod story_formats;
mod tasks;
mod team_chat;
mod teams;
mod world;
