//! What the arguments of a known program say of what it writes.

use super::known::{LAST, OPERANDS, OWN, PLACES, READS, RUNNING, SHELLS, WRAPPERS};
use super::options::{Takes, Words};
use super::walk::{Stdin, Walker};
use super::word::{self, Value};
use super::{git, sed};
use crate::writes::Writes;

/// What a program writes.
pub(super) fn run(walker: &mut Walker, words: &[Value], stdin: Option<Stdin>, writes: &mut Writes) {
    let Some((name, words)) = words.split_first() else {
        return;
    };
    let Some(name) = name.plain() else {
        return writes.doubt("which program runs depends on an expansion");
    };
    let name = PLACES
        .iter()
        .find_map(|place| name.strip_prefix(place))
        .unwrap_or(name);
    if !name.contains('/') && only_asks(words) {
        return;
    }
    if let Some((_, skip, takes)) = OPERANDS.iter().find(|(known, _, _)| *known == name) {
        return operands(walker, name, words, *skip, *takes, writes);
    }
    if let Some((_, takes)) = LAST.iter().find(|(known, _)| *known == name) {
        return last(walker, name, &Words::of(words, *takes), writes);
    }
    if let Some((_, skip, takes)) = WRAPPERS.iter().find(|(known, _, _)| *known == name) {
        return wrapper(walker, name, words, (*skip, *takes), stdin, writes);
    }
    match name {
        name if SHELLS.contains(&name) => shell(walker, name, words, stdin, writes),
        "cd" | "pushd" | "popd" => cd(walker, name, words),
        "eval" => eval(walker, words, writes),
        "trap" => trap(walker, words, writes),
        "mv" => moves(walker, words, writes),
        "dd" => dd(walker, words, writes),
        "split" | "csplit" => splits(walker, name, words, writes),
        "xxd" => sorts(walker, name, words, writes),
        "tree" => tree(walker, words, writes),
        "teamlog" | "rcs" => own(words, writes),
        "alias" if words.is_empty() => {}
        "git" => git::run(walker, words, writes),
        "sed" | "gsed" => sed_writes(walker, words, writes),
        "awk" | "gawk" | "mawk" | "nawk" => awk(words, writes),
        "find" | "fd" => find(walker, words, writes),
        "sort" | "uniq" => sorts(walker, name, words, writes),
        "curl" => curl(walker, words, writes),
        "wget" => wget(walker, words, writes),
        "tar" => tar(walker, words, writes),
        "unzip" => extracts(
            walker,
            "unzip",
            &Words::of(words, Takes::letters("d")),
            'd',
            writes,
        ),
        "zip" => first(walker, "zip", words, writes),
        name if READS.contains(&name) => reads(name, words, writes),
        name => writes.doubt(format!("{name} is no program that is known")),
    }
}

/// A program that reads may be told to run another one, and a builtin evaluates the index of what it is given.
fn reads(name: &str, words: &[Value], writes: &mut Writes) {
    let options = RUNNING.iter().find(|(known, _)| *known == name);
    let options = options.map(|(_, options)| *options).unwrap_or_default();
    let begins = |text: &str| options.iter().any(|option| text.starts_with(option));
    if words.iter().filter_map(Value::plain).any(begins) {
        writes.doubt(format!("{name} runs another program"));
    }
    let evaluates = |text: &str| text.contains('[') && word::runs_commands(text);
    let says = matches!(name, "echo" | "grep" | "rg" | "egrep" | "fgrep");
    if !says && words.iter().filter_map(Value::plain).any(evaluates) {
        writes.doubt(format!("{name} may run what stands in an index"));
    }
}

fn own(words: &[Value], writes: &mut Writes) {
    match words.first().and_then(Value::plain) {
        None if words.is_empty() => {}
        Some(command) if OWN.contains(&command) => {}
        _ => writes.doubt("this command of teamlog may write elsewhere than into the log"),
    }
}

fn tree(walker: &Walker, words: &[Value], writes: &mut Writes) {
    for file in Words::of(words, Takes::letters("oLPI")).values(Some('o'), "") {
        walker.target(&file, "tree", writes);
    }
}

