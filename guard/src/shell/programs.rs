//! Finds the writes of a program that is run with the given words, with the help of the table.

mod check;
mod copies;
mod own;
mod packed;
mod steps;

pub(super) use check::Check;
pub(super) use copies::Kind;

use super::*;

/// A run of a program: its name and its arguments.
pub(super) struct Run<'a> {
    pub name: &'a str,
    pub spec: &'a Spec,
    pub words: &'a [Value],
    pub stdin: Option<Stdin>,
}

pub(super) fn run(walker: &mut Walker, words: &[Value], stdin: Option<Stdin>) {
    let Some((name, arguments)) = words.split_first() else {
        return;
    };
    walker.answer.set(Answer::Unknown);
    let Some(name) = name.plain() else {
        return walker.add_unknown("the name of the program depends on an expansion");
    };
    let bare = bare(name);
    match table::spec(bare).filter(|_| !bare.contains([' ', '@'])) {
        Some(_) if only_asks(arguments) => {}
        Some(spec) => {
            let run = Run {
                name: bare,
                spec,
                words: arguments,
                stdin,
            };
            judge(walker, &run);
        }
        None if matches!(bare, "teamlog" | "rcs") => own::run(walker, arguments),
        None => unknown(walker, bare, arguments),
    }
}

fn judge(walker: &mut Walker, run: &Run<'_>) {
    match (run.spec.operands, run.words) {
        // A request for version or help writes nothing. Any other run of this program is unknown.
        (Operands::Ask, [Value::Plain(word)]) if run.spec.option(word).is_some() => {}
        (Operands::Ask, words) => unknown(walker, run.name, words),
        _ => steps::run(walker, run),
    }
}

/// Handles a program that is not in the table. Adds an unknown write unless the team trusts the program.
fn unknown(walker: &Walker, name: &str, arguments: &[Value]) {
    let words: Vec<Option<&str>> = name
        .split(' ')
        .map(Some)
        .chain(arguments.iter().map(Value::plain))
        .collect();
    let Some(named) = walker.programs.trusted_words(&words) else {
        return walker.add_unknown(match entry(name, arguments) {
            Some(entry) => Unknown::for_program(entry),
            None => format!("cannot tell which files '{name}' writes").into(),
        });
    };
    for argument in arguments {
        if !stays_inside(walker, argument) {
            return walker.add_unknown(format!(
                "'{name}' is trusted inside the repository only, and an argument may name a path outside"
            ));
        }
    }
    let rewrites = |word: &&str| {
        let option = word.split_once('=').map_or(*word, |(option, _)| option);
        table::lists("@rewrites", option)
    };
    let mut others = words.iter().skip(named).flatten();
    if let Some(option) = others.find(|word| rewrites(word)) {
        walker.add_unknown(format!("'{name} {option}' rewrites files"));
    }
}

/// Returns the entry of `guard.known` that would make the command trusted, or `None` if such an entry would make
/// every command trusted.
///
/// The entry is the program with its subcommand. For a runner, the entry also has the program that the runner runs.
/// If an option comes first, the entry has all words, because the option may take the next word as its value. An
/// interpreter without a script and a toolchain (`cargo +nightly`) have no entry.
fn entry(name: &str, arguments: &[Value]) -> Option<String> {
    if name.contains(" +") {
        return None;
    }
    let last = name.rsplit(' ').next().unwrap_or(name);
    let interprets = table::lists("@interpreters", last);
    let runs = interprets || table::lists("@runners", last);
    match (arguments.split_first(), runs) {
        (None, _) => (!interprets).then(|| name.to_owned()),
        (Some(_), true) => run_by(name, arguments, interprets),
        (Some((first, rest)), false) => match first.plain() {
            // Trusting `poetry` would trust everything that it runs, so trust `poetry run pytest`.
            Some(word) if table::lists("@runners", word) => entry(&format!("{name} {word}"), rest),
            Some(word) if word.starts_with('+') => None,
            _ => Some(name.to_owned()),
        },
    }
}

/// Returns the words of a runner or interpreter up to the program that it runs.
fn run_by(name: &str, arguments: &[Value], interprets: bool) -> Option<String> {
    let words: Option<Vec<&str>> = arguments.iter().map(Value::plain).collect();
    let is_operand = |word: &&str| !word.starts_with('-');
    let named = match words.as_deref() {
        None => arguments
            .first()
            .and_then(Value::plain)
            .filter(is_operand)
            .into_iter()
            .collect(),
        Some(["-m", module, ..]) if interprets => vec!["-m", *module],
        Some([first, ..]) if is_operand(first) => vec![*first],
        Some(words) if words.iter().any(is_operand) => words.to_vec(),
        Some(_) => Vec::new(),
    };
    match (named.is_empty(), interprets) {
        (true, true) => None,
        (true, false) => Some(name.to_owned()),
        (false, _) => Some(format!("{name} {}", named.join(" "))),
    }
}

/// Returns true if the text of an argument shows that the argument names nothing outside of the repository.
fn stays_inside(walker: &Walker, argument: &Value) -> bool {
    let (Value::Plain(text) | Value::Below(text) | Value::Begins(text)) = argument else {
        return false;
    };
    // A path may also follow an equals sign or a colon.
    let known = !matches!(argument, Value::Begins(_));
    known
        && text.split(['=', ':', ',']).all(|part| {
            let names_place = part.starts_with('/') || part.split('/').any(|name| name == "..");
            !names_place || walker.place.holds(part)
        })
}

/// Returns true if the writes of a program with this name are known without reading the disk.
pub(super) fn is_known(name: &str) -> bool {
    table::spec(bare(name)).is_some() && !name.contains([' ', '@'])
}

/// Returns the name of a program without the directory, if the directory has system programs.
fn bare(name: &str) -> &str {
    match name.rsplit_once('/') {
        Some((dir, bare)) if table::lists("@bin", dir) => bare,
        _ => name,
    }
}

/// Returns true if the words ask a program only for its version or help.
fn only_asks(words: &[Value]) -> bool {
    matches!(words, [word] if matches!(word.plain(), Some("--version" | "--help")))
}

/// Returns everything below the path in a word.
fn found_below(start: &Value) -> Value {
    match start {
        Value::Plain(dir) => Value::Below(dir.clone()),
        other => other.clone(),
    }
}

fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        None => ".",
        Some(("", _)) => "/",
        Some((dir, _)) => dir,
    }
}

fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
