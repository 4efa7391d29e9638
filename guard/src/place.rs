//! The directory in which a call runs, and the rules for resolving paths.

/// The place at which a call runs. Paths are handled as text, and the disk is not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Absolute working directory, or `None` if it is unknown.
    pub dir: Option<String>,
    /// Home directory, used for `~`.
    pub home: Option<String>,
    /// Absolute path of the repository's top directory. `git` may change everything below it.
    pub top: Option<String>,
}

impl Place {
    /// Returns a place with a working directory, without a home directory and without a repository.
    pub fn at(dir: &str) -> Place {
        Place {
            dir: Some(dir.to_owned()),
            ..Place::default()
        }
    }
    /// Returns the absolute form of a path, or `None` if the path depends on an unknown directory. Keeps `..`,
    /// because the target of `..` depends on the symlinks in the path before `..`.
    pub fn resolve(&self, path: &str) -> Option<String> {
        match (path.starts_with('/'), &self.dir) {
            (true, _) => Some(joined(path)),
            (false, Some(dir)) => Some(joined(&format!("{dir}/{path}"))),
            (false, None) => None,
        }
    }
    /// Returns the place after `cd dir`. A shell resolves `..` in the text of the path.
    #[must_use]
    pub fn within(&self, dir: &str) -> Place {
        self.with(self.resolve(dir).map(|dir| tidy(&dir)))
    }
    /// Returns the place in a subdirectory, for programs that put a directory in front of paths. Keeps `..`.
    #[must_use]
    pub(crate) fn below(&self, dir: &str) -> Place {
        self.with(self.resolve(dir))
    }
    /// Returns the place with the working directory unknown.
    #[must_use]
    pub fn nowhere(&self) -> Place {
        self.with(None)
    }
    fn with(&self, dir: Option<String>) -> Place {
        Place {
            dir,
            ..self.clone()
        }
    }
    /// Returns true if the text of a path shows that the path is in the repository.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let path = self.resolve(path).map(|path| tidy(&path));
        match (&self.top, path) {
            (Some(top), Some(path)) => is_within(&path, top),
            _ => false,
        }
    }
    /// Returns the top of the repository. Without a repository, returns the working directory.
    pub(crate) fn whole(&self) -> &str {
        match (&self.top, &self.dir) {
            (Some(top), Some(dir)) if is_within(dir, top) => top,
            _ => ".",
        }
    }
}

fn is_within(dir: &str, top: &str) -> bool {
    let rest = dir.strip_prefix(top.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns an absolute path without `.`, `//` and trailing slash.
fn joined(path: &str) -> String {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    format!("/{}", parts.join("/"))
}

/// Returns an absolute path without `.`, `..`, `//` and trailing slash. Resolves `..` in the text of the path. A path
/// above the root becomes the root.
pub(crate) fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match part {
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_by_text() {
        let here = Place::at("/repo/a");
        for (path, expected) in [
            ("x", "/repo/a/x"),
            ("./x/", "/repo/a/x"),
            ("../../../..", "/repo/a/../../../.."),
            ("..//b/./c", "/repo/a/../b/c"),
            ("/etc/../x", "/etc/../x"),
            (".", "/repo/a"),
            ("", "/repo/a"),
        ] {
            assert_eq!(here.resolve(path).as_deref(), Some(expected), "{path}");
        }
        for (dir, expected) in [
            ("..", "/repo"),
            ("../../../..", "/"),
            ("b/../c/", "/repo/a/c"),
        ] {
            assert_eq!(here.within(dir).dir.as_deref(), Some(expected), "{dir}");
        }
        assert_eq!(here.whole(), ".");
        for (top, expected) in [("/repo", "/repo"), ("/repo/", "/repo/"), ("/rep", ".")] {
            let here = Place {
                top: Some(top.into()),
                ..here.clone()
            };
            assert_eq!(here.whole(), expected);
        }
        assert_eq!(here.nowhere().resolve("x"), None);
        assert_eq!(here.nowhere().resolve("/x").as_deref(), Some("/x"));
    }
}
