//! The limits of the daemon. Every limit is a field, so that tests can wait milliseconds where the daemon waits
//! seconds.

use std::time::Duration;
use teamlog_team::handle::past_folds::{PAST_FOLD_WAIT, PAST_FOLDS};

/// Declares the limits with their defaults.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $limit:ident: $type:ty = $default:expr;)*) => {
        /// Limits on the resources that one client, or all clients, may use.
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
    /// Open TCP connections. A further one replaces an unauthenticated one; if there is none, it is answered 503 at
    /// once. The Unix socket has as many of its own, so that TCP clients cannot block the command line.
    connections: usize = 512;
    /// Refused connections that are kept open for a moment, so that the client can read the reason.
    turned_away: usize = 256;
    /// Bytes of a request's head.
    head_bytes: usize = 16 * 1024;
    /// Headers of a request.
    headers: usize = 100;
    /// Time from the first byte of a head, or from the connection's start, to the head's end.
    head_time: Duration = Duration::from_secs(5);
    /// Bytes of a body.
    body_bytes: usize = 8 * 1024 * 1024;
    /// Bytes of all bodies of requests that are not answered yet.
    bodies_bytes: usize = 128 * 1024 * 1024;
    /// Largest body that needs no slot for large bodies.
    small_body_bytes: usize = 256 * 1024;
    /// Concurrent large bodies: answering one needs several times its size.
    large_bodies: usize = 4;
    /// Time that a large body waits for a slot before it is answered 503.
    large_body_wait: Duration = Duration::from_secs(5);
    /// Time from the end of a head to the end of its body.
    body_time: Duration = Duration::from_secs(10);
    /// Time for which a client may accept nothing of an answer.
    stall_time: Duration = Duration::from_secs(10);
    /// Time for which an idle connection is kept open.
    idle_time: Duration = Duration::from_secs(30);
    /// Time for which input is still read after an answer that closes the connection, so that the answer arrives.
    linger_time: Duration = Duration::from_secs(2);
    /// Interval of heartbeats on an idle stream.
    heartbeat_time: Duration = Duration::from_secs(15);
    /// Threads that answer calls.
    workers: usize = 96;
    /// Threads of one team; its other calls wait.
    team_workers: usize = 64;
    /// Calls that wait for a thread; a further one is answered 503.
    queue: usize = 1024;
    /// Calls that wait for an event, each on a thread of its own; a further one is answered 503.
    waits: usize = 256;
    /// Longest wait of such a call.
    wait_time: Duration = Duration::from_secs(300);
    /// Past states folded at a time, of all teams together.
    past_folds: usize = PAST_FOLDS;
    /// Time that a question about the past waits for a fold before it is answered 503.
    past_fold_wait: Duration = PAST_FOLD_WAIT;
    /// Upgraded connections that work.
    upgraded: usize = 64;
    /// Further upgraded connections that wait for something outside of the daemon.
    upgraded_waits: usize = 256;
    /// Wrong tokens per second, of all clients together, after which answers to wrong tokens are delayed.
    guesses: u32 = 10;
    /// Delay of these answers.
    guess_delay: Duration = Duration::from_secs(1);
    /// Average calls per second of an agent's token; also the size of a burst.
    agent_calls: u32 = 200;
    /// Concurrent commands of an agent's token.
    agent_connections: usize = 32;
    /// Validity of a one-time code.
    code_time: Duration = Duration::from_secs(120);
    /// Stored one-time codes; a further one removes the oldest.
    codes: usize = 64;
    /// Validity of a page session.
    page_session_time: Duration = Duration::from_secs(12 * 60 * 60);
    /// Stored page sessions; a further one ends the oldest.
    page_sessions: usize = 256;
    /// Time that a stop waits for running work.
    drain_time: Duration = Duration::from_secs(10);
    /// Interval of searching new teams and recording due events.
    tick_time: Duration = Duration::from_secs(1);
}

/// Files reserved for the daemon: its own, those of a few teams, and some for answering.
const OWN_FILES: u64 = 40;
/// Least number of connections with which the daemon is useful.
const CONNECTIONS_MIN: u64 = 4;

impl Limits {
    /// Returns the limits for a process that may open `files` files. Connections get only a part of them, so that calls
    /// can be answered.
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
