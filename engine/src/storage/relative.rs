//! Rules for paths: relative, `/` between names, UTF-8, no `..`. Every storage checks these rules first.

use std::io;
use std::path::{Component, Path};

/// Returns the names along `path`; no names for the root itself (an empty path).
pub(super) fn names(path: &Path) -> io::Result<Vec<&str>> {
    let name = |part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    let names: Option<Vec<&str>> = path.components().map(name).collect();
    let clean = |name: &&str| name.bytes().all(|byte| byte != 0);
    names
        .filter(|names| names.iter().all(clean))
        .ok_or_else(|| refused(path, "must be relative, UTF-8, and without `..`"))
}

/// Returns the directory of `path` and its last name. Fails for the root, which has no name.
pub(super) fn split(path: &Path) -> io::Result<(&Path, &str)> {
    let last = names(path)?.pop();
    let last = last.ok_or_else(|| refused(path, "must name something below the root"))?;
    Ok((path.parent().unwrap_or(Path::new("")), last))
}

/// Creates an error that names the path and the broken rule.
pub(super) fn refused(path: &Path, rule: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("path {path:?} {rule}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn accepts_names_below_the_root_only() {
        assert_eq!(names(Path::new("")).unwrap(), Vec::<&str>::new());
        assert_eq!(names(Path::new("a/b.c")).unwrap(), ["a", "b.c"]);
        let latin = Path::new(OsStr::from_bytes(b"a/\xff"));
        for bad in [
            Path::new("/a"),
            Path::new("a/../b"),
            Path::new(".."),
            Path::new("a\0b"),
            latin,
        ] {
            assert_eq!(
                names(bad).unwrap_err().kind(),
                io::ErrorKind::InvalidInput,
                "{bad:?}"
            );
        }
    }

    #[test]
    fn splits_off_the_last_name() {
        assert_eq!(split(Path::new("a/b/c")).unwrap(), (Path::new("a/b"), "c"));
        assert_eq!(split(Path::new("c")).unwrap(), (Path::new(""), "c"));
        assert!(split(Path::new("")).is_err());
    }
}
