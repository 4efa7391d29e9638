//! Programs that put a smaller file in the place of one, or the other way around.

use super::{Run, found_below, last_name, parent};
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// The ends of names by which packed files are known, and what they are without.
const ENDS: [(&str, &str); 11] = [
    (".gz", ""),
    (".tgz", ".tar"),
    (".z", ""),
    (".Z", ""),
    (".bz2", ""),
    (".tbz2", ".tar"),
    (".tbz", ".tar"),
    (".xz", ""),
    (".txz", ".tar"),
    (".zst", ""),
    (".tzst", ".tar"),
];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let (program, end) = match run.name {
        "gzip" | "gunzip" => ("gzip", ".gz"),
        "bzip2" | "bunzip2" => ("bzip2", ".bz2"),
        "xz" | "unxz" => ("xz", ".xz"),
        _ => ("zstd", ".zst"),
    };
    let found = Words::of(run.words, run.spec);
    found.check(walker, run.name, writes);
    let told = [
        (Some('o'), "--output"),
        (None, "--output-dir-flat"),
        (None, "--output-dir-mirror"),
    ];
    for (letter, long) in told {
        for place in found
            .values(letter, long)
            .iter()
            .filter(|_| program == "zstd")
        {
            match letter {
                Some(_) => walker.target(place, run.name, writes),
                None => walker.target(&found_below(place), run.name, writes),
            }
        }
    }
    let hidden = |word: &Value| {
        let letters = word.plain().filter(|text| !text.starts_with("--"));
        letters.is_some_and(|text| text.starts_with('-') && text.len() > 2 && text.contains('o'))
    };
    if program == "zstd" && run.words.iter().any(hidden) {
        writes.doubt("zstd takes the next word for its output");
    }
    if only_shows(program, &found) {
        return;
    }
    let unpacks = run.name.contains("un")
        || found.has(Some('d'), "--decompress")
        || found.has(None, "--uncompress");
    let renames = found.has(Some('N'), "--name") || !found.values(Some('S'), "--suffix").is_empty();
    let deep = found.has(Some('r'), "--recursive");
    let keeps = program == "zstd" && !found.has(None, "--rm");
    let elsewhere = program == "zstd" && told.iter().any(|(letter, long)| found.has(*letter, long));
    for operand in &found.operands {
        if !keeps || operand.plain().is_none() {
            walker.target(operand, run.name, writes);
        }
        if let (Value::Plain(path), true) = (operand, deep) {
            walker.target_below(path, run.name, writes);
        }
        let other = match operand {
            Value::Plain(path) if path == "-" || elsewhere => continue,
            Value::Plain(path) if renames => Value::Below(parent(path).to_owned()),
            Value::Plain(path) if unpacks => unpacked(path),
            Value::Plain(path) => Value::Plain(format!("{path}{end}")),
            _ => continue,
        };
        walker.target(&other, run.name, writes);
    }
}

/// Whether the packed or unpacked bytes go to standard output or nowhere. What a program does is said by the last option
/// that says it, but `gzip` never goes back on one.
fn only_shows(program: &str, found: &Words<'_>) -> bool {
    let to_stdout = found.sure(Some('c'), "--stdout") || found.sure(None, "--to-stdout");
    // Where zstd is told a file, the last of the two counts.
    let named = ["-o", "--output-dir-flat", "--output-dir-mirror"];
    if to_stdout && !named.iter().any(|name| found.last_of(&[name]).is_some()) {
        return true;
    }
    let looking = ["-l", "--list", "-t", "--test"];
    let doing = [
        "-z",
        "--compress",
        "-d",
        "--decompress",
        "--uncompress",
        "--rm",
    ];
    let deeds: Vec<&str> = looking.into_iter().chain(doing).collect();
    let last = match program {
        "gzip" => found.last_of(&looking),
        _ => found.last_of(&deeds),
    };
    last.is_some_and(|last| looking.contains(&last))
}

fn unpacked(path: &str) -> Value {
    let known = ENDS
        .iter()
        .find_map(|(end, other)| Some(format!("{}{other}", path.strip_suffix(end)?)));
    match known {
        Some(path) if !last_name(&path).is_empty() => Value::Plain(path),
        _ => Value::Below(parent(path).to_owned()),
    }
}
