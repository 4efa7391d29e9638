//! `import --team-chat`: a directory of the message protocol as it was kept in files: inboxes, acks, dead letters, and
//! snapshots of tasks whose messages are gone, and what else happened. All of it gets into a new team, built aside, or none.

use crate::handle::root::team_exists;
use crate::handle::staged::StagedTeam;
use crate::import::report::Reasons;
use crate::import::source::append;
use crate::import::team_chat_history::{Item, history};
use crate::import::team_chat_source::{Chat, FileProblem, read_chat};
use crate::operation::prelude::*;
use crate::projections::team::event::{TeamCreated, TeamFact};
use crate::time::millis;

/// How a directory is imported. The team must not exist.
#[derive(Debug, Clone, Default)]
pub struct ImportTeamChat {
    /// The new team.
    pub team: String,
    /// Its format; `None` is `jsonl`.
    pub format: Option<Format>,
    /// Write nothing if anything is malformed, an orphan or a duplicate, or says of a task what is not applied.
    pub strict: bool,
    /// Do without view files.
    pub no_views: bool,
    /// Accept a network or host-shared file system.
    pub allow_network_fs: bool,
}

/// What the directory held and what became of it; also the payload of `log_imported`.
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
    /// Tasks of which only the snapshot is left, recorded as such.
    pub tasks: u64,
    /// Snapshots that were passed by, since messages tell more of their tasks.
    pub tasks_from_messages: u64,
    /// Other events, kept as they were under their kind with the `foreign` mark.
    pub events_kept: u64,
    /// Events that were passed by: the message or the dead letter that they tell of is recorded.
    pub events_passed_by: u64,
    /// Settings taken from `config.json`.
    pub settings: u64,
    /// What is there more than once; the first counts.
    pub duplicates: u64,
    /// Acks of messages that are not there, or of somebody else's.
    pub orphans: u64,
    /// Lines and files that are not what they should be.
    pub malformed: u64,
    /// How many messages (and snapshots) say something that was not applied to a task, by reason: `no_task_id`,
    /// `unknown_status`, `wrong_type`.
    pub not_applied: Reasons,
}

/// `{status, team, …counts, problems[], problems_omitted, first_seq, last_seq, elapsed_ms}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChatAnswer {
    /// `ok`, or `rejected` where nothing was written: because of `strict`, or as nothing was found.
    #[schemars(extend("enum" = ["ok", "rejected"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// How many of what.
    #[serde(flatten)]
    pub counts: ChatCounts,
    /// The first problems, by file and line.
    pub problems: Vec<FileProblem>,
    /// Problems beyond those.
    pub problems_omitted: u64,
    /// Seq of the first event.
    pub first_seq: Option<u64>,
    /// Seq of the last one: `log_imported`.
    pub last_seq: Option<u64>,
    /// How long it took.
    pub elapsed_ms: u64,
}

#[derive(Serialize)]
struct Imported<'a> {
    source: &'a str,
    #[serde(flatten)]
    counts: ChatCounts,
}

impl Root {
    /// Imports a directory. What it says is held in memory meanwhile.
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
        let imported = Imported {
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

/// The members that the directory names, and whoever occurs in a message.
fn members(chat: &Chat) -> Vec<String> {
    let messages = chat.messages.iter().map(|read| &read.message);
    let occurring = messages.flat_map(|message| [&message.from, &message.to]);
    let names: BTreeSet<&String> = chat.members.iter().chain(occurring).collect();
    names.into_iter().cloned().collect()
}

fn exists(team: &str) -> Refusal {
    team_exists(team).hint("to add messages to a team, import a file of messages")
}
