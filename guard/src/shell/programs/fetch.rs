//! Programs that fetch files.

use super::{Run, found_below};
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// Options of `curl` that name a file which it writes.
const CURL_FILES: [(Option<char>, &str); 8] = [
    (Some('c'), "--cookie-jar"),
    (Some('D'), "--dump-header"),
    (None, "--trace"),
    (None, "--trace-ascii"),
    (None, "--stderr"),
    (None, "--libcurl"),
    (None, "--etag-save"),
    (None, "--alt-svc"),
];

pub(super) fn curl(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, "curl", writes);
    let mut files: Vec<Value> = CURL_FILES
        .iter()
        .chain(&[(None, "--hsts")])
        .flat_map(|(letter, long)| found.values(*letter, long))
        .collect();
    let dirs = found.values(None, "--output-dir");
    for file in found.values(Some('o'), "--output") {
        match (file, dirs.last()) {
            (Value::Plain(file), _) if file.contains('#') => files.push(Value::Unknown),
            (file, None) => files.push(file),
            (Value::Plain(file), _) if file == "-" => {}
            (Value::Plain(file), Some(Value::Plain(dir))) if !file.starts_with('/') => {
                files.push(Value::Plain(format!("{dir}/{file}")));
            }
            _ => files.push(Value::Unknown),
        }
    }
    for file in files.iter().filter(|file| file.plain() != Some("-")) {
        walker.target(file, "curl", writes);
    }
    if found.has(Some('O'), "--remote-name") || found.has(None, "--remote-name-all") {
        let dir = dirs
            .last()
            .map_or(Value::Below(".".to_owned()), found_below);
        walker.target(&dir, "curl", writes);
    }
    let formats = found.values(Some('w'), "--write-out");
    let prints = |format: &Value| {
        let plain = format.plain();
        plain.is_some_and(|format| !format.contains("output{") && !format.starts_with('@'))
    };
    if !formats.iter().all(prints) {
        writes.doubt("curl is told more than what to fetch");
    }
}

pub(super) fn wget(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, "wget", writes);
    if found.has(Some('b'), "--background") {
        walker.target_below(".", "wget", writes);
    }
    if found.sure(None, "--spider") {
        return;
    }
    let files = found.values(Some('O'), "--output-document");
    let dirs = found.values(Some('P'), "--directory-prefix");
    match (files.as_slice(), dirs.as_slice()) {
        ([], []) => walker.target_below(".", "wget", writes),
        ([], dirs) => {
            for dir in dirs {
                walker.target(&found_below(dir), "wget", writes);
            }
        }
        (files, _) => {
            for file in files.iter().filter(|file| file.plain() != Some("-")) {
                walker.target(file, "wget", writes);
            }
        }
    }
}
