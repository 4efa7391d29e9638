//! Texts that are typed as words of a command line.

use super::prelude::*;

/// Returns the text of an argument. The argument `-` means standard input, without the line break at its end.
///
/// # Errors
/// A usage error for a text of white space only.
pub fn text(typed: &str, name: &str, context: &Context) -> Result<String, CommandError> {
    let from_stdin = typed == "-";
    let text = match from_stdin {
        true => given::stdin(context.env(), name)?,
        false => typed.to_owned(),
    };
    let message = match (text.trim().is_empty(), from_stdin) {
        (true, true) => format!("standard input has no {name}"),
        (true, false) => format!("{name} is empty"),
        (false, true) => return Ok(text.trim_end_matches(['\n', '\r']).to_owned()),
        (false, false) => return Ok(text),
    };
    Err(CommandError::usage(message))
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
        words => text(&words.join(" "), name, context),
    }
}

/// Replaces each text `-` by standard input, which can be read only once.
pub fn replace_dashes<const N: usize>(
    texts: [(&str, Option<&mut String>); N],
    context: &Context,
) -> Result<(), CommandError> {
    let dashes = texts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let dashes: Vec<(&str, &mut String)> =
        dashes.filter(|(_, value)| value.as_str() == "-").collect();
    if let [(first, _), (second, _), ..] = &*dashes {
        let message =
            format!("standard input is read only once, but {first} and {second} are both -");
        return Err(CommandError::usage(message));
    }
    for (name, value) in dashes {
        *value = text("-", name, context)?;
    }
    Ok(())
}
