//! Texts that are typed as words of a command line.

use super::prelude::*;

/// Returns the text of an argument. The argument `-` means standard input, without the line break at its end.
pub fn text(typed: &str, name: &str, context: &Context) -> Result<String, CommandError> {
    if typed != "-" {
        return Ok(typed.to_owned());
    }
    let text = given::stdin(context.env(), name)?;
    let text = text.trim_end_matches(['\n', '\r']);
    match text.is_empty() {
        true => Err(CommandError::usage(format!("standard input has no {name}"))),
        false => Ok(text.to_owned()),
    }
}

/// Joins words to one text. Reads standard input if the only word is `-`, or if there is no word and standard input is not a
/// terminal.
pub fn joined(typed: &[String], name: &str, context: &Context) -> Result<String, CommandError> {
    match typed {
        [] if context.env().stdin_is_terminal() => {
            let message = format!("{name} is missing: type it, or pipe it to this command");
            Err(CommandError::usage(message))
        }
        [] => text("-", name, context),
        [one] => text(one, name, context),
        words => Ok(words.join(" ")),
    }
}
