//! Queries of deliveries. Queries by due time are in `schedule.rs`.

use super::{DEAD_LETTERS, DELIVERY, Delivery};
use crate::prelude::*;

impl TeamState {
    /// Returns the delivery of a message, if one was required.
    pub fn delivery(&self, message_id: &str) -> Result<Option<Delivery>> {
        let delivery: Option<Delivery> =
            self.rows().get(&key_of(DELIVERY, message_id.as_bytes()))?;
        let message_id = message_id.to_owned();
        Ok(delivery.map(|delivery| Delivery {
            message_id,
            ..delivery
        }))
    }

    /// Returns the newest `limit` dead letters before event `before`, of one recipient or of all.
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
