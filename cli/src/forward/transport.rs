//! Calls between the command line and its daemon that are not operations: binary transfers, sends that wait, creating a
//! team, and envelopes of other protocols.

use crate::call::{Call, CallContext, crowded_waits, handle, unknown, unreadable};
use crate::exit::CommandError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, to_value};
use teamlog_team::api::{self, Effect, Fault, Op};
use teamlog_team::artifact::{
    ArtifactFile, ArtifactGet, ArtifactPut, ArtifactPutAnswer, ArtifactShown,
};
use teamlog_team::command::deadline::Deadline;
use teamlog_team::command::{Control, Origin};
use teamlog_team::lifecycle::init::{Init, InitAnswer};
use teamlog_team::message::send::{Send, SendAnswer};
use teamlog_team::projections::agent_token::event::AgentScope;
use teamlog_team::redaction::redact;
use teamlog_team::resource::can_write::GuardView;
use teamlog_team::{SessionClaim, SessionClaimAnswer};

/// A call that is not an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    Init,
    SendAndWait,
    ArtifactPut,
    ArtifactGet,
    CatchUp,
    SessionClaim,
    GuardView,
    Api,
    Tool,
}

impl Transport {
    const ALL: [Transport; 9] = [
        Transport::Init,
        Transport::SendAndWait,
        Transport::ArtifactPut,
        Transport::ArtifactGet,
        Transport::CatchUp,
        Transport::SessionClaim,
        Transport::GuardView,
        Transport::Api,
        Transport::Tool,
    ];

    fn find(name: &str) -> Option<Transport> {
        let mut all = Transport::ALL.into_iter();
        all.find(|transport| transport.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Transport::Init => INIT.name,
            Transport::SendAndWait => SEND_AND_WAIT.name,
            Transport::ArtifactPut => ARTIFACT_PUT.name,
            Transport::ArtifactGet => ARTIFACT_GET.name,
            Transport::CatchUp => CATCH_UP.name,
            Transport::SessionClaim => SESSION_CLAIM.name,
            Transport::GuardView => GUARD_VIEW.name,
            Transport::Api => API.name,
            Transport::Tool => TOOL.name,
        }
    }

    /// Returns the scope that an agent's token needs for the call. The operation inside `Api` and the tool inside `Tool` have
    /// their own scope.
    fn scope(self) -> AgentScope {
        match self {
            Transport::Init => AgentScope::Operate,
            Transport::SendAndWait | Transport::ArtifactPut => AgentScope::Act,
            Transport::ArtifactGet
            | Transport::CatchUp
            | Transport::SessionClaim
            | Transport::GuardView
            | Transport::Api
            | Transport::Tool => AgentScope::Read,
        }
    }

    fn carry_out(
        self,
        site: &mut CallContext<'_>,
        input: &str,
    ) -> Result<Box<RawValue>, CommandError> {
        match self {
            Transport::Init => handle(&INIT, site, input),
            Transport::SendAndWait => handle(&SEND_AND_WAIT, site, input),
            Transport::ArtifactPut => handle(&ARTIFACT_PUT, site, input),
            Transport::ArtifactGet => handle(&ARTIFACT_GET, site, input),
            Transport::CatchUp => handle(&CATCH_UP, site, input),
            Transport::SessionClaim => handle(&SESSION_CLAIM, site, input),
            Transport::GuardView => handle(&GUARD_VIEW, site, input),
            Transport::Api => handle(&API, site, input),
            Transport::Tool => handle(&TOOL, site, input),
        }
    }
}

/// Runs the call with the given name: an operation or a transport.
pub fn carry_out(
    site: &mut CallContext<'_>,
    name: &str,
    input: &RawValue,
) -> Result<Box<RawValue>, CommandError> {
    if let Some(transport) = Transport::find(name) {
        site.check_scope(transport.scope())?;
        return transport.carry_out(site, input.get());
    }
    let Some(operation) = api::find(name).filter(|found| found.name == name) else {
        return Err(unknown(name));
    };
    site.check_scope(operation.scope)?;
    match operation.effect {
        Effect::Records => {
            Ok(operation.execute(site.stamped(name, || to_value(input))?, input.get())?)
        }
        Effect::Reads => Ok(operation.execute(site.team()?, input.get())?),
        Effect::Waits => site.waiting(|team| Ok(operation.execute(team, input.get())?)),
    }
}

/// `init`. The answer has the operation's answer, true if the team is new, and the added members.
pub const INIT: Call<Init, (InitAnswer, bool, Vec<String>)> = Call {
    name: "init",
    run: |site, init| {
        let answer = site.root.init(init)?;
        let (created, added) = (answer.created, answer.added.clone());
        Ok((answer, created, added))
    },
};

