//! Attention items about subscriptions.

use super::{AttentionItem, AttentionKind, AttentionScan};
use crate::operation::prelude::*;
use crate::subscription::SubscriptionFiles;

/// Finds subscriptions with events that were given up. A subscription that cannot be read has its own check in `doctor`.
pub(super) fn parked(look: &mut AttentionScan<'_>) -> Result<()> {
    let Some(log) = look.log else {
        return Ok(());
    };
    let files = SubscriptionFiles::below(log.storage().as_ref(), log.dir());
    for name in files.names()? {
        let Some(state) = files.read(&name).ok().flatten() else {
            continue;
        };
        let waiting = state.kept.parked.iter();
        let mut waiting = waiting.filter(|(_, parked)| !parked.replaying);
        let Some((seq, first)) = waiting.next() else {
            continue;
        };
        let more = match waiting.count() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let (attempts, error) = (first.attempts, shown(&first.error));
        let text = format!(
            "events parked: {name} gave up event {seq} after {attempts} attempts: {error}{more}"
        );
        let command = format!("teamlog subscription show {} {name}", look.team);
        look.items.push(AttentionItem {
            task_id: first.task.clone(),
            seq: Some(*seq),
            since: Some(first.at),
            ..AttentionItem::new(AttentionKind::SubscriptionParked, text, command)
        });
    }
    Ok(())
}
