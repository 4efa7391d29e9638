//! Files in memory, and their open handles.

use super::content::Content;
use super::{Memory, guard, index};
use crate::storage::{File, FileTime, Stat};
use rustix::io::Errno;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

#[derive(Debug)]
pub(super) struct FileNode {
    pub(super) inode: u64,
    /// Number of the file's last change.
    pub(super) changed: AtomicU64,
    pub(super) content: Mutex<Content>,
}

/// Bytes of a file at one moment.
pub(super) struct Sealed(pub(super) Arc<Vec<u8>>);

impl AsRef<[u8]> for Sealed {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl FileNode {
    pub(super) fn stat(&self) -> Stat {
        let len = guard(&self.content).now().len() as u64;
        let changed = FileTime::try_from(self.changed.load(Relaxed)).unwrap_or(FileTime::MAX);
        Stat {
            len,
            is_dir: false,
            identity: (0, self.inode),
            modified: changed,
            changed,
        }
    }
}

/// An open file.
pub(super) struct MemoryFile {
    pub(super) memory: Memory,
    pub(super) node: Arc<FileNode>,
    pub(super) writes: bool,
}

impl MemoryFile {
    fn change<T>(
        &self,
        call: &'static str,
        change: impl FnOnce(&mut Content) -> T,
    ) -> io::Result<T> {
        self.memory.count(call);
        let _world = self.memory.shared();
        if !self.writes {
            return Err(Errno::BADF.into());
        }
        let changed = change(&mut guard(&self.node.content));
        self.node.changed.store(self.memory.number(), Relaxed);
        self.memory.changed();
        Ok(changed)
    }
}

impl File for MemoryFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.memory.count("read_at");
        let content = guard(&self.node.content);
        let rest = content.now().get(index(offset)?..).unwrap_or_default();
        let fits = rest.len().min(buf.len());
        buf[..fits].copy_from_slice(&rest[..fits]);
        Ok(fits)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let offset = index(offset)?;
        self.change("write_at", |content| content.write(offset, buf))?;
        Ok(buf.len())
    }
    fn sync_data(&self) -> io::Result<()> {
        self.memory.count("sync_data");
        let _world = self.memory.shared();
        guard(&self.node.content).sync();
        Ok(())
    }
    fn sync_all(&self) -> io::Result<()> {
        self.memory.count("sync_all");
        let _world = self.memory.shared();
        guard(&self.node.content).sync();
        Ok(())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = index(len)?;
        self.change("set_len", |content| content.set_len(len))
    }
    fn stat(&self) -> io::Result<Stat> {
        self.memory.count("file_stat");
        Ok(self.node.stat())
    }
}
