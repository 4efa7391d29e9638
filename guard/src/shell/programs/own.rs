//! Runs of teamlog itself. The caller of this crate describes the options of all commands and the effect of each command.

use super::*;
use crate::known::{Command, Effect};
use crate::shell::options::Opt;

pub(super) fn run(walker: &Walker, words: &[Value]) {
    let own = &walker.programs.own;
    let spec = Spec::with(&own.options);
    let mut behind = words;
    let name = loop {
        let (found, rest) = Words::leading(behind, &spec);
        if found.is_certain(&["--help", "--version", "-V"]) {
            return;
        }
        let is_unknown = |option: &&Opt| option.effect.is_none();
        if let Some(Opt { name, .. }) = found.options.iter().find(is_unknown) {
            return walker.add_unknown(Unknown::for_teamlog(format!(
                "unknown option {name} of teamlog"
            )));
        }
        behind = match rest.split_first() {
            None => return,
            // `rcs team COMMAND` is the form of the link. Accept `team` for both names of the program.
            Some((word, behind)) if word.plain() == Some("team") => behind,
            Some((word, _)) => break word.plain(),
        };
    };
    let Some(name) = name else {
        return walker.add_unknown(Unknown::for_teamlog(
            "the command of teamlog depends on an expansion",
        ));
    };
    let Some(command) = own.commands.iter().find(|command| command.name == name) else {
        return walker.add_unknown(Unknown::for_teamlog(format!(
            "teamlog has no command {name}"
        )));
    };
    // With `--data-root`, a command may write the data of another root.
    let changes = command.effect == Effect::TeamData || !command.raised.is_empty();
    let raises = |word: &Value| match word {
        Value::Plain(text) => raised(command).any(|known| known == option_of(text)),
        Value::Begins(text) => raised(command).any(|known| known.starts_with(option_of(text))),
        word => changes && word.may_be_option(),
    };
    let writes_more = matches!(command.effect, Effect::Files | Effect::Runs);
    if writes_more || words.iter().any(raises) {
        walker.add_unknown(Unknown::for_teamlog(format!(
            "'teamlog {name}' with these options can change settings or files, or run a program"
        )));
    }
}

/// Returns the words with which a command has more effects than its usual effect.
fn raised(command: &Command) -> impl Iterator<Item = &str> {
    let all = command.raised.iter().copied();
    all.chain(std::iter::once("--data-root"))
}

fn option_of(text: &str) -> &str {
    text.split_once('=').map_or(text, |(name, _)| name)
}
