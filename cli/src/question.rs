//! What the command line asks of a team without changing it: each a call, and how its answer is shown and ends the command. The
//! same is answered where the command was typed, or by the daemon on another machine that has the team, which shows it as
//! well: what an answer is made of is not read back from its JSON.

use crate::call::{Call, Site, unknown, unreadable};
use crate::exit::{CommandError, Exit};
use crate::output;
use crate::render::{self, View, age, integrity};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::ops::ControlFlow;
use teamlog_team::api::Op;
use teamlog_team::engine::Event;
use teamlog_team::import::report::ImportAnswer;
use teamlog_team::lifecycle::freshness::AsOf;
use teamlog_team::log::replay::Replay;
use teamlog_team::log::tail::Tail;
use teamlog_team::log::{await_event, sync_views};
use teamlog_team::mode::state;
use teamlog_team::redaction::redact;
use teamlog_team::{
    agent_token, artifact, attention, bootstrap, lifecycle, log, message, mode, resource, story,
    task, thread, usage, worker,
};

/// What can be asked: takes `I`, answers `A`.
pub struct Question<I, A> {
    /// Its name, and what answers it.
    pub call: Call<I, A>,
    /// The answer for people.
    pub show: fn(&A, &View) -> Vec<String>,
    /// How the command ends with it.
    pub exit: fn(&A) -> Exit,
}

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum Form {
    Json,
    Lines(View),
}

/// What answers a question that a daemon is asked by name.
type Answering = fn(&mut Site<'_>, &str, Form) -> Result<(Box<RawValue>, Exit), CommandError>;

fn answered<I: DeserializeOwned, A: Serialize>(
    question: &Question<I, A>,
    site: &mut Site<'_>,
    input: &str,
    form: Form,
) -> Result<(Box<RawValue>, Exit), CommandError> {
    let input = serde_json::from_str(input).map_err(unreadable)?;
    let answer = (question.call.run)(site, input)?;
    let json = || to_raw_value(&answer);
    let shown = shown(site, form, &json, &|view| (question.show)(&answer, view))?;
    Ok((shown, (question.exit)(&answer)))
}

/// An answer in a form, with how new it is. This is the same for every answer, and built once.
fn shown(
    site: &Site<'_>,
    form: Form,
    json: &dyn Fn() -> serde_json::Result<Box<RawValue>>,
    lines: &dyn Fn(&View) -> Vec<String>,
) -> Result<Box<RawValue>, CommandError> {
    let as_of = match (site.at, &site.opened) {
        (None, Some(team)) => team.as_of()?,
        _ => None,
    };
    let known = site.root.options().authenticated.as_ref();
    let redacted = match known {
        Some(known) => redact(json().map_err(unreadable)?.get(), &known.agent),
        None => None,
    };
    let shown = match (form, redacted) {
        (Form::Json, None) => json(),
        (Form::Json, Some(redacted)) => RawValue::from_string(redacted.text),
        (Form::Lines(view), redacted) => {
            if let Some(old) = as_of.as_ref().and_then(age::note) {
                site.root.options().notes.say(old);
            }
            let now = site.moment().map_or(view.now, |(_, time)| time);
            let lines = lines(&View { now, ..view }).into_iter();
            let lines = lines.map(|line| match &redacted {
                Some(redacted) => redacted.without_tokens(line),
                None => line,
            });
            to_raw_value(&lines.collect::<Vec<_>>())
        }
    };
    let shown = shown.map_err(unreadable)?;
    match (form, as_of) {
        (Form::Json, Some(as_of)) => with_age(&shown, &as_of),
        _ => Ok(shown),
    }
}

fn with_age(answer: &RawValue, as_of: &AsOf) -> Result<Box<RawValue>, CommandError> {
    let mut text = answer.get().to_owned();
    output::add_field(&mut text, "as_of", as_of)?;
    RawValue::from_string(text).map_err(unreadable)
}

/// Answers the question of that name: its JSON, or its lines.
pub fn answer(
    site: &mut Site<'_>,
    name: &str,
    input: &RawValue,
    form: Form,
) -> Result<(Box<RawValue>, Exit), CommandError> {
    let question = QUESTIONS.iter().find(|(known, _)| *known == name);
    let (_, answer) = question.ok_or_else(|| unknown(name))?;
    answer(site, input.get(), form)
}

impl<O: Op + 'static> Question<O, O::Data> {
    /// An operation that only reads.
    const fn of(show: fn(&O::Data, &View) -> Vec<String>) -> Question<O, O::Data> {
        Question {
            call: Call::reading(),
            show,
            exit: |_| Exit::Done,
        }
    }
}

