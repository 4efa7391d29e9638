//! Page sessions, which authenticate the page in a browser. The page never gets a token.
//!
//! The operator lets the daemon create a one-time code, and the page trades the code for a page session. Codes and sessions are
//! kept in memory as digests. Both end when the token of their team or root ends, because their `revoked` is a child of the
//! token's `revoked`.

use crate::caller::{Admitted, Caller, Credential, Reach, Scope};
use crate::limits::Limits;
use crate::token::{self, Digest};
use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use teamlog_team::engine::Timestamp;
use tokio_util::sync::CancellationToken;

/// Message for a missing or invalid one-time code.
pub(crate) const CODE_WANTED: &str = "this needs the header Authorization: Bearer CODE, with an unused one-time code; teamlog dashboard creates one";

/// The valid codes and page sessions. The oldest passes come first.
#[derive(Debug)]
pub(crate) struct PageSessions {
    limits: Limits,
    passes: Mutex<Passes>,
}

#[derive(Debug, Default)]
struct Passes {
    codes: VecDeque<Pass>,
    sessions: VecDeque<Pass>,
}

/// A code or a page session.
#[derive(Debug)]
struct Pass {
    digest: Digest,
    reach: Reach,
    scope: Scope,
    /// Expiry by the clock of the data root, and by the monotonic clock.
    until: (Timestamp, Instant),
    /// Canceled when the pass becomes invalid.
    revoked: CancellationToken,
}

/// A new code or page session, for the client that requested it.
#[derive(Debug)]
pub(crate) struct NewPageSession {
    /// The secret text that the client presents.
    pub secret: String,
    /// Time of expiry.
    pub until: Timestamp,
}

impl Pass {
    fn is_good(&self, now: Timestamp) -> bool {
        let (until, at_the_latest) = self.until;
        now < until && Instant::now() < at_the_latest && !self.revoked.is_cancelled()
    }
}

impl PageSessions {
    pub fn new(limits: Limits) -> PageSessions {
        PageSessions {
            limits,
            passes: Mutex::default(),
        }
    }

    /// Creates a code that ends when `token` ends.
    pub fn new_code(
        &self,
        reach: Reach,
        scope: Scope,
        token: &CancellationToken,
        now: Timestamp,
    ) -> io::Result<NewPageSession> {
        let secret = token::new()?;
        let code = Pass {
            digest: Digest::new(secret.as_bytes()),
            reach,
            scope,
            until: end(now, self.limits.code_time),
            revoked: token.child_token(),
        };
        let until = code.until.0;
        let mut passes = self.passes(now);
        keep(&mut passes.codes, code, self.limits.codes);
        Ok(NewPageSession { secret, until })
    }

    /// Returns the caller that the presented code authenticates.
    pub fn code(&self, presented: &Digest, now: Timestamp) -> Option<Admitted> {
        found(&self.passes(now).codes, presented, Credential::Code)
    }

    /// Trades a code for a page session. Returns `None` if the code is invalid. If two clients present one code, only the first
    /// gets a session.
    pub fn trade(&self, code: &Digest, now: Timestamp) -> io::Result<Option<NewPageSession>> {
        let secret = token::new()?;
        let mut passes = self.passes(now);
        let at = passes.codes.iter().position(|one| one.digest == *code);
        let Some(code) = at.and_then(|at| passes.codes.remove(at)) else {
            return Ok(None);
        };
        let session = Pass {
            digest: Digest::new(secret.as_bytes()),
            until: end(now, self.limits.page_session_time),
            ..code
        };
        let until = session.until.0;
        keep(&mut passes.sessions, session, self.limits.page_sessions);
        Ok(Some(NewPageSession { secret, until }))
    }

    /// Returns the caller that the presented page session authenticates.
    pub fn session(&self, presented: &Digest, now: Timestamp) -> Option<Admitted> {
        found(
            &self.passes(now).sessions,
            presented,
            Credential::PageSession,
        )
    }

    /// Ends a page session and all connections that use it.
    pub fn end(&self, session: &Digest, now: Timestamp) {
        let mut passes = self.passes(now);
        passes.sessions.retain(|one| {
            let kept = one.digest != *session;
            if !kept {
                one.revoked.cancel();
            }
            kept
        });
    }

    /// Removes expired passes and ends all connections that use them.
    pub fn expire(&self, now: Timestamp) {
        drop(self.passes(now));
    }

    /// Returns the valid passes.
    fn passes(&self, now: Timestamp) -> MutexGuard<'_, Passes> {
        let mut passes = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
        let Passes { codes, sessions } = &mut *passes;
        for kept in [codes, sessions] {
            kept.retain(|pass| {
                let good = pass.is_good(now);
                if !good {
                    pass.revoked.cancel();
                }
                good
            });
        }
        passes
    }
}

