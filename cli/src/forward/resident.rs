//! Daemon side of forwarded calls. Runs the code of the command line on teams that stay open.

use super::{Ended, NamedCall, Reply, Request, Wanted, events, place, transport, upload};
use crate::call::{self, CallContext};
use crate::exit::{self, CommandError, Exit};
use serde_json::value::RawValue;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use teamlog_server::Served;
use teamlog_server::forward::{Caller, Forward};
use teamlog_team::api::{self, Operation};
use teamlog_team::lifecycle::freshness::AsOf;
use teamlog_team::redaction::redact;
use teamlog_team::{Notes, RootOptions};

/// Maximum wait for a lock that a client may request.
const LOCK_DEADLINE_MAX: Duration = Duration::from_secs(86_400);
/// Maximum wait for a lock that a client on another machine may request.
const REMOTE_LOCK_DEADLINE_MAX: Duration = Duration::from_secs(60);

/// Runs the requests to the daemon of one data root.
#[derive(Debug)]
pub struct RequestRunner {
    root: (u64, u64),
    dir: PathBuf,
}

impl RequestRunner {
    pub fn new(root: &Path) -> io::Result<RequestRunner> {
        Ok(RequestRunner {
            root: place(root)?,
            dir: root.to_owned(),
        })
    }
}

impl Forward for RequestRunner {
    fn answer(&self, served: &Arc<Served>, request: &[u8], caller: &Arc<Caller>) -> io::Result<()> {
        let Request { root, team, wanted } = serde_json::from_slice(request)?;
        let admitted = caller.admitted();
        let here = match admitted {
            None => root == Some(self.root),
            Some(admitted) => admitted.reach.team() == Some(&*team),
        };
        if !here || !served.serves(&team) {
            return send(caller, &Reply::Elsewhere);
        }
        match wanted {
            // Commands on the whole log run only on the machine of the data root.
            Wanted::GiveWay if admitted.is_some() => {
                let message = "only a command on the daemon's machine can make the daemon release the team's lock";
                let error = CommandError::new(Exit::NotPermitted, "forbidden", message);
                send(caller, &Reply::Ended(Ended::from_outcome(Err(error))))
            }
            Wanted::GiveWay => give_way(served, &team, caller),
            Wanted::Call(call) => {
                let mut site = site(served, &team, &call, caller);
                let ended = carry_out(&mut site, &call);
                finish(site, caller, ended)
            }
            Wanted::Question(question) => {
                let mut site = site(served, &team, &question.call, caller);
                site.at = question.at;
                let ended = answer(&mut site, &question.call);
                finish(site, caller, ended)
            }
            Wanted::Import(import) => {
                let mut site = site(served, &team, &import, caller);
                let ended = upload::imported(&mut site, &import, (&self.dir, caller));
                send(caller, &Reply::Ended(ended))
            }
            Wanted::Stream(stream) => {
                let mut site = site(served, &team, &stream, caller);
                let ended = events::sent(&mut site, &stream, caller);
                send(caller, &Reply::Ended(ended))
            }
        }
    }
}

/// Sends the answer, then does the maintenance of the team. A failure of the maintenance costs time later but loses
/// nothing.
fn finish(site: CallContext<'_>, caller: &Caller, ended: Ended) -> io::Result<()> {
    send(caller, &Reply::Ended(ended))?;
    if let Some(mut team) = site.opened {
        let _ = team.finish();
    }
    Ok(())
}

fn send(caller: &Caller, reply: &Reply) -> io::Result<()> {
    caller.send(&serde_json::to_vec(reply)?)
}

fn site<'a>(
    served: &Served,
    team: &'a str,
    call: &'a NamedCall,
    caller: &'a Arc<Caller>,
) -> CallContext<'a> {
    let options = RootOptions {
        // Limit the client's number, because it is not trusted.
        lock_deadline: call.lock_deadline.min(match caller.admitted() {
            None => LOCK_DEADLINE_MAX,
            Some(_) => REMOTE_LOCK_DEADLINE_MAX,
        }),
        notes: Notes::default(),
        authenticated: caller
            .admitted()
            .and_then(teamlog_server::Caller::authenticated),
        ..served.root().options().clone()
    };
    CallContext {
        root: served.root().with_options(options),
        team,
        who: &call.who,
        caller: Some(caller),
        at: None,
        opened: None,
    }
}

fn carry_out(site: &mut CallContext<'_>, call: &NamedCall) -> Ended {
    let outcome = exit::caught(|| transport::carry_out(site, &call.name, &call.input)).flatten();
    let outcome = outcome.map(|answer| redacted(site, answer));
    // A refused call may have recorded events too.
    let failed = |error: &CommandError| error.exit() != Exit::Refused;
    let wanted = call.receipt && !outcome.as_ref().is_err_and(failed);
    let receipt = wanted.then(|| call::receipt(&site.root, site.team));
    let (receipt, without) = match receipt.transpose() {
        Ok(receipt) => (receipt, None),
        Err(note) => (None, Some(note)),
    };
    let mut notes = site.root.options().notes.take();
    notes.extend(without);
    Ended {
        replayed: site.replayed(),
        receipt,
        notes,
        ..Ended::from_outcome(outcome)
    }
}

