//! `import --team-chat`: imports a directory of the team chat protocol. The directory has inboxes, acks, dead letters, snapshots of tasks
//! whose messages are gone, and other events. The import creates a new team from the whole directory, or creates no team.

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
    /// Format of the new log; `None` means `jsonl`.
    pub format: Option<Format>,
    /// True to write nothing if any entry is malformed, an orphan or a duplicate, or if any status cannot be applied to its task.
    pub strict: bool,
    /// True to keep no view files.
    pub no_views: bool,
    /// True to accept a file system on a network, or a file system that a virtual machine shares with its host.
    pub allow_network_fs: bool,
}

/// Counts of an import per kind of entry. The counts are also the payload of `log_imported`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatCounts {
    /// Number of files read.
    pub files: u64,
    /// Number of recorded messages.
    pub messages: u64,
    /// Number of recorded acks.
    pub acks: u64,
    /// Number of recorded dead letters.
    pub dead_letters: u64,
    /// Number of tasks that only have a snapshot, which was recorded.
    pub tasks: u64,
    /// Number of skipped snapshots. The messages of these tasks contain more.
    pub tasks_from_messages: u64,
    /// Number of other events. They are kept unchanged under their kind, with the mark `foreign`.
    pub events_kept: u64,
    /// Number of skipped events, because their message or dead letter is recorded.
    pub events_passed_by: u64,
    /// Number of settings that came from `config.json`.
    pub settings: u64,
    /// Number of repeated entries. The first entry is imported, the repetitions are skipped.
    pub duplicates: u64,
    /// Number of acks for unknown messages, or by an agent that is not the recipient.
    pub orphans: u64,
    /// Number of malformed lines and files.
    pub malformed: u64,
    /// Number of messages and snapshots per reason that were not fully applied to their tasks. Reasons are `no_task_id`,
    /// `unknown_status` and `wrong_type`.
    pub not_applied: Reasons,
}

/// The answer `{status, team, …counts, problems[], problems_omitted, first_seq, last_seq, elapsed_ms}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatAnswer {
    /// `ok`, or `rejected` if nothing was written. The reason is `strict`, or that the directory had nothing to import.
    #[schemars(extend("enum" = ["ok", "rejected"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// The counts.
    #[serde(flatten)]
    pub counts: ChatCounts,
    /// The first problems, in the order of files and lines.
    pub problems: Vec<FileProblem>,
    /// Number of further problems.
    pub problems_omitted: u64,
    /// Seq of the first event.
    pub first_seq: Option<u64>,
    /// Seq of the last event, which is `log_imported`.
    pub last_seq: Option<u64>,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
}

#[derive(Serialize)]
struct ImportPayload<'a> {
    source: &'a str,
    #[serde(flatten)]
    counts: ChatCounts,
}

impl Root {
    /// Imports a directory. Keeps its whole content in memory during the import.
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
            leader: None,
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
