//! The checkpoint: the state that the derived store holds against one folded from the log alone, by their digests.

use super::scene::Scene;
use super::{Check, Health};

const NAME: &str = "checkpoint";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let (found, fresh) = match (&scene.found, &scene.fresh) {
        (Ok(found), Ok(fresh)) => (found, fresh),
        (Err(why), _) | (_, Err(why)) => return Check::not_made(NAME, why),
    };
    let Some(stored) = &found.live else {
        let summary = "next to nothing is stored; the next command folds the log";
        return Check::healthy(NAME, summary).detail("covered", found.covered);
    };
    let (stored, folded) = match (stored.digest(), fresh.digest()) {
        (Ok(stored), Ok(folded)) => (stored, folded),
        (Err(error), _) | (_, Err(error)) => return Check::not_made(NAME, &error.to_string()),
    };
    let check = match stored == folded {
        true => Check::healthy(NAME, "the stored state is what the log folds to"),
        false => Check::new(
            NAME,
            Health::Unhealthy,
            "the stored state is not what the log folds to",
        )
        .recommend(scene.rehydrate()),
    };
    check
        .detail("covered", found.covered)
        .detail("stored_digest", stored)
        .detail("folded_digest", folded)
}
