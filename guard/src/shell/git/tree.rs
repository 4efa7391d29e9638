//! Subcommands of `git` that change the working tree.

use super::Git;
use crate::shell::walk::Stdin;
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) fn run(git: &Git<'_>, writes: &mut Writes) {
    let found = &git.found;
    match git.name {
        "rm" if found.sure(None, "--cached") => {}
        "rm" => git.paths(&found.operands, writes),
        "mv" => moves(git, writes),
        "restore" if found.sure(Some('S'), "--staged") && !found.has(Some('W'), "--worktree") => {}
        "restore" => git.paths(&found.operands, writes),
        "checkout" => checkout(git, writes),
        "switch" => switch(git, writes),
        "reset"
            if !["--hard", "--merge", "--keep"]
                .iter()
                .any(|how| found.has(None, how)) => {}
        "stash" if matches!(git.deed(), Some("list" | "show" | "drop" | "clear")) => {}
        "worktree" => worktree(git, writes),
        "apply" => apply(git, writes),
        "clean" => clean(git, writes),
        "rebase" => rebase(git, writes),
        "bisect" => bisect(git, writes),
        "format-patch" => format_patch(git, writes),
        _ => git.whole(writes),
    }
}

/// What goes away and what comes, and what paths there mean from now on.
fn moves(git: &Git<'_>, writes: &mut Writes) {
    git.targets(&git.found.operands, writes);
    if let Some((to, _)) = git.found.operands.split_last() {
        git.walker.leads(to.plain(), None, false);
    }
}

/// A new branch from where one is changes no file.
fn only_names(git: &Git<'_>) -> bool {
    let names = |name: &str| matches!(name, "-b" | "-B" | "-c" | "-C" | "--create");
    let found = &git.found;
    found.operands.is_empty()
        && !found.options.is_empty()
        && found
            .options
            .iter()
            .all(|option| names(&option.name) || option.name == "-q")
        && found.options.iter().any(|option| names(&option.name))
}

/// `git checkout` of paths writes them; of anything else, the whole tree.
fn checkout(git: &Git<'_>, writes: &mut Writes) {
    let behind = git
        .words
        .iter()
        .position(|word| word.plain() == Some("--"))
        .and_then(|at| git.words.get(at + 1..));
    match behind {
        Some(paths) if !paths.is_empty() => {
            git.paths(&paths.iter().collect::<Vec<_>>(), writes);
        }
        _ if only_names(git) => {}
        _ => git.whole(writes),
    }
}

fn switch(git: &Git<'_>, writes: &mut Writes) {
    if !only_names(git) {
        git.whole(writes);
    }
}

fn worktree(git: &Git<'_>, writes: &mut Writes) {
    let paths = git.behind_deed();
    match git.deed() {
        Some("list" | "prune" | "lock" | "unlock") => {}
        Some("add") => git.targets(paths.get(..1).unwrap_or_default(), writes),
        Some("move" | "remove") => git.targets(paths, writes),
        _ => writes.doubt("git worktree is not known in this form"),
    }
}

fn apply(git: &Git<'_>, writes: &mut Writes) {
    let found = &git.found;
    let shows = ["--check", "--stat", "--numstat", "--summary"];
    let only_shows = shows.iter().any(|how| found.sure(None, how)) && !found.has(None, "--apply");
    let only_index = found.sure(None, "--cached") && !found.has(None, "--index");
    if found.has(None, "--build-fake-ancestor") || !(only_shows || only_index) {
        writes.doubt("what git apply writes is not in its arguments");
    }
}

fn clean(git: &Git<'_>, writes: &mut Writes) {
    match git.found.operands.as_slice() {
        _ if git.found.sure(Some('n'), "--dry-run") => {}
        [] => git
            .walker
            .tree(&Value::Below(".".to_owned()), &git.by, writes),
        paths => git.paths(paths, writes),
    }
}

fn rebase(git: &Git<'_>, writes: &mut Writes) {
    git.whole(writes);
    for script in git.found.values(Some('x'), "--exec") {
        match script.plain() {
            Some(script) => git.walker.run_apart(script, writes),
            None => writes.doubt("git rebase runs what an expansion says"),
        }
    }
}

/// `run` runs a program on each step.
fn bisect(git: &Git<'_>, writes: &mut Writes) {
    match git.deed() {
        Some("log" | "terms" | "help") => {}
        Some("run") => {
            git.whole(writes);
            let mut words = git
                .words
                .iter()
                .skip_while(|word| word.plain() != Some("run"));
            words.next();
            let words = words.cloned().collect();
            git.walker
                .clone()
                .program(words, Some(Stdin::Other), writes);
        }
        None => writes.doubt("what git bisect does depends on an expansion"),
        Some("visualize" | "view") => writes.doubt("git bisect runs another program"),
        _ => git.whole(writes),
    }
}

/// A file for each commit, here or in the directory of an option.
fn format_patch(git: &Git<'_>, writes: &mut Writes) {
    if git.found.sure(None, "--stdout") {
        return;
    }
    let dirs = git.found.values(Some('o'), "--output-directory");
    if dirs.is_empty() && git.found.values(None, "--output").is_empty() {
        git.walker.target_below(".", &git.by, writes);
    }
    for dir in &dirs {
        git.targets(&[dir], writes);
    }
}
