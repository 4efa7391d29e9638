//! Resources as tasks declare them: paths relative to the repository, with patterns, each covering what lies below it.
//!
//! | part | stands for |
//! |---|---|
//! | `name` | itself |
//! | `*` | any letters of a name |
//! | `?` | one letter |
//! | `**` | any number of directories, none included |
//! | `.` alone | everything |

/// Most bytes of a declared resource.
pub const RESOURCE_BYTES_MAX: usize = 1024;
/// Most names in one, so that comparing two stays cheap.
pub const PARTS_MAX: usize = 64;

/// A declared resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A name, with `*` and `?` in it.
    Name(Vec<char>),
    /// `**`.
    Any,
}

/// Why a text is no resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// Nothing is left of it.
    Empty,
    /// It begins at the root of the disk.
    Absolute,
    /// It holds `..`.
    Upward,
    /// It holds a backslash, which some systems take for a slash.
    Backslash,
    /// It holds a control character.
    Control,
    /// It is too long.
    Long,
}

impl Unusable {
    /// The rule that it breaks.
    pub fn rule(self) -> &'static str {
        match self {
            Unusable::Empty => "must name a path, or be . for everything",
            Unusable::Absolute => "must be relative to the repository's root",
            Unusable::Upward => "must not hold ..",
            Unusable::Backslash => "must be written with slashes, not backslashes",
            Unusable::Control => "must not hold control characters",
            Unusable::Long => "must be at most 1024 bytes and 64 names long",
        }
    }
}

impl Pattern {
    /// Reads a declared resource. `./`, `//` and a slash at the end mean nothing.
    pub fn parse(text: &str) -> Result<Pattern, Unusable> {
        if text.len() > RESOURCE_BYTES_MAX {
            return Err(Unusable::Long);
        }
        if text.chars().any(char::is_control) {
            return Err(Unusable::Control);
        }
        if text.contains('\\') {
            return Err(Unusable::Backslash);
        }
        if text.starts_with('/') {
            return Err(Unusable::Absolute);
        }
        if text.trim().is_empty() {
            return Err(Unusable::Empty);
        }
        let mut parts = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => return Err(Unusable::Upward),
                "**" if parts.last() == Some(&Part::Any) => {}
                "**" => parts.push(Part::Any),
                name => parts.push(Part::Name(name.chars().collect())),
            }
        }
        match parts.len() <= PARTS_MAX {
            true => Ok(Pattern { parts }),
            false => Err(Unusable::Long),
        }
    }

    /// Whether a path, relative and without `.` and `..`, is covered: it or a directory that it lies in fits.
    pub fn covers(&self, path: &str) -> bool {
        let names = names(path).map(Part::Name).collect::<Vec<Part>>();
        // The names of a path stand for themselves, which `literal` says.
        fits(&self.parts, &names)
    }

    /// Whether a path below a directory may be covered, or the directory itself is. The directory's names, relative and
    /// without `.` and `..`, stand for themselves.
    pub fn reaches(&self, dir: &str) -> bool {
        // Behind which parts a path may stand that begins with these names.
        let mut at = vec![false; self.parts.len() + 1];
        at[0] = true;
        for name in names(dir) {
            let mut next = vec![false; at.len()];
            next[self.parts.len()] = at[self.parts.len()];
            for (here, part) in self.parts.iter().enumerate().filter(|(here, _)| at[*here]) {
                match part {
                    // It stands for any name, so that everything below is within reach.
                    Part::Any => return true,
                    Part::Name(pattern) => next[here + 1] |= fits_name(pattern, &name),
                }
            }
            at = next;
        }
        at.contains(&true)
    }

    /// Whether it names one path only, without `*` and `?`.
    pub fn is_literal(&self) -> bool {
        let plain = |part: &Part| match part {
            Part::Any => false,
            Part::Name(name) => !name.contains(&'*') && !name.contains(&'?'),
        };
        self.parts.iter().all(plain)
    }

    /// Whether there is a path that both cover.
    pub fn overlaps(&self, other: &Pattern) -> bool {
        let (one, two) = (&self.parts, &other.parts);
        // Row by row from the end: whether what is left of one and of the other can be met by one path. Where either has
        // nothing left, it covers whatever the other goes on with.
        let mut below = vec![true; two.len() + 1];
        for part in one.iter().rev() {
            let mut row = vec![true; two.len() + 1];
            for (at, other) in two.iter().enumerate().rev() {
                let skip_one = below[at];
                let skip_two = row[at + 1];
                row[at] = match (part, other) {
                    (Part::Any, _) | (_, Part::Any) => skip_one || skip_two,
                    (Part::Name(name), Part::Name(other)) => below[at + 1] && meets(name, other),
                };
            }
            below = row;
        }
        below[0]
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.parts.is_empty() {
            return f.write_str(".");
        }
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                f.write_str("/")?;
            }
            match part {
                Part::Any => f.write_str("**")?,
                Part::Name(name) => f.write_str(&name.iter().collect::<String>())?,
            }
        }
        Ok(())
    }
}

/// The names of a path.
fn names(path: &str) -> impl Iterator<Item = Vec<char>> {
    let names = path
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".");
    names.map(|name| name.chars().collect())
}

/// Whether a pattern fits the names of a path or the first of them.
fn fits(parts: &[Part], names: &[Part]) -> bool {
    let mut below = vec![true; names.len() + 1];
    for part in parts.iter().rev() {
        let mut row = vec![*part == Part::Any && below[names.len()]; names.len() + 1];
        for (at, name) in names.iter().enumerate().rev() {
            row[at] = match (part, name) {
                (Part::Any, _) => below[at] || row[at + 1],
                (Part::Name(pattern), Part::Name(name)) => {
                    below[at + 1] && fits_name(pattern, name)
                }
                (Part::Name(_), Part::Any) => false,
            };
        }
        below = row;
    }
    below[0]
}

/// Whether a name, taken as it stands, fits a pattern.
fn fits_name(pattern: &[char], name: &[char]) -> bool {
    let mut below: Vec<bool> = (0..=name.len()).map(|at| at == name.len()).collect();
    for letter in pattern.iter().rev() {
        let mut row = vec![*letter == '*' && below[name.len()]; name.len() + 1];
        for at in (0..name.len()).rev() {
            row[at] = match letter {
                '*' => below[at] || row[at + 1],
                '?' => below[at + 1],
                letter => below[at + 1] && *letter == name[at],
            };
        }
        below = row;
    }
    below[0]
}

/// Whether there is a name that fits both patterns.
fn meets(one: &[char], two: &[char]) -> bool {
    let mut below: Vec<bool> = vec![false; two.len() + 1];
    below[two.len()] = true;
    for at in (0..two.len()).rev() {
        below[at] = two[at] == '*' && below[at + 1];
    }
    for letter in one.iter().rev() {
        let mut row = vec![*letter == '*' && below[two.len()]; two.len() + 1];
        for (at, other) in two.iter().enumerate().rev() {
            row[at] = match (letter, other) {
                ('*', _) | (_, '*') => below[at] || row[at + 1],
                ('?', _) | (_, '?') => below[at + 1],
                (letter, other) => below[at + 1] && letter == other,
            };
        }
        below = row;
    }
    below[0]
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
            ("", Unusable::Empty),
            (" ", Unusable::Empty),
            ("/src", Unusable::Absolute),
            ("..", Unusable::Upward),
            ("a/../b", Unusable::Upward),
            ("src\\io", Unusable::Backslash),
            ("a\0b", Unusable::Control),
            (&long, Unusable::Long),
            (&"x".repeat(2000), Unusable::Long),
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
