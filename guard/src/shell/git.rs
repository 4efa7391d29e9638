//! What `git` writes in the working tree, and which programs it is told to run. Its own directory is not looked after.

mod remote;
mod settings;
mod tree;

use super::options::{Takes, Words};
use super::programs::Run;
use super::walk::Walker;
use super::word::Value;
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &["git"];

/// Subcommands that leave the working tree alone.
const LEAVES: [&str; 45] = [
    "add",
    "annotate",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-ref-format",
    "cherry",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "fsck",
    "gc",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "notes",
    "range-diff",
    "reflog",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "stage",
    "status",
    "symbolic-ref",
    "tag",
    "update-ref",
    "var",
    "verify-pack",
    "version",
    "whatchanged",
];
/// Subcommands that may write anything in it.
const REPLACES: [&str; 9] = [
    "merge",
    "pull",
    "cherry-pick",
    "revert",
    "am",
    "sparse-checkout",
    "read-tree",
    "rebase",
    "checkout-index",
];
/// Options before the subcommand that change neither where nor what.
const PLAIN: [&str; 9] = [
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--version",
    "--help",
    "-p",
    "--paginate",
    "--bare",
];
/// Options before the subcommand whose value may be the next word.
const WITH_VALUE: [&str; 7] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
];
/// Options by which a subcommand runs a program that stands behind them.
const RUNNING: [&str; 4] = ["--upload-pack", "--receive-pack", "--exec", "--ext-diff"];

/// A subcommand with its words.
pub(super) struct Git<'a> {
    pub walker: &'a Walker,
    pub name: &'a str,
    pub words: &'a [Value],
    pub found: Words<'a>,
    /// As people say it.
    pub by: String,
}

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let mut inside = walker.clone();
    if let Some((name, words)) = subcommand(&mut inside, run.words, writes) {
        let git = Git {
            walker: &inside,
            name,
            words,
            found: Words::of(words, takes(name)),
            by: format!("git {name}"),
        };
        git.judge(writes);
    }
}

/// The subcommand and what follows it, behind the options of `git` itself.
fn subcommand<'a>(
    walker: &mut Walker,
    words: &'a [Value],
    writes: &mut Writes,
) -> Option<(&'a str, &'a [Value])> {
    let mut rest = words;
    loop {
        let (word, behind) = rest.split_first()?;
        rest = behind;
        let Some(text) = word.plain() else {
            writes.doubt("the subcommand of git depends on an expansion");
            return None;
        };
        if !text.starts_with('-') {
            return Some((text, rest));
        }
        let mut value = None;
        if WITH_VALUE.contains(&text) {
            let (next, behind) = rest.split_first()?;
            (value, rest) = (next.plain(), behind);
        }
        match (text, value) {
            ("-C", Some(dir)) => walker.place = walker.place.within(dir),
            ("-C", None) => walker.place = walker.place.nowhere(),
            ("-c", Some(setting)) if settings::is_harmless_pair(setting) => {}
            (option, _) if PLAIN.contains(&option) => {}
            (option, _) => writes.doubt(format!("git {option} changes what git does")),
        }
    }
}

/// The options of a subcommand that take a value.
fn takes(name: &str) -> Takes {
    match name {
        "clone" => Takes::of(
            "obucj",
            &[
                "--origin",
                "--branch",
                "--upload-pack",
                "--config",
                "--jobs",
                "--depth",
                "--template",
                "--reference",
                "--separate-git-dir",
                "--filter",
                "--shallow-since",
                "--server-option",
            ],
        ),
        "config" => Takes::of(
            "f",
            &[
                "--file",
                "--type",
                "--default",
                "--blob",
                "--comment",
                "--value",
            ],
        ),
        "grep" => Takes::of("efABCm", &["--max-depth", "--threads"]).maybe("O"),
        "archive" => Takes::of(
            "o",
            &[
                "--output",
                "--format",
                "--prefix",
                "--remote",
                "--exec",
                "--add-file",
            ],
        ),
        "format-patch" => {
            Takes::of("ovSGIlO", &["--output-directory", "--output"]).maybe("DUMCXBW")
        }
        "worktree" => Takes::of("bB", &["--reason"]),
        "checkout" | "switch" => Takes::of(
            "bBcC",
            &["--orphan", "--create", "--force-create", "--conflict"],
        ),
        "restore" => Takes::of("s", &["--source"]),
        "init" => Takes::of(
            "b",
            &[
                "--template",
                "--separate-git-dir",
                "--initial-branch",
                "--object-format",
            ],
        ),
        "rebase" => Takes::of(
            "xsXC",
            &["--exec", "--onto", "--strategy", "--strategy-option"],
        )
        .maybe("S"),
        "clean" => Takes::of("e", &["--exclude"]),
        "apply" => Takes::of("pC", &["--exclude", "--include", "--directory"]),
        "push" => Takes::of(
            "o",
            &["--receive-pack", "--exec", "--repo", "--push-option"],
        ),
        "fetch" | "pull" | "ls-remote" => Takes::of(
            "jo",
            &["--upload-pack", "--exec", "--depth", "--server-option"],
        ),
        "stash" => Takes::of("m", &["--message", "--output"]),
        "commit" | "tag" | "merge" | "notes" => Takes::of("mFcCtu", &["--message", "--file"]),
        "diff" | "log" | "show" | "whatchanged" | "range-diff" | "reflog" => {
            Takes::of("GSnl", &["--output"]).maybe("UMCBODXW")
        }
        _ => Takes::of("", &["--output"]),
    }
}

