//! The directory that paths lie in, as it is on the disk.

use super::can_write::WriteReason;
use super::path::normal;
use std::fs;
use std::path::{Path, PathBuf};

/// A repository, or none, where paths are told by their text alone.
#[derive(Debug, Clone)]
pub struct Tree {
    /// As it was declared, and what that is once links are followed.
    root: Option<(PathBuf, PathBuf)>,
}

impl Tree {
    /// Beneath a directory; empty for none. One that is not there is taken by its text.
    pub fn at(root: &str) -> Tree {
        let declared = PathBuf::from(root);
        let root = (!root.is_empty()).then(|| {
            let real = fs::canonicalize(&declared).unwrap_or_else(|_| declared.clone());
            (declared, real)
        });
        Tree { root }
    }

    /// A path in the one form in which resources are compared with it; links that lie beneath the root are followed.
    pub fn normal(&self, path: &str) -> Result<String, WriteReason> {
        let Some((declared, real)) = &self.root else {
            return match path.starts_with(['/', '\\']) {
                true => Err(WriteReason::InvalidPath),
                false => normal(Path::new("/"), path, |_| None),
            };
        };
        let link = |path: &Path| fs::read_link(path).ok();
        match Path::new(path).strip_prefix(declared) {
            Ok(rest) => normal(real, rest.to_str().unwrap_or_default(), link),
            Err(_) => normal(real, path, link),
        }
    }
}
