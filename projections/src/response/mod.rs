//! Stored responses: the first answer under each idempotency key.

pub use crate::event::response as event;

use crate::event::response::{ResponseFact, ResponseStored};
use crate::prelude::*;

/// Namespace of responses. The key is the team's idempotency key, or an agent's name, a zero byte and the agent's key.
const RESPONSE: u8 = 0x60;

/// The first answer under a key.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct FirstAnswer {
    /// Name of the operation.
    pub operation: String,
    /// Actor of the request.
    pub actor: String,
    /// BLAKE3 of the request, as lower-case hex: the key is valid for this request only.
    pub request: String,
    /// Data of the answer, as JSON text; `None` if the data were too large to be stored.
    pub response: Option<String>,
}

row!(FirstAnswer);

/// Folds an event. The first answer under a key counts.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Response(fact) = recorded.fact else {
        return Ok(());
    };
    let ResponseFact::Stored(stored) = &**fact;
    let Some(key) = recorded.event.refs.get(RefKind::Key) else {
        return Ok(());
    };
    let key = row_key(stored.agent.as_deref(), key);
    if !tx.has(&key)? {
        let ResponseStored {
            operation,
            request,
            response,
            ..
        } = stored.clone();
        let first = FirstAnswer {
            operation,
            actor: recorded.event.actor.to_string(),
            request,
            response,
        };
        tx.put(&key, &first);
    }
    Ok(())
}

/// Returns the key of a response's row. Neither names nor keys contain a zero byte, so an agent's key never equals a key of the
/// team.
fn row_key(agent: Option<&str>, key: &str) -> Vec<u8> {
    match agent {
        Some(agent) => key_of(RESPONSE, format!("{agent}\0{key}").as_bytes()),
        None => key_of(RESPONSE, key.as_bytes()),
    }
}

impl TeamState {
    /// Returns the first answer under an idempotency key of an authenticated agent, or of the team.
    pub fn response(&self, agent: Option<&str>, key: &str) -> Result<Option<FirstAnswer>> {
        self.rows().get(&row_key(agent, key))
    }

    /// Returns the event with the answer under a key. Searches the events of the key from the newest event, which usually has the
    /// answer.
    pub fn response_event(
        &self,
        reader: &Reader,
        agent: Option<&str>,
        key: &str,
    ) -> Result<Option<Event<'static>>> {
        let mut before = None;
        loop {
            let page = self.with_ref(RefKind::Key, key, before, PAGE)?;
            for seq in page.seqs.iter().rev() {
                if let Some(event) = self.event(reader, *seq)?
                    && is_answer(&event, agent)
                {
                    return Ok(Some(event));
                }
            }
            before = page.seqs.first().copied();
            if !page.older {
                return Ok(None);
            }
        }
    }
}

/// Events of a key that are read at a time.
const PAGE: usize = 8;

fn is_answer(event: &Event<'_>, agent: Option<&str>) -> bool {
    match (event.foreign, Fact::decode(event)) {
        (false, Ok(Fact::Response(fact))) => {
            let ResponseFact::Stored(stored) = &*fact;
            stored.agent.as_deref() == agent
        }
        _ => false,
    }
}
