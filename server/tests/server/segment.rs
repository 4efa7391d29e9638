//! The segment of a team's log, and harm to it.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The only segment of a team.
pub fn of(root: &Path, team: &str) -> PathBuf {
    let events = root.join("teams").join(team).join("events");
    let mut names = std::fs::read_dir(events).unwrap();
    names.next().unwrap().unwrap().path()
}

/// Flips a bit in the middle of it, in its place, as a bad disk does; done again it is mended.
pub fn flip(segment: &Path) {
    let bytes = std::fs::read(segment).unwrap();
    let middle = bytes.len() / 2;
    let file = std::fs::OpenOptions::new().write(true).open(segment);
    let flipped = [bytes[middle] ^ 0x20];
    file.unwrap().write_all_at(&flipped, middle as u64).unwrap();
}
