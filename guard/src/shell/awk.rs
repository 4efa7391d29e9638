//! Decides if an `awk` script writes files or runs commands.

/// Returns true if a script certainly only matches, computes and prints.
pub(super) fn only_prints(script: &str) -> bool {
    let mut reader = Reader::default();
    let mut rest = script;
    while let Some(letter) = rest.chars().next() {
        rest = match reader.take(rest, letter) {
            Some(rest) => rest,
            None => return false,
        };
    }
    true
}

#[derive(Default)]
struct Reader {
    braces: usize,
    brackets: usize,
    /// The last sign or word before the current position.
    last: String,
}

impl Reader {
    /// Skips a sign, word or literal. Returns `None` if the skipped text writes, runs a command or is unclear.
    fn take<'a>(&mut self, rest: &'a str, letter: char) -> Option<&'a str> {
        let mut behind = rest.get(letter.len_utf8()..)?;
        match letter {
            '\n' => {}
            letter if letter.is_whitespace() => return Some(behind),
            '#' => return behind.get(behind.find('\n').unwrap_or(behind.len())..),
            '"' => behind = literal(behind, '"')?,
            '/' if self.begins_pattern(behind)? => behind = literal(behind, '/')?,
            letter if in_word(letter) => return self.word(rest),
            '@' | '`' | '\\' => return None,
            '|' => behind = behind.strip_prefix('|')?,
            // In this position, `>` writes to a file. Outside of braces and inside of brackets, `>` is a comparison.
            '>' if self.braces > 0 && self.brackets == 0 => return None,
            '{' => self.braces += 1,
            '}' => self.braces = self.braces.checked_sub(1)?,
            '(' | '[' => self.brackets += 1,
            ')' | ']' => self.brackets = self.brackets.checked_sub(1)?,
            _ => {}
        }
        self.last = letter.to_string();
        Some(behind)
    }

    fn word<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let end = rest.find(|letter| !in_word(letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        if matches!(word, "system" | "getline") {
            return None;
        }
        self.last = word.to_owned();
        Some(behind)
    }

    /// Returns true if a slash begins a pattern, false if it is a division, and `None` if this is unclear. A slash that
    /// could be both is a division if no further slash could end the pattern.
    fn begins_pattern(&self, behind: &str) -> Option<bool> {
        match self.last.as_str() {
            "" | "(" | "," | "{" | "}" | ";" | "!" | "~" | "&" | "|" | "=" | "\n" | "?" | ":" => {
                Some(true)
            }
            "print" | "printf" | "return" | "in" | "else" | "do" | "case" | "exit" => None,
            "]" | "\"" => Some(false),
            last if last.chars().all(in_word) => Some(false),
            _ => (!behind.contains('/')).then_some(false),
        }
    }
}

fn in_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the text after a literal. Skips escaped characters.
fn literal(rest: &str, end: char) -> Option<&str> {
    let mut escaped = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            '\n' => return None,
            letter if letter == end && !escaped => return rest.get(at + letter.len_utf8()..),
            // The end character may be part of a bracket expression.
            '[' if end == '/' && !escaped => return list(rest.get(at..)?),
            letter => escaped = letter == '\\' && !escaped,
        }
    }
    None
}

/// Returns the text after a bracket expression. Returns `None` if the bracket expression has a slash or is unclear.
fn list(rest: &str) -> Option<&str> {
    let end = rest.get(2..)?.find(']')? + 3;
    let (list, behind) = rest.split_at_checked(end)?;
    match list.contains(['/', '\n', '\\']) || list.contains("[:") {
        true => None,
        false => literal(behind, '/'),
    }
}
