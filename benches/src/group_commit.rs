//! A simple group commit: a thread that finds no leader becomes the leader. The leader writes and syncs all queued bytes.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Condvar, Mutex};

/// A growing file that many threads append to. Each thread waits until its bytes are durable.
pub struct GroupCommit {
    file: File,
    queue: Mutex<Queue>,
    durable: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<u8>,
    /// Number of bytes queued so far.
    queued: u64,
    /// Number of bytes known to be durable.
    durable: u64,
    led: bool,
}

impl GroupCommit {
    /// Creates a group commit that writes to an empty file.
    pub fn new(file: File) -> GroupCommit {
        GroupCommit {
            file,
            queue: Mutex::default(),
            durable: Condvar::new(),
        }
    }

    /// Appends bytes, and returns when they are durable.
    pub fn append(&self, bytes: &[u8]) {
        let mut queue = self.queue.lock().unwrap();
        queue.waiting.extend_from_slice(bytes);
        queue.queued += bytes.len() as u64;
        let end = queue.queued;
        while queue.durable < end {
            if queue.led {
                queue = self.durable.wait(queue).unwrap();
                continue;
            }
            queue.led = true;
            let group = std::mem::take(&mut queue.waiting);
            let (start, end) = (queue.durable, queue.queued);
            drop(queue);
            self.file.write_all_at(&group, start).unwrap();
            self.file.sync_data().unwrap();
            queue = self.queue.lock().unwrap();
            queue.durable = end;
            queue.led = false;
            self.durable.notify_all();
        }
    }
}