impl<I, A> Question<I, A> {
    const fn ending(self, exit: fn(&A) -> Exit) -> Question<I, A> {
        Question {
            call: self.call,
            show: self.show,
            exit,
        }
    }
}

/// A row is an operation and how its answer is shown; or what is none, with its name and what answers it. Behind that stands how
/// it ends the command, where that is not always well.
macro_rules! questions {
    (
        $($operation:ident: $op:ty => $op_show:expr $(, $op_exit:expr)?;)+
        ---
        $($question:ident = $name:expr, $input:ty => $answer:ty: $run:expr, $show:expr $(, $exit:expr)?;)+
    ) => {
        $(
            #[doc = concat!("The operation of `", stringify!($op), "`.")]
            pub const $operation: Question<$op, <$op as Op>::Data> = Question::of($op_show)$(.ending($op_exit))?;
        )+
        $(
            #[doc = concat!("What answers `", stringify!($input), "`.")]
            pub const $question: Question<$input, $answer> = Question {
                call: Call { name: $name, run: $run },
                show: $show,
                exit: |_| Exit::Done,
            }$(.ending($exit))?;
        )+

        static QUESTIONS: &[(&str, Answering)] = &[
            $((<$op as Op>::NAME, |site, input, form| answered(&$operation, site, input, form)),)+
            $(($name, |site, input, form| answered(&$question, site, input, form)),)+
        ];
    };
}

