//! The floor of a one-shot append: a process that takes a lock, appends 600 bytes to a file and syncs the file.
//!
//! `append-floor DIR` uses the files `DIR/lock` and `DIR/log`.

use std::fs::{File, OpenOptions};
use std::io::{self, Error, Write};
use std::path::PathBuf;

fn main() -> io::Result<()> {
    let dir = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or_else(|| Error::other("usage: append-floor DIR"))?;
    let lock = File::create(dir.join("lock"))?;
    lock.lock()?;
    let mut log = OpenOptions::new()
        .append(true)
        .create(true)
        .open(dir.join("log"))?;
    log.write_all(&[b'x'; 600])?;
    log.sync_data()
}
