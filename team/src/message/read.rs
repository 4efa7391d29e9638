//! `read`: returns a page of an inbox; further pages have older messages. The inbox of a renamed agent has the mail to its former
//! names too. With `unread`, the first page also has the unread
//! posts and the news of the agent's tasks.

use crate::message::notices::{self, Notice};
use crate::message::prime::Few;
use crate::operation::prelude::*;
use crate::projections::message::{InboxQuery, MessageInfo};

operation! {
    /// Read an agent's newest messages
    "read-inbox": Reads(Read {
        /// Owner of the inbox
        #[arg(long, value_name = "AGENT")]
        agent: String,
        /// Only messages without the agent's ack; the first page also shows unread posts and news of the agent's tasks
        #[serde(default)]
        #[arg(long)]
        unread: bool,
        /// Largest number of messages; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "MESSAGE_ID")]
        cursor: Option<String>,
    }) -> ReadAnswer = Team::read,
    refuses = [WorkerNotFound, CursorUnknown]
}

/// The answer `{team, agent, messages, count, next_cursor}`, and `posts` and `news` if there are any.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ReadAnswer {
    /// Name of the team.
    pub team: String,
    /// Owner of the inbox.
    pub agent: String,
    /// The messages of the page, oldest first.
    #[serde(
        serialize_with = "crate::shapes::messages",
        deserialize_with = "crate::shapes::read_messages"
    )]
    pub messages: Vec<Message>,
    /// Number of messages on the page.
    pub count: usize,
    /// Cursor of the next page, towards older messages; `null` on the last page.
    pub next_cursor: Option<String>,
    /// Posts in threads that the agent has not acknowledged, oldest first.
    #[serde(default, skip_serializing_if = "Few::is_empty")]
    pub posts: Few<Notice>,
    /// News of the agent's tasks since the agent last recorded something, oldest first.
    #[serde(default, skip_serializing_if = "Few::is_empty")]
    pub news: Few<Notice>,
}

impl Team {
    /// Returns a page of an inbox.
    pub fn read(&mut self, read: Read) -> Result<ReadAnswer> {
        self.query(|live, reader| {
            membership::check_known(live, "agent", &read.agent)?;
            let cursor = read.cursor.as_deref();
            let query = InboxQuery {
                unread: read.unread,
                before: before(live, &read.agent, cursor, "inbox")?,
                limit: page::limit(read.limit, page::PAGE),
            };
            let page = live.whole_inbox(&read.agent, query)?;
            let messages = page.seqs.iter().map(|seq| page::sent(live, reader, *seq));
            let messages = messages.collect::<Result<Vec<Message>>>()?;
            let oldest = messages.first().filter(|_| page.older);
            let (mut posts, mut news) = (Few::default(), Few::default());
            if read.unread && cursor.is_none() {
                posts = notices::posts(live, reader, &read.agent, query.limit)?;
                news = notices::news(live, reader, &read.agent, query.limit)?;
            }
            Ok(ReadAnswer {
                team: reader.identity().name.clone(),
                agent: read.agent.clone(),
                count: messages.len(),
                next_cursor: oldest.map(|oldest| oldest.id.clone()),
                messages,
                posts,
                news,
            })
        })
    }
}

/// Returns the seq of the message that a cursor names. `list` names the list in the error message.
pub(crate) fn before(
    live: &Live,
    owner: &str,
    cursor: Option<&str>,
    called: &str,
) -> Result<Option<u64>> {
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    names::check_known_free("cursor", cursor)?;
    let former = live.former_names(owner)?;
    let is_owners = |message: &MessageInfo| message.to == owner || former.contains(&message.to);
    let message = live.message(cursor)?.filter(is_owners);
    let what = format!("the id of a message in this {called}");
    let message = message.ok_or_else(|| page::unknown_cursor(cursor, &what))?;
    Ok(Some(message.seq))
}
