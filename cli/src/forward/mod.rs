//! Commands that the daemon carries out, since it holds the team's lock.
//!
//! The client parses what was typed. Is it a command that records something ([`table`]), and says the team's
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

pub use collected::collected;
pub use input::Place;
pub use resident::Resident;
pub use table::Meant;

use crate::args::Global;
use crate::exit::CommandError;
use crate::root;
use crate::surroundings::Surroundings;
use runtime::Runtime;
use std::ffi::OsString;
use std::path::Path;
use teamlog_server::forward::ForwardedCall;

/// What became of the attempt.
pub enum Forwarded {
    /// The daemon carried it out, and the process ends with that.
    Ended(u8),
    /// There is none that would: the command runs here.
    Nowhere(Surroundings),
}

/// Hands a command over, if there is somebody to take it. Every error comes with what the command sees of the process.
///
/// # Errors
/// `runtime.json` is not to be trusted; the daemon is of another version, does not answer, or went away in the middle.
pub fn try_forward(
    argv: &[OsString],
    global: &Global,
    meant: &Meant,
    surroundings: Surroundings,
) -> Result<Forwarded, (CommandError, Surroundings)> {
    let Ok(root) = root::of(global, &surroundings) else {
        return Ok(Forwarded::Nowhere(surroundings));
    };
    let (team, surroundings) = meant.team(&root, surroundings);
    let Some(team) = team else {
        return Ok(Forwarded::Nowhere(surroundings));
    };
    let attempted = Runtime::of_team(&root, &team).and_then(|runtime| match runtime {
        Some(runtime) => {
            let call = call(argv, &root, team, &surroundings);
            call.map_or(Ok(None), |call| client::call(&runtime, call, &surroundings))
        }
        None => Ok(None),
    });
    match attempted {
        Ok(Some(code)) => Ok(Forwarded::Ended(code)),
        Ok(None) => Ok(Forwarded::Nowhere(surroundings)),
        Err(error) => Err((error, surroundings)),
    }
}

fn call(
    argv: &[OsString],
    root: &Path,
    team: String,
    surroundings: &Surroundings,
) -> Option<ForwardedCall> {
    Some(ForwardedCall {
        root: std::fs::canonicalize(root).ok()?,
        team,
        program: surroundings.program().unwrap_or_default(),
        argv: argv.to_vec(),
        vars: surroundings.vars(),
        here: surroundings.here().ok()?,
        terminals: surroundings.terminals(),
    })
}
