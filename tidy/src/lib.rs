//! Reads the project's files for checks of its rules: the files, and the modules that they import.
#![forbid(unsafe_code)]

pub mod english;
pub mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file of the project.
#[derive(Debug)]
pub struct File {
    /// Path, relative to the root of the project.
    pub path: String,
    /// Content.
    pub text: String,
}

/// A line of a file.
#[derive(Debug)]
pub struct Line<'a> {
    /// Number of the line, from 1.
    pub number: usize,
    /// Text without comments and without the contents of strings.
    pub code: String,
    /// Complete text.
    pub text: &'a str,
}

/// Returns the root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns every text file with one of these endings, except build outputs.
///
/// # Panics
/// If the tree cannot be read.
pub fn files(endings: &[&str]) -> Vec<File> {
    let mut found = Vec::new();
    let mut open = vec![root()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).expect("a directory of the project") {
            let path = entry.expect("an entry of the project").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !["target", ".git", "node_modules"].contains(&&*name) {
                open.push(path);
            } else if path.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                let short = path.strip_prefix(root()).expect("a path of the project");
                found.push(File {
                    path: short.to_string_lossy().into_owned(),
                    text: String::from_utf8_lossy(&std::fs::read(&path).expect("a file"))
                        .into_owned(),
                });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

impl File {
    /// Returns the crate of a source file.
    pub fn source_of(&self) -> Option<&str> {
        let (krate, rest) = self.path.split_once('/')?;
        rest.starts_with("src/").then_some(krate)
    }

    /// Returns true if the file contains only tests.
    pub fn is_test(&self) -> bool {
        let inside = self.path.contains("/tests/");
        inside || self.path.ends_with("tests.rs") || self.path.ends_with("_test.rs")
    }

    /// Returns the lines before the file's unit tests.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let tests = self.text.find("\n#[cfg(test)]\nmod tests");
        let text = &self.text[..tests.unwrap_or(self.text.len())];
        let lines = text.lines().enumerate();
        lines
            .map(|(at, text)| Line {
                number: at + 1,
                code: code(text),
                text,
            })
            .collect()
    }

    /// Returns the top-level module of the file.
    fn module(&self) -> Option<&str> {
        let (_, inside) = self.path.split_once("/src/")?;
        let first = inside.split('/').next()?;
        Some(first.strip_suffix(".rs").unwrap_or(first))
    }
}

/// Returns a line without comments and without the contents of its strings.
fn code(line: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if quoted => {
                chars.next();
            }
            '"' => quoted = !quoted,
            '/' if !quoted && chars.peek() == Some(&'/') => break,
            _ if quoted => {}
            _ => code.push(char),
        }
    }
    code
}

/// Returns the imports between top-level modules of a crate.
pub fn imports(files: &[File], krate: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let own: Vec<&File> = files
        .iter()
        .filter(|file| file.source_of() == Some(krate) && !file.is_test())
        .collect();
    let modules: BTreeSet<&str> = own.iter().filter_map(|file| file.module()).collect();
    let reexports = reexports(&own, &modules);
    for file in &own {
        let Some(module) = file.module().filter(|name| !["lib", "main"].contains(name)) else {
            continue;
        };
        for line in file.lines() {
            for part in line.code.split("crate::").skip(1) {
                let name = part
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next();
                let name = name.and_then(|name| match modules.get(name) {
                    Some(name) => Some(*name),
                    None => reexports.get(name).copied(),
                });
                if let Some(name) = name.filter(|name| *name != module) {
                    let known = imports.entry(module.to_owned()).or_default();
                    known.insert(name.to_owned());
                }
            }
        }
    }
    imports
}

/// Returns the module of each name that the root of a crate re-exports.
fn reexports<'a>(own: &[&'a File], modules: &BTreeSet<&'a str>) -> BTreeMap<&'a str, &'a str> {
    let roots = own.iter().filter(|file| file.module() == Some("lib"));
    let lines = roots.flat_map(|file| file.text.lines());
    let mut found = BTreeMap::new();
    for path in lines.filter_map(|line| line.strip_prefix("pub use ")) {
        let mut names = path.split(|c: char| !c.is_alphanumeric() && c != '_');
        if let Some(module) = names.next().and_then(|name| modules.get(name)) {
            found.extend(
                names
                    .filter(|name| !name.is_empty())
                    .map(|name| (name, *module)),
            );
        }
    }
    found
}

/// Returns a path of imports from a module back to itself, if there is one.
pub fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    imports.keys().find_map(|start| {
        let mut ways = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(way) = ways.pop() {
            for next in way
                .last()
                .and_then(|last| imports.get(last))
                .into_iter()
                .flatten()
            {
                let longer = [way.clone(), vec![next.clone()]].concat();
                if next == start {
                    return Some(longer);
                }
                if seen.insert(next.clone()) {
                    ways.push(longer);
                }
            }
        }
        None
    })
}
