//! The teams that the daemon serves.

use std::collections::BTreeSet;
use std::sync::RwLock;
use teamlog_team::{Result, Root, Team};

/// A data root whose teams stay open between calls, and the names of those that are served.
#[derive(Debug)]
pub struct Served {
    root: Root,
    teams: RwLock<BTreeSet<String>>,
}

impl Served {
    /// Serves no team yet.
    pub fn new(root: Root) -> Served {
        Served {
            root: root.resident(),
            teams: RwLock::default(),
        }
    }
    /// The root; its teams are resident.
    pub fn root(&self) -> &Root {
        &self.root
    }
    /// Opens a team: cheap, since what it needs stays in memory.
    ///
    /// # Errors
    /// As [`Root::team`].
    pub fn team(&self, name: &str) -> Result<Team> {
        self.root.team(name)
    }
}