fn end(now: Timestamp, within: Duration) -> (Timestamp, Instant) {
    let micros = i64::try_from(within.as_micros()).unwrap_or(i64::MAX);
    (now.plus_micros(micros), Instant::now() + within)
}

/// Returns the pass with this digest. Compares all passes, so that the duration of the search reveals nothing about a
/// valid digest.
fn found(
    passes: &VecDeque<Pass>,
    presented: &Digest,
    credential: fn(Digest) -> Credential,
) -> Option<Admitted> {
    let mut found = None;
    for pass in passes {
        if pass.digest == *presented {
            found = Some(pass);
        }
    }
    let pass = found?;
    let caller = Caller {
        reach: pass.reach.clone(),
        scope: pass.scope,
        credential: credential(pass.digest),
        until: Some(pass.until.0),
        agent: None,
    };
    Some(Admitted::new(caller, pass.revoked.clone()))
}

/// Adds a pass. Removes the oldest pass if there are more than `most`.
fn keep(passes: &mut VecDeque<Pass>, pass: Pass, most: usize) {
    while passes.len() >= most.max(1) {
        if let Some(oldest) = passes.pop_front() {
            oldest.revoked.cancel();
        }
    }
    passes.push_back(pass);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few() -> PageSessions {
        PageSessions::new(Limits {
            codes: 2,
            page_sessions: 2,
            ..Limits::default()
        })
    }

    fn start() -> Timestamp {
        Timestamp::parse("2026-11-25T12:00:00.000000Z").unwrap()
    }

    fn later(seconds: i64) -> Timestamp {
        start().plus_micros(seconds * 1_000_000)
    }

    fn digest(made: &NewPageSession) -> Digest {
        Digest::new(made.secret.as_bytes())
    }

    fn code(sessions: &PageSessions, token: &CancellationToken) -> Digest {
        let reach = Reach::Team("demo".to_owned());
        let made = sessions.new_code(reach, Scope::Read, token, start());
        digest(&made.unwrap())
    }

    #[test]
    fn a_code_is_good_once_and_for_a_time_and_never_as_a_session() {
        let (sessions, token) = (few(), CancellationToken::new());
        let first = code(&sessions, &token);
        assert!(sessions.session(&first, start()).is_none());
        let made = sessions.trade(&first, later(119)).unwrap().unwrap();
        assert!(sessions.trade(&first, later(119)).unwrap().is_none());
        assert!(sessions.code(&first, later(119)).is_none());
        let Admitted { caller, .. } = sessions.session(&digest(&made), later(119)).unwrap();
        assert_eq!(caller.reach.team(), Some("demo"));
        assert_eq!(caller.scope, Scope::Read);
        assert!(sessions.code(&digest(&made), later(119)).is_none());
        let late = code(&sessions, &token);
        assert!(sessions.trade(&late, later(120)).unwrap().is_none());
    }

    #[test]
    fn a_session_ends_after_its_time_by_its_page_and_with_its_token() {
        let (sessions, token) = (few(), CancellationToken::new());
        let session = |sessions: &PageSessions| {
            let code = code(sessions, &token);
            digest(&sessions.trade(&code, start()).unwrap().unwrap())
        };
        let first = session(&sessions);
        let twelve_hours = 12 * 60 * 60;
        let Admitted { revoked, .. } = sessions.session(&first, later(twelve_hours - 1)).unwrap();
        assert!(!revoked.is_cancelled());
        sessions.expire(later(twelve_hours));
        assert!(revoked.is_cancelled());
        assert!(sessions.session(&first, start()).is_none());

        let second = session(&sessions);
        let Admitted { revoked, .. } = sessions.session(&second, start()).unwrap();
        sessions.end(&second, start());
        assert!(revoked.is_cancelled());
        assert!(sessions.session(&second, start()).is_none());

        let third = session(&sessions);
        let left = code(&sessions, &token);
        assert!(!token.is_cancelled());
        token.cancel();
        assert!(sessions.session(&third, start()).is_none());
        assert!(sessions.trade(&left, start()).unwrap().is_none());
    }

    #[test]
    fn where_one_more_is_too_many_the_oldest_goes() {
        let (sessions, token) = (few(), CancellationToken::new());
        let codes: Vec<Digest> = (0..3).map(|_| code(&sessions, &token)).collect();
        let good = |code: &Digest| sessions.code(code, start()).is_some();
        assert_eq!(
            codes.iter().map(good).collect::<Vec<_>>(),
            [false, true, true]
        );
        let mut made = Vec::new();
        for _ in 0..3 {
            let code = code(&sessions, &token);
            made.push(digest(&sessions.trade(&code, start()).unwrap().unwrap()));
        }
        let good = |session: &Digest| sessions.session(session, start()).is_some();
        assert_eq!(
            made.iter().map(good).collect::<Vec<_>>(),
            [false, true, true]
        );
    }
}
