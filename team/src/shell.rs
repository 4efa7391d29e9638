//! Text that a shell takes back as one word, so that a command which is shown can be run as it stands.

/// That word, quoted where it has to be.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/+,:@".contains(c);
    if text.chars().all(is_plain) && !text.is_empty() {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The words of a line that was made of such words; `None` where a quote is left open.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{quoted, words};

    #[test]
    fn a_line_of_quoted_words_comes_apart_again() {
        let all = ["a", "", "a b", "it's", "'", "$x \\ \"y\"", "é|&"];
        let line = all.map(quoted).join(" ");
        assert_eq!(words(&line).unwrap(), all, "{line}");
        assert_eq!(words("a 'b"), None);
    }

    #[test]
    fn what_is_not_plain_is_quoted() {
        for (text, word) in [
            ("/var/a-b_c.d", "/var/a-b_c.d"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
