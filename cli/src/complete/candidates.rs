//! Looks up candidates in the state of the typed team. Reads at most a page per kind of name, and does not wait for a
//! writer.

use super::typed::Typed;
use crate::env::ProcessEnv;
use crate::root::{self, owner::User};
use clap::Arg;
use clap_complete::CompletionCandidate;
use std::ops::ControlFlow;
use std::time::Duration;
use teamlog_team::api::OPERATIONS;
use teamlog_team::artifact::ArtifactList;
use teamlog_team::bootstrap::events::EVENTS;
use teamlog_team::lifecycle::status::Status;
use teamlog_team::log::event_type::EventType;
use teamlog_team::log::replay::Replay;
use teamlog_team::message::dead_letter::{DeadLetterList, DeadLetterShown, DeadLetterStatus};
use teamlog_team::message::read::Read;
use teamlog_team::mode::show::ModeList;
use teamlog_team::projections::RefKind;
use teamlog_team::projections::hidden;
use teamlog_team::projections::mode::Mode;
use teamlog_team::projections::task::Status as TaskStatus;
use teamlog_team::projections::team::settings::Setting;
use teamlog_team::projections::{MessageType, Priority, vocabulary};
use teamlog_team::task::list::Tasks;
use teamlog_team::thread::search::ThreadSearch;
use teamlog_team::{Root, RootOptions, Team};

/// Maximum number of candidates per kind of name.
const OFFERED_MAX: usize = 200;
/// Maximum number of tasks or events that are read to find candidates.
const LOOKED_AT_MAX: usize = 1_000;
/// Maximum wait for a lock. This wait is short, so that the shell does not hang while a writer works.
const LOCK_DEADLINE: Duration = Duration::from_millis(100);

/// Commands whose first word is a task if TEAM is left out.
const TASK_COMMANDS: [&str; 14] = [
    "note", "comment", "review", "done", "fail", "claim", "release", "drop", "reopen", "show",
    "edit", "assign", "approve", "reject",
];
/// Commands whose first word is an agent if TEAM is left out.
const AGENT_COMMANDS: [&str; 2] = ["say", "ask"];

type Candidates = Vec<CompletionCandidate>;
/// Finds the values that begin with the typed text.
pub type Lookup = fn(&Source, &str) -> Option<Candidates>;

#[derive(Debug)]
pub struct Source(Typed, ProcessEnv);

/// Returns the lookup for an argument. The argument's value name in the help selects the lookup.
pub fn lookup(arg: &Arg, command: &str) -> Option<Lookup> {
    let value = arg.get_value_names()?.first()?.as_str();
    Some(match value {
        "TEAM" if TASK_COMMANDS.contains(&command) => {
            |source, begun| both(source.teams(begun), source.tasks(begun))
        }
        "TEAM" if AGENT_COMMANDS.contains(&command) => {
            |source, begun| both(source.teams(begun), source.agents(begun))
        }
        "TEAM" => Source::teams,
        "AGENT" => Source::agents,
        "TASK" | "T,U" => Source::tasks,
        "MODE" => |_, begun| Some(beginning(Mode::ALL.map(Mode::name), begun)),
        "SESSION" => Source::sessions,
        "NAME" if arg.get_id() == "event" => {
            |_, begun| Some(beginning(EVENTS.iter().map(|row| row.name), begun))
        }
        "ID" if arg.get_id() == "run" && command != "start" => Source::runs,
        "TRACE" => Source::traces,
        "THREAD" => Source::threads,
        "NAME" if arg.get_id() == "name" && command == "get" => Source::artifacts,
        "OPERATION" => |_, begun| {
            let names = OPERATIONS.iter().map(|operation| operation.name);
            Some(beginning(names, begun))
        },
        "MESSAGE_ID" => Source::messages,
        "KEY" if matches!(command, "get" | "set" | "unset") => {
            |_, begun| Some(beginning(Setting::all().map(Setting::key), begun))
        }
        "ID" if command == "requeue" => match arg.get_id() == "message_id" {
            true => |source, begun| source.dead_letters(begun, |dead| dead.message_id.clone()),
            false => |source, begun| source.dead_letters(begun, |dead| dead.id.clone()),
        },
        "ID" if arg.get_id() == "message_id" && !creates(command) => Source::messages,
        "KIND" if matches!(command, "replay" | "tail") => |_, begun| {
            let kinds = vocabulary::kinds().map(|kind| kind.name);
            Some(beginning(kinds, begun))
        },
        "EVENT_TYPE" => |_, begun| Some(beginning(EventType::ALL.map(EventType::name), begun)),
        "TYPE" => |_, begun| Some(beginning(MessageType::ALL.map(MessageType::name), begun)),
        "PRIORITY" => |_, begun| Some(beginning(Priority::ALL.map(Priority::name), begun)),
        "STATUS" => |_, begun| Some(beginning(TaskStatus::ALL.map(TaskStatus::name), begun)),
        "FORMAT" if arg.get_possible_values().is_empty() => {
            |_, begun| Some(beginning(["jsonl", "binary"], begun))
        }
        _ => return None,
    })
}