/// Files whose names begin with a prefix, which may name a directory.
fn splits(walker: &Walker, name: &str, words: &[Value], writes: &mut Writes) {
    let takes = match name {
        "split" => Takes {
            letters: "abClnt",
            long: &["--bytes", "--lines", "--number", "--suffix-length"],
        },
        _ => Takes {
            letters: "bfn",
            long: &["--prefix", "--suffix-format", "--digits"],
        },
    };
    let found = Words::of(words, takes);
    if found.has(None, "--filter") {
        writes.doubt("split runs another program");
    }
    let prefix = match name {
        "split" => found.operands.get(1).map(|prefix| (*prefix).clone()),
        _ => found.values(Some('f'), "--prefix").pop(),
    };
    match prefix {
        None => walker.target_below(".", name, writes),
        Some(Value::Plain(prefix)) => {
            let dir = prefix.rsplit_once('/').map_or(".", |(dir, _)| dir);
            let dir = if dir.is_empty() { "/" } else { dir };
            walker.target_below(dir, name, writes);
        }
        Some(other) => walker.target(&other, name, writes),
    }
}

fn wget(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let takes = Takes {
        letters: "OPoaUeTtQi",
        long: &[
            "--output-document",
            "--directory-prefix",
            "--output-file",
            "--append-output",
            "--header",
            "--user-agent",
        ],
    };
    let found = Words::of(words, takes);
    if found.has(Some('e'), "--execute") || found.has(None, "--use-askpass") {
        writes.doubt("wget is told more than what to fetch");
    }
    for (letter, long) in [('o', "--output-file"), ('a', "--append-output")] {
        for file in found.values(Some(letter), long) {
            walker.target(&file, "wget", writes);
        }
    }
    let files = found.values(Some('O'), "--output-document");
    let dirs = found.values(Some('P'), "--directory-prefix");
    match (files.first(), dirs.first()) {
        (Some(Value::Plain(file)), _) if file == "-" => {}
        (Some(file), _) => walker.target(file, "wget", writes),
        (None, Some(dir)) => walker.target(&found_below(dir), "wget", writes),
        (None, None) => walker.target_below(".", "wget", writes),
    }
}

/// Whether a program is only asked what it is.
fn only_asks(words: &[Value]) -> bool {
    matches!(
        words
            .iter()
            .map(Value::plain)
            .collect::<Vec<_>>()
            .as_slice(),
        [Some("--version" | "--help" | "-V")]
    )
}

fn operands(
    walker: &Walker,
    name: &str,
    words: &[Value],
    skip: usize,
    takes: Takes,
    writes: &mut Writes,
) {
    let found = Words::of(words, takes);
    let by_reference = found.has(None, "--reference") && skip > 0;
    if name == "patch" && found.operands.is_empty() {
        return writes.doubt("patch writes what its input names");
    }
    if name == "mktemp" && found.operands.is_empty() {
        return;
    }
    let skip = if by_reference { 0 } else { skip };
    for operand in found.operands.iter().skip(skip) {
        walker.target(operand, name, writes);
    }
}

fn last(walker: &Walker, name: &str, found: &Words<'_>, writes: &mut Writes) {
    let dirs = found.values(Some('t'), "--target-directory");
    if !dirs.is_empty() && matches!(name, "cp" | "ln" | "install") {
        for dir in &dirs {
            walker.target(dir, name, writes);
        }
        return;
    }
    if name == "install" && found.has(Some('d'), "--directory") {
        for operand in &found.operands {
            walker.target(operand, name, writes);
        }
        return;
    }
    match found.operands.as_slice() {
        [] => {}
        [_] if name == "ln" => walker.target_below(".", name, writes),
        [.., last] => {
            // A colon before any slash names another machine.
            let remote = last.plain().is_some_and(|path| {
                path.split('/')
                    .next()
                    .is_some_and(|host| host.contains(':'))
            });
            if !(remote && matches!(name, "rsync" | "scp")) {
                walker.target(last, name, writes);
            }
        }
    }
}

fn moves(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let takes = Takes {
        letters: "tS",
        long: &["--target-directory", "--suffix"],
    };
    let found = Words::of(words, takes);
    for dir in found.values(Some('t'), "--target-directory") {
        walker.target(&dir, "mv", writes);
    }
    for operand in &found.operands {
        walker.target(operand, "mv", writes);
    }
}

