//! First answers under idempotency keys.

pub mod event;

use crate::prelude::*;
use crate::response::event::{ResponseFact, ResponseStored};

/// By key.
const RESPONSE: u8 = 0x60;

row!(ResponseStored);

/// The fold. The first answer under a key counts.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Response(fact) = recorded.fact else {
        return Ok(());
    };
    let ResponseFact::Stored(stored) = &**fact;
    let Some(key) = recorded.event.refs.get(RefKind::Key) else {
        return Ok(());
    };
    let key = key_of(RESPONSE, key.as_bytes());
    if !tx.has(&key)? {
        tx.put(&key, stored);
    }
    Ok(())
}

impl TeamState {
    /// The first answer under an idempotency key.
    pub fn response(&self, key: &str) -> Result<Option<ResponseStored>> {
        self.rows().get(&key_of(RESPONSE, key.as_bytes()))
    }
}