/// Joins two lists of candidates. `None` means that the candidates are unknown.
fn both(first: Option<Candidates>, second: Option<Candidates>) -> Option<Candidates> {
    let lists = [first, second];
    lists
        .iter()
        .any(Option::is_some)
        .then(|| lists.into_iter().flatten().flatten().collect())
}

/// Returns true if the message id of the command names a new message.
fn creates(command: &str) -> bool {
    matches!(command, "send" | "task-assign" | "task-update")
}

impl Source {
    pub fn new(typed: Typed, env: &ProcessEnv) -> Source {
        Source(typed, env.clone())
    }

    fn root(&self) -> Option<Root> {
        let variable = self.1.var(root::VARIABLE);
        let flag = self.0.data_root.as_deref();
        let user = || User::of_process(&self.1);
        let path = root::find(flag, variable, || self.1.here(), user)
            .ok()?
            .path;
        let options = RootOptions {
            lock_deadline: LOCK_DEADLINE,
            ..RootOptions::default()
        };
        Root::open(&path, options).ok()
    }

    /// Opens the team that the command line names, else the team of `TEAMLOG_TEAM`, else the only open team.
    fn team(&self) -> Option<Team> {
        let root = self.root()?;
        let is_team = |name: &String| root.teams().is_ok_and(|teams| teams.contains(name));
        let named = self.0.team.clone().filter(is_team);
        let variable = || self.1.var_set("TEAMLOG_TEAM")?.into_string().ok();
        let name = named.or_else(variable).or_else(|| root.only_team().ok())?;
        root.team(&name).ok()
    }

    fn agent(&self) -> Option<String> {
        let variable = || self.1.var("TEAMLOG_AGENT")?.into_string().ok();
        self.0.agent.clone().or_else(variable)
    }

    fn teams(&self, begun: &str) -> Option<Candidates> {
        let teams = self.root()?.teams().ok()?;
        Some(beginning(teams, begun))
    }

    fn agents(&self, begun: &str) -> Option<Candidates> {
        let status = Status {
            limit: Some(OFFERED_MAX),
            ..Status::default()
        };
        let answer = self.team()?.status(status).ok()?;
        Some(offered(answer.unread_counts, begun, |unread| {
            format!("{unread} unread")
        }))
    }

    fn tasks(&self, begun: &str) -> Option<Candidates> {
        // In a comma-separated list, complete only the last entry.
        let (before, begun) = match begun.rsplit_once(',') {
            Some((before, begun)) => (format!("{before},"), begun),
            None => (String::new(), begun),
        };
        let asked = Tasks {
            limit: Some(LOOKED_AT_MAX),
            ..Tasks::default()
        };
        let answer = self.team()?.tasks(asked).ok()?;
        let tasks = answer.tasks.into_iter();
        let tasks = tasks.filter(|task| task.task_id.starts_with(begun));
        let tasks = tasks.map(|task| (format!("{before}{}", task.task_id), task));
        Some(offered(tasks, "", |task| {
            let subject = task.subject.as_deref().unwrap_or_default();
            format!("{}: {subject}", task.status.name())
        }))
    }

    fn messages(&self, begun: &str) -> Option<Candidates> {
        let mut team = self.team()?;
        let Some(agent) = self.agent() else {
            return recent(&mut team, RefKind::Message, begun);
        };
        let read = Read {
            agent,
            unread: true,
            limit: Some(OFFERED_MAX),
            ..Read::default()
        };
        let messages = team.read(read).ok()?.messages;
        let newest_first = messages.into_iter().rev();
        let messages = newest_first.map(|message| (message.id.clone(), message));
        Some(offered(messages, begun, |message| {
            format!("{} from {}", message.kind.name(), message.from)
        }))
    }

    fn dead_letters(
        &self,
        begun: &str,
        name: fn(&DeadLetterShown) -> String,
    ) -> Option<Candidates> {
        let list = DeadLetterList {
            limit: Some(OFFERED_MAX),
            ..DeadLetterList::default()
        };
        let dead_letters = self.team()?.dead_letters(list).ok()?.dead_letters;
        let newest_first = dead_letters.into_iter().rev();
        let dead = newest_first.filter(|dead| dead.status == DeadLetterStatus::Dead);
        let dead = dead.map(|dead| (name(&dead), dead));
        Some(offered(dead, begun, |dead| {
            format!("to {}, {} attempts", dead.recipient(), dead.attempts)
        }))
    }

