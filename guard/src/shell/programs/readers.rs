//! Programs that write no file, but for some of their options.

use super::Run;
use crate::shell::options::{Takes, Words};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// Programs and builtins that write no file.
pub(super) const NAMES: &[&str] = &[
    ":",
    "[",
    "arch",
    "b2sum",
    "b3sum",
    "base64",
    "basename",
    "bat",
    "bc",
    "bg",
    "break",
    "bzcat",
    "cal",
    "cat",
    "cksum",
    "clear",
    "cmp",
    "column",
    "comm",
    "continue",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "dirs",
    "disown",
    "du",
    "egrep",
    "exa",
    "exit",
    "expand",
    "expr",
    "eza",
    "factor",
    "false",
    "fg",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "free",
    "getconf",
    "grep",
    "groups",
    "head",
    "help",
    "hexdump",
    "hexyl",
    "hostname",
    "id",
    "jobs",
    "join",
    "jq",
    "kill",
    "less",
    "let",
    "locale",
    "logname",
    "look",
    "ls",
    "lsof",
    "md5sum",
    "more",
    "nl",
    "nproc",
    "numfmt",
    "od",
    "paste",
    "pathchk",
    "pgrep",
    "pidof",
    "pkill",
    "pr",
    "printenv",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "return",
    "rev",
    "rg",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "shift",
    "sleep",
    "sort",
    "stat",
    "strings",
    "stty",
    "sum",
    "tac",
    "tail",
    "test",
    "times",
    "tokei",
    "tput",
    "tr",
    "tree",
    "true",
    "tsort",
    "tty",
    "type",
    "ulimit",
    "umask",
    "unalias",
    "uname",
    "unexpand",
    "uptime",
    "users",
    "vmstat",
    "wait",
    "wc",
    "whereis",
    "which",
    "who",
    "whoami",
    "xzcat",
    "yes",
    "zcat",
    "zgrep",
];

/// What an option makes a program do that else reads only.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// It writes the file that the option names.
    Writes,
    /// It writes below the directory that the option names.
    WritesBelow,
    /// It runs something, or writes where its arguments do not say.
    More,
}
use Does::{More, Writes as WritesIt, WritesBelow};

/// An option, by its letter and its long name.
type Known = (Option<char>, &'static str, Does);

/// Programs with such options.
const WITH_OPTIONS: &[(&str, Takes, &[Known])] = &[
    (
        "base64",
        Takes::of("wo", &["--wrap", "--output"]),
        &[(Some('o'), "--output", WritesIt)],
    ),
    (
        "bat",
        Takes::of("lHm", &["--language", "--theme", "--style", "--line-range"]),
        &[
            (None, "--pager", More),
            (None, "--build", More),
            (None, "--clear", More),
            (None, "--target", More),
            (None, "--generate-config-file", More),
        ],
    ),
    (
        "date",
        Takes::of("dfrs", &["--date", "--file", "--reference", "--set"]).maybe("I"),
        &[(Some('s'), "--set", More)],
    ),
    (
        "file",
        Takes::of("eFfmP", &[]),
        &[
            (Some('C'), "--compile", More),
            (Some('p'), "--preserve-date", More),
        ],
    ),
    ("hostname", Takes::NONE, &[(Some('F'), "--file", More)]),
    ("jobs", Takes::NONE, &[(Some('x'), "", More)]),
    (
        "less",
        Takes::letters("bDhjkoOpPtTxyz#"),
        &[
            (Some('o'), "--log-file", WritesIt),
            (Some('O'), "--LOG-FILE", WritesIt),
            (Some('k'), "--lesskey-file", More),
            (None, "--lesskey-src", More),
            (None, "--lesskey-content", More),
        ],
    ),
    (
        "lsof",
        Takes::letters("acdFgiopsSTu"),
        &[(Some('D'), "", More)],
    ),
    (
        "rg",
        Takes::of(
            "ABCEMTdefgjmrt",
            &["--regexp", "--glob", "--type", "--replace"],
        ),
        &[(None, "--pre", More), (None, "--hostname-bin", More)],
    ),
    (
        "sort",
        Takes::of(
            "okStT",
            &[
                "--output",
                "--key",
                "--field-separator",
                "--buffer-size",
                "--temporary-directory",
                "--batch-size",
                "--parallel",
            ],
        ),
        &[
            (Some('o'), "--output", WritesIt),
            (Some('T'), "--temporary-directory", WritesBelow),
            (None, "--compress-program", More),
        ],
    ),
    (
        "tree",
        Takes::letters("oLPIHT"),
        &[(Some('o'), "", WritesIt), (Some('R'), "", More)],
    ),
];

/// A program that reads may be told to write or to run another one, and a builtin evaluates the index of what it is given.
pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let Run { name, words, .. } = run;
    if let Some((_, takes, options)) = WITH_OPTIONS.iter().find(|(known, _, _)| known == name) {
        let found = Words::of(words, *takes);
        for (letter, long, does) in *options {
            for value in found.values(*letter, long) {
                done(walker, name, *does, &value, writes);
            }
        }
    }
    let begins = words.iter().filter_map(Value::plain).any(is_command);
    if matches!(*name, "less" | "more") && begins {
        writes.doubt(format!("{name} runs commands of its own"));
    }
    let evaluates = !matches!(*name, "grep" | "rg" | "egrep" | "fgrep");
    if evaluates {
        super::doubt_indices(name, words, writes);
    }
}

/// Whether a pager would begin with a command that does more than go to a line.
fn is_command(word: &str) -> bool {
    let goes = |letter: char| letter.is_ascii_digit() || matches!(letter, 'G' | 'F' | '+');
    word.starts_with('+') && !word.chars().all(goes)
}

fn done(walker: &Walker, name: &str, does: Does, value: &Value, writes: &mut Writes) {
    match does {
        WritesIt => walker.target(value, name, writes),
        WritesBelow => walker.target(&super::found_below(value), name, writes),
        More => writes.doubt(format!("{name} runs or writes something of its own")),
    }
}
