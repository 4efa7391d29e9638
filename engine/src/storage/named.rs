//! The calls of a storage with errors that name the action and the file.

use super::{Bytes, File, OpenMode, Stat, Storage};
use crate::error::{Error, REPLACE, Result};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes to copy or hash at once.
const PIECE_BYTES: u64 = 1 << 20;

/// The calls of [`Storage`]; each error is an [`Error::Io`] with the path.
#[derive(Clone, Copy)]
pub(crate) struct StorageWithPaths<'a>(&'a dyn Storage);

impl<'a> dyn Storage + 'a {
    /// Returns the calls of this storage with errors that name the action and the file.
    pub(crate) fn named(&self) -> StorageWithPaths<'_> {
        StorageWithPaths(self)
    }
}

impl StorageWithPaths<'_> {
    pub fn open(self, path: &Path, how: OpenMode) -> Result<NamedFile> {
        let doing = match how {
            OpenMode::CreateNew => "create",
            _ => "open",
        };
        let file = self.0.open(path, how).map_err(Error::io(doing, path))?;
        let path = path.to_path_buf();
        Ok(NamedFile { file, path })
    }

    /// Opens a file; `None` if it is missing.
    pub fn open_if_there(self, path: &Path, how: OpenMode) -> Result<Option<NamedFile>> {
        if_there(self.open(path, how))
    }

    pub fn stat(self, path: &Path) -> Result<Option<Stat>> {
        self.0.stat(path).map_err(Error::io("stat", path))
    }

    /// Returns the length of a file; 0 if it is missing.
    pub fn len(self, path: &Path) -> Result<u64> {
        Ok(self.stat(path)?.map_or(0, |stat| stat.len))
    }

    pub fn list(self, dir: &Path) -> Result<Vec<String>> {
        self.0.list(dir).map_err(Error::io("list", dir))
    }

    /// Lists a directory; returns no names if the directory is missing.
    pub fn list_if_there(self, dir: &Path) -> Result<Vec<String>> {
        Ok(if_there(self.list(dir))?.unwrap_or_default())
    }

    /// Lists a directory; returns no names if the path is no directory.
    pub fn list_if_dir(self, dir: &Path) -> Result<Vec<String>> {
        Ok(if_reachable(self.list(dir))?.unwrap_or_default())
    }

    /// Reads a file; `None` if the file is missing, or if the path of its directory is a file.
    pub fn read_if_there(self, path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
        let read = self.0.read(path, max);
        if_reachable(read.map_err(Error::io("read", path)))
    }

    pub fn create_dir(self, path: &Path) -> Result<()> {
        self.0.create_dir(path).map_err(Error::io("create", path))
    }

    pub fn create_dir_below(self, base: &Path, path: &Path) -> Result<()> {
        let created = self.0.create_dir_below(base, path);
        created.map_err(Error::io("create", path))
    }

    pub fn create_dir_all(self, path: &Path) -> Result<()> {
        let created = self.0.create_dir_all(path);
        created.map_err(Error::io("create", path))
    }

    pub fn rename(self, from: &Path, to: &Path) -> Result<()> {
        self.0.rename(from, to).map_err(Error::io("rename", from))
    }

    pub fn remove_file(self, path: &Path) -> Result<()> {
        self.0.remove_file(path).map_err(Error::io("remove", path))
    }

    /// Removes a directory; succeeds if it is missing.
    pub fn remove_dir_all(self, path: &Path) -> Result<()> {
        let removed = self.0.remove_dir_all(path);
        if_there(removed.map_err(Error::io("remove", path))).map(drop)
    }

    pub fn sync_dir(self, dir: &Path) -> Result<()> {
        self.0.sync_dir(dir).map_err(Error::io("sync", dir))
    }

    pub fn sealed(self, path: &Path) -> Result<Bytes> {
        self.0.sealed(path).map_err(Error::io("read", path))
    }

    /// Returns BLAKE3 of a file's first `len` bytes, as hex; `None` if the file is missing or has fewer bytes.
    pub fn digest(self, path: &Path, len: u64) -> Result<Option<String>> {
        let Some(file) = self.open_if_there(path, OpenMode::Read)? else {
            return Ok(None);
        };
        let digest = if_long_enough(file.digest(len))?;
        Ok(digest.map(|digest| digest.to_hex().to_string()))
    }

    /// Replaces a file durably.
    pub fn replace(self, path: &Path, bytes: &[u8]) -> Result<()> {
        let replaced = self.0.replace(path, bytes, true);
        replaced.map_err(Error::io(REPLACE, path))
    }
}

