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

/// Function that answers calls. The function runs on a thread that may block.
pub type Answering = Arc<dyn Fn(&Arc<Served>, &Call) -> Answer + Send + Sync>;

/// Options of the daemon.
#[derive(Clone)]
pub struct ServeOptions {
    /// Path of the data root, which must exist.
    pub root: PathBuf,
    /// Options for opening the data root.
    pub root_options: RootOptions,
    /// Names of the teams to serve. If empty, the daemon serves all teams, including teams that are created later.
    pub teams: Vec<String>,
    /// Loopback address for HTTP. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Address and certificate for agents on other machines, over TLS. Port 0 selects a free port.
    pub remote: Option<(SocketAddr, TlsFiles)>,
    /// Path of the Unix socket. `None` selects a default path.
    pub socket: Option<PathBuf>,
    /// Directory for the socket if the socket's path in the data root is too long. The usual value is
    /// `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// Version that the daemon reports.
    pub version: String,
    /// Handler of calls.
    pub answer: Answering,
    /// Handler of requests on upgraded connections.
    pub forward: Option<Arc<dyn Forward>>,
    /// True if the daemon handles signals: `SIGTERM` and `SIGINT` stop the daemon. `SIGHUP` reloads the daemon's
    /// certificate, or stops a daemon without a certificate. False if the daemon is a part of another process.
    pub signals: bool,
    /// True if the kernel should confine the daemon's writes to the data root and the directory of its socket.
    pub confined: bool,
    /// Limits on resources.
    pub limits: Limits,
}

impl ServeOptions {
    /// Returns default options: all teams of `root`, a free port, default limits, no signal handling, not confined.
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