    fn sessions(&self, begun: &str) -> Option<Candidates> {
        let list = ModeList {
            all_sessions: true,
            limit: Some(LOOKED_AT_MAX),
            ..ModeList::default()
        };
        let modes = self.team()?.mode_list(list).ok()?.modes;
        let mut sessions: Vec<(String, Vec<&'static str>)> = Vec::new();
        for mode in modes {
            let Some(session) = mode.session_id else {
                continue;
            };
            if sessions.last().is_none_or(|(last, _)| *last != session) {
                sessions.push((session, Vec::new()));
            }
            if let Some((_, active)) = sessions.last_mut().filter(|_| mode.active) {
                active.push(mode.mode.name());
            }
        }
        Some(offered(sessions, begun, |active| match active.is_empty() {
            true => "nothing active".to_owned(),
            false => active.join(", "),
        }))
    }

    /// Returns bootstrap runs, newest first.
    fn runs(&self, begun: &str) -> Option<Candidates> {
        let status = Status {
            limit: Some(OFFERED_MAX),
            ..Status::default()
        };
        let runs = self.team()?.status(status).ok()?.bootstrap_runs.into_iter();
        let runs = runs.map(|run| (run.run, run.state.name().to_owned()));
        Some(offered(runs, begun, |state| state))
    }

    fn threads(&self, begun: &str) -> Option<Candidates> {
        let search = ThreadSearch {
            limit: Some(OFFERED_MAX),
            ..ThreadSearch::default()
        };
        let found = self.team()?.thread_search(&search).ok()?;
        let threads = found.threads.into_iter();
        let threads = threads.map(|thread| (thread.id, thread.title));
        Some(offered(threads, begun, |title| title))
    }

    fn artifacts(&self, begun: &str) -> Option<Candidates> {
        let list = ArtifactList {
            limit: Some(OFFERED_MAX),
            ..ArtifactList::default()
        };
        let found = self.team()?.artifact_list(&list).ok()?;
        let artifacts = found.artifacts.into_iter();
        let artifacts = artifacts.map(|artifact| (artifact.name, artifact.kind));
        Some(offered(artifacts, begun, |kind| kind.name().to_owned()))
    }

    fn traces(&self, begun: &str) -> Option<Candidates> {
        recent(&mut self.team()?, RefKind::Trace, begun)
    }
}

/// Returns names of kind `kind` that the last events refer to, newest first.
fn recent(team: &mut Team, kind: RefKind, begun: &str) -> Option<Candidates> {
    let mut found: Vec<(String, String)> = Vec::new();
    let replay = Replay {
        reverse: true,
        limit: Some(LOOKED_AT_MAX as u64),
        ..Replay::default()
    };
    let looked = team.replay(replay, &mut |event, _| {
        if let Some(value) = event.refs.get(kind)
            && value.starts_with(begun)
            && !found.iter().any(|(known, _)| known == value)
        {
            found.push((value.to_owned(), event.kind.to_string()));
        }
        match found.len() < OFFERED_MAX {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    looked.ok()?;
    Some(offered(found, begun, |kind| kind))
}

/// Returns the names that begin with the typed text.
fn beginning<N: Into<String>>(names: impl IntoIterator<Item = N>, begun: &str) -> Candidates {
    let names = names.into_iter().map(Into::into);
    names
        .filter(|name| name.starts_with(begun))
        .take(OFFERED_MAX)
        .map(CompletionCandidate::new)
        .collect()
}

/// Returns names with descriptions, in the given order.
fn offered<T>(
    items: impl IntoIterator<Item = (String, T)>,
    begun: &str,
    about: impl Fn(T) -> String,
) -> Candidates {
    items
        .into_iter()
        .filter(|(name, _)| name.starts_with(begun) && is_plain(name))
        .take(OFFERED_MAX)
        .enumerate()
        .map(|(order, (name, item))| {
            let about = about(item);
            let shown = hidden::marks(&about).filter(|(_, hidden)| !hidden);
            let help: String = shown.map(|(c, _)| c).take(60).collect();
            CompletionCandidate::new(name)
                .help(Some(help.into()))
                .display_order(Some(order))
        })
        .collect()
}

/// Returns true if a shell needs no quotes for the name. Other names could execute text that another agent chose.
fn is_plain(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_alphanumeric() || "._-/+,:@=".contains(c))
}
