//! Commands that run here for somebody else.
//!
//! Whoever changes a team by the command line while the daemon holds its lock hands the whole call over: its words, its
//! variables, its directory, and, as they are wanted, its standard streams. The daemon carries it out with the teams that
//! it has open, and the caller's process writes what comes back and ends as it is told. What the command line means is the
//! business of whoever implements [`Forward`].
//!
//! A call comes over the Unix socket: an HTTP request with `Upgrade: teamlog-forward`, and after its 101 the frames of
//! [`frame`], one call a connection. Caller and daemon must be of one version: another one may understand the same words in
//! another way.

pub mod frame;
mod session;

pub use session::{called, session};

use crate::served::Served;
use crate::upgrade::{UpgradeHandler, UpgradedConnection};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a connection is upgraded to.
pub const PROTOCOL: &str = "teamlog-forward";

/// From the 101 to the end of the call's frame.
const CALL_DEADLINE: Duration = Duration::from_secs(10);

/// Carries out what is forwarded.
pub trait Forward: Send + Sync {
    /// Runs a call to its end and says with which code its process is to end; `None` where the team of the call is none
    /// that is served here, in which case nothing was done.
    fn run(&self, served: &Arc<Served>, call: ForwardedCall, io: Arc<dyn ForwardIo>) -> Option<u8>;
}

/// Speaks the protocol, for somebody who knows what the calls mean.
pub struct Forwarding<F>(pub F);

impl<F: Forward> UpgradeHandler for Forwarding<F> {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn serve(&self, served: &Arc<Served>, mut link: UpgradedConnection) {
        // A caller that is gone, or says what is no call, has nothing to be told.
        if let Ok(call) = first(&mut link) {
            let _ = session(served, link, call, &self.0);
        }
    }
}

/// The call. Who says nothing must not keep a place from others.
fn first(link: &mut UpgradedConnection) -> io::Result<ForwardedCall> {
    link.stream().set_read_timeout(Some(CALL_DEADLINE))?;
    let call = called(link)?;
    link.stream().set_read_timeout(None)?;
    Ok(call)
}

/// The standard streams of a caller, as far as it is still there.
pub trait ForwardIo: Send + Sync {
    /// Opens a file that only the caller's process has, as `/dev/fd/3` is one, and gives its number.
    ///
    /// # Errors
    /// What the caller met, or that it is gone.
    fn open(&self, path: &Path) -> io::Result<u32>;
    /// Reads on in a file, or in [`frame::STDIN`]; nothing is the end of it.
    ///
    /// # Errors
    /// What the caller met, or that it is gone.
    fn read(&self, handle: u32) -> io::Result<Vec<u8>>;
    /// Writes all of it to standard output, and returns when that is done.
    ///
    /// # Errors
    /// What the caller met; a broken pipe where it is gone.
    fn write_out(&self, bytes: &[u8]) -> io::Result<()>;
    /// Writes to standard error.
    ///
    /// # Errors
    /// The caller is gone.
    fn write_err(&self, bytes: &[u8]) -> io::Result<()>;
    /// Lets the caller run a program.
    ///
    /// # Errors
    /// The caller is gone.
    fn run_child(&self, child: &Child) -> io::Result<Ended>;
    /// From here on the call waits for what others do; `false` where as many wait as may.
    fn begin_wait(&self) -> bool;
    /// Whether that wait is still worth it: the caller is there, and the daemon goes on.
    fn is_awaited(&self) -> bool;
    /// The wait is over.
    fn end_wait(&self);
    /// Why the caller was asked for something and not waited for, if that happened.
    fn cut(&self) -> Option<Cut>;
}

/// Why a caller is not waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The daemon is about to end.
    Stopping,
    /// As many calls wait as may.
    Full,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cut::Stopping => "the daemon stops, and waits for its caller no longer",
            Cut::Full => "the daemon waits for as many callers as it can",
        })
    }
}

impl std::error::Error for Cut {}

/// Which of the standard streams are terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terminals {
    /// Standard input.
    pub stdin: bool,
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

/// A command as somebody typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardedCall {
    /// The data root that the caller found.
    pub root: PathBuf,
    /// The team that it means.
    pub team: String,
    /// By which name the program was called.
    pub program: OsString,
    /// The words, the program's name included, in the order in which they are parsed.
    pub argv: Vec<OsString>,
    /// The variables that mean something to a command.
    pub vars: Vec<(OsString, OsString)>,
    /// The working directory.
    pub here: PathBuf,
    /// What is a terminal.
    pub terminals: Terminals,
}

/// A program that the caller is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// As the caller finds it.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables beside the caller's own.
    pub vars: Vec<(OsString, OsString)>,
    /// When it is killed.
    pub deadline: Duration,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By itself; without a code where a signal ended it.
    Exited(Option<i32>),
    /// It took too long.
    TimedOut,
    /// It could not be run.
    Failed(String),
}
