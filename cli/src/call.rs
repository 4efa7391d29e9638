//! A call: an operation, or another request to a team, with its input and its answer. It is carried out where the command was
//! typed, or in the daemon that has the team, which finds it by its name: the operations in [`teamlog_team::api`], the few
//! others in `forward/transport.rs`.

use crate::exit::{CommandError, Exit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, to_value};
use std::sync::Arc;
use teamlog_server::forward::Caller;
use teamlog_team::api::Op;
use teamlog_team::command::{Control, Origin};
use teamlog_team::engine::{Point, Receipt, Timestamp};
use teamlog_team::projections::agent_token::event::AgentScope;
use teamlog_team::{Root, Team};

/// Who asks, and under which key.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Who {
    pub actor: Option<String>,
    /// The operating system's name of the caller; empty for a call without an actor.
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

    /// Opens the team, to be changed by that operation on behalf of the caller.
    pub fn stamped(
        &mut self,
        operation: &str,
        input: impl FnOnce() -> serde_json::Result<Value>,
    ) -> Result<&mut Team, CommandError> {
        let control = Control {
            operation: operation.to_owned(),
            // Nothing else asks for the request.
            request: match &self.who.key {
                Some(_) => self.request(input()),
                None => Vec::new(),
            },
            key: self.who.key.clone(),
            trace_id: self.who.trace_id.clone(),
            ..self.control()
        };
        let team = self.team()?;
        team.under(control);
        Ok(team)
    }

    /// On whose behalf a team is changed, but for a key.
    pub fn control(&self) -> Control {
        Control {
            actor: self.who.actor.clone(),
            user: Some(self.who.user.clone()).filter(|user| !user.is_empty()),
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
                let team = site.stamped(O::NAME, || to_value(&input))?;
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

/// Carries out a call whose input and answer are text.
pub fn handle<I: DeserializeOwned, A: Serialize>(
    call: &Call<I, A>,
    site: &mut Site<'_>,
    input: &str,
) -> Result<Box<RawValue>, CommandError> {
    let input = serde_json::from_str(input).map_err(unreadable)?;
    let answer = (call.run)(site, input)?;
    to_raw_value(&answer).map_err(unreadable)
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
