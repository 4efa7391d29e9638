//! Splits Rust source into tokens: names, string literals, and single signs. Comments, characters and lifetimes are left out.

/// A token of Rust source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// A name, keyword or number.
    Name(String),
    /// A string literal, with its value at run time.
    Text(String),
    /// A single sign.
    Sign(char),
}

impl Token {
    /// Returns true if the token is the given sign.
    pub fn is(&self, sign: char) -> bool {
        *self == Token::Sign(sign)
    }

    /// Returns the name, if the token is a name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the value, if the token is a string literal.
    pub fn text(&self) -> Option<&str> {
        match self {
            Token::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Returns the tokens of a source text.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = at(i);
        if c == '/' && at(i + 1) == '/' {
            while i < chars.len() && at(i) != '\n' {
                i += 1;
            }
        } else if c == '"' {
            let (text, end) = quoted(&chars, i + 1);
            found.push(Token::Text(text));
            i = end;
        } else if c == 'r' && (at(i + 1) == '"' || (at(i + 1) == '#' && at(i + 2) == '"')) {
            let hashes = usize::from(at(i + 1) == '#');
            let begin = i + 2 + hashes;
            let mut end = begin;
            while end < chars.len() && !(at(end) == '"' && (hashes == 0 || at(end + 1) == '#')) {
                end += 1;
            }
            let text = chars.get(begin..end).unwrap_or_default();
            found.push(Token::Text(text.iter().collect()));
            i = end + 1 + hashes;
        } else if c == '\'' {
            // A character literal ends with a quote; a lifetime does not.
            i += match (at(i + 1), at(i + 2)) {
                ('\\', _) => {
                    2 + (i + 3..)
                        .take_while(|&j| at(j) != '\'' && at(j) != '\0')
                        .count()
                        + 2
                }
                (_, '\'') => 3,
                _ => 1,
            };
        } else if c.is_alphanumeric() || c == '_' {
            let begin = i;
            while at(i).is_alphanumeric() || at(i) == '_' {
                i += 1;
            }
            let name = chars.get(begin..i).unwrap_or_default();
            found.push(Token::Name(name.iter().collect()));
        } else {
            if !c.is_whitespace() {
                found.push(Token::Sign(c));
            }
            i += 1;
        }
    }
    found
}

/// Reads a string literal from after its opening quote; returns its text and the index after its end.
fn quoted(chars: &[char], begin: usize) -> (String, usize) {
    let at = |i: usize| chars.get(i).copied().unwrap_or('"');
    let mut text = String::new();
    let mut i = begin;
    while at(i) != '"' {
        if at(i) != '\\' {
            text.push(at(i));
            i += 1;
            continue;
        }
        match at(i + 1) {
            '\n' => {
                i += 2;
                while at(i).is_whitespace() {
                    i += 1;
                }
                continue;
            }
            'n' => text.push('\n'),
            't' => text.push('\t'),
            // The braces of an escaped code point follow as text.
            'u' => text.push_str("\\u"),
            other => text.push(other),
        }
        i += 2;
    }
    (text, i + 1)
}
