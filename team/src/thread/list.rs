//! `list-threads`: threads with what was said last in each, the one that began last first.

use crate::thread::prelude::*;

operation! {
    /// List threads with what was said last in each, the newest thread first
    "list-threads": Reads(ThreadList {
        /// Most threads, at most 200; default 50
        #[schemars(range(min = 1))]
        limit: Option<usize>,
        /// The `next_cursor` of the page before
        cursor: Option<String>,
    }) -> ThreadListAnswer = |team, asked| team.threads(&asked),
    refuses = [CursorUnknown],
    rules = RULES
}

const LIST_MAX: usize = 200;
/// Most bytes that are shown of what was said last.
const TEXT_MAX: usize = 280;

/// `{team, threads, count, next_cursor}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadListAnswer {
    /// The team
    pub team: String,
    /// The page: in natural order of the ids, the last one first
    pub threads: Vec<ThreadListed>,
    /// Threads on the page
    pub count: usize,
    /// The last id of the page while more remain
    pub next_cursor: Option<String>,
}

/// A thread among others
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadListed {
    /// Its id
    pub id: String,
    /// What it is about
    pub title: String,
    /// Who takes part
    pub participants: Vec<String>,
    /// The task that it belongs to
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The story that it belongs to
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// How many messages it holds
    pub messages: u64,
    /// When the last message was posted; without one, when the thread began
    #[schemars(with = "Timestamp")]
    pub last_at: String,
    /// Who said the last message; `null` where nobody said anything
    pub last_by: Option<String>,
    /// What it says, of a long one the beginning; `null` where nobody said anything
    pub last_text: Option<String>,
}

impl Team {
    /// Threads, the newest first: reads one event of each thread of the page.
    pub fn threads(&mut self, list: &ThreadList) -> Result<ThreadListAnswer> {
        let limit = page::at_most(list.limit, page::PAGE, LIST_MAX);
        self.query(|live, reader| {
            if let Some(cursor) = &list.cursor {
                let unknown = || page::unknown_cursor(cursor, "the id of a thread");
                live.thread(cursor)?.ok_or_else(unknown)?;
            }
            let mut found = live.threads_before(list.cursor.as_deref(), limit + 1)?;
            let more = page::cut(&mut found, limit);
            let next_cursor = found.last().filter(|_| more).map(|last| last.id.clone());
            let listed = found.into_iter().map(|one| listed(live, reader, one));
            let threads = listed.collect::<Result<Vec<ThreadListed>>>()?;
            Ok(ThreadListAnswer {
                team: reader.identity().name.clone(),
                count: threads.len(),
                threads,
                next_cursor,
            })
        })
    }
}

fn listed(live: &Live, reader: &Reader, thread: Thread) -> Result<ThreadListed> {
    let last = match thread.last_post {
        Some((seq, _)) => post(live, reader, seq)?,
        None => None,
    };
    let began = thread.created_at.to_string();
    let (last_at, last_by, last_text) = match last {
        Some(last) => (last.ts, Some(last.from), Some(beginning(&last.body))),
        None => (began, None, None),
    };
    Ok(ThreadListed {
        id: thread.id,
        title: thread.title,
        participants: thread.participants,
        task_id: thread.task_id,
        trace_id: thread.trace_id,
        messages: thread.messages,
        last_at,
        last_by,
        last_text,
    })
}

/// The beginning of a text, marked where it was cut.
fn beginning(text: &str) -> String {
    match text.get(..text.floor_char_boundary(TEXT_MAX)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text.to_owned(),
    }
}