questions! {
    STATUS: lifecycle::status::Status => render::status::overview;
    WHO: worker::who::Who => render::who::who;
    ATTENTION: attention::Attention => render::attention::attention;
    TASK_SHOW: task::show::TaskShow => render::task::card;
    TASK_HISTORY: task::history::TaskHistory => render::task::history;
    READY: task::ready::Ready => render::hand::ready;
    PRIME: message::prime::Prime => render::hand::primed;
    READ: message::read::Read => render::inbox::page;
    DELIVERIES: message::deliveries::DeliveryList => render::delivery::open;
    DEAD_LETTERS: message::dead_letter::DeadLetterList => render::delivery::dead;
    THREADS: thread::list::ThreadList => render::thread::list;
    THREAD_TAIL: thread::tail::ThreadTail => render::thread::talk;
    THREAD_SEARCH: thread::search::ThreadSearch => render::thread::found;
    MODE_LIST: mode::show::ModeList => render::mode::all;
    MODE_SHOW: mode::show::ModeShow => render::mode::card;
    MODE_EXPLAIN: mode::explain::ModeExplain => render::prompt::transition;
    MODE_SESSIONS: mode::sessions::ModeSessions => render::mode::sessions;
    MODE_OUTCOME: mode::outcome::ModeOutcome => render::prompt::reading;
    BOOTSTRAP_LIST: bootstrap::list::BootstrapList => render::bootstrap::listed;
    BOOTSTRAP_SHOW: bootstrap::show::BootstrapShow => render::bootstrap::shown;
    BOOTSTRAP_EVIDENCE: bootstrap::show::BootstrapEvidence => |answer, _| render::bootstrap::evidence(answer);
    BOOTSTRAP_EXPLAIN: bootstrap::record::BootstrapExplain => render::bootstrap::explained;
    USAGE: usage::report::Usage => render::usage::card;
    ARTIFACTS: artifact::ArtifactList => render::artifact::all;
    TOKENS: agent_token::TokenList => render::token::list;
    TRACES: log::traces::Traces => render::teams::traces;
    TRACE: log::trace::Trace => render::timeline::story;
    DIFF: log::points::ReadDiff => render::diff::changes;
    CAN_WRITE: resource::can_write::CanWrite => render::paths::verdict, |verdict| Exit::Refused.unless(verdict.allow);
    ---
    STATUS_DIGEST = "status-digest", lifecycle::status::Status => lifecycle::status::StatusAnswer: |site, asked| {
        let asked = lifecycle::status::Status { digest: true, ..asked };
        Ok(site.team()?.status(asked)?)
    }, render::status::overview;
    TASKS = "tasks", task::list::Tasks => task::list::TasksAnswer: tasks, render::task::page;
    WAIT = "wait", message::wait::Wait => message::wait::WaitAnswer: |site, asked| {
        site.waiting(|team| Ok(team.wait(&asked)?))
    }, render::hand::arrived, |answer| Exit::Refused.unless(answer.status == message::wait::WaitStatus::Arrived);
    AWAIT = await_event::AwaitEvent::NAME, await_event::AwaitEvent => render::awaited::Answer: |site, asked| {
        let answer = site.waiting(|team| Ok(team.await_event(&asked)?))?;
        Ok(render::awaited::Answer::of(site.team, answer))
    }, render::awaited::line;
    SYNC_VIEWS = sync_views::SyncViews::NAME, sync_views::SyncViews => sync_views::SyncViewsAnswer: |site, asked| {
        site.waiting(|team| Ok(team.sync_views(&asked)?))
    }, |answer, _| vec![render::hand::synced(answer)], |answer| {
        Exit::Refused.unless(answer.status != sync_views::SyncViewsStatus::Timeout)
    };
    STATE_READ = "state-read", state::StateRead => state::StateShown:
        |site, asked| Ok(site.team()?.state_read(asked)?), indented;
    STATE_ACTIVE = "state-list-active", state::StateListActive => state::ActiveModes:
        |site, asked| Ok(site.team()?.state_list_active(asked)?), indented;
    STATE_STATUS = "state-get-status", state::StateGetStatus => state::StateStatuses:
        |site, asked| Ok(site.team()?.state_get_status(asked)?), indented;
    CONFIG_LIST = "config-list", lifecycle::config::ConfigList => lifecycle::config::ConfigListAnswer:
        |site, asked| Ok(site.team()?.config_list(asked)?), render::config::page;
    CONFIG_GET = "config-get", String => lifecycle::config::ConfigGetAnswer:
        |site, key| Ok(site.team()?.config_get(&key)?), render::config::one;
    TRACE_CHROME = "trace-chrome", log::trace::Trace => Box<RawValue>: |site, asked| {
        let answer = site.team()?.trace(asked)?;
        to_raw_value(&story::chrome::Chrome::of(&answer)).map_err(unreadable)
    }, |_, _| Vec::new();
    TRACE_OTLP = "trace-otlp", log::trace::Trace => Box<RawValue>: |site, asked| {
        let answer = site.team()?.trace(asked)?;
        to_raw_value(&story::otlp::Otlp::of(&answer)).map_err(unreadable)
    }, |_, _| Vec::new();
    VERIFY = "verify", () => log::verify::VerifyAnswer:
        |site, ()| Ok(site.team()?.verify_noting(&mut |_, _| {})?), render::integrity::verified,
        |answer| Exit::Damaged.unless(answer.ok);
}

fn tasks(
    site: &mut Site<'_>,
    asked: task::list::Tasks,
) -> Result<task::list::TasksAnswer, CommandError> {
    let unknown = match &asked.owner {
        Some(owner) => site.team()?.unknown_warning(owner)?,
        None => None,
    };
    if let Some(unknown) = unknown {
        site.root.options().notes.say(unknown);
    }
    Ok(site.team()?.tasks(asked)?)
}

