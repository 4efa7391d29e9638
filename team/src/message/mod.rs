//! Messages: sending, delivery, reading and acknowledgment. Also the feed of an agent.

pub mod ack;
pub mod broadcast;
pub(crate) mod by_message;
pub mod dead_letter;
pub mod deliveries;
pub mod effect;
pub mod feed_entry;
pub mod inbox_feed;
pub mod lead;
pub mod mail;
pub mod mailbox_list;
pub mod mailbox_mark;
pub mod notices;
pub mod nudge;
pub mod prime;
pub mod read;
pub mod send;
pub mod send_message;
pub mod task_assign;
pub mod task_update;
pub mod wait;
