//! Programs that put a smaller file in the place of one, or the other way around.

use super::{Run, found_below, last_name, parent};
use crate::shell::options::{Takes, Words};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &[
    "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd",
];

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
    let takes = match program {
        "gzip" => Takes::of("S", &["--suffix"]),
        "xz" => Takes::of(
            "SFCTM",
            &["--suffix", "--format", "--check", "--threads", "--memory"],
        ),
        "zstd" => {
            Takes::of("D", &["-o", "--output-dir-flat", "--output-dir-mirror"]).maybe("TMBbei")
        }
        _ => Takes::NONE,
    };
    let found = Words::of(run.words, takes);
    let only_shows = [('c', "--stdout"), ('l', "--list"), ('t', "--test")];
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
    let lists = [
        "--files",
        "--files0",
        "--filelist",
        "--train",
        "--train-cover",
        "--trace",
    ];
    if lists.into_iter().any(|long| found.has(None, long)) {
        writes.doubt(format!("{} is told its files in another way", run.name));
    }
    if only_shows
        .into_iter()
        .any(|(letter, long)| found.sure(Some(letter), long))
        || found.sure(None, "--to-stdout")
    {
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

fn unpacked(path: &str) -> Value {
    let known = ENDS
        .iter()
        .find_map(|(end, other)| Some(format!("{}{other}", path.strip_suffix(end)?)));
    match known {
        Some(path) if !last_name(&path).is_empty() => Value::Plain(path),
        _ => Value::Below(parent(path).to_owned()),
    }
}
