//! Answers of a daemon whose log is damaged.

use super::stand::{Stand, TEAM};
use crate::client::{Heard, until};
use crate::segment::{self, flip};
use std::path::PathBuf;

fn segment(stand: &Stand) -> PathBuf {
    segment::of(stand.dir.path(), TEAM)
}

fn create(stand: &Stand) -> Heard {
    stand.with_token("POST", "/v1/tasks", r#"{"title":"one"}"#)
}

/// Waits until the daemon is ready (status 200) or reports a damaged log.
#[track_caller]
fn until_ready(stand: &Stand, status: u16) -> String {
    let mut told = String::new();
    until("it is told", || {
        let heard = stand.with_token("GET", "/readyz", "");
        // A starting daemon is not ready, but reports no damage.
        let is_told = heard.status == status && (status == 200 || heard.body.contains("damaged"));
        told = heard.body;
        is_told
    });
    told
}

#[test]
fn damage_in_the_past_is_told_once_somebody_met_it_and_not_when_it_is_mended() {
    let stand = Stand::new();
    for _ in 0..20 {
        create(&stand).is(201);
    }
    until_ready(&stand, 200);
    let at = flip(&segment(&stand));
    stand.with_token("GET", "/v1/events?after=0", "").is(503);
    let told = until_ready(&stand, 503);
    assert!(
        told.contains("damaged") && told.contains(".jsonl"),
        "{told}"
    );
    // Recording still works while old events are damaged.
    create(&stand).is(201);
    segment::flip_at(&segment(&stand), at);
    until_ready(&stand, 200);
}

#[test]
fn a_damaged_log_is_told_of_by_the_next_daemon_before_anybody_reads_it() {
    let stand = Stand::new();
    for _ in 0..20 {
        create(&stand).is(201);
    }
    let path = segment(&stand);
    let stand = stand.restarted_after(|| {
        flip(&path);
    });
    until_ready(&stand, 503);
}

#[test]
fn nothing_is_acknowledged_into_a_segment_that_was_taken_away_or_cut() {
    let harms: [fn(&PathBuf); 3] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| {
            let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            let len = file.metadata().unwrap().len();
            file.set_len(len - 100).unwrap();
        },
        |path| {
            let other = path.with_extension("other");
            std::fs::copy(path, &other).unwrap();
            std::fs::rename(other, path).unwrap();
        },
    ];
    for (number, harm) in harms.iter().enumerate() {
        let stand = Stand::new();
        for _ in 0..3 {
            create(&stand).is(201);
        }
        harm(&segment(&stand));
        create(&stand).refused(503, "damaged");
        match number {
            // The segment now has another inode and equal bytes. This file is still the log, so the daemon opens it
            // again.
            2 => {
                create(&stand).is(201);
                until_ready(&stand, 200);
            }
            _ => {
                create(&stand).is(503);
                until_ready(&stand, 503);
            }
        }
    }
}
