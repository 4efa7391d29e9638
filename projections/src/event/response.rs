//! Stored responses: the first answer under each idempotency key. The key is a ref of the event.

use super::*;

events! {
    /// Events of stored responses.
    pub enum ResponseFact {
        /// The first answer under an idempotency key was stored.
        "response_stored" by "teamlog api create-task --key" => Stored(ResponseStored),
    }
}

/// `response_stored`: the first answer under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseStored {
    /// The authenticated agent that owns the key; absent if the key belongs to the team.
    pub agent: Option<String>,
    /// Name of the operation.
    pub operation: String,
    /// BLAKE3 of the request, as lower-case hex: the key is valid for this request only.
    pub request: String,
    /// Data of the answer, as JSON text; `None` if the data were too large to be stored, or could not be serialized.
    pub response: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    operation: String,
    request: String,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

impl Decode for ResponseStored {
    fn decode(text: &str) -> Decoded<ResponseStored> {
        let stored: Stored<'_> = read(text)?;
        Ok(ResponseStored {
            agent: stored.agent,
            operation: stored.operation,
            request: stored.request,
            response: stored.response.map(|raw| raw.get().to_owned()),
        })
    }
}

impl ResponseFact {
    /// Builds the event under `key`. An answer that does not fit into an event is left out.
    pub fn event(&self, actor: &str, key: &str) -> NewEvent {
        let ResponseFact::Stored(stored) = self;
        let response = stored.response.as_deref();
        let raw = response.and_then(|text| serde_json::from_str(text).ok());
        let of = |response| Stored {
            agent: stored.agent.clone(),
            operation: stored.operation.clone(),
            request: stored.request.clone(),
            response,
        };
        let payload = match Json::from_value(&of(raw)) {
            Ok(json) if json.as_str().len() <= RESPONSE_BYTES_MAX => json,
            _ => write(&of(None)),
        };
        event(self.kind(), actor, payload, [(RefKind::Key, Some(key))])
    }
}

/// Largest stored answer in bytes. The limit is smaller than the limit of an event, to leave room for the event's other fields.
const RESPONSE_BYTES_MAX: usize = teamlog_engine::limits::EVENT_BYTES_MAX - 4096;