/// What an import answers in that form, how it ends the command, and what is said beside it.
pub fn imported(
    answer: &ImportAnswer,
    form: Form,
) -> Result<(Box<RawValue>, Exit, Option<String>), CommandError> {
    let shown = match form {
        Form::Json => to_raw_value(answer),
        Form::Lines(view) => to_raw_value(&integrity::imported(answer, &view)),
    };
    let shown = shown.map_err(unreadable)?;
    let exit = Exit::Refused.unless(answer.status != "rejected");
    Ok((shown, exit, integrity::left_aside(&answer.not_applied)))
}

/// As callers of `rcs state` read it.
pub fn indented<A: Serialize>(answer: &A, _: &View) -> Vec<String> {
    render::pretty::of(answer)
}

/// What is asked for a stream of events, which ends when it was read, or never.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Streamed {
    Replay(Replay),
    Tail(Tail),
    /// Either, and whatever is appended from then on.
    Follow(Tail),
    /// `export`: every event.
    Export,
    /// The same for auditors.
    Audit,
}

/// Takes the events of a stream, one by one.
pub trait Sink {
    fn event(&mut self, event: &Event<'_>, json: &[u8]) -> ControlFlow<()>;
    fn json(&mut self, line: &[u8]) -> ControlFlow<()>;
    /// There is nothing more for the moment.
    fn idle(&mut self) -> ControlFlow<()>;
}

impl Streamed {
    /// Hands the events of the stream to `sink` until it breaks off.
    pub fn run(
        self,
        team: &mut teamlog_team::Team,
        sink: &mut dyn Sink,
    ) -> Result<(), CommandError> {
        match self {
            Streamed::Replay(replay) => {
                team.replay(replay, &mut |event, json| sink.event(event, json))?;
            }
            Streamed::Tail(tail) => {
                team.tail(&tail, &mut |event, json| sink.event(event, json))?;
            }
            Streamed::Follow(tail) => {
                let sink = std::cell::RefCell::new(sink);
                team.follow(
                    &tail,
                    &mut |event, json| sink.borrow_mut().event(event, json),
                    // Nobody shall wait for a line that is there.
                    &mut || sink.borrow_mut().idle(),
                )?;
            }
            Streamed::Export => {
                team.export(&mut |line| sink.json(line))?;
            }
            Streamed::Audit => {
                team.export_audit(&mut |line| sink.json(line))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use teamlog_team::engine::JournalIdentity;
    use teamlog_team::engine::journal::memory::MemoryJournal;
    use teamlog_team::engine::storage::Memory;
    use teamlog_team::lifecycle::init::Init;
    use teamlog_team::{Root, RootOptions};

    #[test]
    fn every_question_has_a_name_of_its_own() {
        let all: Vec<&str> = QUESTIONS.iter().map(|(name, _)| *name).collect();
        let different: BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }

    #[test]
    fn an_answer_for_elsewhere_says_how_new_it_is() {
        let journal = JournalIdentity {
            kind: "memory".into(),
            id: "00000000-0000-4000-8000-000000000000".into(),
            segment_bytes_max: 1 << 20,
        };
        for (journal, wanted) in [(Some(journal), true), (None, false)] {
            let options = RootOptions {
                journals: Some(Arc::new(MemoryJournal::default())),
                ..RootOptions::default()
            };
            let root = Root::on(Arc::new(Memory::new()), options);
            let init = Init {
                members: vec!["lead".into()],
                journal,
                ..Init::of("demo")
            };
            root.init(init).unwrap();
            let who = crate::call::Who::default();
            let mut site = Site {
                root,
                team: "demo",
                who: &who,
                caller: None,
                at: None,
                opened: None,
            };
            let input = to_raw_value(&lifecycle::status::Status::default()).unwrap();
            let name = STATUS.call.name;
            let (told, _) = answer(&mut site, name, &input, Form::Json).unwrap();
            let told: serde_json::Value = serde_json::from_str(told.get()).unwrap();
            assert_eq!(told["as_of"]["seq"] == 1, wanted, "{told}");
            assert_eq!(told["team"], "demo");
        }
    }
}