fn unless<T>(kind: io::ErrorKind, found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(Error::Io { source, .. }) if source.kind() == kind => Ok(None),
        found => found.map(Some),
    }
}

/// Converts the error for a missing file into `None`.
pub(crate) fn if_there<T>(found: Result<T>) -> Result<Option<T>> {
    unless(io::ErrorKind::NotFound, found)
}

/// Converts an error into `None` if the requested file is missing, or if the path of its directory is a file.
fn if_reachable<T>(found: Result<T>) -> Result<Option<T>> {
    Ok(unless(io::ErrorKind::NotADirectory, if_there(found))?.flatten())
}

/// Converts the error for a file that ends too early into `None`.
pub(crate) fn if_long_enough<T>(read: Result<T>) -> Result<Option<T>> {
    unless(io::ErrorKind::UnexpectedEof, read)
}

/// An open file that knows its path.
pub(crate) struct NamedFile {
    pub file: Box<dyn File>,
    pub path: PathBuf,
}

impl NamedFile {
    pub fn stat(&self) -> Result<Stat> {
        self.file.stat().map_err(Error::io("stat", &self.path))
    }

    pub fn read_range(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = vec![0; range.end.saturating_sub(range.start) as usize];
        let read = self.file.read_exact_at(&mut bytes, range.start);
        read.map_err(Error::io("read", &self.path))?;
        Ok(bytes)
    }

    /// Reads the first `len` bytes, or fewer if the file is shorter.
    pub fn read_up_to(&self, len: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len as usize];
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let read = self.file.read_at(rest, done as u64);
            match read.map_err(Error::io("read", &self.path))? {
                0 => break,
                n => done += n,
            }
        }
        bytes.truncate(done);
        Ok(bytes)
    }

    /// Reads a range of the file and calls back with each piece and its offset.
    pub fn pieces(
        &self,
        range: Range<u64>,
        mut each: impl FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min(at + PIECE_BYTES);
            each(&self.read_range(at..end)?, at)?;
            at = end;
        }
        Ok(())
    }

    /// Returns BLAKE3 of the first `len` bytes.
    pub fn digest(&self, len: u64) -> Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        self.pieces(0..len, |piece, _| {
            hasher.update(piece);
            Ok(())
        })?;
        Ok(hasher.finalize())
    }

    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(Error::io("write", &self.path))
    }

    /// Writes the bytes of a range again and syncs. Needed after a failed sync, because the page cache may hold bytes that the
    /// disk does not have.
    pub fn write_again(&self, range: Range<u64>) -> Result<()> {
        let bytes = self.read_range(range.clone())?;
        assert_eq!(
            bytes.len() as u64,
            range.end - range.start,
            "all of {range:?} must be written again"
        );
        self.write_all_at(&bytes, range.start)?;
        self.sync_all()
    }

    /// Cuts the file after the first `len` bytes, if it is longer.
    pub fn cut_behind(&self, len: u64) -> Result<()> {
        match self.stat()?.len > len {
            true => self.set_len(len),
            false => Ok(()),
        }
    }

    pub fn set_len(&self, len: u64) -> Result<()> {
        let cut = self.file.set_len(len);
        cut.map_err(Error::io("cut", &self.path))
    }

    pub fn sync_data(&self) -> Result<()> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))
    }

    pub fn sync_all(&self) -> Result<()> {
        self.file.sync_all().map_err(Error::io("sync", &self.path))
    }
}
