//! The log's last time beside the clock: the log's times never go back, so a clock that once ran ahead leaves its mark.

use super::*;

/// Clocks of machines that share a log differ, and events that come at once are stamped a microsecond apart.
pub(crate) const AHEAD_TOLERATED_MICROS: i64 = 1_000_000;

pub(super) fn check(seen: &Observed<'_>) -> Seen<Check> {
    let last = had(&seen.reader)?.head().last_id.map(|id| id.created_at());
    Ok(judge(last, seen.root.options().clock.now()))
}

fn judge(last: Option<Timestamp>, now: Timestamp) -> Check {
    let Some(last) = last else {
        return Check::healthy("the log has no events yet");
    };
    let ahead = last.micros() - now.micros();
    if ahead <= AHEAD_TOLERATED_MICROS {
        let check = Check::healthy("the last event does not lie in the future");
        return check.details(json!({"last_event_at": last.to_string()}));
    }
    let seconds = ahead / 1_000_000;
    let summary = format!(
        "the last event lies {seconds} s in the future, at {last}: a clock ran ahead then, or this one is behind. \
         Until the clock passes it, new events get times just after it; deadlines follow the clock"
    );
    let at = last.to_string();
    Check::warn(summary).details(json!({"last_event_at": at, "ahead_seconds": seconds}))
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn a_last_event_in_the_future_warns_and_says_by_how_much() {
        let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
        let ahead = |micros| judge(Some(now.plus_micros(micros)), now);
        assert_eq!(judge(None, now).status, Health::Healthy);
        assert_eq!(ahead(-5_000_000).status, Health::Healthy);
        assert_eq!(ahead(AHEAD_TOLERATED_MICROS).status, Health::Healthy);
        let found = ahead(3_600_000_000);
        assert_eq!(found.status, Health::Warn);
        assert_eq!(found.details["ahead_seconds"], 3600);
        assert!(
            found.summary.contains("lies 3600 s in the future"),
            "{found:?}"
        );
    }
}
