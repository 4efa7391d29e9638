//! The segment of a team's log, and damage to the segment.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Returns the path of the only segment of a team.
pub fn of(root: &Path, team: &str) -> PathBuf {
    let events = root.join("teams").join(team).join("events");
    let mut names = std::fs::read_dir(events).unwrap();
    names.next().unwrap().unwrap().path()
}

/// Flips a bit in the middle of a segment. Returns the offset.
pub fn flip(segment: &Path) -> u64 {
    let middle = std::fs::metadata(segment).unwrap().len() / 2;
    flip_at(segment, middle);
    middle
}

/// Flips a bit at an offset in place, as a bad disk does. A second call restores the bit.
pub fn flip_at(segment: &Path, at: u64) {
    let mut options = std::fs::OpenOptions::new();
    let file = options.read(true).write(true).open(segment).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 0x20], at).unwrap();
}
