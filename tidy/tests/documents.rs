//! Checks the documents: every link leads to a file and a heading, and the first paragraph names the reader.

use std::collections::BTreeMap;
use teamlog_tidy::{File, files};

/// Returns the Markdown documents of the project, by path.
fn documents() -> BTreeMap<String, String> {
    let found = files(&[".md"]).into_iter();
    found
        .map(|File { path, text }| (path, text))
        .filter(|(path, _)| !path.contains("target/"))
        .collect()
}

#[test]
fn every_link_of_a_document_leads_somewhere() {
    let documents = documents();
    let known: Vec<String> = files(&[""]).into_iter().map(|file| file.path).collect();
    let mut faults = Vec::new();
    for (path, text) in &documents {
        for link in links(text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                _ => joined(path, file),
            };
            let is_directory = known
                .iter()
                .any(|other| other.starts_with(&format!("{}/", target.trim_end_matches('/'))));
            if !known.contains(&target) && !is_directory {
                faults.push(format!("{path} links to {link}: no such file"));
            } else if !heading.is_empty()
                && let Some(other) = documents.get(&target)
                && !anchors(other).any(|anchor| anchor == heading)
            {
                faults.push(format!("{path} links to {link}: no such heading"));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_document_names_its_reader_first() {
    let mut faults = Vec::new();
    for (path, text) in documents() {
        let own = path.starts_with("docs/") && !path.starts_with("docs/decisions/");
        let first = text.lines().skip(1).find(|line| !line.is_empty());
        if own && !first.is_some_and(|line| line.starts_with("For ")) {
            faults.push(format!("{path}: {first:?}"));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Returns the targets of the links of a document. Leaves out links to other sites, and links in blocks of code.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|part| part.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://") && !target.contains(' '))
}

/// Returns the names by which a document's headings and anchors are linked.
fn anchors(text: &str) -> impl Iterator<Item = String> + '_ {
    let headings = text
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
            title.chars().filter(kept).collect::<String>()
        })
        .map(|title| title.replace(' ', "-"));
    let marks = text.split("<a id=\"").skip(1);
    headings.chain(marks.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())))
}

/// Converts a relative target of a link in the document at `from` into a path from the root.
fn joined(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}
