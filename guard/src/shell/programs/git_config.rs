//! Settings of `git`, many of which are programs that it runs, and `git config`, which changes them.

use super::Run;
use crate::shell::options::Words;
use crate::shell::table::{self, GitSetting};
use crate::shell::variables::idles;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// Whether `key=value` runs nothing.
pub(super) fn is_harmless_pair(setting: &str) -> bool {
    let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
    is_harmless(key, Some(value))
}

fn is_harmless(key: &str, value: Option<&str>) -> bool {
    let key = key.to_lowercase();
    let off = matches!(value, Some("false" | "0" | "no" | "off" | ""));
    match table::git_setting(&key) {
        Some(GitSetting::Harmless) => true,
        Some(GitSetting::Program) => off || value.is_some_and(idles),
        None => match key.as_str() {
            "core.fsmonitor" => off,
            "core.hookspath" => value == Some("/dev/null"),
            "diff.external" => value == Some(""),
            _ => false,
        },
    }
}

/// What a call of `git config` does.
enum Does {
    Reads,
    /// It sets a key to a value, or takes it away.
    Sets(Option<String>, Option<String>),
    More,
}

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, found: &Words<'_>, writes: &mut Writes) {
    match does(run, found) {
        Does::Reads => return,
        Does::More => writes.doubt("git config changes settings in another way"),
        Does::Sets(Some(key), value) if is_harmless(&key, value.as_deref()) => {}
        Does::Sets(key, _) => writes.doubt(format!(
            "{} may be a program that git runs",
            key.as_deref().unwrap_or("what git config sets")
        )),
    }
    let mut files = found.values(&["-f", "--file"]);
    if found.has(&["--system"]) {
        files.push(Value::Plain("/etc/gitconfig".to_owned()));
    }
    if found.has(&["--global"]) {
        match &walker.place.home {
            Some(home) => files.push(Value::Plain(format!("{home}/.gitconfig"))),
            None => writes.doubt("git config writes in a home that is not known"),
        }
    }
    for file in &files {
        walker.target(file, run.name, writes);
    }
}

/// Options that only ask.
const ASKING: [&str; 8] = [
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
    "--list",
    "--name-only",
];
/// Options that change more than one key, or let a person do it.
const EDITING: [&str; 4] = ["-e", "--edit", "--rename-section", "--remove-section"];

fn does(run: &Run<'_>, found: &Words<'_>) -> Does {
    if found.has(&EDITING) {
        return Does::More;
    }
    match (found.first(), found.operands.len()) {
        (Some("get" | "list" | "get-color" | "get-colorbool"), _) => Does::Reads,
        (Some("set" | "unset"), 2..) => key(found.operands.get(1..).unwrap_or_default()),
        (Some("edit" | "rename-section" | "remove-section"), _) => Does::More,
        _ => old_form(run, found),
    }
}

/// The form without a deed, where what follows the key is a value, whatever it begins with.
fn old_form(run: &Run<'_>, found: &Words<'_>) -> Does {
    let (leading, operands) = Words::leading(run.words, run.spec);
    let operands: Vec<&Value> = operands.iter().collect();
    let has = |long: &str| leading.options.iter().any(|option| option.name == long);
    let sets = ["--add", "--replace-all", "--unset", "--unset-all"];
    if found.has(&sets) {
        return key(&operands);
    }
    let asks = ASKING.iter().any(|long| has(long)) || has("-l");
    match operands.len() {
        0..=1 => Does::Reads,
        _ if asks => Does::Reads,
        _ => key(&operands),
    }
}

fn key(operands: &[&Value]) -> Does {
    let text = |at: usize| {
        let word = operands.get(at).and_then(|word| word.plain());
        word.map(str::to_owned)
    };
    Does::Sets(text(0), text(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_run_programs_are_told_from_others() {
        for pair in [
            "user.name=x",
            "Core.QuotePath=off",
            "core.pager=cat",
            "core.pager=",
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "pager.log=false",
        ] {
            assert!(is_harmless_pair(pair), "{pair}");
        }
        for pair in [
            "core.hooksPath=h",
            "core.fsmonitor=h",
            "core.fsmonitor",
            "core.sshCommand=x",
            "core.editor=x",
            "core.pager=sh",
            "alias.x=!rm a",
            "diff.external=x",
            "diff.x.textconv=x",
            "filter.x.clean=x",
            "credential.helper=!x",
            "include.path=x",
            "gpg.program=x",
            "remote.x.uploadpack=x",
            "http.cookieFile=x",
        ] {
            assert!(!is_harmless_pair(pair), "{pair}");
        }
    }
}
