//! What a fold sees of the state, and how it changes it.

use crate::error::Result;
use crate::fact::Fact;
use std::collections::BTreeMap;
use teamlog_engine::Event;
use teamlog_engine::derived::Store;

/// An event with what it says.
#[derive(Debug, Clone)]
pub struct Recorded<'a> {
    /// The event.
    pub event: Event<'a>,
    /// What it says.
    pub fact: Fact,
}

/// Changes that no run holds yet: key to new value, or `None` where the key is deleted.
#[derive(Debug, Clone, Default)]
pub struct Overlay(BTreeMap<Vec<u8>, Option<Vec<u8>>>);

/// Ordered reads and writes of one fold: an overlay over the derived store.
pub struct Tx<'a> {
    overlay: &'a mut Overlay,
    store: &'a Store,
}

/// A deterministic fold over the events of a team.
pub trait Projection: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Raised whenever the same events would give other entries.
    fn version(&self) -> u32;
    /// Folds one event. Pure: reads and writes nothing but its own keys of `tx`.
    ///
    /// # Errors
    /// `Undecodable`, or what the store answers.
    fn apply(&self, tx: &mut Tx<'_>, recorded: &Recorded<'_>) -> Result<()>;
}
