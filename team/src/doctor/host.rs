//! Checks of the host: its clock, the holder of the team's lock, its file system and its free space.

use super::*;
use crate::time::AHEAD_TOLERATED_MICROS;
use teamlog_engine::internals::layout::LOCK_FILE;
use teamlog_engine::storage::{FileSystemKind, LockError, Space};

/// Number of free bytes below which the check warns.
const FEW_BYTES: u64 = 1 << 30;
/// The check warns if less than 1/20 of the disk is free.
const FEW_PARTS: u64 = 20;

/// Compares the time of the last event with the clock. Times in a log never go back, so the last
/// time shows if a clock was ahead.
pub(super) fn clock(seen: &Observations<'_>) -> Observation<Check> {
    let last = borrowed(&seen.reader)?
        .head()
        .last_id
        .map(|id| id.created_at());
    Ok(judged_clock(last, seen.root.options().clock.now()))
}

fn judged_clock(last: Option<Timestamp>, now: Timestamp) -> Check {
    let Some(last) = last else {
        return Check::healthy("the log has no events yet");
    };
    let ahead = last.micros() - now.micros();
    if ahead <= AHEAD_TOLERATED_MICROS {
        let check = Check::healthy("the last event is not in the future");
        return check.details(json!({"last_event_at": last.to_string()}));
    }
    let seconds = ahead / 1_000_000;
    let summary = format!(
        "the last event is {seconds} s in the future, at {last}: a clock was ahead then, or this one is slow. \
         Until the clock passes that time, new events get times just after it; deadlines follow the clock"
    );
    let at = last.to_string();
    Check::warn(summary).details(json!({"last_event_at": at, "ahead_seconds": seconds}))
}

/// Tries to take the lock. If another process holds the lock, names that process.
pub(super) fn lock(seen: &Observations<'_>) -> Observation<Check> {
    let path = seen.dir.join(LOCK_FILE);
    let storage = seen.root.storage();
    // Checks that the lock file exists, because locking a missing file would create it.
    let there = storage.stat(&path).map_err(error_text)?;
    if there.is_none_or(|stat| stat.is_dir) {
        return Err("there is no lock file".to_owned());
    }
    let free = storage
        .lock(&path, Duration::ZERO)
        .and_then(|_file| storage.lock_dir(&seen.dir, Duration::ZERO).map(drop));
    Ok(match free {
        Ok(()) => Check::healthy("free"),
        Err(LockError::Busy(holder)) => {
            let check = match seen.check.daemon {
                Some(pid) if is_process(&holder, pid) => {
                    Check::healthy(format!("held by the daemon that serves the team, {holder}"))
                }
                _ => Check::warn(format!("held by {holder}; other writers wait for it")),
            };
            check.details(json!({"holder": holder}))
        }
        Err(LockError::Io(error)) => Check::warn(format!("cannot take the lock: {error}")),
    })
}

/// Returns true if the holder of a lock, such as `pid 42` or `pid 42 (teamlog serve)`, is the process `pid`.
fn is_process(holder: &str, pid: u32) -> bool {
    let rest = holder.strip_prefix(&format!("pid {pid}"));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Checks that the file system is local. On other file systems, a lock possibly does not exclude
/// other writers, and a sync possibly does not reach a disk.
pub(super) fn file_system(seen: &Observations<'_>) -> Observation<Check> {
    match seen.root.file_system() {
        None => Ok(Check::healthy("the data root is in memory")),
        Some(kind) => Ok(judged_file_system(&kind.map_err(error_text)?)),
    }
}

fn judged_file_system(kind: &FileSystemKind) -> Check {
    match kind {
        FileSystemKind::Local => Check::healthy("local").details(json!({"kind": "local"})),
        FileSystemKind::Network(name) => {
            let summary =
                format!("the data root is on {name}, where locks and syncs cannot be trusted");
            Check::unhealthy(summary).details(json!({"kind": name}))
        }
    }
}

/// Checks that the disk has free space for new events.
pub(super) fn disk_space(seen: &Observations<'_>) -> Observation<Check> {
    let Some(space) = seen.root.space() else {
        return Ok(Check::healthy("the data root is in memory"));
    };
    let segment = seen.root.options().segment_bytes_max;
    Ok(judged_space(space.map_err(error_text)?, segment))
}

fn judged_space(space: Space, segment: u64) -> Check {
    let mib = space.free >> 20;
    let (health, summary) = if space.free < segment {
        let segment = segment >> 20;
        let why = format!("only {mib} MiB are free, less than a segment of {segment} MiB");
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
    fn a_last_event_in_the_future_warns_and_says_by_how_much() {
        let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
        let ahead = |micros| judged_clock(Some(now.plus_micros(micros)), now);
        assert_eq!(judged_clock(None, now).status, Health::Healthy);
        assert_eq!(ahead(-5_000_000).status, Health::Healthy);
        assert_eq!(ahead(AHEAD_TOLERATED_MICROS).status, Health::Healthy);
        let found = ahead(3_600_000_000);
        assert_eq!(found.status, Health::Warn);
        assert_eq!(found.details["ahead_seconds"], 3600);
        assert!(
            found.summary.contains("is 3600 s in the future"),
            "{found:?}"
        );
    }

    #[test]
    fn a_holder_is_known_by_its_whole_pid() {
        for (holder, expected) in [
            ("pid 42", true),
            ("pid 42 (teamlog serve demo)", true),
            ("pid 421 (teamlog serve demo)", false),
            ("pid 4", false),
            ("an unknown process", false),
        ] {
            assert_eq!(is_process(holder, 42), expected, "{holder}");
        }
    }

    #[test]
    fn a_network_is_unhealthy() {
        assert_eq!(
            judged_file_system(&FileSystemKind::Local).status,
            Health::Healthy
        );
        let nfs = judged_file_system(&FileSystemKind::Network("nfs".into()));
        assert_eq!(nfs.status, Health::Unhealthy);
        assert!(nfs.summary.contains("nfs"));
    }

    #[test]
    fn little_room_warns_and_none_for_a_segment_is_unhealthy() {
        let (mib, gib) = (1 << 20, 1 << 30);
        let health = |free, total| judged_space(Space { free, total }, 64 * mib).status;
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
