//! Every reserved kind of event, in one table.

/// Where a kind comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seed {
    /// The team's own life: creation, members, settings.
    Team,
    /// The team-chat message protocol.
    TeamChat,
    /// The team mutation contract.
    TeamApi,
    /// The teamd protocol.
    Teamd,
    /// The mode contract.
    Modes,
    /// The bootstrap contract.
    Bootstrap,
    /// The log's own maintenance.
    Log,
}

/// One reserved kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The kind, snake_case and past tense.
    pub name: &'static str,
    /// Where it comes from.
    pub seed: Seed,
    /// The command that produces it, as a user types it.
    pub command: &'static str,
    /// Whether it may move state.
    pub moves: bool,
    /// What it says.
    pub doc: &'static str,
}

/// All reserved kinds, sorted by name.
pub const KINDS: &[Kind] = &[];

/// The reserved kind of that name; `None` for a foreign one.
pub fn find(name: &str) -> Option<&'static Kind> {
    let at = KINDS.binary_search_by(|kind| kind.name.cmp(name)).ok()?;
    KINDS.get(at)
}
