//! `export`: every event as its public JSON line; `import --events` reads it back without loss.

use super::replay::Replay;
use crate::failure::Result;
use crate::team::Team;
use std::ops::ControlFlow;

impl Team {
    /// Hands every event to `each` as its public JSON line (without newline), until it breaks. Returns how many.
    ///
    /// # Errors
    /// The log's.
    pub fn export(&mut self, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<u64> {
        self.replay(Replay::default(), &mut |_, line| each(line))
    }
}