fn first(walker: &Walker, name: &str, words: &[Value], writes: &mut Writes) {
    if let Some(operand) = Words::of(words, Takes::NONE).operands.first() {
        walker.target(operand, name, writes);
    }
}

fn cd(walker: &mut Walker, name: &str, words: &[Value]) {
    let found = Words::of(words, Takes::NONE);
    walker.place = match (name, found.operands.as_slice()) {
        ("cd" | "pushd", [Value::Plain(dir)]) if dir != "-" => walker.place.within(dir),
        _ => walker.place.nowhere(),
    };
}

fn eval(walker: &mut Walker, words: &[Value], writes: &mut Writes) {
    match words.iter().map(Value::plain).collect::<Option<Vec<_>>>() {
        Some(words) => walker.run(&words.join(" "), writes),
        None => writes.doubt("eval runs what an expansion says"),
    }
}

fn trap(walker: &Walker, words: &[Value], writes: &mut Writes) {
    match words.first().map(Value::plain) {
        None | Some(Some("-l" | "-p" | "-" | "")) => {}
        Some(Some(script)) => walker.run_apart(script, writes),
        Some(None) => writes.doubt("trap runs what an expansion says"),
    }
}

fn shell(walker: &Walker, name: &str, words: &[Value], stdin: Option<Stdin>, writes: &mut Writes) {
    let found = Words::of(words, Takes::letters("cO"));
    if found.has(Some('c'), "") {
        return match found.values(Some('c'), "").first().and_then(Value::plain) {
            Some(script) => walker.run_apart(script, writes),
            None => writes.doubt(format!("{name} -c runs what an expansion says")),
        };
    }
    match (found.operands.first(), stdin) {
        (Some(script), _) => writes.doubt(format!(
            "{name} runs the script {}",
            script.plain().unwrap_or("that an expansion names")
        )),
        (None, Some(Stdin::Text(script))) => walker.run_apart(&script, writes),
        (None, _) => writes.doubt(format!("{name} runs what it is given to read")),
    }
}

fn wrapper(
    walker: &mut Walker,
    name: &str,
    words: &[Value],
    (skip, takes): (usize, Takes),
    stdin: Option<Stdin>,
    writes: &mut Writes,
) {
    if matches!(name, "sudo" | "doas") {
        let found = Words::of(words, takes);
        if found.has(Some('s'), "--shell") || found.has(Some('i'), "--login") {
            return writes.doubt(format!("{name} runs a shell"));
        }
    }
    let Some(mut inner) = behind_options(words, takes, skip, name, walker, writes) else {
        return;
    };
    while name == "env"
        && inner
            .first()
            .and_then(Value::plain)
            .is_some_and(|word| word.contains('='))
    {
        writes.doubt("env changes what the program sees");
        inner.remove(0);
    }
    if inner.is_empty() {
        return;
    }
    if name == "xargs" {
        fill(&mut inner, &Words::of(words, takes));
    }
    if matches!(name, "command")
        && matches!(words.first().and_then(Value::plain), Some("-v" | "-V"))
    {
        return;
    }
    let mut inside = walker.clone();
    inside.program(
        inner,
        if name == "xargs" {
            Some(Stdin::Other)
        } else {
            stdin
        },
        writes,
    );
    if matches!(name, "command" | "builtin") {
        walker.place = inside.place;
    }
}

/// What `xargs` reads stands at the end, or in the place of a text.
fn fill(inner: &mut Vec<Value>, options: &Words<'_>) {
    let marks = options.values(Some('I'), "--replace");
    match marks.first() {
        None => inner.push(Value::Unknown),
        Some(mark) => {
            let mark = mark.plain().unwrap_or_default();
            for word in inner {
                if word.plain().is_some_and(|text| text.contains(mark)) {
                    *word = Value::Unknown;
                }
            }
        }
    }
}

