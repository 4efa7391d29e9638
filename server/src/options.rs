//! Options of the daemon.

use crate::call::Call;
use crate::forward::Forward;
use crate::limits::Limits;
use crate::reply::Answer;
use crate::served::Served;
use crate::tls::TlsFiles;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use teamlog_team::RootOptions;

/// Answers calls, on a thread that may block.
pub type Answering = Arc<dyn Fn(&Arc<Served>, &Call) -> Answer + Send + Sync>;

/// Options of the daemon.
#[derive(Clone)]
pub struct ServeOptions {
    /// The data root, which must exist.
    pub root: PathBuf,
    /// Options of opening the root.
    pub root_options: RootOptions,
    /// Names of the served teams; if empty, all teams, including those created later.
    pub teams: Vec<String>,
    /// Loopback address for TCP; port 0 selects a free one.
    pub listen: SocketAddr,
    /// Address and certificate for agents on other machines, over TLS; port 0 selects a free one.
    pub remote: Option<(SocketAddr, TlsFiles)>,
    /// Path of the Unix socket; `None` selects one.
    pub socket: Option<PathBuf>,
    /// Directory of the socket if its path below the root would be too long: `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// Version that the daemon reports.
    pub version: String,
    /// Handler of calls.
    pub answer: Answering,
    /// Handler of requests on upgraded connections.
    pub forward: Option<Arc<dyn Forward>>,
    /// Handles signals: `SIGTERM` and `SIGINT` stop the daemon, `SIGHUP` loads its certificate again (or stops a daemon
    /// without one). Off if the daemon is part of another process.
    pub signals: bool,
    /// True if the daemon may write only the data root and its socket's directory, if the kernel can enforce it.
    pub confined: bool,
    /// See [`Limits`].
    pub limits: Limits,
}

impl ServeOptions {
    /// Returns options for all teams of `root` on a free port, with default limits, without signals, unconfined.
    pub fn new(root: impl Into<PathBuf>, answer: Answering) -> ServeOptions {
        ServeOptions {
            root: root.into(),
            root_options: RootOptions::default(),
            teams: Vec::new(),
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            remote: None,
            socket: None,
            runtime_dir: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            answer,
            forward: None,
            signals: false,
            confined: false,
            limits: Limits::default(),
        }
    }
}

impl fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeOptions")
            .field("root", &self.root)
            .field("teams", &self.teams)
            .field("listen", &self.listen)
            .field("socket", &self.socket)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
