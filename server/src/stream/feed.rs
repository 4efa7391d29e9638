//! The thread that follows the log of a team and passes events to listeners.

use super::frame;
use super::listener::{Full, Listener};
use crate::route::Problem;
use crate::served::Served;
use hyper::body::Bytes;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use teamlog_team::engine::Event;
use teamlog_team::handle::follower::Follower;
use teamlog_team::{Failure, Result, Team};

/// Number of events that are read before they are passed on.
const BATCH: usize = 256;
/// Pause if there are no new events. Also the maximum wait of a new listener.
const REST: Duration = Duration::from_millis(20);

/// The listeners of a team's events.
#[derive(Debug)]
pub struct Feed {
    team: String,
    watcher: Mutex<JoiningListeners>,
}

/// New listeners, and the state of the thread.
#[derive(Debug, Default)]
struct JoiningListeners {
    waiting: Vec<Listener>,
    /// True if the thread runs and will take the listeners in `waiting`.
    runs: bool,
}

/// Guard of the thread. If the thread panics, waiting listeners are dropped, and the next listener starts a new thread.
struct ThreadGuard<'a>(&'a Feed);

impl Drop for ThreadGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.0.watcher() = JoiningListeners::default();
        }
    }
}

impl Feed {
    pub fn new(team: &str) -> Feed {
        Feed {
            team: team.to_owned(),
            watcher: Mutex::default(),
        }
    }

    fn watcher(&self) -> MutexGuard<'_, JoiningListeners> {
        self.watcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener.
    pub fn join(self: &Arc<Feed>, served: &Arc<Served>, listener: Listener) -> Result<(), Problem> {
        let mut watcher = self.watcher();
        watcher.waiting.push(listener);
        if watcher.runs {
            return Ok(());
        }
        let (feed, served) = (self.clone(), served.clone());
        let thread = std::thread::Builder::new().name(format!("events of {}", self.team));
        match thread.spawn(move || feed.run(&served)) {
            Ok(_) => {
                watcher.runs = true;
                Ok(())
            }
            Err(error) => {
                watcher.waiting.clear();
                let message = format!("cannot start a thread: {error}");
                Err(Problem::new("busy", message))
            }
        }
    }

    /// Passes events to the listeners until there are no listeners.
    fn run(&self, served: &Served) {
        let _presence = ThreadGuard(self);
        let mut listeners = Vec::new();
        let why = match self.hand_out(served, &mut listeners) {
            Ok(()) => return,
            Err(failure) => failure.to_string(),
        };
        let mut watcher = self.watcher();
        watcher.runs = false;
        let waiting = std::mem::take(&mut watcher.waiting);
        for listener in listeners.into_iter().chain(waiting) {
            listener.cut(&why);
        }
    }

    fn hand_out(&self, served: &Served, listeners: &mut Vec<Listener>) -> Result<()> {
        let mut team = served.team(&self.team)?;
        let mut follower = Follower::start(&mut team, |live, _| Ok(live.seq()))?;
        while self.admit(served, listeners) {
            let fresh = read(&mut follower, &team)?;
            let mut idle = fresh.is_empty();
            share(listeners, &fresh);
            for listener in listeners.iter_mut() {
                if !listener.is_abreast(follower.seq()) {
                    idle &= !catch_up(listener, &mut team)?;
                }
            }
            if idle {
                follower.wait(&mut team, Some(REST))?;
            }
        }
        Ok(())
    }

    /// Takes new listeners and removes listeners that disconnected. Returns false if there are no listeners; the
    /// thread must then end.
    fn admit(&self, served: &Served, listeners: &mut Vec<Listener>) -> bool {
        let mut watcher = self.watcher();
        listeners.append(&mut watcher.waiting);
        listeners.retain(|listener| !listener.is_gone());
        watcher.runs = !listeners.is_empty() && !served.is_stopping();
        watcher.runs
    }
}

/// Returns the events since the last call. Each event is formatted once for all listeners.
fn read(follower: &mut Follower, team: &Team) -> Result<Vec<(Event<'static>, Bytes)>> {
    let mut fresh = Vec::new();
    let _ = follower.read(team, |event| {
        fresh.push((event.clone().into_owned(), frame::event(event)));
        Ok::<_, Failure>(match fresh.len() < BATCH {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })
    })?;
    Ok(fresh)
}

/// Passes new events to the listeners that have all earlier events. Ends the stream of a listener whose queue is full.
fn share(listeners: &mut Vec<Listener>, fresh: &[(Event<'static>, Bytes)]) {
    let Some((first, _)) = fresh.first() else {
        return;
    };
    let (abreast, behind) = std::mem::take(listeners)
        .into_iter()
        .partition(|listener: &Listener| listener.is_abreast(first.seq - 1));
    *listeners = behind;
    for mut listener in abreast {
        let taken = fresh
            .iter()
            .try_for_each(|(event, frame)| listener.take(event, frame));
        match taken {
            Ok(()) => listeners.push(listener),
            Err(Full) => listener.cut("the client reads more slowly than events are recorded"),
        }
    }
}

/// Reads a page of earlier events for a listener, if its queue has room. Returns true if the position advanced.
fn catch_up(listener: &mut Listener, team: &mut Team) -> Result<bool> {
    let Some(request) = listener.wants() else {
        return Ok(false);
    };
    let page = team.events(&request)?;
    Ok(listener.take_page(&page).is_ok() && Some(page.next_after) > request.after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_team::log::events::Events;

    #[test]
    fn a_thread_that_panics_leaves_nobody_waiting() {
        let feed = Arc::new(Feed::new("demo"));
        let (listener, mut frames) = Listener::new(Events::default(), 0, None);
        *feed.watcher() = JoiningListeners {
            waiting: vec![listener],
            runs: true,
        };
        let hands_out = feed.clone();
        let thread = std::thread::spawn(move || {
            let _presence = ThreadGuard(&hands_out);
            panic!("on purpose");
        });
        assert!(thread.join().is_err());
        assert!(!feed.watcher().runs && feed.watcher().waiting.is_empty());
        // The stream sends its greeting and then ends.
        assert!(frames.try_recv().is_ok());
        assert_eq!(
            frames.try_recv(),
            Err(tokio::sync::mpsc::error::TryRecvError::Disconnected)
        );
    }
}
