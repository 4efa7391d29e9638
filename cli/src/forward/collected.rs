//! A call whose answer is not for standard output: one that this process makes on behalf of somebody whom it serves.

use super::runtime::Runtime;
use super::unknown::Repeat;
use super::{call, handed_over};
use crate::env::ProcessEnv;
use crate::exit::CommandError;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use teamlog_server::forward::{Child, Cut, Ended, ForwardIo, Terminals};

/// Streams in memory.
struct CollectingIo {
    input: Mutex<Vec<u8>>,
    out: Mutex<Vec<u8>>,
}

impl ForwardIo for CollectingIo {
    fn open(&self, _: &Path) -> io::Result<u32> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn read(&self, _: u32) -> io::Result<Vec<u8>> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut input))
    }

    fn write_out(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.extend_from_slice(bytes);
        Ok(())
    }

    fn write_err(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn run_child(&self, _: &Child) -> io::Result<Ended> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn begin_wait(&self) -> bool {
        true
    }

    fn is_awaited(&self) -> bool {
        true
    }

    fn end_wait(&self) {}

    fn cut(&self) -> Option<Cut> {
        None
    }
}

/// Hands a call over, if there is a daemon to take it: its exit code, and what it printed.
///
/// # Errors
/// As [`super::try_forward`].
pub fn collected(
    argv: Vec<OsString>,
    root: &Path,
    team: &str,
    input: String,
    env: &ProcessEnv,
) -> Result<Option<(u8, String)>, CommandError> {
    let Some(runtime) = Runtime::of_team(root, team)? else {
        return Ok(None);
    };
    let Some(mut call) = call(&argv, root, team.to_owned(), env) else {
        return Ok(None);
    };
    call.terminals = Terminals::default();
    let held = Arc::new(CollectingIo {
        input: Mutex::new(input.into_bytes()),
        out: Mutex::default(),
    });
    let streams = ProcessEnv::of_caller(&call, held.clone());
    let code = handed_over(runtime, root, &call, Repeat::Unsafe, &streams)?;
    let mut out = held.out.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&std::mem::take(&mut *out)).into_owned();
    Ok(code.map(|code| (code, text)))
}
