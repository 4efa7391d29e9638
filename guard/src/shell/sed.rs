//! Decides if a `sed` script writes files or runs commands.

/// Returns true if a script certainly only selects, replaces and prints.
pub(super) fn only_edits(script: &str) -> bool {
    script
        .split(['\n', ';'])
        .all(|command| edits(command.trim()))
}

fn edits(command: &str) -> bool {
    let command = behind_address(command);
    let mut letters = command.chars();
    match letters.next() {
        None | Some('#') => true,
        Some('{' | '}' | '!') => edits(letters.as_str().trim()),
        Some(
            'p' | 'P' | 'd' | 'D' | 'q' | 'Q' | '=' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'l',
        ) => {
            let rest = letters.as_str().trim();
            rest.chars()
                .all(|letter| letter.is_ascii_digit() || letter == '}')
        }
        Some('s') => replaces(letters.as_str()),
        Some('y') => parts(letters.as_str()).is_some_and(ends),
        Some('F' | 'z') => ends(letters.as_str()),
        // A label or a jump to a label.
        Some(':' | 'b' | 't' | 'T') => {
            let label = letters.as_str().trim_end_matches(['}', ' ']).trim_start();
            label
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        }
        Some('a' | 'i' | 'c') => true,
        Some(_) => false,
    }
}

fn ends(rest: &str) -> bool {
    rest.chars().all(|letter| matches!(letter, '}' | ' '))
}

/// Returns the text after an address, such as `1,5`, `$`, `/x/` or `/x/,/y/`.
fn behind_address(command: &str) -> &str {
    let mut rest = command.trim_start();
    loop {
        let before = rest;
        rest = rest.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || matches!(letter, ',' | '$' | '~' | '+' | ' ')
        });
        if let Some(pattern) = rest.strip_prefix('/') {
            rest = until(pattern, '/').map_or("?", |(_, rest)| rest);
        }
        if rest == before {
            return rest;
        }
    }
}

/// Returns true if a replacement has neither the flag `w`, which writes a file, nor the flag `e`, which runs the result.
fn replaces(rest: &str) -> bool {
    parts(rest).is_some_and(|flags| {
        let flags = flags.trim_end_matches(['}', ' ']);
        flags
            .chars()
            .all(|flag| flag.is_ascii_digit() || "gpiImM".contains(flag))
    })
}

/// Returns the text after `/a/b/`. The delimiter may be any character.
fn parts(rest: &str) -> Option<&str> {
    let delimiter = rest.chars().next()?;
    if delimiter.is_alphanumeric() || delimiter == '\\' {
        return None;
    }
    let rest = rest.get(delimiter.len_utf8()..)?;
    let (_, rest) = until(rest, delimiter)?;
    let (_, rest) = until(rest, delimiter)?;
    Some(rest)
}

/// Splits a text at the next `end` that is not escaped.
fn until(text: &str, end: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == end && !escaped {
            return Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?));
        }
        escaped = letter == '\\' && !escaped;
    }
    None
}
