//! The value of a word of a command. Parts that the text of the command does not determine are unknown.

use super::arithmetic::is_count;
use super::walk::{Answer, Walker};
use brush_parser::ParserOptions;
use brush_parser::word::{
    self, Parameter, ParameterExpr, TildeExpr, WordPiece, WordPieceWithSource,
};

/// The known part of a word's value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// The word is exactly this text.
    Plain(String),
    /// A name below this directory that matches a pattern. The directory is empty if the word begins with the
    /// pattern; the name can then begin with any character.
    Below(String),
    /// A text that begins with this part of an option or of an assignment.
    Begins(String),
    /// One unknown word without a leading dash.
    Word,
    /// One word without a leading dash that the shell does not split even without quotes, such as the name of a commit.
    Name,
    /// A number, possibly with a leading dash.
    Number,
    /// One unknown word.
    One,
    /// One or several unknown words.
    Unknown,
}

impl Value {
    pub fn plain(&self) -> Option<&str> {
        match self {
            Value::Plain(text) => Some(text),
            _ => None,
        }
    }
    /// Returns true if a program may read the word as an option, although it is not certainly an option.
    pub fn may_be_option(&self) -> bool {
        match self {
            Value::Unknown | Value::One | Value::Number => true,
            Value::Below(dir) => dir.is_empty(),
            Value::Begins(text) => text.starts_with('-'),
            Value::Plain(_) | Value::Word | Value::Name => false,
        }
    }
}

/// Knowledge about the values of a variable, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueKnowledge {
    Nothing,
    /// The value is a word without a leading dash if it is quoted.
    Quoted,
    /// The value is a word without a leading dash even if it is not quoted.
    Bare,
}

/// Returns the knowledge about one value.
pub(super) fn known(value: &Value) -> ValueKnowledge {
    let bare = |letter: char| letter.is_alphanumeric() || "_./:@+,%-=~^#".contains(letter);
    match value {
        Value::Plain(text) if text.is_empty() || text.starts_with('-') => ValueKnowledge::Nothing,
        Value::Plain(text) if text.chars().all(bare) => ValueKnowledge::Bare,
        Value::Plain(text) if text.starts_with(char::is_whitespace) => ValueKnowledge::Nothing,
        Value::Name => ValueKnowledge::Bare,
        Value::Plain(_) | Value::Word => ValueKnowledge::Quoted,
        Value::Below(dir) if !dir.is_empty() => ValueKnowledge::Quoted,
        _ => ValueKnowledge::Nothing,
    }
}

struct Reader<'a> {
    walker: &'a Walker,
    text: String,
    /// Position of the first character of a pattern.
    pattern: Option<usize>,
    /// Position of the first unknown part.
    unknown: Option<usize>,
    /// True if the unknown part may be several words.
    split: bool,
    /// True if the word may begin with a dash.
    open: bool,
    /// Number of pieces so far. If the first piece is a number or a name, `only` is that piece.
    pieces: usize,
    only: Option<Value>,
}

/// Reads a word of a command. Walks through the commands in its expansions.
pub(super) fn read(raw: &str, walker: &Walker) -> Value {
    Reader::new(walker).read(word::parse(raw, &ParserOptions::default()).ok())
}

/// Reads the body of a here-document with expansions.
pub(super) fn read_body(raw: &str, walker: &Walker) -> Value {
    Reader::new(walker).read(word::parse_heredoc(raw, &ParserOptions::default()).ok())
}

