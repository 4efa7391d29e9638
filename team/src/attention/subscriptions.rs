//! Attention items about subscriptions.

use super::{AttentionItem, AttentionKind, AttentionScan};
use crate::operation::prelude::*;
use crate::subscription::{SubscriptionFiles, SubscriptionState, misfit};

/// Finds subscriptions with events that were given up, and subscriptions that are damaged or do not fit the log.
pub(super) fn parked(look: &mut AttentionScan<'_>) -> Result<()> {
    let Some(log) = look.log else {
        return Ok(());
    };
    let files = SubscriptionFiles::below(log.storage().as_ref(), log.dir());
    for name in files.names()? {
        let misfit = match files.read(&name) {
            Ok(None) => continue,
            Ok(Some(state)) => {
                parked_in(look, &name, &state);
                misfit(look.live, look.reader, (&name, &state))?
            }
            Err(Failure::Refused(damaged)) => Some(damaged),
            Err(failed) => return Err(failed),
        };
        if let Some(Refusal { message, .. }) = misfit {
            let text = format!("subscription refused: {message}");
            let command = format!("teamlog subscription delete {} {name}", look.team);
            let kind = AttentionKind::SubscriptionRefused;
            look.items.push(AttentionItem::new(kind, text, command));
        }
    }
    Ok(())
}

fn parked_in(look: &mut AttentionScan<'_>, name: &str, state: &SubscriptionState) {
    let waiting = state.kept.parked.iter();
    let mut waiting = waiting.filter(|(_, parked)| !parked.replaying);
    let Some((seq, first)) = waiting.next() else {
        return;
    };
    let more = match waiting.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let error = shown(&first.error);
    let attempts = match first.attempts {
        1 => "1 attempt".to_owned(),
        attempts => format!("{attempts} attempts"),
    };
    let text = format!("events parked: {name} gave up event {seq} after {attempts}: {error}{more}");
    let command = format!("teamlog subscription show {} {name}", look.team);
    look.items.push(AttentionItem {
        task_id: first.task.clone(),
        seq: Some(*seq),
        since: Some(first.at),
        ..AttentionItem::new(AttentionKind::SubscriptionParked, text, command)
    });
}
