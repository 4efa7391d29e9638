//! The disk: room for what comes next.

use super::*;
use teamlog_engine::storage::Space;

/// Less is worth a look.
const FEW_BYTES: u64 = 1 << 30;
/// So is less than one part in so many.
const FEW_PARTS: u64 = 20;

pub(super) fn check(seen: &Observed<'_>) -> Seen<Check> {
    let Some(space) = seen.root.space() else {
        return Ok(Check::healthy("the data root lies in memory"));
    };
    let segment = seen.root.options().segment_bytes_max;
    Ok(judge(space.map_err(said)?, segment))
}

fn judge(space: Space, segment: u64) -> Check {
    let mib = space.free >> 20;
    let (health, summary) = if space.free < segment {
        let segment = segment >> 20;
        let why = format!("{mib} MiB are free: a segment of {segment} MiB would not fit");
        (Health::Unhealthy, why)
    } else if space.free < FEW_BYTES || space.free < space.total / FEW_PARTS {
        (Health::Warn, format!("only {mib} MiB are free"))
    } else {
        (Health::Healthy, format!("{mib} MiB are free"))
    };
    let details = json!({"free_bytes": space.free, "total_bytes": space.total});
    Check::new(health, summary).details(details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_room_warns_and_none_for_a_segment_is_unhealthy() {
        let (mib, gib) = (1 << 20, 1 << 30);
        let health = |free, total| judge(Space { free, total }, 64 * mib).status;
        assert_eq!(health(2 * gib, 30 * gib), Health::Healthy);
        assert_eq!(
            health(2 * gib, 41 * gib),
            Health::Warn,
            "under one part in twenty"
        );
        assert_eq!(health(gib - 1, 10 * gib), Health::Warn, "under 1 GiB");
        assert_eq!(health(gib, 10 * gib), Health::Healthy);
        assert_eq!(health(64 * mib, gib), Health::Warn);
        assert_eq!(health(64 * mib - 1, gib), Health::Unhealthy);
    }
}
