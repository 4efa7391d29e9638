//! Messages: envelope and rules, inboxes, and the progress of each message.

mod dispatch;
mod envelope;
pub use crate::event::message as event;
mod fold;
mod marks;
mod query;
mod question;
mod recorded;
mod row;
mod rules;
mod unapplied;
mod unread;
pub(crate) mod view;

pub use crate::event::message::{MessageType, Priority, SCHEMA_VERSION};
pub use crate::identifier::{
    InvalidMessage, Names, check_id, check_name, check_new_id, check_title,
};
pub use dispatch::{Dispatch, DispatchStatus};
pub use envelope::{Envelope, Message};
pub use marks::{MailCounts, Marks, SameMail};
pub use query::InboxQuery;
pub use question::Question;
pub use row::{AgentInfo, LastSent, MessageInfo, Unacked};
pub use unapplied::{NotApplied, Unapplied};
pub use unread::UnreadMail;

pub(crate) use crate::event::message::TASK_ID;
pub(crate) use fold::apply;
pub(crate) use query::inbox_seqs;
pub(crate) use recorded::event_about;
