//! What the daemon is started with.

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

/// What the daemon is started with.
#[derive(Clone)]
pub struct ServeOptions {
    /// The data root, which must exist.
    pub root: PathBuf,
    /// How it is opened.
    pub root_options: RootOptions,
    /// The teams that are served; all, also those that are still to come, where none is named.
    pub teams: Vec<String>,
    /// Where TCP is listened on: an address of the loopback; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where agents on other machines are listened to, over TLS; port 0 takes a free one.
    pub remote: Option<(SocketAddr, TlsFiles)>,
    /// Where the Unix socket is put; `None` chooses a place.
    pub socket: Option<PathBuf>,
    /// Where the socket is put if its path beneath the root would be too long for one: `XDG_RUNTIME_DIR`.
    pub runtime_dir: Option<PathBuf>,
    /// The version that is told.
    pub version: String,
    /// What calls are answered with.
    pub answer: Answering,
    /// Answers the requests that come on upgraded connections.
    pub forward: Option<Arc<dyn Forward>>,
    /// Handles signals: `SIGTERM` and `SIGINT` stop the daemon, `SIGHUP` loads its certificate again (or stops a daemon
    /// without one). Off if the daemon is part of another process.
    pub signals: bool,
    /// Whether the daemon may write beneath the data root and next to its socket only, where the kernel can see to it.
    pub confined: bool,
    /// See [`Limits`].
    pub limits: Limits,
}

impl ServeOptions {
    /// Every team of `root` on a free port, with the limits of a daemon, without signals, unconfined.
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
