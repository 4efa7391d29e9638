//! Our own commands: what they do follows from the table of them that the caller brings along.

use crate::known::{Command, Effect};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// Global options, and those among them whose value may be the next word.
const FLAGS: [&str; 3] = ["--json", "--receipt", "--utc"];
const WITH_VALUE: [&str; 3] = ["--actor", "--lock-timeout", "--last-receipt"];
/// What is only asked.
const ASKING: [&str; 3] = ["--help", "--version", "-V"];

pub(super) fn run(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let mut rest = words;
    let name = loop {
        let Some((word, behind)) = rest.split_first() else {
            return;
        };
        rest = match word.plain() {
            Some(word) if FLAGS.contains(&word) => behind,
            Some(word) if WITH_VALUE.contains(&word) => behind.get(1..).unwrap_or_default(),
            Some(word) if ASKING.contains(&word) => return,
            // Through the link, or as if through it.
            Some("team") => behind,
            Some(name) => break name,
            None => return writes.doubt("which command of teamlog runs depends on an expansion"),
        };
    };
    let Some(command) = walker.programs.own(name) else {
        return writes.doubt(format!("teamlog {name} is not known"));
    };
    // Any of them may name the data of another place.
    let changes = command.effect == Effect::TeamData || !command.raised.is_empty();
    let raises = |word: &Value| match word {
        Value::Plain(text) => raised(command).any(|known| known == option_of(text)),
        Value::Begins(text) => raised(command).any(|known| known.starts_with(option_of(text))),
        word => changes && word.may_be_option(),
    };
    let writes_more = matches!(command.effect, Effect::Files | Effect::Runs);
    if writes_more || words.iter().any(raises) {
        writes.doubt(format!(
            "teamlog {name} may write elsewhere than into the data of a team, or run a program"
        ));
    }
}

/// The options by which a command does more than its effect says.
fn raised(command: &Command) -> impl Iterator<Item = &str> {
    let all = command.raised.iter().copied();
    all.chain(std::iter::once("--data-root"))
}

fn option_of(text: &str) -> &str {
    text.split_once('=').map_or(text, |(name, _)| name)
}