/// Removes claim tokens from an answer, except the tokens of claims that the calling agent holds.
fn redacted(site: &CallContext<'_>, answer: Box<RawValue>) -> Box<RawValue> {
    let known = site.root.options().authenticated.as_ref();
    let redacted = known.and_then(|known| redact(answer.get(), &known.agent));
    let raw = redacted.and_then(|redacted| RawValue::from_string(redacted).ok());
    raw.unwrap_or(answer)
}

fn answer(site: &mut CallContext<'_>, call: &NamedCall) -> Ended {
    let (outcome, as_of) = match exit::caught(|| read(site, call)).flatten() {
        Ok((answer, as_of)) => (Ok(redacted(site, answer)), as_of),
        Err(error) => (Err(error), None),
    };
    Ended {
        notes: site.root.options().notes.take(),
        moment: site.moment(),
        as_of,
        ..Ended::from_outcome(outcome)
    }
}

/// Runs an operation that reads. Returns the answer of the operation, and the age of the answer.
fn read(
    site: &mut CallContext<'_>,
    call: &NamedCall,
) -> Result<(Box<RawValue>, Option<AsOf>), CommandError> {
    let operation = api::find(&call.name).filter(|found| found.name == call.name);
    if operation.is_none_or(Operation::mutates) {
        // The client repeats a read if the answer was lost, so a read must not record events.
        return Err(call::unknown(&call.name));
    }
    let answer = transport::carry_out(site, &call.name, &call.input)?;
    let as_of = match (site.at, &site.opened) {
        (None, Some(team)) => team.as_of()?,
        _ => None,
    };
    Ok((answer, as_of))
}

/// Releases the team until the client closes the connection. The next user of the team reads the new events.
fn give_way(served: &Served, team: &str, caller: &Caller) -> io::Result<()> {
    match served.root().give_way(team) {
        Ok(pause) => {
            send(caller, &Reply::GaveWay)?;
            caller.wait_for_end();
            drop(pause);
            Ok(())
        }
        Err(failure) => send(
            caller,
            &Reply::Ended(Ended::from_outcome(Err(failure.into()))),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::to_raw_value;
    use teamlog_team::Root;
    use teamlog_team::api::Op;
    use teamlog_team::engine::JournalIdentity;
    use teamlog_team::engine::internals::journal::MemoryJournal;
    use teamlog_team::engine::storage::Memory;
    use teamlog_team::lifecycle::cleanup::Cleanup;
    use teamlog_team::lifecycle::init::Init;
    use teamlog_team::lifecycle::status::Status;

    fn root(journal: Option<JournalIdentity>) -> Root {
        let options = RootOptions {
            journals: Some(Arc::new(MemoryJournal::default())),
            ..RootOptions::default()
        };
        let root = Root::on(Arc::new(Memory::new()), options);
        let init = Init {
            members: vec!["lead".into()],
            journal,
            ..Init::for_team("demo")
        };
        root.init(init).unwrap();
        root
    }

    fn asked(root: Root, name: &str, input: &impl serde::Serialize) -> Ended {
        let call = NamedCall {
            name: name.to_owned(),
            input: to_raw_value(input).unwrap(),
            who: call::CallerIdentity::default(),
            lock_deadline: Duration::ZERO,
            receipt: false,
        };
        let mut site = CallContext {
            root,
            team: "demo",
            who: &call.who,
            caller: None,
            at: None,
            opened: None,
        };
        answer(&mut site, &call)
    }

    #[test]
    fn an_answer_for_elsewhere_says_how_new_it_is() {
        let journal = JournalIdentity {
            kind: "memory".into(),
            id: "00000000-0000-4000-8000-000000000000".into(),
            segment_bytes_max: 1 << 20,
        };
        for (journal, known) in [(Some(journal), Some(1)), (None, None)] {
            let ended = asked(root(journal), Status::NAME, &Status::default());
            assert_eq!(ended.as_of.map(|as_of| as_of.seq), known);
            assert!(ended.outcome.unwrap().get().contains("\"team\":\"demo\""));
        }
    }

    #[test]
    fn nothing_is_recorded_for_whoever_may_ask_again() {
        for name in [Cleanup::NAME, "send", "read_team_status"] {
            let error = asked(root(None), name, &()).outcome.unwrap_err();
            assert_eq!(error.code(), "bug", "{name}");
        }
    }
}
