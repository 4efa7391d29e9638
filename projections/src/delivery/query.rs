//! Questions about deliveries. What is due by when is asked in `schedule.rs`.

use super::{ACKED, DEAD, DEAD_LETTERS, DELIVERY, Delivery, DeliveryRow, State};
use crate::live::SeqPage;
use crate::prelude::*;
use crate::team::settings::Policy;
use teamlog_engine::derived::key;

impl Live {
    /// The delivery of a message, if one was required.
    pub fn delivery(&self, message_id: &str) -> Result<Option<Delivery>> {
        let row: Option<DeliveryRow> = self.rows().get(&key_of(DELIVERY, message_id.as_bytes()))?;
        Ok(row.map(|row| Delivery {
            message_id: message_id.to_owned(),
            to: row.to,
            required: row.required,
            required_id: EventId::from_bytes(row.required_id),
            started_at: time(row.started),
            policy: Policy {
                ack_timeout_seconds: row.timeout,
                max_retries: row.retries,
            },
            attempt: row.attempt,
            state: match row.state {
                ACKED => State::Acked(row.closed),
                DEAD => State::Dead(row.closed),
                _ => State::Open,
            },
            dead_letter: row.dead_letter,
        }))
    }

    /// The newest `limit` dead letters before event `before`, of one recipient or of all.
    pub fn dead_letters(
        &self,
        agent: Option<&str>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<SeqPage> {
        let series = key::series(DEAD_LETTERS, agent.unwrap_or_default().as_bytes());
        self.rows().page(&series, before, limit)
    }
}
