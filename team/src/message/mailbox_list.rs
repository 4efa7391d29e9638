//! `mailbox-list`: lists a worker's mail, oldest first. Lists all mail, or pages that begin with the newest mail.

use crate::message::mail::Mail;
use crate::message::read::before;
use crate::operation::prelude::*;
use crate::projections::message::InboxQuery;

operation! {
    /// List a worker's mail, oldest first
    "mailbox-list": Reads(MailboxList {
        /// Owner of the mailbox
        worker: String,
        /// True to list delivered messages too, which is the default
        include_delivered: Option<bool>,
        /// Largest number of messages, the newest ones; all messages if absent
        #[schemars(range(min = 1))]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        cursor: Option<String>,
    }) -> MailboxListAnswer = |team, asked| team.mailbox_list(&asked),
    refuses = [CursorUnknown],
    empty = |asked, _| asked.empty()
}

/// The answer `{worker, count, messages, next_cursor?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MailboxListAnswer {
    /// Owner of the mailbox
    pub worker: String,
    /// Number of messages listed
    pub count: usize,
    /// The messages, oldest first
    pub messages: Vec<Mail>,
    /// Cursor of the next page, towards older messages; absent on the last page
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl MailboxList {
    /// Returns the answer for a mailbox that does not exist.
    pub(crate) fn empty(&self) -> MailboxListAnswer {
        MailboxListAnswer {
            worker: self.worker.clone(),
            count: 0,
            messages: Vec::new(),
            next_cursor: None,
        }
    }
}

impl Team {
    /// Lists a worker's mail.
    pub fn mailbox_list(&mut self, list: &MailboxList) -> Result<MailboxListAnswer> {
        names::check_known("worker", &list.worker)?;
        let limit = page::limit(list.limit, 0);
        self.query(|live, reader| {
            let before = before(live, &list.worker, list.cursor.as_deref(), "mailbox")?;
            let page = match list.include_delivered {
                Some(false) => live.undelivered(&list.worker, before, limit)?,
                Some(true) | None => {
                    let query = InboxQuery {
                        unread: false,
                        before,
                        limit,
                    };
                    live.inbox(&list.worker, query)?
                }
            };
            let mail = page.seqs.iter().map(|seq| {
                let message = page::sent(live, reader, *seq)?;
                let marks = live.marks(&message.id)?;
                Ok(Mail::from_message(&message).marked(&marks))
            });
            let messages = mail.collect::<Result<Vec<Mail>>>()?;
            let oldest = messages.first().filter(|_| page.older);
            Ok(MailboxListAnswer {
                next_cursor: oldest.map(|oldest| oldest.message_id.clone()),
                count: messages.len(),
                messages,
                ..list.empty()
            })
        })
    }
}
