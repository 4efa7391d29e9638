//! What a word of a command stands for, as far as its text tells.

use super::history::History;
use super::variables;
use brush_parser::ParserOptions;
use brush_parser::word::{
    self, Parameter, ParameterExpr, ParameterTransformOp, TildeExpr, WordPiece, WordPieceWithSource,
};

/// What a word stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// This text.
    Plain(String),
    /// Names below this directory, which a pattern selects; empty where the pattern begins the word, so that a name may
    /// begin with anything.
    Below(String),
    /// An option or an assignment as far as it is known: this text and something more.
    Begins(String),
    /// One word that begins with something else than a dash, and more is not known.
    Word,
    /// One word, of which nothing is known.
    One,
    /// Something that only running it would tell, be it one word or several.
    Unknown,
}

impl Value {
    pub fn plain(&self) -> Option<&str> {
        match self {
            Value::Plain(text) => Some(text),
            _ => None,
        }
    }
    /// Whether a program may take it for an option, though it is not known for one.
    pub fn may_be_option(&self) -> bool {
        match self {
            Value::Unknown | Value::One => true,
            Value::Below(dir) => dir.is_empty(),
            Value::Begins(text) => text.starts_with('-'),
            Value::Plain(_) | Value::Word => false,
        }
    }
}

/// What is known of the values of a variable, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    /// Nothing.
    Nothing,
    /// In quotes it is a word that begins with no dash.
    Quoted,
    /// So it is without quotes.
    Bare,
}

/// What is known of a value that a variable is given.
pub(super) fn known(value: &Value) -> Known {
    let bare = |letter: char| letter.is_alphanumeric() || "_./:@+,%-=~^#".contains(letter);
    match value {
        Value::Plain(text) if text.is_empty() || text.starts_with('-') => Known::Nothing,
        Value::Plain(text) if text.chars().all(bare) => Known::Bare,
        Value::Plain(text) if text.starts_with(char::is_whitespace) => Known::Nothing,
        Value::Plain(_) | Value::Word => Known::Quoted,
        Value::Below(dir) if !dir.is_empty() => Known::Quoted,
        _ => Known::Nothing,
    }
}

/// A word with the commands that are run to make it.
pub(super) struct Read {
    pub value: Value,
    pub commands: Vec<String>,
    /// It holds an expansion that may run commands, and whose text is not taken apart.
    pub opaque: bool,
}

#[derive(Default)]
struct Reader<'a> {
    home: Option<&'a str>,
    /// What was done to variables.
    history: Option<&'a History>,
    text: String,
    /// Where the first pattern character stands.
    pattern: Option<usize>,
    /// Where the first part stands that is not known.
    unknown: Option<usize>,
    /// What is not known may be several words.
    split: bool,
    /// It may begin with a dash.
    open: bool,
    commands: Vec<String>,
    opaque: bool,
}

/// Reads a word of a command, with what is known of variables.
pub(super) fn read(raw: &str, home: Option<&str>, history: &History) -> Read {
    let pieces = word::parse(raw, &ParserOptions::default()).ok();
    let reader = Reader {
        home,
        history: Some(history),
        ..Reader::default()
    };
    reader.read(pieces)
}

/// Reads the body of a here-document whose expansions count.
pub(super) fn read_body(raw: &str) -> Read {
    Reader::default().read(word::parse_heredoc(raw, &ParserOptions::default()).ok())
}

