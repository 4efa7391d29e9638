//! What `git` writes in the working tree. Its own directory is not looked after.

use super::options::{Takes, Words};
use super::walk::Walker;
use super::word::Value;
use crate::writes::Writes;

/// Subcommands that leave the working tree alone.
const LEAVES: [&str; 38] = [
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "grep",
    "blame",
    "annotate",
    "branch",
    "tag",
    "remote",
    "describe",
    "cat-file",
    "shortlog",
    "reflog",
    "config",
    "add",
    "commit",
    "push",
    "fetch",
    "name-rev",
    "merge-base",
    "count-objects",
    "for-each-ref",
    "symbolic-ref",
    "show-ref",
    "whatchanged",
    "var",
    "help",
    "version",
    "notes",
    "stage",
    "check-ignore",
    "diff-tree",
];
/// Subcommands that may write anything in it.
const REPLACES: [&str; 12] = [
    "switch",
    "merge",
    "rebase",
    "pull",
    "stash",
    "cherry-pick",
    "revert",
    "am",
    "bisect",
    "submodule",
    "sparse-checkout",
    "read-tree",
];
/// Settings that run nothing.
const HARMLESS: [&str; 6] = [
    "user.",
    "color.",
    "advice.",
    "core.quotepath",
    "core.autocrlf",
    "diff.renames",
];

const BEFORE: Takes = Takes {
    letters: "Cc",
    long: &[
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--config-env",
    ],
};

pub(super) fn run(walker: &mut Walker, words: &[Value], writes: &mut Writes) {
    let mut place = walker.place.clone();
    let mut rest = words;
    let subcommand = loop {
        let Some((word, behind)) = rest.split_first() else {
            return;
        };
        rest = behind;
        let Some(text) = word.plain() else {
            return writes.doubt("the subcommand of git depends on an expansion");
        };
        if !text.starts_with('-') {
            break text;
        }
        let value = match BEFORE.takes_next(text) {
            true => rest.split_first().map(|(value, behind)| {
                rest = behind;
                value
            }),
            false => None,
        };
        match (text, value.and_then(Value::plain)) {
            ("-C", Some(dir)) => place = place.within(dir),
            ("-C", None) => place = place.nowhere(),
            ("-c", Some(setting))
                if HARMLESS
                    .iter()
                    .any(|key| setting.to_lowercase().starts_with(key)) => {}
            (
                "--no-pager"
                | "-P"
                | "--no-optional-locks"
                | "--literal-pathspecs"
                | "--version"
                | "--help"
                | "-p"
                | "--paginate"
                | "--bare",
                _,
            ) => {}
            (option, _) => writes.doubt(format!("git {option} changes what git does")),
        }
    };
    let mut inside = walker.clone();
    inside.place = place;
    subcommand_writes(&inside, subcommand, rest, writes);
}

impl Takes {
    fn takes_next(self, option: &str) -> bool {
        self.long.contains(&option)
            || (option.len() == 2
                && option
                    .chars()
                    .nth(1)
                    .is_some_and(|c| self.letters.contains(c)))
    }
}

fn subcommand_writes(walker: &Walker, name: &str, words: &[Value], writes: &mut Writes) {
    let found = Words::of(words, Takes::letters("bBms"));
    let by = format!("git {name}");
    if name == "grep" && found.has(Some('O'), "--open-files-in-pager") {
        writes.doubt("git grep runs another program");
    }
    for file in found.values(None, "--output") {
        walker.target(&file, &by, writes);
    }
    match name {
        "rm" | "mv" => operands(walker, &found.operands, &by, writes),
        "restore" if found.has(Some('S'), "--staged") && !found.has(Some('W'), "--worktree") => {}
        "restore" => operands(walker, &found.operands, &by, writes),
        "checkout" => checkout(walker, words, &found, &by, writes),
        "reset"
            if !found.has(None, "--hard")
                && !found.has(None, "--merge")
                && !found.has(None, "--keep") => {}
        "reset" => whole(walker, &by, writes),
        "stash"
            if matches!(
                found.operands.first().and_then(|word| word.plain()),
                Some("list" | "show")
            ) => {}
        "worktree"
            if matches!(
                found.operands.first().and_then(|word| word.plain()),
                Some("list" | "prune" | "lock" | "unlock")
            ) => {}
        "worktree" => operands(
            walker,
            found.operands.get(1..2).unwrap_or_default(),
            &by,
            writes,
        ),
        "init" if found.operands.is_empty() => walker.target_below(".", &by, writes),
        "init" => operands(walker, &found.operands, &by, writes),
        "clone" if found.operands.len() > 1 => operands(
            walker,
            found.operands.get(1..).unwrap_or_default(),
            &by,
            writes,
        ),
        "clone" => walker.target_below(".", &by, writes),
        "apply"
            if found.has(None, "--check")
                || found.has(None, "--stat")
                || found.has(None, "--cached") => {}
        "apply" | "archive" | "format-patch" | "difftool" | "mergetool" | "filter-branch"
        | "update-index" => {
            writes.doubt(format!("what {by} writes is not in its arguments"));
        }
        name if LEAVES.contains(&name) => {}
        "clean" => walker.target_below(".", &by, writes),
        name if REPLACES.contains(&name) => whole(walker, &by, writes),
        _ => writes.doubt(format!("{by} is not known")),
    }
}

/// `git checkout` of paths writes them; of anything else, the whole tree.
fn checkout(walker: &Walker, words: &[Value], found: &Words<'_>, by: &str, writes: &mut Writes) {
    let behind = words
        .iter()
        .position(|word| word.plain() == Some("--"))
        .and_then(|at| words.get(at + 1..));
    match behind {
        Some(paths) if !paths.is_empty() => {
            operands(walker, &paths.iter().collect::<Vec<_>>(), by, writes)
        }
        _ if found.has(Some('b'), "") && found.operands.is_empty() => {}
        _ => whole(walker, by, writes),
    }
}

/// Anything in the working tree, from wherever in it.
fn whole(walker: &Walker, by: &str, writes: &mut Writes) {
    walker.target_below(walker.place.whole(), by, writes);
}

fn operands(walker: &Walker, operands: &[&Value], by: &str, writes: &mut Writes) {
    for operand in operands {
        walker.target(operand, by, writes);
    }
}
