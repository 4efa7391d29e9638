//! Uploads a file to the daemon on another machine: one piece per protocol message, then an empty piece.

use super::{Ended, NamedCall, Reply};
use crate::call::{CallContext, crowded_waits, unreadable};
use crate::exit::{self, CommandError};
use serde_json::value::{RawValue, to_raw_value};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use teamlog_server::forward::{Caller, send};
use teamlog_team::import::messages::ImportMessages;
use teamlog_team::projections::agent_token::event::AgentScope;

const PIECE_BYTES: usize = 256 << 10;
const FILE_BYTES_MAX: u64 = 4 << 30;

pub fn sent(file: &mut dyn Read, to: &mut dyn Write) -> Result<(), CommandError> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = file.read(&mut piece);
        let read = read.map_err(|error| CommandError::io("read", "messages file", &error))?;
        let filled = piece.get(..read).unwrap_or_default();
        send(to, filled).map_err(|error| {
            let message =
                format!("the daemon did not receive the whole file: {error}; nothing was imported");
            CommandError::unreachable(message)
        })?;
        if read == 0 {
            return Ok(());
        }
    }
}

/// Receives a file, then imports its messages.
pub fn imported(
    site: &mut CallContext<'_>,
    asked: &NamedCall,
    (dir, caller): (&Path, &Arc<Caller>),
) -> Ended {
    Ended::from_outcome(exit::caught(|| run(site, asked, dir, caller)).flatten())
}

fn run(
    site: &mut CallContext<'_>,
    asked: &NamedCall,
    dir: &Path,
    caller: &Arc<Caller>,
) -> Result<Box<RawValue>, CommandError> {
    site.check_scope(AgentScope::Operate)?;
    let import: ImportMessages = serde_json::from_str(asked.input.get()).map_err(|error| {
        CommandError::bug(format!("the request for an import cannot be read: {error}"))
    })?;
    let failed = |error| CommandError::io("receive", "the file", &error);
    let file = caller
        .wait(|_| spooled(dir, caller))
        .ok_or_else(crowded_waits)?;
    let mut file = BufReader::with_capacity(64 << 10, file.map_err(failed)?);
    let answer = site.root.import_messages(import, &mut file)?;
    to_raw_value(&answer).map_err(unreadable)
}

/// Writes the received bytes to an unnamed file in the data root, the only directory that the daemon may write.
fn spooled(dir: &Path, caller: &Caller) -> io::Result<File> {
    let message = serde_json::to_vec(&Reply::Send).map_err(io::Error::other)?;
    let mut file = nameless(dir)?;
    caller.send(&message)?;
    let mut size = 0;
    loop {
        let piece = caller.receive()?;
        if piece.is_empty() {
            file.rewind()?;
            return Ok(file);
        }
        size += piece.len() as u64;
        if size > FILE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file.write_all(&piece)?;
    }
}

fn nameless(dir: &Path) -> io::Result<File> {
    let name = crate::random::name(".import").map_err(|_| io::ErrorKind::Other)?;
    let path = dir.join(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let file = options.open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