impl Git<'_> {
    fn judge(&self, writes: &mut Writes) {
        self.options(writes);
        match self.name {
            "config" => settings::run(self, writes),
            "clone" | "init" | "fetch" | "push" | "ls-remote" | "archive" | "bundle"
            | "submodule" => remote::run(self, writes),
            "rm" | "mv" | "restore" | "checkout" | "switch" | "reset" | "stash" | "worktree"
            | "apply" | "clean" | "rebase" | "bisect" | "format-patch" => tree::run(self, writes),
            name if LEAVES.contains(&name) => {}
            name if REPLACES.contains(&name) => self.whole(writes),
            "difftool" | "mergetool" | "filter-branch" | "update-index" => {
                writes.doubt(format!(
                    "what {} writes or runs is not in its arguments",
                    self.by
                ));
            }
            _ => writes.doubt(format!("{} is not known", self.by)),
        }
        if matches!(
            self.name,
            "remote" | "fetch" | "pull" | "push" | "clone" | "ls-remote"
        ) {
            self.helpers(writes);
        }
    }

    /// What options do in many subcommands.
    fn options(&self, writes: &mut Writes) {
        let found = &self.found;
        // Of an archive it is the letter as well.
        if self.name != "archive" {
            for file in found.values(None, "--output") {
                self.walker.target(&file, &self.by, writes);
            }
        }
        // A rebase runs it in the shell, which is read on.
        let running = RUNNING.iter().filter(|_| self.name != "rebase");
        let runs = running.clone().any(|long| found.has(None, long));
        let shows = self.name == "grep" && found.has(Some('O'), "--open-files-in-pager");
        let short = self.name == "clone" && found.has(Some('u'), "");
        if runs || shows || short {
            writes.doubt(format!("{} runs another program", self.by));
        }
        if found.options.iter().any(|option| option.name.is_empty()) {
            writes.doubt(format!("an option of {} depends on an expansion", self.by));
        }
    }

    /// An address that begins with the name of a program.
    fn helpers(&self, writes: &mut Writes) {
        let named = |word: &&Value| word.plain().is_some_and(|text| text.contains("::"));
        if self.found.operands.iter().any(named) {
            writes.doubt(format!(
                "{} reaches a repository by another program",
                self.by
            ));
        }
    }

    /// Anything in the working tree, from wherever in it.
    pub fn whole(&self, writes: &mut Writes) {
        let whole = Value::Below(self.walker.place.whole().to_owned());
        self.walker.tree(&whole, &self.by, writes);
    }

    pub fn targets(&self, operands: &[&Value], writes: &mut Writes) {
        for operand in operands {
            self.walker.target(operand, &self.by, writes);
        }
    }

    /// Paths that may hold patterns, or begin at the top.
    pub fn paths(&self, operands: &[&Value], writes: &mut Writes) {
        for operand in operands {
            match operand {
                Value::Plain(path) if path.starts_with(':') => self.whole(writes),
                Value::Plain(path) => match path.find(['*', '?', '[', '\\']) {
                    None => self.walker.entry(operand, &self.by, writes),
                    Some(at) => {
                        let fixed = path.get(..at).unwrap_or_default();
                        let dir = match fixed.rsplit_once('/') {
                            None => ".",
                            Some(("", _)) => "/",
                            Some((dir, _)) => dir,
                        };
                        let below = Value::Below(dir.to_owned());
                        self.walker.tree(&below, &self.by, writes);
                    }
                },
                other => self.walker.entry(other, &self.by, writes),
            }
        }
        if self.found.has(None, "--pathspec-from-file") {
            writes.doubt(format!("{} reads its paths from a file", self.by));
        }
    }

    /// The first operand, where a subcommand has others of its own.
    pub fn deed(&self) -> Option<&str> {
        self.found.first()
    }

    /// The operands behind the first.
    pub fn behind_deed(&self) -> &[&Value] {
        self.found.operands.get(1..).unwrap_or_default()
    }
}
