//! Records events after the answer was printed. Failures are ignored, and the time limit is short.

use super::Context;
use crate::call::{Call, CallerIdentity};
use crate::forward::Repeat;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use teamlog_team::resource::refused::RefusedWrites;

/// Maximum wait for a lock that another process holds.
const LOCK_DEADLINE: Duration = Duration::from_millis(50);
/// Maximum wait for an answer of a daemon.
const DAEMON_DEADLINE: Duration = Duration::from_millis(200);
/// Maximum wait for an answer of a daemon on another machine.
const REMOTE_DEADLINE: Duration = Duration::from_secs(2);

impl Context {
    /// Stores writes that the guard refused. These writes are recorded after the answer is printed.
    pub fn put_off(&mut self, team: &str, refused: RefusedWrites) {
        self.afterwards = Some((team.to_owned(), refused));
    }

    /// Records the stored refusals. Failures are ignored.
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
        // There is no actor, because the guard records the event.
        let who = CallerIdentity {
            actor: None,
            user: String::new(),
            ..self.who()
        };
        let (told, hear) = mpsc::sync_channel(1);
        let (client, name) = (self.client(self.remote().ok().flatten()), team.to_owned());
        let (input, asks) = (refused.clone(), who.clone());
        // If the daemon hangs, the thread is abandoned and ends with the process.
        let asked = thread::Builder::new().spawn(move || {
            let call = Call::<RefusedWrites, _>::operation();
            let asked = call.sent(&input, |sent| client.call(sent, &name, &asks, Repeat::Same));
            let _ = told.send(matches!(asked, Ok((None, _))));
        });
        let most = match self.is_remote {
            true => REMOTE_DEADLINE,
            false => DAEMON_DEADLINE,
        };
        let nobody = asked.is_ok() && hear.recv_timeout(most) == Ok(true);
        let Some(root) = self.data().ok().filter(|_| nobody) else {
            return;
        };
        let done = self.here(root, &who, &Call::operation(), team, refused);
        if let (Ok(_), Some(mut team)) = (done, self.held.take()) {
            let _ = team.finish();
        }
    }
}
