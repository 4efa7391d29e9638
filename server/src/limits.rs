//! Limits of the daemon. Every limit is a field, so that tests can use milliseconds instead of seconds.

use std::time::Duration;
use teamlog_team::handle::past_folds::{PAST_FOLD_WAIT, PAST_FOLDS};

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $limit:ident: $type:ty = $default:expr;)*) => {
        /// Limits on the resources that one client or all clients together may use.
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
    /// Maximum number of open TCP connections. A further connection replaces an unauthenticated connection. If there is none, the further
    /// connection is refused with 503. The Unix socket has the same number of separate slots, so that TCP clients cannot block the command
    /// line.
    connections: usize = 512;
    /// Maximum number of refused connections that stay open briefly, so that the client can read the reason.
    turned_away: usize = 256;
    /// Maximum size of a request head in bytes.
    head_bytes: usize = 16 * 1024;
    /// Maximum number of headers of a request.
    headers: usize = 100;
    /// Maximum time from the first byte of a head, or from the start of the connection, to the end of the head.
    head_time: Duration = Duration::from_secs(5);
    /// Maximum size of a body in bytes.
    body_bytes: usize = 8 * 1024 * 1024;
    /// Maximum size in bytes of the bodies of all requests that are not answered yet.
    bodies_bytes: usize = 128 * 1024 * 1024;
    /// Maximum size in bytes of a body that needs no slot for large bodies.
    small_body_bytes: usize = 256 * 1024;
    /// Maximum number of concurrent large bodies. Answering a request with a large body needs several times its size.
    large_bodies: usize = 4;
    /// Maximum time that a large body waits for a slot. After this time, the request is refused with 503.
    large_body_wait: Duration = Duration::from_secs(5);
    /// Maximum time from the end of a head to the end of its body.
    body_time: Duration = Duration::from_secs(10);
    /// Maximum time in which a client accepts no byte of an answer.
    stall_time: Duration = Duration::from_secs(10);
    /// Maximum time that an idle connection stays open.
    idle_time: Duration = Duration::from_secs(30);
    /// Time for which the daemon still reads input after an answer that closes the connection, so that the answer arrives.
    linger_time: Duration = Duration::from_secs(2);
    /// Interval between heartbeats on an idle stream.
    heartbeat_time: Duration = Duration::from_secs(15);
    /// Number of threads that answer calls.
    workers: usize = 96;
    /// Maximum number of these threads per team. Further calls of the team wait.
    team_workers: usize = 64;
    /// Maximum number of calls that wait for a thread. A further call is refused with 503.
    queue: usize = 1024;
    /// Maximum number of calls that wait for an event, each on its own thread. A further call is refused with 503.
    waits: usize = 256;
    /// Maximum wait for an event.
    wait_time: Duration = Duration::from_secs(300);
    /// Maximum number of past states that are computed at one time, of all teams together.
    past_folds: usize = PAST_FOLDS;
    /// Maximum time that a read of a past state waits for its computation to start. After this time, the read is refused with 503.
    past_fold_wait: Duration = PAST_FOLD_WAIT;
    /// Maximum number of upgraded connections that run a command.
    upgraded: usize = 64;
    /// Maximum number of upgraded connections that wait for something outside of the daemon.
    upgraded_waits: usize = 256;
    /// Number of wrong tokens per second, of all clients together, above which answers to wrong tokens are delayed.
    guesses: u32 = 10;
    /// Delay of answers to wrong tokens.
    guess_delay: Duration = Duration::from_secs(1);
    /// Maximum average of calls per second of an agent's token. Also the maximum size of a burst.
    agent_calls: u32 = 200;
    /// Maximum number of concurrent commands of an agent's token.
    agent_connections: usize = 32;
    /// Time for which a one-time code is valid.
    code_time: Duration = Duration::from_secs(120);
    /// Maximum number of one-time codes. A further code replaces the oldest.
    codes: usize = 64;
    /// Time for which a page session is valid.
    page_session_time: Duration = Duration::from_secs(12 * 60 * 60);
    /// Maximum number of page sessions. A further session ends the oldest.
    page_sessions: usize = 256;
    /// Time that a stopping daemon waits for running work.
    drain_time: Duration = Duration::from_secs(10);
    /// Interval at which the daemon looks for new teams and records due events.
    tick_time: Duration = Duration::from_secs(1);
}

/// Files reserved for the daemon itself, for a few teams, and for answering.
const OWN_FILES: u64 = 40;
/// Minimum number of connections with which the daemon is useful.
const CONNECTIONS_MIN: u64 = 4;

impl Limits {
    /// Returns limits for a process that may open `files` files. Connections get only a part of the files, so that
    /// enough are left for answering calls.
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