impl Reader<'_> {
    fn new(walker: &Walker) -> Reader<'_> {
        Reader {
            walker,
            text: String::new(),
            pattern: None,
            unknown: None,
            split: false,
            open: false,
            pieces: 0,
            only: None,
        }
    }

    fn read(mut self, pieces: Option<Vec<WordPieceWithSource>>) -> Value {
        match pieces {
            Some(pieces) => self.pieces(pieces, false),
            None => {
                self.walker.add_unknown("an expansion may run commands");
                self.lose(false);
            }
        }
        self.value()
    }

    fn pieces(&mut self, pieces: Vec<WordPieceWithSource>, quoted: bool) {
        for piece in pieces {
            self.piece(piece.piece, quoted);
        }
    }

    fn piece(&mut self, piece: WordPiece, quoted: bool) {
        if !matches!(
            piece,
            WordPiece::DoubleQuotedSequence(_) | WordPiece::GettextDoubleQuotedSequence(_)
        ) {
            self.pieces += 1;
        }
        match piece {
            WordPiece::Text(text) if !quoted => self.bare(&text),
            WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => self.text.push_str(&text),
            WordPiece::AnsiCQuotedText(text) if !text.contains('\\') => self.text.push_str(&text),
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => self.pieces(pieces, true),
            WordPiece::EscapeSequence(text) => {
                self.text.push_str(text.strip_prefix('\\').unwrap_or(&text));
            }
            WordPiece::TildeExpansion(TildeExpr::Home) if self.walker.place.home.is_some() => {
                let home = self.walker.place.home.as_deref();
                self.text.push_str(home.unwrap_or_default());
            }
            WordPiece::CommandSubstitution(command)
            | WordPiece::BackquotedCommandSubstitution(command) => {
                let answer = self.walker.substitution(&command);
                self.answered(answer, quoted);
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.walker.arithmetic(&expression.value);
                self.answered(Answer::Number, quoted);
            }
            WordPiece::ParameterExpansion(expression) => {
                self.walker.expansion(&expression);
                self.parameter(&expression, quoted);
            }
            WordPiece::AnsiCQuotedText(_) => self.lose(true),
            // The value is a path or the character `~`.
            WordPiece::TildeExpansion(_) => {
                self.unknown.get_or_insert(self.text.len());
            }
        }
    }

    /// Adds the value of a variable to the word.
    fn parameter(&mut self, expression: &ParameterExpr, quoted: bool) {
        if let ParameterExpr::Parameter {
            parameter: Parameter::Special(special),
            ..
        } = expression
            && is_count(special)
        {
            return self.answered(Answer::Number, quoted);
        }
        let Some(name) = plain_variable(expression) else {
            return self.lose(quoted);
        };
        let history = self.walker.history();
        if let Some(value) = self.walker.case.get(name) {
            let whole =
                quoted || (known(value) == ValueKnowledge::Bare && !history.changes_splitting());
            match value {
                Value::Plain(text) if whole => return self.text.push_str(text),
                Value::Below(dir) if quoted => {
                    if !dir.is_empty() {
                        self.text.push_str(dir);
                        self.text.push('/');
                    }
                    self.pattern.get_or_insert(self.text.len());
                    return self.text.push('*');
                }
                _ => {}
            }
        }
        match (history.variable(name), quoted) {
            _ if history.holds_number(name) => self.answered(Answer::Number, quoted),
            (ValueKnowledge::Bare, _) | (ValueKnowledge::Quoted, true) => {
                self.unknown.get_or_insert(self.text.len());
            }
            _ => self.lose(quoted),
        }
    }

    /// Adds the output of a command to the word.
    fn answered(&mut self, answer: Answer, quoted: bool) {
        self.only = match answer {
            Answer::Unknown => return self.lose(quoted),
            Answer::Name => Some(Value::Name),
            Answer::Top => match self.walker.place.top.clone() {
                Some(top)
                    if quoted || known(&Value::Plain(top.clone())) == ValueKnowledge::Bare =>
                {
                    return self.text.push_str(&top);
                }
                _ => return self.lose(quoted),
            },
            Answer::Number => {
                // The number may be negative, so the word may begin with a dash.
                self.open |= self.text.is_empty() && self.unknown.is_none();
                Some(Value::Number)
            }
        };
        self.unknown.get_or_insert(self.text.len());
    }

    /// Marks the remainder of the word as unknown. Outside of quotes, the remainder can be several words.
    fn lose(&mut self, quoted: bool) {
        self.split |= !quoted;
        self.open |= self.text.is_empty() && self.unknown.is_none();
        self.unknown.get_or_insert(self.text.len());
    }

    /// Adds unquoted text, in which patterns and braces have their meaning. A bracket can only be part of a pattern.
    fn bare(&mut self, text: &str) {
        if let Some(at) = text.find(['*', '?', '[', '{', '(']) {
            self.pattern.get_or_insert(self.text.len() + at);
        }
        let mut rest = text;
        if let Some((name, home)) = text.split_once("=~") {
            // After text that looks like an assignment, `~user` is the home directory of a user, as in `a=~user`.
            self.text.push_str(name);
            self.text.push('=');
            self.lose(true);
            self.text.push('~');
            rest = home;
        }
        self.text.push_str(rest);
    }

    fn value(&mut self) -> Value {
        let text = std::mem::take(&mut self.text);
        if let (1, Some(only)) = (self.pieces, self.only.take()) {
            return only;
        }
        match (self.unknown, self.pattern) {
            (Some(unknown), pattern) => {
                let sure = text.get(..pattern.unwrap_or(unknown).min(unknown));
                match sure.filter(|sure| sure.starts_with('-')) {
                    _ if self.split || pattern == Some(0) => Value::Unknown,
                    Some(sure) => Value::Begins(sure.to_owned()),
                    None if self.open => Value::One,
                    None => Value::Word,
                }
            }
            (None, None) => Value::Plain(text),
            (None, Some(at)) => below(&text, at),
        }
    }
}

/// Returns the name of the variable if the expansion is plain, without an operator.
pub(super) fn plain_variable(expression: &ParameterExpr) -> Option<&str> {
    match expression {
        ParameterExpr::Parameter {
            parameter: Parameter::Named(name),
            indirect: false,
        } => Some(name),
        _ => None,
    }
}

