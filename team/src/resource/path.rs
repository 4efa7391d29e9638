//! Paths as agents name them, brought to the form in which they are compared with resources: relative to the repository,
//! with slashes, without `.`, `..` and symbolic links; and the directory that they lie in, as it is on the disk.

use super::can_write::WriteReason;
use std::fs;
use std::path::{Path, PathBuf};

/// Symbolic links that are followed at most, as Linux does.
const LINKS_MAX: usize = 40;
const PATH_BYTES_MAX: usize = 4096;

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

/// A path relative to `root`; `.` for the root itself. Backslashes are slashes, an absolute path has to lie below the root,
/// and an empty one is the root. `link` says where a symbolic link leads, and `None` for anything else.
pub fn normal(
    root: &Path,
    path: &str,
    link: impl Fn(&Path) -> Option<PathBuf>,
) -> Result<String, WriteReason> {
    if path.len() > PATH_BYTES_MAX || path.contains('\0') {
        return Err(WriteReason::InvalidPath);
    }
    // First of all, so that nothing below sees two sorts of separators.
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

/// The part of a path behind the root, if it is absolute.
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
