//! Where a call runs.

/// Where a call runs, as far as that is known. All by text: nothing here looks at a disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The working directory, absolute; `None` where nobody can say.
    pub dir: Option<String>,
    /// What `~` stands for.
    pub home: Option<String>,
}

impl Place {
    /// At a directory, with no home.
    pub fn at(dir: &str) -> Place {
        Place {
            dir: Some(dir.to_owned()),
            home: None,
        }
    }
    /// A path as seen from here; `None` where that depends on a directory which is not known.
    pub fn resolve(&self, path: &str) -> Option<String> {
        match (path.starts_with('/'), &self.dir) {
            (true, _) => Some(tidy(path)),
            (false, Some(dir)) => Some(tidy(&format!("{dir}/{path}"))),
            (false, None) => None,
        }
    }
    /// The same, behind a change of the directory.
    #[must_use]
    pub fn within(&self, dir: &str) -> Place {
        Place {
            dir: self.resolve(dir),
            home: self.home.clone(),
        }
    }
    /// The same, with a directory that nobody can say.
    #[must_use]
    pub fn nowhere(&self) -> Place {
        Place {
            dir: None,
            home: self.home.clone(),
        }
    }
}

/// An absolute path without `.`, `..`, `//` and a slash at its end; what leads above the root stays there.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
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
            ("../../../..", "/"),
            ("..//b/./c", "/repo/b/c"),
            ("/etc/../x", "/x"),
            (".", "/repo/a"),
            ("", "/repo/a"),
        ] {
            assert_eq!(here.resolve(path).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(here.nowhere().resolve("x"), None);
        assert_eq!(here.nowhere().resolve("/x").as_deref(), Some("/x"));
    }
}
