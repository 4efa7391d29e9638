//! Waits for a child process with a deadline.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which the child is polled.
const LOOK: Duration = Duration::from_millis(10);

/// Waits for the child to exit. Kills the child at the deadline and returns `None`.
pub fn ended(child: &mut Child, deadline: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}
