//! Opens files below a directory without ever leaving it: no `..`, no absolute path, no symbolic link.
//!
//! `openat2` checks this in one system call. If the kernel or a sandbox lacks `openat2`, every component is opened separately
//! with `O_NOFOLLOW`, which gives the same guarantee in more calls.

use super::relative;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A directory, opened once: a later change of its path has no effect.
#[derive(Debug)]
pub(super) struct RootDir {
    root: OwnedFd,
    walks: AtomicBool,
}

const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

impl RootDir {
    /// Opens the root; its own path may contain links.
    pub(super) fn new(root: &Path) -> io::Result<RootDir> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = retry_on_intr(|| open(root, flags, Mode::empty()))?;
        Ok(RootDir {
            root,
            walks: AtomicBool::new(false),
        })
    }

    /// Opens `path` with `flags`; new files get mode 0600. With `O_PATH`, a symbolic link at the end of the path is itself
    /// opened.
    pub(super) fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let names = relative::names(path)?;
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mode = match flags.contains(OFlags::CREATE) {
            true => Mode::RUSR | Mode::WUSR,
            false => Mode::empty(),
        };
        if !self.walks.load(Relaxed) {
            let whole = if names.is_empty() {
                Path::new(".")
            } else {
                path
            };
            match self.resolve(whole, flags, mode) {
                // A sandbox answers EPERM for unknown calls, so every name of the path is opened separately. If access is really forbidden,
                // that also returns EPERM.
                Err(Errno::PERM) => {}
                Err(Errno::NOSYS) => self.walks.store(true, Relaxed),
                answer => return Ok(answer?),
            }
        }
        Ok(self.walk(&names, flags, mode)?)
    }

    fn resolve(&self, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        retry_on_intr(|| openat2(&self.root, path, flags, mode, rules))
    }

    fn walk(&self, names: &[&str], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let Some((last, above)) = names.split_last() else {
            return retry_on_intr(|| openat(&self.root, ".", flags, mode));
        };
        let mut dir: Option<OwnedFd> = None;
        for name in above {
            let from = dir.as_ref().unwrap_or(&self.root);
            let next =
                retry_on_intr(|| openat(from, *name, DIRECTORY | OFlags::PATH, Mode::empty()))?;
            dir = Some(next);
        }
        let from = dir.as_ref().unwrap_or(&self.root);
        retry_on_intr(|| openat(from, *last, flags, mode))
    }

    /// Opens the directory that holds `path`, and returns the directory with the last name of the path.
    pub(super) fn parent<'path>(&self, path: &'path Path) -> io::Result<(OwnedFd, &'path str)> {
        let (dir, name) = relative::split(path)?;
        Ok((self.open(dir, DIRECTORY | OFlags::PATH)?, name))
    }

    /// Opens a directory, to list or sync it.
    pub(super) fn directory(&self, path: &Path) -> io::Result<OwnedFd> {
        self.open(path, DIRECTORY | OFlags::RDONLY)
    }

    /// Returns the root itself.
    pub(super) fn root(&self) -> impl AsFd {
        &self.root
    }

    /// Disables `openat2`, like a kernel that lacks it.
    #[cfg(test)]
    pub(super) fn walk_only(&self) {
        self.walks.store(true, Relaxed);
    }
}

/// Opens a direct child directory; refuses a link in its place.
pub(super) fn child(dir: impl AsFd, name: impl Arg + Copy) -> io::Result<OwnedFd> {
    Ok(retry_on_intr(|| {
        openat(dir.as_fd(), name, DIRECTORY | OFlags::RDONLY, Mode::empty())
    })?)
}

/// Opens any directory, to sync it.
pub(super) fn anywhere(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))?)
}
