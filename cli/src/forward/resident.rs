//! The daemon's side: what is forwarded runs as the same code, on the teams that are open here.

use crate::context::RunForwarded;
use crate::env::ProcessEnv;
use crate::exit;
use crate::global::wants_json;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use teamlog_server::Served;
use teamlog_server::forward::{Forward, ForwardIo, ForwardedCall};

/// Carries out what is forwarded to the daemon of one data root.
#[derive(Debug)]
pub struct Resident {
    /// Which directory the root is.
    place: (u64, u64),
    run: RunForwarded,
}

impl Resident {
    /// For the daemon of the data root in this directory.
    ///
    /// # Errors
    /// There is no such directory.
    pub fn new(root: &Path, run: RunForwarded) -> std::io::Result<Resident> {
        Ok(Resident {
            place: place(root)?,
            run,
        })
    }
}

/// Which directory a path leads to, whatever it is called: a copy of a data root is another one.
fn place(path: &Path) -> std::io::Result<(u64, u64)> {
    let metadata = path.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

impl Forward for Resident {
    fn run(&self, served: &Arc<Served>, call: ForwardedCall, io: Arc<dyn ForwardIo>) -> Option<u8> {
        if place(&call.root).ok()? != self.place || !served.serves(&call.team) {
            return None;
        }
        let env = ProcessEnv::of_caller(&call, io);
        let ran = exit::caught(|| (self.run)(&call.argv, &env, served));
        Some(ran.unwrap_or_else(|bug| {
            let json = wants_json(&call.argv);
            bug.report(json, &env).into()
        }))
    }
}
