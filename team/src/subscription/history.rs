//! Compares a subscription with its log: a log that was cut, restored or replaced has another history.

use super::{Anchor, SubscriptionFiles, SubscriptionState};
use crate::operation::prelude::*;

/// Advice for a subscription that does not fit its log.
const HINT: &str = "delete the subscription, and create it again with --from SEQ, the last event that the consumer handled";

/// Returns the refusal of a subscription whose position is not an event of this log's history.
pub(crate) fn misfit(
    live: &Live,
    reader: &Reader,
    (name, state): (&str, &SubscriptionState),
) -> Result<Option<Refusal>> {
    let (position, head) = (state.kept.position, reader.head().last_seq);
    if position > head {
        let message = format!(
            "subscription {name} settled events up to {position}, but the log ends at {head}: the log was cut or restored"
        );
        let refusal = Refusal::new(Code::CursorAhead, message).field("name");
        let refusal = refusal.detail("position", position);
        return Ok(Some(refusal.detail("last_seq", head).hint(HINT)));
    }
    let Some(Anchor { seq, id }) = &state.kept.anchor else {
        return Ok(None);
    };
    let found = live.event(reader, *seq)?.map(|event| event.id);
    if found.is_some_and(|found| found.to_string() == *id) {
        return Ok(None);
    }
    let message = format!(
        "event {seq} of the log is not the event that subscription {name} settled: the log was replaced or cut"
    );
    let refusal = Refusal::new(Code::LogReplaced, message).field("name");
    let refusal = refusal.detail("name", name.to_owned()).detail("seq", *seq);
    Ok(Some(refusal.hint(HINT)))
}

impl Team {
    /// Refuses a subscription that does not fit the log.
    pub(super) fn check_history(&mut self, name: &str, state: &SubscriptionState) -> Result<()> {
        let misfit = self.query(|live, reader| misfit(live, reader, (name, state)))?;
        misfit.map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    /// Refuses a subscription by name, before it is locked.
    pub(super) fn check_history_of(&mut self, name: &str) -> Result<()> {
        match SubscriptionFiles::new(self).read(name)? {
            Some(state) => self.check_history(name, &state),
            None => Ok(()),
        }
    }
}
