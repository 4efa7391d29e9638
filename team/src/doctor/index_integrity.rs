//! The index: every byte of the derived store checks, and a sample of events is where the index says and found by each of
//! its refs.

use super::scene::Scene;
use super::{Check, Health, findings};

const NAME: &str = "index_integrity";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let found = match &scene.found {
        Ok(found) => found,
        Err(why) => return Check::not_made(NAME, why),
    };
    if let Some(damage) = &found.damage {
        // What is damaged is noticed before it is used, so no answer is wrong; it costs time until it is mended.
        return Check::new(NAME, Health::Warn, damage.clone())
            .detail("runs", found.runs)
            .recommend(scene.rehydrate());
    }
    match &scene.audit {
        Ok(audit) => findings(NAME, &audit.index, "lookups of events", scene)
            .detail("runs", found.runs)
            .detail("covered", found.covered),
        Err(why) => Check::not_made(NAME, why),
    }
}
