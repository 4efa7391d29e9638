//! Converts usage errors of clap.

use super::{CommandError, meaning};
use clap::error::{ContextKind, ContextValue, ErrorKind};

impl CommandError {
    /// Converts an error of clap into one line. `help` is the command that prints the help; `is_command` says whether a word
    /// is a command of teamlog.
    pub fn of_clap(
        error: &clap::Error,
        help: &str,
        is_command: impl Fn(&str) -> bool,
    ) -> CommandError {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        let message = match error.kind() {
            // clap's own message would be the whole help.
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a subcommand is required",
            _ => first.strip_prefix("error: ").unwrap_or(first),
        };
        let message: Vec<&str> = message.lines().map(str::trim).collect();
        let tip = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("tip: "))
            // Drop this tip of clap, because an unknown option is rarely meant as a value.
            .filter(|tip| !tip.starts_with("to pass "));
        // clap accepts a value of a switch only after `=`.
        let word = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(word)) => word.as_str(),
            _ => "",
        };
        let is_value = ["true", "false"].contains(&word);
        let stated = format!(
            "write the value of an option such as --requires-approval with =: --OPTION={word}"
        );
        let tip = tip.or_else(|| is_value.then_some(stated.as_str()));
        let meant = meant(error, is_command);
        let tip = meant.as_deref().or(tip);
        CommandError::usage(message.join(" ")).or_hint(match tip {
            Some(tip) => format!("{tip}\n{help}"),
            None => help.to_owned(),
        })
    }
}

/// Returns a hint with the equivalent command or value for a word that clap does not know.
fn meant(error: &clap::Error, is_command: impl Fn(&str) -> bool) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand)?;
            meaning::of_command(word)
                .or_else(|| is_command(word).then(|| format!("teamlog {word}")))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => meaning::of_value(
            text(ContextKind::InvalidArg)?,
            text(ContextKind::InvalidValue)?,
        ),
        ErrorKind::MissingRequiredArgument => meaning::of_option(text(ContextKind::InvalidArg)?),
        _ => None,
    }
}
