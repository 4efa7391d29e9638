//! First answers under idempotency keys.

pub mod event;

use crate::error::Result;
use crate::fact::Fact;
use crate::live::Live;
use crate::response::event::{ResponseFact, ResponseStored};
use crate::tx::{Projection, Recorded, Tx, key_of, row};
use teamlog_engine::RefKind;

/// By key.
const RESPONSE: u8 = 0x60;

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct ResponseRow {
    operation: String,
    request: String,
    response: Option<String>,
}
row!(ResponseRow);

/// The fold. The first answer under a key counts.
#[derive(Debug, Clone, Copy)]
pub struct ResponsesProjection;

impl Projection for ResponsesProjection {
    fn name(&self) -> &'static str {
        "responses"
    }
    fn version(&self) -> u32 {
        1
    }
    fn apply(&self, tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
        let Fact::Response(fact) = recorded.fact else {
            return Ok(());
        };
        let ResponseFact::Stored(stored) = &**fact;
        let Some(key) = recorded.event.refs.get(RefKind::Key) else {
            return Ok(());
        };
        let key = key_of(RESPONSE, key.as_bytes());
        if !tx.has(&key)? {
            let row = ResponseRow {
                operation: stored.operation.clone(),
                request: stored.request.clone(),
                response: stored.response.clone(),
            };
            tx.put(&key, &row);
        }
        Ok(())
    }
}

impl Live {
    /// The first answer under an idempotency key.
    pub fn response(&self, key: &str) -> Result<Option<ResponseStored>> {
        let row: Option<ResponseRow> = self.rows().get(&key_of(RESPONSE, key.as_bytes()))?;
        Ok(row.map(|row| ResponseStored {
            operation: row.operation,
            request: row.request,
            response: row.response,
        }))
    }
}
