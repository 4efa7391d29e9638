//! Programs that fetch files.

use super::{Run, found_below};
use crate::shell::options::{Takes, Words};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &["curl", "wget"];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    match run.name {
        "curl" => curl(walker, run.words, writes),
        _ => wget(walker, run.words, writes),
    }
}

const CURL: Takes = Takes::of(
    "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    &[
        "--output",
        "--header",
        "--request",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "--json",
        "--form",
        "--user",
        "--user-agent",
        "--cookie",
        "--cookie-jar",
        "--dump-header",
        "--output-dir",
        "--max-time",
        "--retry",
        "--retry-delay",
        "--url",
        "--connect-timeout",
        "--write-out",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--libcurl",
        "--etag-save",
        "--etag-compare",
        "--hsts",
        "--alt-svc",
        "--cacert",
        "--cert",
        "--key",
        "--proxy",
        "--referer",
        "--range",
        "--unix-socket",
        "--resolve",
    ],
);
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

fn curl(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let found = Words::of(words, CURL);
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
    let expands = found
        .options
        .iter()
        .any(|option| option.name.starts_with("--exp"));
    let engine = found.has(None, "--engine");
    if found.has(Some('K'), "--config") || expands || engine || !formats.iter().all(prints) {
        writes.doubt("curl is told more than what to fetch");
    }
}

const WGET: Takes = Takes::of(
    "OPoaUeTtQiADIRXlBw",
    &[
        "--output-document",
        "--directory-prefix",
        "--output-file",
        "--append-output",
        "--header",
        "--user-agent",
        "--timeout",
        "--tries",
        "--save-cookies",
        "--load-cookies",
        "--warc-file",
        "--rejected-log",
        "--hsts-file",
        "--level",
        "--accept",
        "--reject",
        "--wait",
        "--post-data",
    ],
);
/// Options of `wget` that name a file which it writes beside what it fetches.
const WGET_FILES: [(Option<char>, &str); 5] = [
    (Some('o'), "--output-file"),
    (Some('a'), "--append-output"),
    (None, "--save-cookies"),
    (None, "--rejected-log"),
    (None, "--hsts-file"),
];

fn wget(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let found = Words::of(words, WGET);
    for option in [
        "--use-askpass",
        "--config",
        "--warc-file",
        "--warc-tempdir",
        "--warc-dedup",
    ] {
        if found.has(None, option) {
            writes.doubt("wget is told more than what to fetch");
        }
    }
    if found.has(Some('e'), "--execute") {
        writes.doubt("wget is told more than what to fetch");
    }
    for (letter, long) in WGET_FILES {
        for file in found.values(letter, long) {
            walker.target(&file, "wget", writes);
        }
    }
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
