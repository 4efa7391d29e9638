//! Normalization of paths for the comparison with resources. Normal paths are relative to the repository, with slashes, and without `.`,
//! `..` and symbolic links. This module also reads the symbolic links on disk.

use super::can_write::WriteReason;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of symbolic links that are followed for a path, as on Linux.
const LINKS_MAX: usize = 40;
const PATH_BYTES_MAX: usize = 4096;

/// A repository on disk. Without a repository on disk, paths are compared by their text.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The root, in its declared form and in the form with resolved symbolic links.
    root: Option<(PathBuf, PathBuf)>,
}

impl Tree {
    /// Opens the repository at `root`. An empty `root` means no repository. If the directory does not exist, paths are compared
    /// by their text.
    pub fn at(root: &str) -> Tree {
        let declared = PathBuf::from(root);
        let root = (!root.is_empty()).then(|| {
            let real = fs::canonicalize(&declared).unwrap_or_else(|_| declared.clone());
            (declared, real)
        });
        Tree { root }
    }

    /// Normalizes a path. Follows symbolic links below the root.
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

/// Normalizes a path relative to `root`; the root itself is `.`. A backslash counts as a slash, an absolute path must be below
/// the root, and an empty path is the root. `link` returns the target of a symbolic link, and `None` for other files.
pub fn normal(
    root: &Path,
    path: &str,
    link: impl Fn(&Path) -> Option<PathBuf>,
) -> Result<String, WriteReason> {
    if path.len() > PATH_BYTES_MAX || path.contains('\0') {
        return Err(WriteReason::InvalidPath);
    }
    // Converts separators first, before any other code sees them.
    let path = path.replace('\\', "/");
    let root = root.to_str().ok_or(WriteReason::InvalidPath)?;
    let mut left: Vec<String> = names(relative(root, &path)?);
    left.reverse();
    let mut done: Vec<String> = Vec::new();
    let mut links = 0;
    while let Some(name) = left.pop() {
        if name == ".." {
            done.pop().ok_or(WriteReason::PathTraversalDenied)?;
            continue;
        }
        done.push(name);
        let here = format!("{root}/{}", done.join("/"));
        let Some(target) = link(Path::new(&here)) else {
            continue;
        };
        links += 1;
        if links > LINKS_MAX {
            return Err(WriteReason::PathTraversalDenied);
        }
        let target = target.to_str().ok_or(WriteReason::InvalidPath)?;
        match target.starts_with('/') {
            true => done.clear(),
            false => {
                done.pop();
            }
        }
        let target = relative(root, target)?;
        left.extend(names(target).into_iter().rev());
    }
    match done.is_empty() {
        true => Ok(".".to_owned()),
        false => Ok(done.join("/")),
    }
}

/// Returns an absolute path without its root; refuses a path outside of the root.
fn relative<'a>(root: &str, path: &'a str) -> Result<&'a str, WriteReason> {
    if !path.starts_with('/') {
        return Ok(path);
    }
    let root = root.trim_end_matches('/');
    match path.strip_prefix(root) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => Ok(rest),
        _ => Err(WriteReason::PathTraversalDenied),
    }
}

fn names(path: &str) -> Vec<String> {
    path.split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str) -> Result<String, WriteReason> {
        normal(Path::new("/repo"), path, |path| {
            let target = match path.to_str().unwrap() {
                "/repo/out" => "/etc",
                "/repo/up" => "../x",
                "/repo/in" => "src/io",
                "/repo/abs" => "/repo/src",
                "/repo/src/back" => "../docs",
                "/repo/loop" => "loop",
                _ => return None,
            };
            Some(PathBuf::from(target))
        })
    }

    #[test]
    fn paths_come_to_one_form() {
        for (path, normal) in [
            ("src/a", "src/a"),
            ("./src//a/", "src/a"),
            ("src/x/../a", "src/a"),
            ("src\\a", "src/a"),
            ("/repo/src/a", "src/a"),
            ("/repo", "."),
            ("", "."),
            (".", "."),
            ("src/..", "."),
            ("in/f", "src/io/f"),
            ("in/../f", "src/f"),
            ("abs/f", "src/f"),
            ("src/back/f", "docs/f"),
            ("new/dir/f", "new/dir/f"),
        ] {
            assert_eq!(told(path).as_deref(), Ok(normal), "{path}");
        }
    }

    #[test]
    fn what_leads_out_is_denied_however_it_is_written() {
        for path in [
            "..",
            "../x",
            "src/../../x",
            "/etc/passwd",
            "/repository/x",
            "/repo/../x",
            "src\\io\\..\\..\\..\\x",
            "src/io\\..\\..\\..\\x",
            "out/passwd",
            "up",
            "loop",
        ] {
            assert_eq!(told(path), Err(WriteReason::PathTraversalDenied), "{path}");
        }
        for path in ["a\0b", &"x".repeat(5000)] {
            assert_eq!(told(path), Err(WriteReason::InvalidPath));
        }
    }
}
