//! Scripts of `awk`: whether one writes files of its own or runs commands.

/// Whether a script does nothing but match, compute and print. What is not clear may write.
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
    /// What stands before, by its last sign or word.
    last: String,
}

impl Reader {
    /// Takes one sign, word or literal off; `None` where it writes, runs or cannot be told.
    fn take<'a>(&mut self, rest: &'a str, letter: char) -> Option<&'a str> {
        let behind = rest.get(letter.len_utf8()..)?;
        match letter {
            letter if letter.is_whitespace() => {
                if letter == '\n' {
                    self.last = "\n".to_owned();
                }
                return Some(behind);
            }
            '#' => {
                return Some(
                    behind
                        .find('\n')
                        .and_then(|at| behind.get(at..))
                        .unwrap_or(""),
                );
            }
            '"' => {
                self.last = "\"".to_owned();
                return literal(behind, '"');
            }
            '/' if self.begins_pattern(behind)? => {
                self.last = "/".to_owned();
                return literal(behind, '/');
            }
            letter if letter.is_alphanumeric() || letter == '_' => return self.word(rest),
            '@' | '`' | '\\' => return None,
            '|' => match behind.strip_prefix('|') {
                Some(behind) => {
                    self.last = "|".to_owned();
                    return Some(behind);
                }
                None => return None,
            },
            // Outside of braces and inside of brackets it compares.
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
        let end = rest
            .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end)?;
        if matches!(word, "system" | "getline") {
            return None;
        }
        self.last = word.to_owned();
        Some(behind)
    }

    /// Whether a slash begins a pattern here, or divides. Where both may be, it divides only if no other slash could end
    /// the pattern.
    fn begins_pattern(&self, behind: &str) -> Option<bool> {
        let is_word = |last: &str| last.chars().all(|c| c.is_alphanumeric() || c == '_');
        match self.last.as_str() {
            "" | "(" | "," | "{" | "}" | ";" | "!" | "~" | "&" | "|" | "=" | "\n" | "?" | ":" => {
                Some(true)
            }
            "print" | "printf" | "return" | "in" | "else" | "do" | "case" | "exit" => None,
            "]" | "\"" => Some(false),
            last if is_word(last) => Some(false),
            _ => (!behind.contains('/')).then_some(false),
        }
    }
}

/// What stands behind a literal that may hold escaped signs.
fn literal(rest: &str, end: char) -> Option<&str> {
    let mut escaped = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            '\n' => return None,
            letter if letter == end && !escaped => return rest.get(at + letter.len_utf8()..),
            // A list of letters may hold the end of a pattern.
            '[' if end == '/' && !escaped => return list(rest.get(at..)?),
            letter => escaped = letter == '\\' && !escaped,
        }
    }
    None
}

/// The same for a pattern, from a list of letters on that holds no slash.
fn list(rest: &str) -> Option<&str> {
    let end = rest.get(2..)?.find(']')? + 3;
    let (list, behind) = rest.split_at_checked(end)?;
    match list.contains(['/', '\n', '\\']) || list.contains("[:") {
        true => None,
        false => literal(behind, '/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_print_are_told_from_others() {
        for script in [
            "{print $1}",
            "$3 > 100",
            "$3 > 100 {print $1}",
            "NR==1 || /a|b/ {print}",
            "{ if ($1 > 5) print $2 }",
            "END { print s / 2, \"a > b | c\" }",
            "/^[a-z]+>/ {n++} END {print n}",
            "{ s += $1 } # > f\nEND { printf \"%d\\n\", s }",
            "{ gsub(/>/, \"<\"); print }",
            "",
            "{ print (a + b) / 2 }",
            "{ x = $1 / $2 / 3; x /= 2; print x }",
            "$1 ~ /a/ && !/b/ { print }",
        ] {
            assert!(only_prints(script), "{script}");
        }
        for script in [
            "{print > \"a\"}",
            "{print >> f}",
            "{print | \"sh\"}",
            "BEGIN{system(\"rm a\")}",
            "BEGIN{\"date\" | getline d}",
            "BEGIN{while ((\"rm a\" | getline l) > 0);}",
            "{ x = 4 / 2; print > \"f\" / 2 }",
            "{ print /\"/ ; print > \"f\" }",
            "{ print $1 /b > \"f\"/ 2}",
            "/[/]/{print > \"f\" }",
            "/\"/ {print > \"f\"; x = \"\"}",
            "@load \"x\"",
            "{ if (a) /\"/; print > \"f\" }",
            "{ if (a) /\"/; print > f; if (b) /\"/ }",
            "{ if (a) /#/; print > \"f\" }",
            "{ if (a) /[(]/; print > \"f\" }",
            "{ x = 1 + /\"/; print > \"f\"; y = \"\" }",
            "{ x++ /\"/ 1; print > \"f\"; y = \"\" }",
            "{ if (a) /x/; print > \"f\" }",
            "} {",
            "\"open",
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }
}
