//! Commands that the daemon carries out, since it holds the team's lock.
//!
//! The client parses what was typed. Is it a command that records something ([`registry`](crate::command::schema::registry)), and says the team's
//! `runtime.json` that a daemon serves it ([`runtime`]), then the call goes there ([`client`]), and what comes back is
//! written and ended with as if it had happened here. Where nobody answers, the file is a leftover, and the command runs
//! here, as every other one does. In the daemon, [`resident`] runs the same code on the teams that it has open.

mod client;
mod collected;
pub mod control;
mod input;
mod resident;
pub mod runtime;
mod table;
mod unknown;

pub use collected::collected;
pub use input::Place;
pub use resident::Resident;
pub use table::Meant;

use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::global::Global;
use crate::root;
use client::CallEnd;
use runtime::Runtime;
use std::ffi::OsString;
use std::path::Path;
use teamlog_server::forward::ForwardedCall;
use unknown::Repeat;

/// What became of the attempt.
pub enum Forwarded {
    /// The daemon carried it out, and the process ends with that.
    Ended(u8),
    /// There is none that would: the command runs here.
    Nowhere(ProcessEnv),
}

/// Hands a command over, if there is somebody to take it. Every error comes with what the command sees of the process.
///
/// # Errors
/// `runtime.json` is not to be trusted; the daemon is of another version, does not answer, or went away in the middle.
pub fn try_forward(
    argv: &[OsString],
    global: &Global,
    meant: &Meant,
    env: ProcessEnv,
) -> Result<Forwarded, (CommandError, ProcessEnv)> {
    let Ok(root) = root::of(global, &env) else {
        return Ok(Forwarded::Nowhere(env));
    };
    let (aim, env) = meant.aim(&root, env);
    let Some(team) = aim.team else {
        return Ok(Forwarded::Nowhere(env));
    };
    let attempted = Runtime::of_team(&root, &team).and_then(|runtime| match runtime {
        Some(runtime) => match call(argv, &root, team, &env) {
            Some(call) => handed_over(runtime, &root, &call, aim.repeat, &env),
            None => Ok(None),
        },
        None => Ok(None),
    });
    match attempted {
        Ok(Some(code)) => Ok(Forwarded::Ended(code)),
        Ok(None) => Ok(Forwarded::Nowhere(env)),
        Err(error) => Err((error, env)),
    }
}

/// How often a call is handed over to daemons that hang up before they have it.
const ATTEMPTS: usize = 5;

/// The exit code of a call that a daemon carried out; nothing where none took it. One that hung up before it had the call
/// has done nothing, and there may be another one by now.
fn handed_over(
    daemon: Runtime,
    root: &Path,
    call: &ForwardedCall,
    repeat: Repeat,
    env: &ProcessEnv,
) -> Result<Option<u8>, CommandError> {
    let mut daemon = Some(daemon);
    for _ in 0..ATTEMPTS {
        let Some(runtime) = daemon else {
            return Ok(None);
        };
        match client::call(&runtime, call, repeat, env)? {
            CallEnd::Ended(code) => return Ok(Some(code)),
            CallEnd::Nowhere => return Ok(None),
            CallEnd::HungUp => daemon = Runtime::of_team(root, &call.team)?,
        }
    }
    Ok(None)
}

fn call(argv: &[OsString], root: &Path, team: String, env: &ProcessEnv) -> Option<ForwardedCall> {
    Some(ForwardedCall {
        root: std::fs::canonicalize(root).ok()?,
        team,
        program: env.program().unwrap_or_default(),
        argv: argv.to_vec(),
        vars: env.vars(),
        here: env.here().ok()?,
        terminals: env.terminals(),
    })
}