/// Returns the directory that contains every path that a pattern may match.
fn below(text: &str, at: usize) -> Value {
    let (fixed, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let brackets = rest.contains('[') && rest.contains(']');
    let braces = rest.contains('{') && (rest.contains(',') || rest.contains(".."));
    if !rest.contains(['*', '?', '(']) && !brackets && !braces {
        // The brackets are not a pattern.
        return Value::Plain(text.to_owned());
    }
    if fixed.starts_with('-') {
        return Value::Begins(fixed.to_owned());
    }
    if braces && fixed.is_empty() && (rest.contains("{-") || rest.contains(",-")) {
        return Value::Begins("-".to_owned());
    }
    let (dir, name) = fixed.rsplit_once('/').unwrap_or(("", fixed));
    let leads_away = rest.contains("..") || (rest.contains(['{', '(']) && rest.contains('/'));
    // In some shells, a pattern that begins with a dot also matches the parent directory.
    if leads_away || name.starts_with('.') {
        return Value::Unknown;
    }
    Value::Below(match dir {
        "" if fixed.starts_with('/') => "/".to_owned(),
        // The word begins with the pattern unless a name precedes it.
        "" if !name.is_empty() => ".".to_owned(),
        dir => dir.to_owned(),
    })
}

/// Returns true if a text that is not parsed may run commands.
pub(super) fn runs_commands(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("<(") || text.contains(">(")
}

/// Returns true if a word is `{name}`. Before a redirection, such a word names a variable for the descriptor.
pub(super) fn names_descriptor(raw: &str) -> bool {
    let name = raw
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// Returns true if a text runs commands when it is read as a variable with an index.
pub(super) fn runs_in_index(text: &str) -> bool {
    text.contains('[') && runs_commands(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Programs;
    use crate::place::Place;
    use crate::shell::history::AssignedValue;

    fn walker() -> Walker {
        let place = Place {
            home: Some("/home/u".to_owned()),
            ..Place::default()
        };
        Walker::new(place, Programs::default())
    }

    #[test]
    fn words_stand_for_what_their_text_tells() {
        let plain = |text: &str| Value::Plain(text.to_owned());
        let under = |text: &str| Value::Below(text.to_owned());
        let walker = walker();
        for (raw, expected) in [
            ("a", plain("a")),
            ("'a b'", plain("a b")),
            ("\"a b\"c", plain("a bc")),
            ("a\\ b", plain("a b")),
            ("'*'", plain("*")),
            ("\\*", plain("*")),
            ("~/x", plain("/home/u/x")),
            ("*.rs", under("")),
            ("src/*.rs", under("src")),
            ("/src/a?/b", under("/src")),
            ("/*", under("/")),
            ("src/{a,b}.rs", under("src")),
            ("{}", plain("{}")),
            ("[", plain("[")),
            ("a[1]", under(".")),
            ("{a,b}", under("")),
            ("src/{a,../b}", Value::Unknown),
            ("src/.*", Value::Unknown),
            ("$X", Value::Unknown),
            ("a$X/b", Value::Unknown),
            ("\"a$X/b\"", Value::Word),
            ("a\"$X\"", Value::Word),
            ("\"$X\"/a", Value::One),
            ("\"$X\"", Value::One),
            ("$(ls)", Value::Unknown),
            ("`ls`", Value::Unknown),
            ("$((1+1))", Value::Number),
            ("a$((1+1))", Value::Word),
            ("~other/x", Value::Word),
            ("of=~/x", Value::Word),
            ("@(a|../b)", Value::Unknown),
            ("@(a|b)", under(".")),
            ("--output=$X", Value::Unknown),
            ("--output=\"$X\"", Value::Begins("--output=".to_owned())),
            ("\"-o$X\"", Value::Begins("-o".to_owned())),
            ("--include=*.rs", Value::Begins("--include=".to_owned())),
            ("{-o,a}", Value::Begins("-".to_owned())),
            ("-", plain("-")),
        ] {
            assert_eq!(read(raw, &walker), expected, "{raw}");
        }
    }

    #[test]
    fn a_variable_with_known_values_is_one_word() {
        let walker = walker();
        for (name, known) in [
            ("bare", ValueKnowledge::Bare),
            ("quoted", ValueKnowledge::Quoted),
        ] {
            let given = AssignedValue {
                known,
                ..AssignedValue::unknown()
            };
            walker.remember().add_value(name, given);
        }
        for (raw, one) in [
            ("$bare", true),
            ("${bare}", true),
            ("\"$quoted\"", true),
            ("$quoted", false),
            ("\"$quoted$X\"", true),
            ("${bare:-x}", false),
            ("${!bare}", false),
            ("$bare$X", false),
        ] {
            let expected = if one { Value::Word } else { Value::Unknown };
            assert_eq!(read(raw, &walker), expected, "{raw}");
        }
        for (value, expected) in [
            ("main", ValueKnowledge::Bare),
            ("HEAD~3", ValueKnowledge::Bare),
            ("a b", ValueKnowledge::Quoted),
            ("a -o b", ValueKnowledge::Quoted),
            ("-o", ValueKnowledge::Nothing),
            (" -o", ValueKnowledge::Nothing),
            ("", ValueKnowledge::Nothing),
        ] {
            assert_eq!(
                known(&Value::Plain(value.to_owned())),
                expected,
                "{value:?}"
            );
        }
    }
}
