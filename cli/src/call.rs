//! What the command line asks of a team: each a name, how far the token of an agent has to let it, what it takes, what it
//! answers, and what carries it out. The same is done where the command was typed, or in the daemon that has the team, which
//! finds it by its name. The operations of [`teamlog_team::api`] are found by theirs.

use crate::exit::{CommandError, Exit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, to_value};
use std::sync::Arc;
use teamlog_server::forward::Caller;
use teamlog_team::api::{self, Effect, Fault, Op};
use teamlog_team::bootstrap::record::{BootstrapRecord, BootstrapRecorded};
use teamlog_team::command::deadline::Deadline;
use teamlog_team::command::{Control, Origin};
use teamlog_team::engine::Point;
use teamlog_team::engine::{Receipt, Timestamp};
use teamlog_team::lifecycle::{config, init, tick};
use teamlog_team::log::{append, append_batch};
use teamlog_team::message::{ack, dead_letter, nudge, send};
use teamlog_team::mode::prompt::ModePrompt;
use teamlog_team::mode::rules::prompt::answer::PromptAnswer;
use teamlog_team::mode::{clear, state, write};
use teamlog_team::projections::agent_token::event::AgentScope;
use teamlog_team::receipt::head;
use teamlog_team::resource::refused;
use teamlog_team::{Failure, Root, Team, artifact};

/// Who asks, and under which key.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Who {
    pub actor: Option<String>,
    /// Whom the system takes the caller for.
    pub user: String,
    pub origin: Origin,
    pub key: Option<String>,
    pub trace_id: Option<String>,
}

/// Where a call is carried out.
pub struct Site<'a> {
    pub root: Root,
    pub team: &'a str,
    pub who: &'a Who,
    /// The other process that asks, if it is one.
    pub caller: Option<&'a Arc<Caller>>,
    /// The point of the team's past that is asked about.
    pub at: Option<Point>,
    /// The team, once it is open.
    pub opened: Option<Team>,
}

/// What can be asked: takes `I`, answers `A`.
pub struct Call<I, A> {
    pub name: &'static str,
    pub run: fn(&mut Site<'_>, I) -> Result<A, CommandError>,
}

/// A call on its way to another process, of whichever types.
pub struct Sent<'a> {
    pub name: &'static str,
    /// Writes its input down.
    pub input: &'a dyn Fn() -> serde_json::Result<Box<RawValue>>,
    /// Reads the answer that comes back.
    pub read: &'a mut dyn FnMut(&RawValue) -> serde_json::Result<()>,
}

impl<I: Serialize, A: DeserializeOwned> Call<I, A> {
    /// What `send` gives that sends it, and the answer if one came back.
    pub fn sent<R>(
        &self,
        input: &I,
        send: impl FnOnce(Sent<'_>) -> Result<R, CommandError>,
    ) -> Result<(R, Option<A>), CommandError> {
        let mut answer = None;
        let returned = send(Sent {
            name: self.name,
            input: &|| to_raw_value(input),
            read: &mut |text| {
                answer = Some(serde_json::from_str(text.get())?);
                Ok(())
            },
        })?;
        Ok((returned, answer))
    }
}

impl Site<'_> {
    /// The team, open; at the point of its past that is asked about.
    pub fn team(&mut self) -> Result<&mut Team, CommandError> {
        let opened = match (self.opened.take(), self.at) {
            (Some(team), _) => team,
            (None, None) => self.root.team(self.team)?,
            (None, Some(point)) => self.root.team(self.team)?.at(point)?,
        };
        Ok(self.opened.insert(opened))
    }

    /// Waits for others on behalf of a caller, for as long as that one is there.
    pub fn waiting<A>(
        &mut self,
        wait: impl FnOnce(&mut Team) -> Result<A, CommandError>,
    ) -> Result<A, CommandError> {
        let caller = self.caller;
        let team = self.team()?;
        let Some(caller) = caller else {
            return wait(team);
        };
        let waited = caller.wait(|deadline| {
            team.under(Control {
                deadline: deadline.clone(),
                ..Control::default()
            });
            wait(team)
        });
        waited.ok_or_else(crowded_waits)?
    }

