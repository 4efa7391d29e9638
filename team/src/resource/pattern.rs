//! Resources as tasks declare them: paths and patterns, relative to the repository. A resource also covers everything below
//! it.
//!
//! | part | matches |
//! |---|---|
//! | `name` | this name |
//! | `*` | any characters within a name |
//! | `?` | one character |
//! | `**` | any number of directories, also none |
//! | `.` alone | everything |

/// Maximum length of a declared resource, in bytes.
pub const RESOURCE_BYTES_MAX: usize = 1024;
/// Maximum number of names in a resource, so that comparing two resources stays cheap.
pub const PARTS_MAX: usize = 64;
/// Error text for a resource that is too long.
const LONG: &str = "must be at most 1024 bytes and 64 names long";

/// A declared resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A name, which may contain `*` and `?`.
    Name(Vec<char>),
    /// The part `**`.
    Any,
}

impl Pattern {
    /// Parses a declared resource. If the resource is invalid, returns the broken rule. Ignores
    /// `./`, `//` and a trailing slash.
    pub fn parse(text: &str) -> Result<Pattern, &'static str> {
        for (broken, rule) in [
            (text.len() > RESOURCE_BYTES_MAX, LONG),
            (
                text.chars().any(char::is_control),
                "must not contain control characters",
            ),
            // Refuses a backslash, because some systems treat a backslash as a slash.
            (
                text.contains('\\'),
                "must be written with slashes, not backslashes",
            ),
            (
                text.starts_with('/'),
                "must be relative to the repository's root",
            ),
            (
                text.trim().is_empty(),
                "must name a path, or be . for everything",
            ),
        ] {
            if broken {
                return Err(rule);
            }
        }
        let mut parts = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => return Err("must not contain .."),
                "**" if parts.last() == Some(&Part::Any) => {}
                "**" => parts.push(Part::Any),
                name => parts.push(Part::Name(name.chars().collect())),
            }
        }
        match parts.len() <= PARTS_MAX {
            true => Ok(Pattern { parts }),
            false => Err(LONG),
        }
    }

    /// Returns true if the pattern matches a path or one of its parent directories. The path must be relative, without `.` and
    /// `..`.
    pub fn covers(&self, path: &str) -> bool {
        meet(&self.parts, &literal(path), false)
    }

    /// Returns true if the pattern may cover the directory `dir` or a path below it. `dir` is a relative path without `.` and
    /// `..`, not a pattern.
    pub fn reaches(&self, dir: &str) -> bool {
        meet(&self.parts, &literal(dir), true)
    }

    /// Returns true if the pattern has no `*` and no `?`, so that the pattern names exactly one
    /// path.
    pub fn is_literal(&self) -> bool {
        let plain = |part: &Part| match part {
            Part::Any => false,
            Part::Name(name) => !name.contains(&'*') && !name.contains(&'?'),
        };
        self.parts.iter().all(plain)
    }

    /// Returns true if at least one path is covered by both patterns.
    pub fn overlaps(&self, other: &Pattern) -> bool {
        meet(&self.parts, &other.parts, true)
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |part: &Part| match part {
            Part::Any => "**".to_owned(),
            Part::Name(name) => name.iter().collect(),
        };
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        match parts.is_empty() {
            true => f.write_str("."),
            false => f.write_str(&parts.join("/")),
        }
    }
}

/// Splits a path into literal names. Replaces `*` and `?` by a character that no name contains.
fn literal(path: &str) -> Vec<Part> {
    let names = path.split('/');
    let names = names.filter(|name| !name.is_empty() && *name != ".");
    let name = |name: &str| Part::Name(name.replace(['*', '?'], "\0").chars().collect());
    names.map(name).collect()
}

/// Returns true if a match of `two` can lie at or below a match of `one`. With `below`, also returns true if a match of `one`
/// can lie at or below a match of `two`.
fn meet(one: &[Part], two: &[Part], below: bool) -> bool {
    // Dynamic programming from the end: `next[j]` is true if the remaining part of `one` and
    // `two[j..]` match a common path.
    let mut next = vec![true; two.len() + 1];
    for part in one.iter().rev() {
        let mut row = vec![below || (*part == Part::Any && next[two.len()]); two.len() + 1];
        for (at, other) in two.iter().enumerate().rev() {
            row[at] = match (part, other) {
                (Part::Any, _) | (_, Part::Any) => next[at] || row[at + 1],
                (Part::Name(name), Part::Name(other)) => next[at + 1] && names_meet(name, other),
            };
        }
        next = row;
    }
    next[0]
}

