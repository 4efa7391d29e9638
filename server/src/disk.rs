//! Disk usage of directories.

use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Size of a block in `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// Returns the disk usage of a directory and everything below it. Does not follow symlinks, and ignores files that are
/// removed in the meantime.
pub(crate) fn bytes(dir: &Path) -> io::Result<u64> {
    let mut blocks = std::fs::symlink_metadata(dir)?.blocks();
    let mut left = vec![dir.to_path_buf()];
    while let Some(dir) = left.pop() {
        let entries = match std::fs::read_dir(&dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let found = match entry.metadata() {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                found => found?,
            };
            blocks = blocks.saturating_add(found.blocks());
            if found.is_dir() {
                left.push(entry.path());
            }
        }
    }
    Ok(blocks.saturating_mul(BLOCK_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_beneath_counts_and_what_links_lead_to_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let empty = bytes(dir.path()).unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/b/c"), vec![1; 100_000]).unwrap();
        let full = bytes(dir.path()).unwrap();
        assert!((100_000..200_000).contains(&(full - empty)), "{full}");
        std::fs::write(elsewhere.path().join("large"), vec![1; 1_000_000]).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("link")).unwrap();
        assert!(bytes(dir.path()).unwrap() < full + 100_000);
        assert!(bytes(&dir.path().join("none")).is_err());
    }
}
