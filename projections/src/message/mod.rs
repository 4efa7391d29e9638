//! Messages: the envelope and its rules, the inboxes that they lie in, and what became of each of them.

mod dispatch;
mod envelope;
pub mod event;
pub(crate) mod fold;
mod marks;
mod rules;
mod unapplied;
mod unread;
pub(crate) mod view;

pub use dispatch::{Dispatch, DispatchStatus};
pub use envelope::{
    Envelope, InvalidMessage, Message, MessageType, Names, Priority, SCHEMA_VERSION,
};
pub use fold::{
    AgentInfo, InboxQuery, LastSent, MessageInfo, MessagesProjection, SeqPage, Unacked,
};
pub use marks::{MailCounts, Marks, SameMail};
pub use rules::{check_id, check_name};
pub use unapplied::{NotApplied, Unapplied};
pub use unread::UnreadMail;

pub(crate) use dispatch::{dispatch, open_dispatches};
pub(crate) use marks::{counts, marks, same};
pub(crate) use unapplied::TASK_ID;
pub(crate) use unread::{unread_id, unread_mail};
