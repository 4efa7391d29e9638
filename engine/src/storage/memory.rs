//! Storage in memory that models power loss. A power loss may undo every change that the rules below do not protect.
//!
//! A file's bytes and length become durable only by its sync, a name only by the sync of its directory. [`Memory::crash`] returns any state
//! that a power loss could leave. The rules: any subset of the 512-byte sectors of an unsynced write reaches the disk, in any order with
//! other writes. A change of length reaches the disk or not (growth also up to any sector of the write), before or after the bytes, and
//! missing bytes read as zero. The unsynced names of a directory reach the disk in order up to any point. The root always exists.

mod changes;
mod content;
mod crash;
mod file;
mod locks;
mod names;

pub use crash::Crashes;

use super::relative::{self, names};
use super::{Bytes, File, HeldLock, LockError, OpenMode, Stat, Storage, Watcher};
use changes::{Changes, Waiting};
use file::{FileNode, MemoryFile, Sealed};
use locks::Locks;
use names::{NameChange, Names};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// A tree of files in memory. Clones share the tree; [`Memory::snapshot`] copies the tree.
#[derive(Debug, Clone)]
pub struct Memory {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Lock that is held exclusively by operations that change names or read the whole tree. No operation locks more than one
    /// directory or file at a time.
    world: RwLock<()>,
    root: Arc<DirNode>,
    /// Next number for files and renames.
    next: AtomicU64,
    locks: Arc<Locks>,
    calls: Mutex<BTreeMap<&'static str, u64>>,
    changes: Arc<Changes>,
}

#[derive(Debug, Clone)]
enum Node {
    File(Arc<FileNode>),
    Dir(Arc<DirNode>),
}

#[derive(Debug)]
struct DirNode {
    inode: u64,
    names: Mutex<Names>,
}

/// Locks a mutex, also after another thread panicked, because tests panic on purpose.
fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

impl Memory {
    /// Creates an empty tree.
    pub fn new() -> Memory {
        Memory::with(
            Arc::new(DirNode {
                inode: 1,
                names: Mutex::default(),
            }),
            2,
        )
    }

    fn with(root: Arc<DirNode>, next: u64) -> Memory {
        let next = AtomicU64::new(next);
        let (world, locks, calls) = (RwLock::new(()), Arc::default(), Mutex::default());
        let changes = Arc::default();
        Memory {
            shared: Arc::new(Shared {
                world,
                root,
                next,
                locks,
                calls,
                changes,
            }),
        }
    }

