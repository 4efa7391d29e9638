//! A call: a request to a team with a name, an input and an answer. A call is an operation of [`teamlog_team::api`] or one of the
//! transports in `forward/transport.rs`. A call runs in this process, or in the daemon, which finds the call by name.

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

/// The caller and its idempotency key.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CallerIdentity {
    pub actor: Option<String>,
    /// User name of the caller in the operating system. Empty for a call without an actor.
    pub user: String,
    pub origin: Origin,
    pub key: Option<String>,
    pub trace_id: Option<String>,
}

/// Data root, team and caller of a call.
pub struct CallContext<'a> {
    pub root: Root,
    pub team: &'a str,
    pub who: &'a CallerIdentity,
    /// The process that forwarded this call to the daemon; `None` if this process made the call.
    pub caller: Option<&'a Arc<Caller>>,
    /// Past point at which the call reads, if any.
    pub at: Option<Point>,
    /// The team, after it was opened.
    pub opened: Option<Team>,
}

/// A call with input `I` and answer `A`.
pub struct Call<I, A> {
    pub name: &'static str,
    pub run: fn(&mut CallContext<'_>, I) -> Result<A, CommandError>,
}

/// A call that is forwarded to another process, without its types.
pub struct ErasedCall<'a> {
    pub name: &'static str,
    /// Serialises the input.
    pub input: &'a dyn Fn() -> serde_json::Result<Box<RawValue>>,
    /// Deserialises the answer.
    pub read: &'a mut dyn FnMut(&RawValue) -> serde_json::Result<()>,
}

impl<I: Serialize, A: DeserializeOwned> Call<I, A> {
    /// Forwards the call with `send`. Returns the result, and the answer if there is one.
    pub fn sent<R>(
        &self,
        input: &I,
        send: impl FnOnce(ErasedCall<'_>) -> Result<R, CommandError>,
    ) -> Result<(R, Option<A>), CommandError> {
        let mut answer = None;
        let returned = send(ErasedCall {
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

impl CallContext<'_> {
    /// Returns the open team, at the past point of the call if there is one.
    pub fn team(&mut self) -> Result<&mut Team, CommandError> {
        let opened = match (self.opened.take(), self.at) {
            (Some(team), _) => team,
            (None, None) => self.root.team(self.team)?,
            (None, Some(point)) => self.root.team(self.team)?.at(point)?,
        };
        Ok(self.opened.insert(opened))
    }

    /// Waits for other agents on behalf of the caller, until the caller disconnects.
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

    /// Fails if the caller is an agent on another machine whose token does not have the scope `wanted`.
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

    /// Opens the team for changes by an operation on behalf of the caller.
    pub fn stamped(
        &mut self,
        operation: &str,
        input: impl FnOnce() -> serde_json::Result<Value>,
    ) -> Result<&mut Team, CommandError> {
        let control = Control {
            operation: operation.to_owned(),
            // The request is needed only with an idempotency key.
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

    /// Returns the caller's identity for changes without an idempotency key.
    pub fn control(&self) -> Control {
        Control {
            actor: self.who.actor.clone(),
            user: Some(self.who.user.clone()).filter(|user| !user.is_empty()),
            origin: self.who.origin.clone(),
            ..Control::default()
        }
    }

    /// Returns the bytes that must be equal when a request is repeated with its key: the operation's input, which is the same on every
    /// surface.
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

    /// Returns seq and time of the last event before the past point, if the call reads at a past point.
    pub fn moment(&self) -> Option<(u64, Timestamp)> {
        let moment = self.opened.as_ref().and_then(Team::moment);
        moment.map(|moment| (moment.seq, moment.time))
    }

    /// Returns true if the answer was stored by an earlier request with the same key.
    pub fn replayed(&self) -> bool {
        self.opened.as_ref().is_some_and(Team::repeated)
    }
}

/// Returns a receipt for all events of a team. If this fails, the events stay recorded.
pub fn receipt(root: &Root, team: &str) -> Result<Receipt, String> {
    let head = root.team(team).and_then(|mut team| team.head());
    let told = |failure| {
        let error = CommandError::from(failure);
        format!(
            "the events are recorded, but there is no receipt: {}",
            error.message()
        )
    };
    head.map(|head| head.receipt).map_err(told)
}

impl<O: Op + Serialize> Call<O, O::Data> {
    /// Makes the call of an operation that records events.
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
    /// Makes the call of an operation that only reads.
    pub const fn reading() -> Call<O, O::Data> {
        Call {
            name: O::NAME,
            run: |site, input| Ok(input.run(site.team()?)?),
        }
    }
}

/// Runs a call with serialised input, and serialises its answer.
pub fn handle<I: DeserializeOwned, A: Serialize>(
    call: &Call<I, A>,
    site: &mut CallContext<'_>,
    input: &str,
) -> Result<Box<RawValue>, CommandError> {
    let input = serde_json::from_str(input).map_err(unreadable)?;
    let answer = (call.run)(site, input)?;
    to_raw_value(&answer).map_err(unreadable)
}

/// Makes the error for an unknown call. Such a call is a bug, because the client and the daemon have equal versions.
pub fn unknown(what: &str) -> CommandError {
    let message = format!("the daemon does not know this call: {what}");
    CommandError::bug(message)
}

/// Makes the error for an input or answer that cannot be serialised.
pub fn unreadable(error: serde_json::Error) -> CommandError {
    unknown(&error.to_string())
}

/// Makes the error for too many waiting calls.
pub fn crowded_waits() -> CommandError {
    let message = "the daemon has reached its limit of waiting commands; nothing was done";
    CommandError::new(Exit::Locked, "busy", message).or_hint("try again")
}
