//! What is recorded behind an answer that nobody shall wait for: best effort, in silence, within a moment.

use super::Context;
use crate::call::{Call, Who};
use crate::forward::Repeat;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use teamlog_team::resource::refused::RefusedWrites;

/// How long it waits for a lock that somebody else has.
const LOCK_DEADLINE: Duration = Duration::from_millis(50);
/// How long it waits for a daemon.
const DAEMON_DEADLINE: Duration = Duration::from_millis(200);

impl Context {
    /// Puts off the record of what the guard refused until its answer is out.
    pub fn put_off(&mut self, team: &str, refused: RefusedWrites) {
        self.afterwards = Some((team.to_owned(), refused));
    }

    /// Records what was put off. Nothing that goes wrong with that is anybody's concern.
    pub fn afterwards(&mut self) {
        let Some((team, refused)) = self.afterwards.take() else {
            return;
        };
        let before = panic::take_hook();
        panic::set_hook(Box::new(|_| {}));
        let _ = panic::catch_unwind(AssertUnwindSafe(|| self.record(&team, refused)));
        panic::set_hook(before);
    }

    fn record(&mut self, team: &str, refused: RefusedWrites) {
        if !self.is_remote && self.data_root().is_err() {
            return;
        }
        self.options.lock_deadline = LOCK_DEADLINE;
        // Without an actor: the guard records it.
        let who = Who {
            actor: None,
            user: String::new(),
            ..self.who()
        };
        let (told, hear) = mpsc::sync_channel(1);
        let (client, name) = (self.client(self.remote().ok().flatten()), team.to_owned());
        let (input, asks) = (refused.clone(), who.clone());
        // A daemon that hangs is left to itself: the thread ends with the process.
        let asked = thread::Builder::new().spawn(move || {
            let call = Call::<RefusedWrites, _>::operation();
            let asked = call.sent(&input, |sent| client.call(sent, &name, &asks, Repeat::Same));
            let _ = told.send(matches!(asked, Ok((None, _))));
        });
        let nobody = asked.is_ok() && hear.recv_timeout(DAEMON_DEADLINE) == Ok(true);
        let Some(root) = self.data().ok().filter(|_| nobody) else {
            return;
        };
        let done = self.here(root, &who, &Call::operation(), team, refused);
        if let (Ok(_), Some(mut team)) = (done, self.held.take()) {
            let _ = team.finish();
        }
    }
}
