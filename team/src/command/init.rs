//! `init`: a team comes into the world, or gains members.

use serde::Serialize;
use teamlog_engine::Format;

/// What `init` is asked.
#[derive(Debug, Clone, Default)]
pub struct Init {
    /// The team's name.
    pub team: String,
    /// Its first members (or, for a team that exists, more of them).
    pub members: Vec<String>,
    /// How events are stored; `None` is `jsonl` for a new team and "as it is" for an old one.
    pub format: Option<Format>,
    /// Agents join by acting. A team without members is open whatever this says.
    pub open: bool,
    /// Do without view files.
    pub no_views: bool,
    /// Accept a network or host-shared file system.
    pub allow_network_fs: bool,
    /// Who does it; the `actor` of the events. Default `teamlog`.
    pub actor: Option<String>,
}

/// `{status:"ok", team, members}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InitAnswer {
    /// Always `ok`.
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// All members, sorted.
    pub members: Vec<String>,
    /// Whether the team is new.
    #[serde(skip)]
    pub created: bool,
    /// The members that this call added.
    #[serde(skip)]
    pub added: Vec<String>,
}
