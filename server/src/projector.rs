//! Projector: folds the scripted projections of all teams in the background, one after another, so that a reader finds them folded. The
//! scripts run on this thread alone, never on a thread that records events.

use crate::served::Served;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamlog_team::Result;

/// Interval of rounds over the teams. A round that takes longer is followed by a pause of its own length.
const EVERY: Duration = Duration::from_secs(1);
/// Number of events after which the projector turns to the next projection.
const EVENTS_MAX: u64 = 20_000;
/// Interval at which the projector looks for the end of the daemon.
const LOOK: Duration = Duration::from_millis(100);

/// Runs until the daemon stops.
pub(crate) fn run(served: &Arc<Served>) {
    let mut folded = BTreeMap::new();
    while !served.is_stopping() {
        let began = Instant::now();
        let names = served.names();
        folded.retain(|name, _| names.contains(name));
        let mut is_done = true;
        for name in names {
            if served.is_stopping() {
                return;
            }
            // After a failure, the next round tries again. A reader of the projection gets the error.
            match fold(served, &name, folded.get(&name).copied()) {
                Ok(Some(seq)) => {
                    folded.insert(name, seq);
                }
                Ok(None) => is_done = false,
                Err(_) => {}
            }
        }
        let length = began.elapsed();
        pause(served, if is_done { EVERY.max(length) } else { length });
    }
}

/// Folds the projections of a team, if the team has events after `before`. Returns the seq of the team's last event; `None` if events
/// are left.
fn fold(served: &Served, name: &str, before: Option<u64>) -> Result<Option<u64>> {
    let mut team = served.team(name)?;
    let seq = team.log().peek()?.head().last_seq;
    let is_left = before != Some(seq) && team.fold_projections(EVENTS_MAX)?;
    Ok((!is_left).then_some(seq))
}

fn pause(served: &Served, length: Duration) {
    let end = Instant::now() + length;
    while !served.is_stopping() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
