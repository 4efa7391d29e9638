//! The lock of a file or directory (`flock`): taken with a deadline, released on drop. An error names the holder for people.
//!
//! `flock` belongs to the open file, so it survives other opens and closes of the same file in this process, and ends with the process. The
//! pid is only shown; no decision depends on it.

use super::{self as storage, HeldLock, LockError};
use rustix::fs::{major, minor};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::thread;
use std::time::Duration;

/// Number of characters of a holder's command line to show.
const COMMAND_SHOWN: usize = 120;

/// A held lock. Dropping the value unlocks the file explicitly, because a child between fork and exec shares the open file and
/// would keep the lock.
#[derive(Debug)]
pub(super) struct FileLock {
    file: File,
    identity: (u64, u64),
}

impl HeldLock for FileLock {
    fn identity(&self) -> (u64, u64) {
        self.identity
    }
    fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        storage::File::read_at(&self.file, buf, 0)
    }
    fn write(&self, bytes: &[u8], durable: bool) -> io::Result<()> {
        storage::overwrite(&self.file, bytes, durable)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // If the unlock fails, closing the file still releases the lock.
        let _ = self.file.unlock();
    }
}

/// Locks `file`, waiting at most `deadline`.
pub(super) fn lock(
    file: File,
    identity: (u64, u64),
    deadline: Duration,
) -> Result<FileLock, LockError> {
    let tried = loop {
        match file.try_lock() {
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            tried => break tried,
        }
    };
    match tried {
        Ok(()) => Ok(FileLock { file, identity }),
        Err(TryLockError::Error(error)) => Err(LockError::Io(error)),
        Err(TryLockError::WouldBlock) if deadline.is_zero() => {
            Err(LockError::Busy(holder(identity)))
        }
        Err(TryLockError::WouldBlock) => wait(file, identity, deadline),
    }
}

/// `flock` has no time limit, so a separate thread waits for the lock. The channel has no buffer: the lock either passes to the
/// caller or, if the caller has given up, stays with the thread, which drops the lock. So no lock is left without an owner.
fn wait(file: File, identity: (u64, u64), deadline: Duration) -> Result<FileLock, LockError> {
    let (give, take) = crossbeam_channel::bounded(0);
    let waiter = move || {
        let _ = give.send(block(file, identity));
    };
    let spawned = thread::Builder::new()
        .name("lock-wait".to_owned())
        .spawn(waiter);
    spawned.map_err(LockError::Io)?;
    let answer = take.recv_timeout(deadline);
    drop(take);
    match answer {
        Ok(answer) => answer.map_err(LockError::Io),
        Err(_) => Err(LockError::Busy(holder(identity))),
    }
}

fn block(file: File, identity: (u64, u64)) -> io::Result<FileLock> {
    loop {
        match file.lock() {
            Ok(()) => return Ok(FileLock { file, identity }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Describes the holder of a file's lock, if the system shows it: `pid 4242 (teamlog serve demo)`.
fn holder(identity: (u64, u64)) -> String {
    // The system writes the table in pieces, so one reading may skip a lock while other processes lock and unlock files.
    let found = (0..3).find_map(|_| {
        let table = fs::read_to_string("/proc/locks").unwrap_or_default();
        holder_in(&table, identity)
    });
    match found {
        None => "an unknown process".to_owned(),
        Some(pid) => match command(pid) {
            Some(command) => format!("pid {pid} ({command})"),
            None => format!("pid {pid}"),
        },
    }
}

/// Returns the pid in the line of /proc/locks for this file: `7: FLOCK ADVISORY WRITE 4242 08:01:131 0 EOF`. The second
/// word of a waiting process is `->`; a holder in another pid namespace has 0 or less.
fn holder_in(table: &str, (device, inode): (u64, u64)) -> Option<u32> {
    let file = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_flock = words.next() == Some("FLOCK");
        let pid = words.nth(2)?;
        let is_ours = is_flock && words.next() == Some(&file);
        pid.parse().ok().filter(|pid| is_ours && *pid > 0)
    })
}

fn command(pid: u32) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(format!("/proc/{pid}/cmdline")).ok()?;
    file.take(4096).read_to_end(&mut bytes).ok()?;
    Some(shown(&bytes)).filter(|command| !command.is_empty())
}

/// Converts a command line, in which NUL separates the words, into one short line without control characters.
fn shown(bytes: &[u8]) -> String {
    let words = String::from_utf8_lossy(bytes).replace('\0', " ");
    let line: String = words
        .chars()
        .filter(|c| !c.is_control())
        .take(COMMAND_SHOWN)
        .collect();
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_holder_and_not_those_who_wait() {
        let table = "1: POSIX  ADVISORY  WRITE 11 08:01:131 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 08:01:132 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 13 08:01:131 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 14 fd:1f:131 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE 15 08:01:131 0 EOF\n\
                     6: FLOCK  ADVISORY  WRITE 0 08:01:133 0 EOF\n\
                     junk\n";
        let device = rustix::fs::makedev(8, 1);
        assert_eq!(holder_in(table, (device, 131)), Some(15));
        assert_eq!(holder_in(table, (device, 132)), Some(12));
        assert_eq!(
            holder_in(table, (rustix::fs::makedev(0xfd, 0x1f), 131)),
            Some(14)
        );
        assert_eq!(holder_in(table, (device, 133)), None);
        assert_eq!(holder_in(table, (device, 134)), None);
    }

    #[test]
    fn a_command_line_is_shown_short_and_without_control_characters() {
        assert_eq!(shown(b"teamlog\0serve\0demo\0"), "teamlog serve demo");
        assert_eq!(shown(b"a\x1b[31m\0b\nc\x7f\xc2\x9b\0"), "a[31m bc");
        assert_eq!(
            shown("é".repeat(500).as_bytes()).chars().count(),
            COMMAND_SHOWN
        );
        assert_eq!(shown(b"\xff\0\0"), "\u{fffd}");
    }
}
