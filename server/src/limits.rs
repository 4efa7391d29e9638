//! The limits of the daemon. Every limit is a field, so that a test waits milliseconds where the daemon waits seconds.

use std::time::Duration;
use teamlog_team::handle::past_folds::{PAST_FOLD_WAIT, PAST_FOLDS};

/// The limits, each with what it is by default.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $limit:ident: $type:ty = $default:expr;)*) => {
        /// What one client, or all of them, may take of the daemon.
        #[derive(Debug, Clone)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $limit: $type,)*
        }

        impl Default for Limits {
            fn default() -> Limits {
                Limits { $($limit: $default,)* }
            }
        }
    };
}

limits! {
    /// Open TCP connections. One more takes the place of one that never showed a token; where there is none, it is
    /// answered 503 at once. As many again may be open on the Unix socket, so that nobody who reaches the port can shut
    /// out the command line.
    connections: usize = 512;
    /// Connections that are turned away and still listened to for a moment, so that they can read why.
    turned_away: usize = 256;
    /// Bytes of a request's head.
    head_bytes: usize = 16 * 1024;
    /// Headers of a request.
    headers: usize = 100;
    /// From the first byte of a head, or from the connection's begin, to the head's end.
    head_time: Duration = Duration::from_secs(5);
    /// Bytes of a body.
    body_bytes: usize = 8 * 1024 * 1024;
    /// Bytes of all bodies that wait for their answer.
    bodies_bytes: usize = 128 * 1024 * 1024;
    /// Bytes of a body up to which it takes no slot of a large one.
    small_body_bytes: usize = 256 * 1024;
    /// Larger bodies that are read, or wait for their answer, at a time: what is made of one takes several times its bytes.
    large_bodies: usize = 4;
    /// How long one more waits for its turn before it is answered 503.
    large_body_wait: Duration = Duration::from_secs(5);
    /// From the end of a head to that of its body.
    body_time: Duration = Duration::from_secs(10);
    /// How long a client may take nothing of an answer that waits for it.
    stall_time: Duration = Duration::from_secs(10);
    /// How long a connection is kept open between two requests.
    idle_time: Duration = Duration::from_secs(30);
    /// How long a closed connection is read to its end, so that what was answered still arrives.
    linger_time: Duration = Duration::from_secs(2);
    /// How often a stream that has nothing to tell shows that it is alive.
    heartbeat_time: Duration = Duration::from_secs(15);
    /// Threads that answer calls.
    workers: usize = 96;
    /// How many of them one team may have at a time; its other calls wait for their turn.
    team_workers: usize = 64;
    /// Calls that wait for one of them; one more is answered 503.
    queue: usize = 1024;
    /// Calls that wait for something to happen, each on a thread of its own; one more is answered 503.
    waits: usize = 256;
    /// How long one of them may wait.
    wait_time: Duration = Duration::from_secs(300);
    /// States of the past that are folded at a time, all teams together.
    past_folds: usize = PAST_FOLDS;
    /// How long a question about the past waits for one of them to end; then it is answered 503.
    past_fold_wait: Duration = PAST_FOLD_WAIT;
    /// Upgraded connections at a time that work.
    upgraded: usize = 64;
    /// Those that wait for something outside of the daemon, beside them.
    upgraded_waits: usize = 256;
    /// Wrong tokens in a second, all clients together, before the next answers to wrong tokens are delayed.
    guesses: u32 = 10;
    /// By how much they are.
    guess_delay: Duration = Duration::from_secs(1);
    /// Calls in a second that the token of an agent may make, in the mean; as many again at once after a rest.
    agent_calls: u32 = 200;
    /// Commands that the token of an agent may have carried out at a time.
    agent_connections: usize = 32;
    /// How long a one-time code of the page is good.
    code_time: Duration = Duration::from_secs(120);
    /// One-time codes that are kept; with one more the oldest goes.
    codes: usize = 64;
    /// How long a page session lasts.
    page_session_time: Duration = Duration::from_secs(12 * 60 * 60);
    /// Page sessions that are kept; with one more the oldest ends.
    page_sessions: usize = 256;
    /// How long a stop waits for what runs.
    drain_time: Duration = Duration::from_secs(10);
    /// How often new teams are looked for and what is due is recorded.
    tick_time: Duration = Duration::from_secs(1);
}

/// Open files that the daemon keeps for itself: its own, those of a few teams, and some for who answers.
const OWN_FILES: u64 = 40;
/// Fewer connections are of no use to anybody.
const CONNECTIONS_MIN: u64 = 4;

impl Limits {
    /// The same for a process that may have so many files open. Whoever connects takes a part of them only, so that
    /// those who are let in are answered.
    #[must_use]
    pub fn within(self, files: u64) -> Limits {
        let left = files.saturating_sub(OWN_FILES);
        let share = |limit: usize, parts: u64, least: u64| {
            let share = usize::try_from((left / parts).max(least));
            share.map_or(limit, |share| limit.min(share))
        };
        Limits {
            connections: share(self.connections, 4, CONNECTIONS_MIN),
            turned_away: share(self.turned_away, 16, 1),
            workers: share(self.workers, 8, 2),
            team_workers: share(self.team_workers, 8, 2),
            waits: share(self.waits, 8, 1),
            upgraded: share(self.upgraded, 8, 2),
            upgraded_waits: share(self.upgraded_waits, 8, 1),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_connects_takes_a_part_of_the_open_files_only() {
        let of = |files| {
            let limits = Limits::default().within(files);
            let Limits {
                connections,
                turned_away,
                workers,
                waits,
                upgraded,
                ..
            } = limits;
            (connections, turned_away, workers, waits, upgraded)
        };
        assert_eq!(of(0), (4, 1, 2, 1, 2));
        assert_eq!(of(64), (6, 1, 3, 3, 3));
        assert_eq!(of(1024), (246, 61, 96, 123, 64));
        assert_eq!(of(4096), (512, 253, 96, 256, 64));
        assert_eq!(of(u64::MAX), (512, 256, 96, 256, 64));
    }
}
