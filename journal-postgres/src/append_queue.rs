//! Shares a commit between groups that several logs of a process append at the same time. The cost of a commit is its wait, not
//! its bytes.
//!
//! No caller waits for other callers: if a connection is free, the caller commits at once. Otherwise the caller's group joins
//! the next commit.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use teamlog_engine::EventId;
use teamlog_engine::LogId;
use teamlog_engine::journal::{Append, Outcome, Position};

/// Largest number of groups in one commit.
const GROUPS_MAX: usize = 64;
/// Approximate bytes of a commit.
const BYTES_MAX: usize = 4 << 20;

/// The queue of callers that append, and of callers that wait.
pub struct AppendQueue {
    /// Largest number of concurrent commits.
    most: usize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    appending: usize,
    waiting: Vec<Waiting>,
}

/// A group of a waiting caller.
struct Waiting {
    group: GroupCopy,
    told: SyncSender<Reply>,
}

/// Message to a waiting caller.
enum Reply {
    /// The outcome of the caller's group.
    Outcome(Outcome),
    /// The caller must append these groups. The first group is the caller's own.
    Lead(Vec<Waiting>),
}

/// A copy of a group, for the caller that appends it.
struct GroupCopy {
    log: LogId,
    after: Position,
    position: Position,
    last_id: EventId,
    bytes: Vec<u8>,
    begins: Vec<String>,
}

impl GroupCopy {
    fn new(group: &Append<'_>) -> GroupCopy {
        GroupCopy {
            log: group.log,
            after: group.after,
            position: group.position,
            last_id: group.last_id,
            bytes: group.bytes.to_vec(),
            begins: group.begins.to_vec(),
        }
    }

    fn append(&self) -> Append<'_> {
        Append {
            log: self.log,
            after: self.after,
            position: self.position,
            last_id: self.last_id,
            bytes: &self.bytes,
            begins: &self.begins,
        }
    }
}

impl AppendQueue {
    /// Creates the queue for `most` connections.
    pub fn new(most: usize) -> AppendQueue {
        AppendQueue {
            most,
            queue: Mutex::default(),
        }
    }

    /// Appends a group by `append`, together with groups of other callers or alone.
    pub fn append(
        &self,
        group: &Append<'_>,
        append: impl Fn(&[Append<'_>]) -> Vec<Outcome>,
    ) -> Outcome {
        let mut queue = self.queue();
        if queue.appending < self.most {
            queue.appending += 1;
            drop(queue);
            let _next = NextCommit(self);
            return append(&[*group]).pop().unwrap_or_else(unanswered);
        }
        let (told, tell) = sync_channel(1);
        let group = GroupCopy::new(group);
        queue.waiting.push(Waiting { group, told });
        drop(queue);
        match tell.recv() {
            Ok(Reply::Outcome(outcome)) => outcome,
            Ok(Reply::Lead(waiting)) => self.lead(&waiting, append),
            Err(_) => unanswered(),
        }
    }

    /// Appends the collected groups, and sends each other caller its outcome. Returns the outcome of the first group.
    fn lead(&self, waiting: &[Waiting], append: impl Fn(&[Append<'_>]) -> Vec<Outcome>) -> Outcome {
        let _next = NextCommit(self);
        let groups: Vec<Append<'_>> = waiting.iter().map(|one| one.group.append()).collect();
        let mut outcomes = append(&groups).into_iter();
        let own = outcomes.next();
        for one in waiting.iter().skip(1) {
            let outcome = outcomes.next().unwrap_or_else(unanswered);
            // The waiting caller still exists, because a caller waits until this message arrives.
            let _ = one.told.send(Reply::Outcome(outcome));
        }
        own.unwrap_or_else(unanswered)
    }

    /// Makes the first waiting caller append the groups of all waiting callers. If no caller waits, ends this commit.
    fn pass_on(&self) {
        let mut queue = self.queue();
        let mut bytes = 0;
        let fits = |one: &&Waiting| {
            bytes += one.group.bytes.len();
            bytes <= BYTES_MAX
        };
        let count = queue.waiting.iter().take(GROUPS_MAX).take_while(fits);
        // A group that is larger than the limit gets its own commit.
        let count = count.count().max(1).min(queue.waiting.len());
        let waiting: Vec<Waiting> = queue.waiting.drain(..count).collect();
        match waiting.first().map(|first| first.told.clone()) {
            None => queue.appending -= 1,
            Some(first) => {
                drop(queue);
                let _ = first.send(Reply::Lead(waiting));
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the next commit when the value is dropped, also after a panic.
struct NextCommit<'a>(&'a AppendQueue);

impl Drop for NextCommit<'_> {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

/// Returns the outcome of a group without an answer.
pub fn unanswered() -> Outcome {
    Outcome::Unknown("it gave no answer".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    fn group(log: u8, bytes: &[u8]) -> Append<'_> {
        Append {
            log: LogId([log; 16]),
            after: Position::default(),
            position: Position::default(),
            last_id: EventId::from_text(b"019ab000-0000-7000-8000-000000000001").unwrap(),
            bytes,
            begins: &[],
        }
    }

    #[test]
    fn all_that_wait_go_together_and_each_hears_of_its_own() {
        let appends = AppendQueue::new(2);
        let (calls, largest) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let append = |groups: &[Append<'_>]| {
            calls.fetch_add(1, Ordering::SeqCst);
            largest.fetch_max(groups.len(), Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            let outcome = |group: &Append<'_>| Outcome::Refused(format!("{:?}", group.log));
            groups.iter().map(outcome).collect()
        };
        thread::scope(|scope| {
            for log in 0..100 {
                let (appends, append) = (&appends, &append);
                scope.spawn(move || {
                    for _ in 0..5 {
                        let group = group(log, b"one");
                        let own = Outcome::Refused(format!("{:?}", group.log));
                        assert_eq!(appends.append(&group, append), own);
                    }
                });
            }
        });
        let (calls, largest) = (calls.into_inner(), largest.into_inner());
        assert!(calls < 250, "500 groups went in {calls} calls");
        assert!(largest > 10 && largest <= GROUPS_MAX, "{largest}");
        let queue = appends.queue.into_inner().unwrap();
        assert_eq!((queue.appending, queue.waiting.len()), (0, 0));
    }

    #[test]
    fn whoever_panics_keeps_nobody_from_appending() {
        let appends = AppendQueue::new(1);
        let group = group(1, b"one");
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            appends.append(&group, |_| panic!("as planned"))
        }));
        assert!(panicked.is_err());
        let appended = appends.append(&group, |_| vec![Outcome::Appended]);
        assert_eq!(appended, Outcome::Appended);
    }

    #[test]
    fn what_is_too_large_together_goes_apart() {
        let appends = AppendQueue::new(1);
        let large = vec![0; BYTES_MAX];
        let largest = AtomicUsize::new(0);
        let append = |groups: &[Append<'_>]| {
            largest.fetch_max(groups.len(), Ordering::SeqCst);
            thread::sleep(Duration::from_millis(5));
            vec![Outcome::Appended; groups.len()]
        };
        thread::scope(|scope| {
            for log in 0..8 {
                let (appends, append, large) = (&appends, &append, &large);
                scope.spawn(move || appends.append(&group(log, large), append));
            }
        });
        assert_eq!(largest.into_inner(), 1);
    }
}
