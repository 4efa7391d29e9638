//! Subcommands of `git` that reach other repositories.

use super::{Git, settings};
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) fn run(git: &Git<'_>, writes: &mut Writes) {
    match git.name {
        "clone" => clone(git, writes),
        "init" => init(git, writes),
        "bundle" => bundle(git, writes),
        "submodule" => submodule(git, writes),
        // What they run is told by options that all have, and what they write is not the working tree.
        _ => {}
    }
}

fn clone(git: &Git<'_>, writes: &mut Writes) {
    let settings = git.found.values(Some('c'), "--config");
    let harmless = |setting: &Value| setting.plain().is_some_and(settings::is_harmless_pair);
    if !settings.iter().all(harmless) {
        writes.doubt("git clone changes what git does");
    }
    match git.behind_deed() {
        [] => git.walker.target_below(".", &git.by, writes),
        [dir, ..] => git.targets(&[*dir], writes),
    }
}

fn init(git: &Git<'_>, writes: &mut Writes) {
    match git.found.operands.as_slice() {
        [] => git.walker.target_below(".", &git.by, writes),
        dirs => git.targets(dirs, writes),
    }
}

fn bundle(git: &Git<'_>, writes: &mut Writes) {
    match git.deed() {
        Some("verify" | "list-heads" | "unbundle") => {}
        Some("create") => match git.behind_deed().first() {
            Some(file) if file.plain() == Some("-") => {}
            Some(file) => git.targets(&[*file], writes),
            None => {}
        },
        _ => writes.doubt("git bundle is not known in this form"),
    }
}

/// `foreach` runs its words in a shell, in each of them.
fn submodule(git: &Git<'_>, writes: &mut Writes) {
    match git.deed() {
        None if git.found.operands.is_empty() => {}
        None => writes.doubt("what git submodule does depends on an expansion"),
        Some("status" | "summary") => {}
        Some("foreach") => {
            let mut words = git
                .words
                .iter()
                .skip_while(|word| word.plain() != Some("foreach"));
            words.next();
            let is_option =
                |word: &&Value| matches!(word.plain(), Some("--recursive" | "-q" | "--quiet"));
            let words: Option<Vec<&str>> = words.skip_while(is_option).map(Value::plain).collect();
            let mut inside = git.walker.clone();
            inside.place = inside.place.nowhere();
            match words {
                Some(words) => inside.run_apart(&words.join(" "), writes),
                None => writes.doubt("git submodule foreach runs what an expansion says"),
            }
        }
        Some(_) => git.whole(writes),
    }
}
