//! Check `checkpoint`: compares the digest of the stored state with the digest of a state that is folded from the log.

use super::*;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let (found, fresh) = (borrowed(&seen.found)?, borrowed(&seen.fresh)?);
    if seen.sampled.is_some() {
        let summary = "the stored state ends with an event of the log";
        return Ok(Check::healthy(summary).details(json!({"covered": found.covered})));
    }
    let Some(stored) = &found.live else {
        let summary = "no state is stored yet; the next command folds the log";
        return Ok(Check::healthy(summary).details(json!({"covered": found.covered})));
    };
    let stored = stored.digest().map_err(error_text)?;
    let folded = fresh.digest().map_err(error_text)?;
    let check = match stored == folded {
        true => Check::healthy("the stored state agrees with the log"),
        false => {
            Check::unhealthy("the stored state disagrees with the log").recommend(seen.rehydrate())
        }
    };
    let covered = found.covered;
    let digests = json!({"covered": covered, "stored_digest": stored, "folded_digest": folded});
    Ok(check.details(digests))
}
