//! Sends events to another machine as lines of JSON. A message of the protocol has many lines.

use super::{Ended, NamedCall, Reply};
use crate::call::{CallContext, crowded_waits};
use crate::exit::{self, CommandError};
use crate::stream::{EventSink, Streamed};
use serde_json::value::RawValue;
use std::ops::ControlFlow;
use std::sync::Arc;
use teamlog_server::forward::Caller;
use teamlog_team::command::Control;
use teamlog_team::command::deadline::Deadline;
use teamlog_team::engine::Event;
use teamlog_team::redaction::redact;

/// Number of bytes of collected lines after which a message is sent.
const CHUNK_BYTES: usize = 64 << 10;

/// Sends the requested events until the stream ends or the reader disconnects.
pub fn sent(site: &mut CallContext<'_>, asked: &NamedCall, caller: &Arc<Caller>) -> Ended {
    let outcome = exit::caught(|| run(site, asked, caller)).flatten();
    Ended {
        notes: site.root.options().notes.take(),
        ..Ended::from_outcome(outcome.map(|()| RawValue::NULL.to_owned()))
    }
}

fn run(
    site: &mut CallContext<'_>,
    asked: &NamedCall,
    caller: &Arc<Caller>,
) -> Result<(), CommandError> {
    let wanted: Streamed = serde_json::from_str(asked.input.get()).map_err(|error| {
        CommandError::bug(format!("the request for events cannot be read: {error}"))
    })?;
    let known = site.root.options().authenticated.as_ref();
    let agent = known.map(|known| known.agent.clone());
    // Stream in a wait, so that a slow or endless reader occupies no worker thread.
    let streamed = caller.wait(|deadline| {
        let team = site.team()?;
        team.under(Control {
            deadline: deadline.clone(),
            ..Control::default()
        });
        let mut sink = Sending {
            agent,
            caller,
            deadline,
            chunk: String::new(),
        };
        let streamed = wanted.run(team, &mut sink);
        let _ = sink.send();
        streamed
    });
    streamed.ok_or_else(crowded_waits)?
}

/// Collects lines for the next message.
struct Sending<'a> {
    /// The agent that reads the events. Claim tokens of other agents are removed.
    agent: Option<String>,
    caller: &'a Caller,
    deadline: &'a Deadline,
    chunk: String,
}

impl Sending<'_> {
    fn line(&mut self, line: &str) -> ControlFlow<()> {
        self.chunk.push_str(line);
        self.chunk.push('\n');
        match self.chunk.len() < CHUNK_BYTES {
            true => ControlFlow::Continue(()),
            false => self.send(),
        }
    }

    fn send(&mut self) -> ControlFlow<()> {
        if self.chunk.is_empty() {
            return ControlFlow::Continue(());
        }
        let lines = Reply::Lines(std::mem::take(&mut self.chunk));
        let message = serde_json::to_vec(&lines).unwrap_or_default();
        match self.caller.send(&message) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl EventSink for Sending<'_> {
    fn event(&mut self, _: &Event<'_>, json: &[u8]) -> ControlFlow<()> {
        self.json(json)
    }

    fn json(&mut self, line: &[u8]) -> ControlFlow<()> {
        let line = String::from_utf8_lossy(line);
        let agent = self.agent.as_deref();
        match agent.and_then(|agent| redact(&line, agent)) {
            Some(redacted) => self.line(&redacted),
            None => self.line(&line),
        }
    }

    fn idle(&mut self) -> ControlFlow<()> {
        self.send()?;
        match self.deadline.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
