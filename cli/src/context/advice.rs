//! Adds hints for the caller to errors.

use super::Context;
use crate::exit::CommandError;
use crate::fence::VARIABLE;
use crate::forward::runtime::Runtime;
use crate::hint::{self, Caller, Cause, Place};
use crate::root::{self, Origin};
use std::path::PathBuf;
use teamlog_team::shell::quoted;

impl Context {
    /// Adds hints to an error about the current team.
    pub fn advise(&self, error: CommandError) -> CommandError {
        let team = self.team.as_deref();
        let error = match team {
            Some(team) => error.filling("TEAM", &quoted(team)),
            None => error,
        };
        // Replace the library's hint, which is written for callers of operations.
        let error = match error.code() {
            "sync_failed" => error.without_hint(),
            _ => error,
        };
        let error = self.placed(error);
        let hint = self.hint(&Cause::Reported {
            error: &error,
            team,
        });
        error.beside(hint)
    }

    /// Adds the data root to the message of an unknown team.
    fn placed(&self, error: CommandError) -> CommandError {
        let (Some(team), Ok(root), false) = (error.detail("team"), &self.data_root, self.is_remote)
        else {
            return error;
        };
        let unknown = format!("no team {team}");
        let rest = error.message().strip_prefix(&unknown).map(str::to_owned);
        match rest {
            Some(rest) => error.saying(format!("{unknown} in {}{rest}", root.path.display())),
            None => error,
        }
    }

    /// Returns the hint for the caller after a failure.
    pub fn hint(&self, cause: &Cause<'_>) -> Option<String> {
        hint::after(cause, &self.caller())
    }

    fn caller(&self) -> Caller<'_> {
        let actor = self.actor();
        let is_sandboxed = self.env.var(VARIABLE).is_some();
        Caller {
            is_operator: actor.is_none() && !self.is_remote && !is_sandboxed,
            agent: self.acting.get().cloned().or(actor),
            program: self.program(),
            place: self.place(),
            is_sandboxed,
            daemon: self.daemon_process(),
            repeat: self.repeat,
        }
    }

    fn daemon_process(&self) -> Option<u32> {
        let (root, team) = (self.data_root.as_ref().ok()?, self.team.as_deref()?);
        let runtime = Runtime::of_team(&root.path, team).ok()??;
        Some(runtime.pid)
    }

    fn place(&self) -> Place<'_> {
        match &self.data_root {
            _ if self.is_remote => Place::Remote,
            Ok(root) => Place::Local {
                data_root: root.path.clone(),
                is_certain: root.origin != Origin::Missing,
                others: Box::new(|| self.other_roots()),
            },
            // The data root that was found cannot be used. The error about this has its own hint.
            Err(_) => Place::Remote,
        }
    }

    fn other_roots(&self) -> Vec<PathBuf> {
        match (&self.data_root, self.env.here()) {
            (Ok(root), Ok(here)) => root::elsewhere(&root.path, &here, self.os_user()),
            _ => Vec::new(),
        }
    }
}