    /// Refuses what the token of an agent on another machine does not let it do.
    pub fn check_scope(&self, wanted: AgentScope) -> Result<(), CommandError> {
        let admitted = self.caller.and_then(|caller| caller.admitted());
        let agent = admitted.and_then(|admitted| admitted.agent.as_ref());
        match agent.and_then(|agent| agent.lacks(wanted)) {
            None => Ok(()),
            Some(lacks) => {
                let error = CommandError::new(Exit::NotPermitted, "forbidden", lacks);
                Err(error.detailing("scope", wanted.name()))
            }
        }
    }

    /// The same, to be changed by that operation on behalf of whoever asks.
    fn stamped(
        &mut self,
        operation: &str,
        input: serde_json::Result<Value>,
    ) -> Result<&mut Team, CommandError> {
        let control = Control {
            operation: operation.to_owned(),
            request: self.request(input),
            key: self.who.key.clone(),
            trace_id: self.who.trace_id.clone(),
            ..self.control()
        };
        let team = self.team()?;
        team.under(control);
        Ok(team)
    }

    /// The same, to be changed on behalf of whoever asks, under no key.
    fn acting(&mut self) -> Result<&mut Team, CommandError> {
        let control = self.control();
        let team = self.team()?;
        team.under(control);
        Ok(team)
    }

    /// On whose behalf a team is changed, but for a key.
    fn control(&self) -> Control {
        Control {
            actor: self.who.actor.clone(),
            user: Some(self.who.user.clone()),
            origin: self.who.origin.clone(),
            ..Control::default()
        }
    }