/// Returns true if a name exists that matches both names with wildcards.
fn names_meet(one: &[char], two: &[char]) -> bool {
    let mut next: Vec<bool> = vec![false; two.len() + 1];
    next[two.len()] = true;
    for at in (0..two.len()).rev() {
        next[at] = two[at] == '*' && next[at + 1];
    }
    for letter in one.iter().rev() {
        let mut row = vec![*letter == '*' && next[two.len()]; two.len() + 1];
        for (at, other) in two.iter().enumerate().rev() {
            row[at] = match (letter, other) {
                ('*', _) | (_, '*') => next[at] || row[at + 1],
                ('?', _) | (_, '?') => next[at + 1],
                (letter, other) => next[at + 1] && letter == other,
            };
        }
        next = row;
    }
    next[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    #[test]
    fn what_is_declared_is_tidied_or_refused() {
        for (text, tidy) in [
            ("src/io/", "src/io"),
            ("./src//io", "src/io"),
            (".", "."),
            ("./", "."),
            ("**/**/x", "**/x"),
            ("a b", "a b"),
        ] {
            assert_eq!(pattern(text).to_string(), tidy, "{text}");
        }
        let long = "x/".repeat(70);
        for (text, rule) in [
            ("", "must name a path, or be . for everything"),
            (" ", "must name a path, or be . for everything"),
            ("/src", "must be relative to the repository's root"),
            ("..", "must not contain .."),
            ("a/../b", "must not contain .."),
            ("src\\io", "must be written with slashes, not backslashes"),
            ("a\0b", "must not contain control characters"),
            (&long, LONG),
            (&"x".repeat(2000), LONG),
        ] {
            assert_eq!(Pattern::parse(text), Err(rule), "{text}");
        }
    }

    #[test]
    fn a_resource_covers_itself_and_what_lies_below() {
        for (resource, path, covered) in [
            ("src/io", "src/io", true),
            ("src/io", "src/io/f.rs", true),
            ("src/io", "src/iox", false),
            ("src/io", "src", false),
            ("src/io", "Src/io", false),
            (".", "anything/at/all", true),
            (".", ".", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/a.rs/below", true),
            ("src/*.rs", "src/x/a.rs", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/x/y/a.rs", true),
            ("src/**", "src", true),
            ("src/**", "src/x", true),
            ("**/test", "a/b/test/c", true),
            ("**/test", "a/b/tests", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a", "*", false),
            ("*", "*", true),
        ] {
            assert_eq!(pattern(resource).covers(path), covered, "{resource} {path}");
        }
    }

    #[test]
    fn a_resource_reaches_the_directories_on_its_way_and_below_itself() {
        for (resource, dir, reached) in [
            ("src/io", ".", true),
            ("src/io", "src", true),
            ("src/io", "src/io", true),
            ("src/io", "src/io/deep", true),
            ("src/io", "src/os", false),
            ("src/io", "docs", false),
            (".", "docs", true),
            ("src/*.rs", "src", true),
            ("src/*.rs", "src/a", false),
            ("src/*.rs", "src/a.rs/b", true),
            ("**/test", "a/b", true),
            ("src/**/x", "src/y/z", true),
            ("src/**/x", "docs/x", false),
            ("a?/b", "ab", true),
            ("a?/b", "*", false),
        ] {
            assert_eq!(pattern(resource).reaches(dir), reached, "{resource} {dir}");
        }
    }

    #[test]
    fn two_resources_overlap_where_one_path_lies_in_both() {
        for (one, two, overlap) in [
            ("src", "src", true),
            ("src", "src/io", true),
            ("src/io", "src/os", false),
            ("src/io", "src/iox", false),
            (".", "docs", true),
            ("src/*.rs", "src/*.md", false),
            ("src/a*", "src/*b", true),
            ("src/**/x", "src/y", true),
            ("src/**/x", "docs", false),
            ("*/a", "b/*", true),
            ("**/a", "b", true),
            ("a?", "ab", true),
            ("a?", "a", false),
            ("*.rs", "*.r?", true),
            ("**", "x/y", true),
        ] {
            assert_eq!(pattern(one).overlaps(&pattern(two)), overlap, "{one} {two}");
            assert_eq!(pattern(two).overlaps(&pattern(one)), overlap, "{two} {one}");
        }
    }

    #[test]
    fn overlap_is_what_a_search_for_such_a_path_finds() {
        let names = ["a", "b", "ab"];
        let mut paths = vec![String::new()];
        for _ in 0..4 {
            let longer: Vec<String> = paths
                .iter()
                .flat_map(|path| names.iter().map(move |name| format!("{path}/{name}")))
                .collect();
            paths.extend(longer);
            paths.sort();
            paths.dedup();
        }
        let parts = ["a", "b", "*", "**", "a*", "?"];
        let mut patterns: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        for one in parts {
            for two in parts {
                patterns.push(format!("{one}/{two}"));
            }
        }
        for one in &patterns {
            for two in &patterns {
                let (p, q) = (pattern(one), pattern(two));
                let found = paths
                    .iter()
                    .filter(|path| !path.is_empty())
                    .any(|path| p.covers(path) && q.covers(path));
                assert_eq!(p.overlaps(&q), found, "{one} {two}");
            }
        }
    }
}