impl Reader<'_> {
    fn read(mut self, pieces: Option<Vec<WordPieceWithSource>>) -> Read {
        match pieces {
            Some(pieces) => self.pieces(pieces, false),
            None => {
                self.opaque = true;
                self.lose(false);
            }
        }
        Read {
            value: self.value(),
            commands: self.commands,
            opaque: self.opaque,
        }
    }

    fn pieces(&mut self, pieces: Vec<WordPieceWithSource>, quoted: bool) {
        for piece in pieces {
            self.piece(piece.piece, quoted);
        }
    }

    fn piece(&mut self, piece: WordPiece, quoted: bool) {
        match piece {
            WordPiece::Text(text) if !quoted => self.bare(&text),
            WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => self.text.push_str(&text),
            WordPiece::AnsiCQuotedText(text) if !text.contains('\\') => self.text.push_str(&text),
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => self.pieces(pieces, true),
            WordPiece::EscapeSequence(text) => {
                self.text.push_str(text.strip_prefix('\\').unwrap_or(&text));
            }
            WordPiece::TildeExpansion(TildeExpr::Home) if self.home.is_some() => {
                self.text.push_str(self.home.unwrap_or_default());
            }
            WordPiece::CommandSubstitution(command)
            | WordPiece::BackquotedCommandSubstitution(command) => {
                self.commands.push(command);
                self.lose(quoted);
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.opaque |= runs_commands(&expression.value);
                self.lose(quoted);
            }
            WordPiece::ParameterExpansion(expression) => {
                self.opaque |= expansion_runs(&expression);
                let history = self.history;
                let known =
                    plain_variable(&expression).and_then(|name| Some(history?.variable(name)));
                match (known, quoted) {
                    (Some(Known::Bare), _) | (Some(Known::Quoted), true) => {
                        self.unknown.get_or_insert(self.text.len());
                    }
                    _ => self.lose(quoted),
                }
            }
            WordPiece::AnsiCQuotedText(_) => self.lose(true),
            // A path, or the sign itself.
            WordPiece::TildeExpansion(_) => {
                self.unknown.get_or_insert(self.text.len());
            }
        }
    }

    /// From here on nobody can say what the word is, nor, outside of quotes, how many there are.
    fn lose(&mut self, quoted: bool) {
        self.split |= !quoted;
        self.open |= self.text.is_empty() && self.unknown.is_none();
        self.unknown.get_or_insert(self.text.len());
    }

    /// Text outside of quotes, where patterns and braces count, and a bracket can only be part of a pattern.
    fn bare(&mut self, text: &str) {
        if let Some(at) = text.find(['*', '?', '[', '{', '(']) {
            self.pattern.get_or_insert(self.text.len() + at);
        }
        let mut rest = text;
        if let Some((name, home)) = text.split_once("=~") {
            // The home of somebody, behind what looks like an assignment.
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

/// The variable that an expansion stands for as it is.
fn plain_variable(expression: &ParameterExpr) -> Option<&str> {
    match expression {
        ParameterExpr::Parameter {
            parameter: Parameter::Named(name),
            indirect: false,
        } => Some(name),
        _ => None,
    }
}

/// A default or a pattern may hold a substitution of its own, a prompt runs what its text says, and a default may be kept
/// in a variable that changes what programs do.
fn expansion_runs(expression: &ParameterExpr) -> bool {
    let runs = match expression {
        ParameterExpr::Transform { op, .. } => matches!(op, ParameterTransformOp::PromptExpand),
        ParameterExpr::AssignDefaultValues {
            parameter: Parameter::Named(name),
            default_value,
            ..
        } => variables::changes(name, default_value.as_deref()),
        _ => false,
    };
    runs || runs_commands(&format!("{expression:?}"))
}

/// The directory below which everything lies that a pattern may stand for.
fn below(text: &str, at: usize) -> Value {
    let (fixed, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    let brackets = rest.contains('[') && rest.contains(']');
    let braces = rest.contains('{') && (rest.contains(',') || rest.contains(".."));
    if !rest.contains(['*', '?', '(']) && !brackets && !braces {
        // Brackets that stand for themselves.
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
    // Patterns that begin with a dot match the directory above in some shells.
    if leads_away || name.starts_with('.') {
        return Value::Unknown;
    }
    Value::Below(match dir {
        "" if fixed.starts_with('/') => "/".to_owned(),
        // The word begins with the pattern, unless a name stands before it.
        "" if !name.is_empty() => ".".to_owned(),
        dir => dir.to_owned(),
    })
}

/// Whether text that is not taken apart may run commands.
pub(super) fn runs_commands(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("<(") || text.contains(">(")
}

/// Whether a word is `{name}`, which before a redirection is no word but names a descriptor.
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

/// Whether text runs commands once it is taken for a variable with an index.
pub(super) fn runs_in_index(text: &str) -> bool {
    text.contains('[') && runs_commands(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_what_their_text_tells() {
        let plain = |text: &str| Value::Plain(text.to_owned());
        let under = |text: &str| Value::Below(text.to_owned());
        let none = History::default();
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
            ("$((1+1))", Value::Unknown),
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
            assert_eq!(read(raw, Some("/home/u"), &none).value, expected, "{raw}");
        }
    }

    #[test]
    fn a_variable_with_known_values_is_one_word() {
        let mut variables = History::default();
        variables.gives("bare", Known::Bare);
        variables.gives("quoted", Known::Quoted);
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
            assert_eq!(read(raw, None, &variables).value, expected, "{raw}");
        }
        for (value, expected) in [
            ("main", Known::Bare),
            ("HEAD~3", Known::Bare),
            ("a b", Known::Quoted),
            ("a -o b", Known::Quoted),
            ("-o", Known::Nothing),
            (" -o", Known::Nothing),
            ("", Known::Nothing),
        ] {
            assert_eq!(
                known(&Value::Plain(value.to_owned())),
                expected,
                "{value:?}"
            );
        }
    }
}