    /// Returns the number of calls of each operation so far, by name (`sync_data`, `sync_dir`, `open`, …).
    pub fn calls(&self) -> BTreeMap<&'static str, u64> {
        guard(&self.shared.calls).clone()
    }

    /// Damages a byte of a file, on the disk and for readers.
    pub fn corrupt(&self, path: &Path, offset: u64, xor: u8) -> io::Result<()> {
        let _world = self.shared();
        let file = self.file(path)?;
        let done = guard(&file.content).corrupt(index(offset)?, xor);
        done.then_some(())
            .ok_or_else(|| relative::refused(path, "ends before that byte"))
    }

    /// Cuts a file, on the disk and for readers.
    pub fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let _world = self.shared();
        let file = self.file(path)?;
        let mut content = guard(&file.content);
        let len = index(len)?;
        if len > content.now().len() {
            return Err(relative::refused(path, "is shorter than that"));
        }
        content.set_len(len);
        content.sync();
        Ok(())
    }

    /// Simulates a failed sync on Linux: unsynced bytes can still be read, but the system treats them as written. So no later
    /// sync makes them durable; only writing the bytes again does. A crash restores the old bytes, or zeros.
    pub fn forget_unsynced(&self, path: &Path) -> io::Result<()> {
        let _world = self.shared();
        let file = self.file(path)?;
        guard(&file.content).forget();
        Ok(())
    }

    fn shared(&self) -> RwLockReadGuard<'_, ()> {
        self.shared
            .world
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn exclusive(&self) -> RwLockWriteGuard<'_, ()> {
        self.shared
            .world
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, call: &'static str) {
        *guard(&self.shared.calls).entry(call).or_default() += 1;
    }

    /// Wakes waiting watchers. Must be called after the change, because watchers check at once.
    fn changed(&self) {
        self.shared.changes.tell();
    }

    fn number(&self) -> u64 {
        self.shared.next.fetch_add(1, Relaxed)
    }

    fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        let mut node = Node::Dir(self.shared.root.clone());
        for name in names(path)? {
            let Node::Dir(dir) = node else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            let next = guard(&dir.names).now().get(name).cloned();
            match next {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
        Ok(Some(node))
    }

    fn dir(&self, path: &Path) -> io::Result<Arc<DirNode>> {
        match self.node(path)? {
            Some(Node::Dir(dir)) => Ok(dir),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn file(&self, path: &Path) -> io::Result<Arc<FileNode>> {
        match self.node(path)? {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Returns the directory that holds `path`, and the last name.
    fn parent<'path>(&self, path: &'path Path) -> io::Result<(Arc<DirNode>, &'path str)> {
        let (dir, name) = relative::split(path)?;
        Ok((self.dir(dir)?, name))
    }

    /// Returns the file at `path`; creates it if it is missing.
    fn file_or_new(&self, path: &Path, fail_if_there: bool) -> io::Result<Arc<FileNode>> {
        let _world = self.exclusive();
        let (dir, name) = self.parent(path)?;
        let mut names = guard(&dir.names);
        match names.now().get(name) {
            Some(_) if fail_if_there => Err(io::ErrorKind::AlreadyExists.into()),
            Some(Node::File(file)) => Ok(file.clone()),
            Some(Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => {
                let inode = self.number();
                let file = Arc::new(FileNode {
                    inode,
                    changed: inode.into(),
                    content: Mutex::default(),
                });
                names.add(name, Node::File(file.clone()));
                self.changed();
                Ok(file)
            }
        }
    }

    /// Returns every directory that is in the tree, was in it at the last sync, or may be in it after a crash. Each directory is
    /// returned once, in a fixed order.
    fn dirs(&self) -> Vec<Arc<DirNode>> {
        let mut dirs = vec![self.shared.root.clone()];
        let mut seen = HashSet::from([self.shared.root.inode]);
        let mut at = 0;
        while let Some(dir) = dirs.get(at).cloned() {
            at += 1;
            for node in guard(&dir.names).nodes() {
                if let Node::Dir(below) = node
                    && seen.insert(below.inode)
                {
                    dirs.push(below);
                }
            }
        }
        dirs
    }

    /// Makes all names of a directory durable. If another directory has the other half of a rename, that half and the changes
    /// before it become durable, too.
    fn sync_names(&self, dir: &Arc<DirNode>) {
        let mut pairs: Vec<u64> = numbers(guard(&dir.names).sync(usize::MAX));
        while let Some(pair) = pairs.pop() {
            for other in self.dirs() {
                let mut names = guard(&other.names);
                let half = names
                    .unsynced()
                    .iter()
                    .position(|change| change.pair == Some(pair));
                if let Some(half) = half {
                    pairs.extend(numbers(names.sync(half + 1)));
                }
            }
        }
    }
}

fn numbers(changes: Vec<NameChange>) -> Vec<u64> {
    changes
        .into_iter()
        .filter_map(|change| change.pair)
        .collect()
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

/// Checks that a rename may replace `there` by `node`, as in `rename(2)`.
fn may_replace(node: &Node, there: &Node) -> io::Result<()> {
    match (node, there) {
        (Node::File(_), Node::File(_)) => Ok(()),
        (Node::File(_), Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
        (Node::Dir(_), Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
        (Node::Dir(_), Node::Dir(dir)) if guard(&dir.names).now().is_empty() => Ok(()),
        (Node::Dir(_), Node::Dir(_)) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
    }
}

/// Empties a directory name by name, the deepest first.
fn empty(dir: &DirNode) {
    let names: Vec<(String, Node)> = guard(&dir.names).now().clone().into_iter().collect();
    for (name, node) in names {
        if let Node::Dir(below) = node {
            empty(&below);
        }
        guard(&dir.names).remove(&name);
    }
}

impl Storage for Memory {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn File>> {
        self.count("open");
        let node = match how {
            OpenMode::Read | OpenMode::Write => {
                let _world = self.shared();
                self.file(path)?
            }
            OpenMode::CreateNew | OpenMode::Create => {
                self.file_or_new(path, how == OpenMode::CreateNew)?
            }
        };
        Ok(Box::new(MemoryFile {
            memory: self.clone(),
            node,
            writes: how != OpenMode::Read,
        }))
    }

    fn stat(&self, path: &Path) -> io::Result<Option<Stat>> {
        self.count("stat");
        let _world = self.shared();
        Ok(self.node(path)?.map(|node| match node {
            Node::File(file) => file.stat(),
            Node::Dir(dir) => Stat {
                len: 0,
                is_dir: true,
                identity: (0, dir.inode),
                modified: 0,
                changed: 0,
            },
        }))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.count("list");
        let _world = self.shared();
        let dir = self.dir(dir)?;
        let names = guard(&dir.names);
        Ok(names.now().keys().cloned().collect())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.count("create_dir");
        let _world = self.exclusive();
        if names(path)?.is_empty() {
            return Ok(());
        }
        let (dir, name) = self.parent(path)?;
        let there = guard(&dir.names).now().get(name).cloned();
        match there {
            Some(Node::Dir(_)) => {}
            Some(Node::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
            None => {
                let new = Arc::new(DirNode {
                    inode: self.number(),
                    names: Mutex::default(),
                });
                guard(&dir.names).add(name, Node::Dir(new));
            }
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count("rename");
        let _world = self.exclusive();
        let ((from_dir, from_name), (to_dir, to_name)) = (self.parent(from)?, self.parent(to)?);
        let node = guard(&from_dir.names).now().get(from_name).cloned();
        let node = node.ok_or(io::ErrorKind::NotFound)?;
        if from == to {
            return Ok(());
        }
        if to.starts_with(from) {
            return Err(relative::refused(
                to,
                "lies in the directory that would move there",
            ));
        }
        if from.starts_with(to) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        let there = guard(&to_dir.names).now().get(to_name).cloned();
        if let Some(there) = there {
            may_replace(&node, &there)?;
        }
        let removes = Some(from_name.to_owned());
        let adds = Some((to_name.to_owned(), node));
        if Arc::ptr_eq(&from_dir, &to_dir) {
            guard(&from_dir.names).change(NameChange {
                removes,
                adds,
                pair: None,
            });
        } else {
            let pair = Some(self.number());
            guard(&from_dir.names).change(NameChange {
                removes,
                adds: None,
                pair,
            });
            guard(&to_dir.names).change(NameChange {
                removes: None,
                adds,
                pair,
            });
        }
        self.changed();
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.count("remove_file");
        let _world = self.exclusive();
        self.file(path)?;
        let (dir, name) = self.parent(path)?;
        guard(&dir.names).remove(name);
        self.changed();
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.count("remove_dir_all");
        let _world = self.exclusive();
        let (dir, name) = self.parent(path)?;
        empty(&*self.dir(path)?);
        guard(&dir.names).remove(name);
        self.changed();
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.count("sync_dir");
        let _world = self.exclusive();
        self.sync_names(&self.dir(dir)?);
        Ok(())
    }

    fn sync_file_system(&self) -> io::Result<()> {
        self.count("sync_file_system");
        let _world = self.exclusive();
        for dir in self.dirs() {
            for node in guard(&dir.names).nodes() {
                if let Node::File(file) = node {
                    guard(&file.content).sync();
                }
            }
            guard(&dir.names).sync(usize::MAX);
        }
        Ok(())
    }

    fn lock(&self, path: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        self.count("lock");
        let file = self.file_or_new(path, false).map_err(LockError::Io)?;
        let inode = file.inode;
        let file = MemoryFile {
            memory: self.clone(),
            node: file,
            writes: true,
        };
        let held = self.shared.locks.lock(inode, Some(file), deadline)?;
        Ok(Box::new(held))
    }

    fn lock_dir(&self, dir: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError> {
        self.count("lock_dir");
        let dir = self.dir(dir).map_err(LockError::Io)?;
        let held = self.shared.locks.lock(dir.inode, None, deadline)?;
        Ok(Box::new(held))
    }

    fn sealed(&self, path: &Path) -> io::Result<Bytes> {
        self.count("sealed");
        let _world = self.shared();
        let file = self.file(path)?;
        let now = guard(&file.content).now().clone();
        Ok(Bytes::new(Sealed(now)))
    }

    /// Returns a watcher that wakes for a change anywhere in the tree.
    fn watch(&self, _: &[&Path]) -> io::Result<Box<dyn Watcher>> {
        self.count("watch");
        Ok(Box::new(Waiting::new(self.shared.changes.clone())))
    }
}

#[cfg(test)]
mod tests;
