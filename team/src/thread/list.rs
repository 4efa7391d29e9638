//! `list-threads`: lists threads with their last message, the newest thread first.

use crate::thread::prelude::*;

operation! {
    /// List threads with their last message, the newest thread first
    "list-threads": Reads(ThreadList {
        /// Largest number of threads, at most 200; 50 if absent
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    }) -> ThreadListAnswer = |team, asked| team.threads(&asked),
    refuses = [CursorUnknown],
    rules = RULES
}

const LIST_MAX: usize = 200;
/// Maximum length of the excerpt of a last message, in bytes.
const TEXT_MAX: usize = 280;

/// The answer `{team, threads, count, next_cursor}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadListAnswer {
    /// Name of the team
    pub team: String,
    /// The threads, the newest thread first
    pub threads: Vec<ThreadListed>,
    /// Number of threads on the page
    pub count: usize,
    /// Cursor of the next page; `null` on the last page
    pub next_cursor: Option<String>,
}

/// A thread in the list
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadListed {
    /// Id of the thread
    pub id: String,
    /// Title of the thread
    pub title: String,
    /// Participants of the thread
    pub participants: Vec<String>,
    /// Task that the thread is linked to
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Trace that the thread belongs to
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Number of messages
    pub messages: u64,
    /// Time of the last message; if there is none, time at which the thread began
    #[schemars(with = "Timestamp")]
    pub last_at: String,
    /// Author of the last message; `null` if there is none
    pub last_by: Option<String>,
    /// The last message, cut short; `null` if there is none
    pub last_text: Option<String>,
}

impl Team {
    /// Lists threads, the newest first. Reads one event per thread on the page.
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

/// Returns the beginning of a text, with a mark if the text was cut.
fn beginning(text: &str) -> String {
    match text.get(..text.floor_char_boundary(TEXT_MAX)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text.to_owned(),
    }
}