/// `send --wait`: sends a message, then waits for the ack and records due events meanwhile.
pub const SEND_AND_WAIT: Call<Send, SendAnswer> = Call {
    name: "send-and-wait",
    run: |site, send| {
        let caller = site.caller;
        let team = site.stamped(Send::NAME, || to_value(&send))?;
        let answer = match caller {
            None => Some(team.send_and_wait(send, &Deadline::default())),
            Some(caller) => caller.wait(|deadline| team.send_and_wait(send, deadline)),
        };
        Ok(answer.ok_or_else(crowded)??)
    },
};

/// `artifact put`. The content is sent as a text in which each byte is the character with the byte's value as code point.
pub const ARTIFACT_PUT: Call<ArtifactPut, ArtifactPutAnswer> = Call {
    name: "artifact-put-bytes",
    run: |site, mut put| {
        let content = std::mem::take(&mut put.content);
        let bytes = content.chars().filter_map(|c| u8::try_from(c).ok());
        let file = ArtifactFile::new(put, bytes.collect());
        let team = site.stamped(ArtifactPut::NAME, || to_value(&file))?;
        Ok(team.artifact_put_file(file)?)
    },
};

/// `artifact get`. The answer has the artifact's description, and a text in which each byte is the character with the byte's value as code
/// point.
pub const ARTIFACT_GET: Call<ArtifactGet, (ArtifactShown, String)> = Call {
    name: "artifact-get-bytes",
    run: |site, asked| {
        let (shown, bytes) = site.team()?.artifact_bytes(&asked)?;
        Ok((shown, bytes.into_iter().map(char::from).collect()))
    },
};

/// `--fresh`, or `--at-least` if the input is a seq. The answer is the seq of the last known event.
pub const CATCH_UP: Call<Option<u64>, u64> = Call {
    name: "catch-up",
    run: |site, known| match known {
        None => Ok(site.team()?.catch_up()?),
        Some(seq) => Ok(site.team()?.know(seq)?),
    },
};

/// Returns the live claim of a session, for a command line without an epoch.
pub const SESSION_CLAIM: Call<SessionClaim, SessionClaimAnswer> = Call {
    name: "session-claim",
    run: |site, asked| Ok(site.team()?.session_claim(&asked)?),
};

/// Returns the settings and leases with which a guard on another machine decides for the agent of the input.
pub const GUARD_VIEW: Call<String, GuardView> = Call {
    name: "guard-view",
    run: |site, agent| Ok(site.team()?.guard_view(&agent)?),
};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApiInput {
    pub operation: String,
    pub input: Box<RawValue>,
}

/// Data of an operation's answer, or the fault.
pub type ApiAnswer = Result<Box<RawValue>, Fault>;

/// Runs an operation with the JSON envelope of the API.
pub const API: Call<ApiInput, ApiAnswer> = Call {
    name: "api",
    run: api,
};

fn api(site: &mut CallContext<'_>, asked: ApiInput) -> Result<ApiAnswer, CommandError> {
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
}

/// Runs an MCP tool. The input is the name of the tool and its arguments. The answer is the tool's text, or the
/// reason of a refusal.
pub const TOOL: Call<(String, Map<String, Value>), Result<String, String>> = Call {
    name: "tool",
    run: |site, (tool, arguments)| {
        if teamlog_mcp::records(&tool) {
            site.check_scope(AgentScope::Act)?;
        }
        let (root, origin) = (&site.root, &site.who.origin);
        let done = teamlog_mcp::carry_out(root, origin, &tool, site.team, arguments);
        // The text is JSON inside of a string, which the daemon's own redaction does not read.
        let known = root.options().authenticated.as_ref();
        let shown = |text: String| {
            let redacted = known.and_then(|known| redact(&text, &known.agent));
            redacted.unwrap_or(text)
        };
        Ok(done.map(shown).map_err(|fault| fault.0))
    },
};

/// Makes the error for too many waiting commands.
fn crowded() -> CommandError {
    crowded_waits().hinting("try again, or send the message with --require-ack and without --wait")
}

#[cfg(test)]
mod tests {
    use super::Transport;
    use std::collections::BTreeSet;
    use teamlog_team::api::OPERATIONS;

    #[test]
    fn every_call_has_a_name_of_its_own() {
        let names = Transport::ALL.iter().map(|transport| transport.name());
        let names = names.chain(OPERATIONS.iter().map(|operation| operation.name));
        let all: Vec<&str> = names.collect();
        let different: BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }
}