/// The words of the program that a wrapper runs.
fn behind_options(
    words: &[Value],
    takes: Takes,
    skip: usize,
    name: &str,
    walker: &Walker,
    writes: &mut Writes,
) -> Option<Vec<Value>> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.plain() {
            Some("--") => {
                at += 1;
                break;
            }
            Some(option) if option.starts_with('-') && option.len() > 1 => {
                let used = words.get(at..at + 2).unwrap_or_default();
                let found = Words::of(used, takes);
                if name == "time" && found.has(Some('o'), "--output") {
                    for file in found.values(Some('o'), "--output") {
                        walker.target(&file, "time", writes);
                    }
                }
                if name == "env"
                    && (found.has(Some('S'), "--split-string") || found.has(Some('C'), "--chdir"))
                {
                    writes.doubt("env runs something in another way than its words say");
                    return None;
                }
                let took = found
                    .options
                    .first()
                    .is_some_and(|(_, value)| value.is_some());
                at += if took { 2 } else { 1 };
            }
            _ => break,
        }
    }
    Some(words.get(at + skip..).unwrap_or_default().to_vec())
}

fn dd(walker: &Walker, words: &[Value], writes: &mut Writes) {
    for word in words {
        match word.plain() {
            Some(text) => {
                if let Some(path) = text.strip_prefix("of=") {
                    walker.target(&Value::Plain(path.to_owned()), "dd", writes);
                }
            }
            None => writes.doubt("what dd writes depends on an expansion"),
        }
    }
}

fn sed_writes(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let takes = Takes {
        letters: "efl",
        long: &["--expression", "--file", "--line-length"],
    };
    let found = Words::of(words, takes);
    if found.has(Some('f'), "--file") {
        writes.doubt("sed runs a script from a file");
    }
    let mut scripts = found.values(Some('e'), "--expression");
    let mut files = found.operands.as_slice();
    if scripts.is_empty()
        && !found.has(Some('f'), "--file")
        && let Some((script, rest)) = files.split_first()
    {
        scripts.push((*script).clone());
        files = rest;
    }
    for script in &scripts {
        if !script.plain().is_some_and(sed::only_edits) {
            writes.doubt("the script of sed may write or run something itself");
        }
    }
    let in_place = found
        .options
        .iter()
        .any(|(option, _)| option.starts_with("--in-place") || is_in_place(option));
    if in_place {
        for file in files {
            walker.target(file, "sed -i", writes);
        }
    }
}

/// `-i`, `-i.bak`, `-ni`, `-Ei`: the letters before are those that take no value.
fn is_in_place(option: &str) -> bool {
    !option.starts_with("--")
        && option
            .trim_start_matches('-')
            .trim_start_matches(['n', 'E', 'r', 's', 'u', 'z'])
            .starts_with('i')
}

fn awk(words: &[Value], writes: &mut Writes) {
    let found = Words::of(words, Takes::letters("Fvf"));
    let script = found.operands.first().and_then(|word| word.plain());
    let harmless = script.is_some_and(|script| {
        !script.contains(['>', '|']) && !script.contains("system") && !script.contains("close")
    });
    if !harmless || found.has(Some('f'), "--file") || found.has(Some('i'), "--include") {
        writes.doubt("the script of awk may write or run something itself");
    }
}

fn find(walker: &mut Walker, words: &[Value], writes: &mut Writes) {
    let starts: Vec<&Value> = words
        .iter()
        .take_while(|word| {
            !word
                .plain()
                .is_some_and(|text| text.starts_with(['-', '(', '!']))
        })
        .collect();
    let below: Vec<Value> = match starts.is_empty() {
        true => vec![Value::Below(".".to_owned())],
        false => starts.into_iter().map(found_below).collect(),
    };
    for (at, word) in words.iter().enumerate() {
        match word.plain().unwrap_or_default() {
            "-delete" => {
                for dir in &below {
                    walker.target(dir, "find -delete", writes);
                }
            }
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => match words.get(at + 1) {
                Some(file) => walker.target(file, "find -fprint", writes),
                None => writes.doubt("find -fprint names no file"),
            },
            "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "--exec" | "-X" | "--exec-batch" => {
                let rest = words.get(at + 1..).unwrap_or_default();
                executed(walker, rest, &below, writes);
            }
            _ => {}
        }
    }
}

fn found_below(start: &Value) -> Value {
    match start {
        Value::Plain(dir) => Value::Below(dir.clone()),
        other => other.clone(),
    }
}

