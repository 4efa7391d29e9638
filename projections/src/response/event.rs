//! First answers under an idempotency key.
//!
//! | kind | payload |
//! |---|---|
//! | `response_stored` | `{operation, request, response}`; the key is a ref of the event |

use crate::fact::event;
use crate::fact::stored::{Decoded, read};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use teamlog_engine::{Json, NewEvent, RefKind};

/// `response_stored`: what was answered first under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseStored {
    /// The operation that was asked for.
    pub operation: String,
    /// BLAKE3 of the request, as lower-case hex: the key stands for this request alone.
    pub request: String,
    /// The answer's data, as JSON text; `None` where it was too large to be stored.
    pub response: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    operation: String,
    request: String,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

pub(crate) fn parse(payload: &str) -> Decoded<ResponseStored> {
    let Stored {
        operation,
        request,
        response,
    } = read(payload)?;
    Ok(ResponseStored {
        operation,
        request,
        response: response.map(|raw| raw.get().to_owned()),
    })
}

impl ResponseStored {
    /// The event that records it under `key`. An answer that does not fit into an event is left out.
    pub fn event(&self, actor: &str, key: &str) -> NewEvent {
        let response = self.response.as_deref();
        let raw = response.and_then(|text| serde_json::from_str(text).ok());
        let stored = |response| Stored {
            operation: self.operation.clone(),
            request: self.request.clone(),
            response,
        };
        let payload = match Json::of(&stored(raw)) {
            Ok(json) if json.as_str().len() <= RESPONSE_BYTES_MAX => json,
            _ => crate::fact::stored::write(&stored(None)),
        };
        let mut event = event("response_stored", actor, payload);
        event.refs.set(RefKind::Key, key.to_owned());
        event
    }
}

/// Leaves room for the rest of the event.
const RESPONSE_BYTES_MAX: usize = teamlog_engine::limits::EVENT_BYTES_MAX - 4096;