    /// What identifies the request under its key: the bytes of the operation's input, which are the same whichever way
    /// the operation is asked for.
    fn request(&self, input: serde_json::Result<Value>) -> Vec<u8> {
        let mut fields = match input {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        fields.insert("team_name".to_owned(), self.team.into());
        if let Some(trace) = &self.who.trace_id {
            fields.insert("trace_id".to_owned(), trace.as_str().into());
        }
        serde_json::to_vec(&fields).unwrap_or_default()
    }

    /// The last event that an answer about the past knows, and as of when it is.
    pub fn moment(&self) -> Option<(u64, Timestamp)> {
        let moment = self.opened.as_ref().and_then(Team::moment);
        moment.map(|moment| (moment.seq, moment.time))
    }

    /// Whether the answer is that of an earlier request under the same key.
    pub fn replayed(&self) -> bool {
        self.opened.as_ref().is_some_and(Team::repeated)
    }
}

/// A receipt for everything that is recorded in a team; what was recorded is recorded also where none can be made.
pub fn receipt(root: &Root, team: &str) -> Result<Receipt, String> {
    let head = root.team(team).and_then(|mut team| team.head());
    let told = |failure| {
        let error = CommandError::from(failure);
        format!(
            "the answer stands, but there is no receipt for it: {}",
            error.message()
        )
    };
    head.map(|head| head.receipt).map_err(told)
}

impl<O: Op + Serialize> Call<O, O::Data> {
    /// An operation of the team API that records.
    pub const fn operation() -> Call<O, O::Data> {
        Call {
            name: O::NAME,
            run: |site, input| {
                let team = site.stamped(O::NAME, to_value(&input))?;
                Ok(input.run(team)?)
            },
        }
    }
}

impl<O: Op> Call<O, O::Data> {
    /// One that only reads.
    pub const fn reading() -> Call<O, O::Data> {
        Call {
            name: O::NAME,
            run: |site, input| Ok(input.run(site.team()?)?),
        }
    }
}

/// What a daemon calls by name.
struct Handler {
    name: &'static str,
    /// How far the token of an agent has to let it.
    scope: AgentScope,
    handle: fn(&mut Site<'_>, &str) -> Result<Box<RawValue>, CommandError>,
}

fn handle<I: DeserializeOwned, A: Serialize>(
    call: &Call<I, A>,
    site: &mut Site<'_>,
    input: &str,
) -> Result<Box<RawValue>, CommandError> {
    let input = serde_json::from_str(input).map_err(unreadable)?;
    let answer = (call.run)(site, input)?;
    to_raw_value(&answer).map_err(unreadable)
}

pub fn carry_out(
    site: &mut Site<'_>,
    name: &str,
    input: &RawValue,
) -> Result<Box<RawValue>, CommandError> {
    if let Some(call) = CALLS.iter().find(|call| call.name == name) {
        site.check_scope(call.scope)?;
        return (call.handle)(site, input.get());
    }
    let Some(operation) = api::find(name).filter(|found| found.name == name) else {
        return Err(unknown(name));
    };
    site.check_scope(operation.scope)?;
    match operation.effect {
        Effect::Records => {
            Ok(operation.execute(site.stamped(name, to_value(input))?, input.get())?)
        }
        Effect::Reads => Ok(operation.execute(site.team()?, input.get())?),
        Effect::Waits => site.waiting(|team| Ok(operation.execute(team, input.get())?)),
    }
}

/// Caller and daemon are of one version, so that this is nobody's fault but ours.
pub fn unknown(what: &str) -> CommandError {
    let message = format!("the daemon must know what it is asked for, but: {what}");
    CommandError::bug(message)
}

/// The same of what does not read, or serialise.
pub fn unreadable(error: serde_json::Error) -> CommandError {
    unknown(&error.to_string())
}

/// As many wait as may.
pub fn crowded_waits() -> CommandError {
    let message = "the daemon lets as many commands wait as it can; nothing was done";
    CommandError::new(Exit::Locked, "busy", message).or_hint("try again")
}

/// The same of a message whose ack is to be waited for.
fn crowded() -> CommandError {
    crowded_waits().hinting("try again, or send it with --require-ack and without --wait")
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApiInput {
    pub operation: String,
    pub input: Box<RawValue>,
}

/// What an operation gives: its data, or its fault.
pub type ApiAnswer = Result<Box<RawValue>, Fault>;

/// A row says what a daemon finds the call by, how far the token of an agent has to let it, what it takes, what it answers and
/// what carries it out.
macro_rules! calls {
    ($(
        $(#[doc = $doc:literal])*
        $call:ident = $name:literal $scope:ident, $input:ty => $answer:ty: $run:expr;
    )+) => {
        $(
            $(#[doc = $doc])*
            pub const $call: Call<$input, $answer> =
                Call { name: $name, run: $run };
        )+

        static CALLS: &[Handler] = &[$(Handler {
            name: $name,
            scope: AgentScope::$scope,
            handle: |site, input| handle(&$call, site, input),
        }),+];
    };
}

calls! {
    /// `init`; whether the team is new, and who was added, stand beside what is printed.
    INIT = "init" Operate, init::Init => (init::InitAnswer, bool, Vec<String>): |site, init| {
        let answer = site.root.init(init)?;
        let (created, added) = (answer.created, answer.added.clone());
        Ok((answer, created, added))
    };

    /// `send`, and whether to wait for the ack.
    SEND = "send" Act, (send::Send, bool) => send::SendAnswer: |site, (send, wait)| {
        let caller = site.caller;
        let team = site.team()?;
        let answer = match (wait, caller) {
            (false, _) => Some(team.send(send)),
            (true, None) => Some(team.send_and_wait(send, &Deadline::default())),
            (true, Some(caller)) => caller.wait(|deadline| team.send_and_wait(send, deadline)),
        };
        Ok(answer.ok_or_else(crowded)??)
    };

    ACK = "ack" Act, ack::Ack => ack::AckAnswer: |site, ack| Ok(site.team()?.ack(ack)?);

    TICK = "tick" Act, tick::Tick => tick::TickAnswer: |site, tick| Ok(site.team()?.tick(tick)?);

    /// `nudge`, but for the programs.
    NUDGE = "nudge" Act, nudge::Nudge => nudge::NudgeAnswer: |site, nudge| Ok(site.team()?.nudge(nudge)?);

    REQUEUE = "requeue" Act, dead_letter::Requeue => dead_letter::RequeueAnswer:
        |site, requeue| Ok(site.team()?.requeue(requeue)?);

    /// What `guard` refused, behind its answer.
    REFUSED_WRITES = "refused-writes" Act, refused::RefusedWrites => usize: |site, refused| {
        Ok(site.team()?.record_refused_writes(refused)?)
    };

    /// `config set` and `config unset`.
    CONFIG = "config" Operate, config::ConfigChange => config::ConfigChangeAnswer:
        |site, change| Ok(site.team()?.config_change(change)?);

    /// `append` of one fact.
    APPEND = "append" Act, append::Append => append::AppendAnswer: |site, append| Ok(site.team()?.append(append)?);

    /// `append` of a group of a batch.
    APPEND_GROUP = "append-group" Act, append_batch::Group => append_batch::BatchAnswer:
        |site, group| Ok(site.team()?.append_group(group)?);

    /// `artifact put`, whose content is bytes, each as the character of its number.
    ARTIFACT = "artifact-put-bytes" Act, artifact::ArtifactPut => artifact::ArtifactPutAnswer: |site, mut put| {
        let content = std::mem::take(&mut put.content);
        let bytes = content.chars().filter_map(|c| u8::try_from(c).ok());
        let file = artifact::ArtifactFile::new(put, bytes.collect());
        let team = site.stamped(artifact::ArtifactPut::NAME, to_value(&file))?;
        Ok(team.artifact_put_file(file)?)
    };

    /// `artifact get`: what is told of it, and its bytes, each as the character of its number.
    ARTIFACT_BYTES = "artifact-get-bytes" Read, artifact::ArtifactGet => (artifact::ArtifactShown, String): |site, asked| {
        let (shown, bytes) = site.team()?.artifact_bytes(&asked)?;
        Ok((shown, bytes.into_iter().map(char::from).collect()))
    };

    /// `--fresh`, or `--at-least` with its event: the last one that is known then.
    CATCH_UP = "catch-up" Read, Option<u64> => u64: |site, known| match known {
        None => Ok(site.team()?.catch_up()?),
        Some(seq) => Ok(site.team()?.know(seq)?),
    };

    HEAD = "head" Read, () => head::HeadAnswer: |site, ()| Ok(site.team()?.head()?);

    /// `mode prompt`, which also answers where a prompt is denied.
    PROMPT = "prompt" Act, ModePrompt => PromptAnswer: |site, prompt| {
        let team = site.stamped(ModePrompt::NAME, to_value(&prompt))?;
        match team.mode_prompt(prompt) {
            Err(Failure::Refused(refusal)) => {
                Ok(PromptAnswer::of_refusal(&refusal).ok_or(Failure::Refused(refusal))?)
            }
            answered => Ok(answered?),
        }
    };

    /// `bootstrap record`, for which what is not accepted is an answer, and no refusal.
    BOOTSTRAP_RECORD = "bootstrap-report" Act, BootstrapRecord => BootstrapRecorded: |site, record| {
        let team = site.stamped(BootstrapRecord::NAME, to_value(&record))?;
        Ok(team.bootstrap_record(record)?)
    };

    STATE_WRITE = "state-write" Act, write::ModeWrite => state::StateWritten:
        |site, write| Ok(site.acting()?.state_write(write)?);

    STATE_CLEAR = "state-clear" Act, clear::ModeClear => state::StateCleared:
        |site, clear| Ok(site.acting()?.state_clear(clear)?);

    /// An operation of the team API by its name, with the input and the faults of the contract.
    API = "api" Read, ApiInput => ApiAnswer: |site, asked| {
        let operation = api::find(&asked.operation).ok_or_else(|| unknown(&asked.operation))?;
        site.check_scope(operation.scope)?;
        let input = serde_json::from_str(asked.input.get()).map_err(unreadable)?;
        let mut control = Control {
            origin: Origin::default(),
            ..site.control()
        };
        let answered = match site.caller.filter(|_| operation.effect == Effect::Waits) {
            None => api::call(&site.root, operation, input, control),
            Some(caller) => {
                let waited = caller.wait(|deadline| {
                    control.deadline = deadline.clone();
                    api::call(&site.root, operation, input, control)
                });
                waited.ok_or_else(crowded_waits)?
            }
        };
        Ok(answered.map(|answered| {
            site.opened = answered.team;
            answered.data
        }))
    };

    /// A tool of the Model Context Protocol that records: its name and its arguments; what it says, or why it is refused.
    TOOL = "tool" Act, (String, Map<String, Value>) => Result<String, String>: |site, (tool, arguments)| {
        let (root, origin) = (&site.root, &site.who.origin);
        let done = teamlog_mcp::carry_out(root, origin, &tool, site.team, arguments);
        Ok(done.map_err(|fault| fault.0))
    };
}

#[cfg(test)]
mod tests {
    use super::CALLS;
    use std::collections::BTreeSet;
    use teamlog_team::api::OPERATIONS;

    #[test]
    fn every_call_has_a_name_of_its_own() {
        let names = CALLS.iter().map(|call| call.name);
        let names = names.chain(OPERATIONS.iter().map(|operation| operation.name));
        let all: Vec<&str> = names.collect();
        let different: BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }
}