/// What `find` runs for what it found, which lies below its starts.
fn executed(walker: &Walker, words: &[Value], below: &[Value], writes: &mut Writes) {
    let words: Vec<&Value> = words
        .iter()
        .take_while(|word| !matches!(word.plain(), Some(";" | "+")))
        .collect();
    for dir in below {
        let filled = words
            .iter()
            .map(|word| match word.plain() {
                Some("{}") => dir.clone(),
                Some(text) if text.contains("{}") => Value::Unknown,
                _ => (*word).clone(),
            })
            .collect();
        walker.clone().program(filled, Some(Stdin::Other), writes);
    }
}

fn sorts(walker: &Walker, name: &str, words: &[Value], writes: &mut Writes) {
    let takes = match name {
        "sort" => Takes {
            letters: "okStT",
            long: &["--output", "--key", "--field-separator", "--buffer-size"],
        },
        _ => Takes::letters("fsw"),
    };
    let found = Words::of(words, takes);
    if name == "sort" {
        if found.has(None, "--compress-program") {
            writes.doubt("sort runs another program");
        }
        for file in found.values(Some('o'), "--output") {
            walker.target(&file, name, writes);
        }
    } else if let Some(output) = found.operands.get(1) {
        walker.target(output, name, writes);
    }
}

fn curl(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let takes = Takes {
        letters: "oHXdFuAbcDeETKmUxywYz",
        long: &[
            "--output",
            "--header",
            "--request",
            "--data",
            "--form",
            "--user",
            "--user-agent",
            "--cookie",
            "--cookie-jar",
            "--dump-header",
            "--output-dir",
            "--max-time",
            "--retry",
            "--data-raw",
            "--data-binary",
            "--url",
            "--connect-timeout",
        ],
    };
    let found = Words::of(words, takes);
    for (letter, long) in [
        ('o', "--output"),
        ('c', "--cookie-jar"),
        ('D', "--dump-header"),
    ] {
        for file in found.values(Some(letter), long) {
            walker.target(&file, "curl", writes);
        }
    }
    if found.has(Some('O'), "--remote-name") || found.has(None, "--output-dir") {
        walker.target_below(".", "curl", writes);
    }
    if found.has(Some('K'), "--config") {
        writes.doubt("curl reads its options from a file");
    }
}

fn tar(walker: &Walker, words: &[Value], writes: &mut Writes) {
    // The first word may hold letters without a dash.
    let mut words = words.to_vec();
    if let Some(Value::Plain(letters)) = words.first_mut()
        && !letters.starts_with('-')
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        letters.insert(0, '-');
    }
    let takes = Takes {
        letters: "fCTXI",
        long: &[
            "--file",
            "--directory",
            "--files-from",
            "--exclude-from",
            "--exclude",
        ],
    };
    let found = Words::of(&words, takes);
    let has = |letter, long| found.has(Some(letter), long);
    if found.options.iter().any(|(option, _)| {
        option.starts_with("--to-command")
            || option.starts_with("--checkpoint")
            || option.starts_with("--use-compress")
            || option.starts_with("-I")
    }) {
        writes.doubt("tar runs another program");
    }
    if found.has(Some('P'), "--absolute-names") {
        writes.doubt("tar takes names as they stand in the archive");
    }
    if has('x', "--extract") {
        if !found.has(Some('O'), "--to-stdout") {
            extracts(walker, "tar", &found, 'C', writes);
        }
    } else if has('c', "--create") || has('r', "--append") || has('u', "--update") {
        for file in found.values(Some('f'), "--file") {
            if file.plain() != Some("-") {
                walker.target(&file, "tar", writes);
            }
        }
    }
}

/// An archive unpacked into the directory of an option, or here.
fn extracts(walker: &Walker, name: &str, found: &Words<'_>, letter: char, writes: &mut Writes) {
    if name == "unzip"
        && (found.has(Some('l'), "") || found.has(Some('p'), "") || found.has(Some('t'), ""))
    {
        return;
    }
    let long = if letter == 'C' { "--directory" } else { "" };
    let dirs = found.values(Some(letter), long);
    match dirs.is_empty() {
        true => walker.target_below(".", name, writes),
        false => {
            for dir in &dirs {
                walker.target(&found_below(dir), name, writes);
            }
        }
    }
}
