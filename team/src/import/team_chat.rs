//! `import --team-chat`: imports a directory of the team chat protocol: inboxes, acks, dead letters, snapshots of tasks
//! whose messages are gone, and other events. Everything is imported into a new team, or nothing.

use crate::handle::root::team_exists;
use crate::handle::staged::StagedTeam;
use crate::import::report::Reasons;
use crate::import::source::append;
use crate::import::team_chat_history::{Item, history};
use crate::import::team_chat_source::{Chat, FileProblem, read_chat};
use crate::operation::prelude::*;
use crate::projections::team::event::{TeamCreated, TeamFact};
use crate::time::millis;

/// Options of the import. The team must not exist.
#[derive(Debug, Clone, Default)]
pub struct ImportTeamChat {
    /// The new team.
    pub team: String,
    /// Format of the new log; `None` is `jsonl`.
    pub format: Option<Format>,
    /// Set to write nothing if an entry is malformed, an orphan or a duplicate, or if a status cannot be applied to its
    /// task.
    pub strict: bool,
    /// Set to keep no view files.
    pub no_views: bool,
    /// Set to accept a network or host-shared file system.
    pub allow_network_fs: bool,
}

/// Counts of an import by kind of entry; also the payload of `log_imported`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatCounts {
    /// Files read.
    pub files: u64,
    /// Messages recorded.
    pub messages: u64,
    /// Acks recorded.
    pub acks: u64,
    /// Dead letters recorded.
    pub dead_letters: u64,
    /// Tasks of which only the snapshot exists; recorded as snapshots.
    pub tasks: u64,
    /// Snapshots that were skipped, because the messages of their tasks say more.
    pub tasks_from_messages: u64,
    /// Other events, kept unchanged under their kind with the `foreign` mark.
    pub events_kept: u64,
    /// Events that were skipped, because their message or dead letter is recorded.
    pub events_passed_by: u64,
    /// Settings taken from `config.json`.
    pub settings: u64,
    /// Number of repeated entries. The first entry is imported, the repeats are skipped.
    pub duplicates: u64,
    /// Acks of messages that do not exist, or by an agent that is not the recipient.
    pub orphans: u64,
    /// Malformed lines and files.
    pub malformed: u64,
    /// Number of messages (and snapshots) that were not applied to a task, at least in part, by reason: `no_task_id`,
    /// `unknown_status`, `wrong_type`.
    pub not_applied: Reasons,
}

/// The answer `{status, team, …counts, problems[], problems_omitted, first_seq, last_seq, elapsed_ms}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatAnswer {
    /// `ok`, or `rejected` if nothing was written, because of `strict` or because there was nothing to import.
    #[schemars(extend("enum" = ["ok", "rejected"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// The counts.
    #[serde(flatten)]
    pub counts: ChatCounts,
    /// The first problems, by file and line.
    pub problems: Vec<FileProblem>,
    /// Number of further problems.
    pub problems_omitted: u64,
    /// Seq of the first event.
    pub first_seq: Option<u64>,
    /// Seq of the last event: `log_imported`.
    pub last_seq: Option<u64>,
    /// Duration in ms.
    pub elapsed_ms: u64,
}

#[derive(Serialize)]
struct ImportPayload<'a> {
    source: &'a str,
    #[serde(flatten)]
    counts: ChatCounts,
}

impl Root {
    /// Imports a directory. Holds its content in memory meanwhile.
    ///
    /// # Errors
    /// `team_exists`, `invalid_input`, `unsafe_file_system`; I/O.
    pub fn import_team_chat(
        &self,
        import: &ImportTeamChat,
        source: &dyn Storage,
    ) -> Result<ChatAnswer> {
        let started = Instant::now();
        names::check_new("team", &import.team)?;
        if self.find(&import.team)?.is_some() {
            return Err(exists(&import.team).into());
        }
        let mut chat = read_chat(source, self.options().clock.now())?;
        let history = history(&mut chat);
        let problems = chat.problems.all();
        let mut answer = ChatAnswer {
            status: "rejected",
            team: import.team.clone(),
            counts: chat.counts.clone(),
            ..ChatAnswer::default()
        };
        let nothing = history.is_empty() && chat.members.is_empty();
        if !nothing && (!import.strict || problems == 0) {
            let last = self.record(import, &chat, history)?;
            answer.status = "ok";
            (answer.first_seq, answer.last_seq) = (Some(1), Some(last));
        }
        (answer.problems, answer.problems_omitted) = chat.problems.finish();
        answer.elapsed_ms = millis(started);
        Ok(answer)
    }

    fn record(&self, import: &ImportTeamChat, chat: &Chat, history: Vec<Item>) -> Result<u64> {
        let created = TeamCreated {
            members: members(chat),
            open: true,
            views: !import.no_views,
        };
        let first = history.first().map(|item| item.at.plus_micros(-1));
        let counts = chat.counts.clone();
        let imported = ImportPayload {
            source: "team-chat",
            counts,
        };
        let payload = Json::from_value(&imported)
            .map_err(|error| Refusal::new(Code::InvalidInput, error.to_string()))?;
        let (name, format, anywhere) = (&import.team, import.format, import.allow_network_fs);
        let last = StagedTeam::import(self, name, format, anywhere, |writer| {
            append(writer, created.event(DEFAULT_ACTOR, first))?;
            if let Some(config) = &chat.config {
                let mut event = TeamFact::ConfigChanged(config.clone()).event(DEFAULT_ACTOR);
                event.created_at = first;
                append(writer, event)?;
            }
            for item in history {
                let mut event = item.event;
                event.created_at = Some(item.at);
                append(writer, event)?;
            }
            let imported = NewEvent::new("log_imported", DEFAULT_ACTOR, payload);
            append(writer, imported)?;
            writer.sync()?;
            Ok(writer.head().last_seq)
        })?;
        Ok(last.ok_or_else(|| exists(name))?)
    }
}

/// Returns the members that the directory names, and the senders and recipients of its messages.
fn members(chat: &Chat) -> Vec<String> {
    let messages = chat.messages.iter().map(|read| &read.message);
    let occurring = messages.flat_map(|message| [&message.from, &message.to]);
    let names: BTreeSet<&String> = chat.members.iter().chain(occurring).collect();
    names.into_iter().cloned().collect()
}

fn exists(team: &str) -> Refusal {
    team_exists(team).hint("to add messages to a team, import a file of messages")
}
