//! `thread-tail`: reads the newest messages of a thread, oldest first.

use crate::projections::Fact;
use crate::thread::prelude::*;
use page::unknown_cursor;

operation! {
    /// Read the newest messages of a thread, oldest first
    "thread-tail": Reads(ThreadTail {
        /// Id of the thread
        #[arg(value_name = "THREAD")]
        thread_id: String,
        /// Largest number of messages, at most 200; 20 if absent
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    }) -> ThreadTailAnswer = |team, asked| team.thread_tail(&asked),
    refuses = [ThreadNotFound, CursorUnknown],
    rules = RULES
}

/// Default number of messages on a page.
pub const TAIL: usize = 20;
/// Maximum number of messages on a page.
pub const TAIL_MAX: usize = 200;
/// Number of bytes after which a page ends.
pub(crate) const PAGE_BYTES: usize = 4 << 20;

/// The answer `{thread, messages, next_cursor?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTailAnswer {
    /// The thread
    pub thread: ThreadShown,
    /// The messages, oldest first
    pub messages: Vec<PostShown>,
    /// Cursor of the next page, towards older messages; absent on the last page
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Team {
    /// Returns the newest messages of a thread.
    pub fn thread_tail(&mut self, tail: &ThreadTail) -> Result<ThreadTailAnswer> {
        let before = tail.before()?;
        let limit = page::at_most(tail.limit, TAIL, TAIL_MAX);
        self.query(|live, reader| {
            let thread = found(live, &tail.thread_id)?;
            let page = live.thread_posts(&thread.id, before, limit)?;
            let (mut messages, mut bytes) = (Vec::new(), 0);
            let mut older = page.older;
            for seq in page.seqs.iter().rev() {
                if bytes > PAGE_BYTES {
                    older = true;
                    break;
                }
                if let Some(post) = post(live, reader, *seq)? {
                    bytes += post.body.len();
                    messages.push(post);
                }
            }
            messages.reverse();
            let oldest = messages.first().filter(|_| older);
            Ok(ThreadTailAnswer {
                thread: ThreadShown::from(&thread),
                next_cursor: oldest.map(|post| post.seq.to_string()),
                messages,
            })
        })
    }
}

impl ThreadTail {
    fn before(&self) -> Result<Option<u64>> {
        let Some(cursor) = &self.cursor else {
            return Ok(None);
        };
        let unknown = |_| unknown_cursor(cursor, "the next_cursor of a page of this thread");
        Ok(Some(cursor.parse().map_err(unknown)?))
    }
}

/// Returns the message that an event of a thread recorded.
pub(crate) fn post(live: &Live, reader: &Reader, seq: u64) -> Result<Option<PostShown>> {
    let event: Event<'static> = page::event(live, reader, seq)?;
    let Fact::Thread(fact) = Fact::decode(&event)? else {
        return Ok(None);
    };
    Ok(match &fact.act {
        ThreadAct::Posted(posted) => {
            let post = PostShown::new(&fact.thread_id, posted, event.seq, event.id);
            Some(post.by(&event.actor))
        }
        _ => None,
    })
}
