//! What a word of a command stands for, as far as its text tells.

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
    /// Names below this directory, which a pattern selects.
    Below(String),
    /// An option or an assignment as far as it is known: this text and something more.
    Begins(String),
    /// Something that only running it would tell.
    Unknown,
}

impl Value {
    pub fn plain(&self) -> Option<&str> {
        match self {
            Value::Plain(text) => Some(text),
            _ => None,
        }
    }
}

/// A word with the commands that are run to make it.
pub(super) struct Read {
    pub value: Value,
    pub commands: Vec<String>,
    /// It holds an expansion that may run commands, and whose text is not taken apart.
    pub opaque: bool,
}

struct Reader<'a> {
    home: Option<&'a str>,
    text: String,
    /// Where the first pattern character stands.
    pattern: Option<usize>,
    /// Where the first part stands that is not known.
    unknown: Option<usize>,
    commands: Vec<String>,
    opaque: bool,
}

/// Reads a word of a command.
pub(super) fn read(raw: &str, home: Option<&str>) -> Read {
    read_pieces(word::parse(raw, &ParserOptions::default()).ok(), home)
}

/// Reads the body of a here-document whose expansions count.
pub(super) fn read_body(raw: &str) -> Read {
    read_pieces(
        word::parse_heredoc(raw, &ParserOptions::default()).ok(),
        None,
    )
}

fn read_pieces(pieces: Option<Vec<WordPieceWithSource>>, home: Option<&str>) -> Read {
    let mut reader = Reader {
        home,
        text: String::new(),
        pattern: None,
        unknown: None,
        commands: Vec::new(),
        opaque: false,
    };
    match pieces {
        Some(pieces) => reader.pieces(pieces, false),
        None => {
            reader.opaque = true;
            reader.lose();
        }
    }
    Read {
        value: reader.value(),
        commands: reader.commands,
        opaque: reader.opaque,
    }
}

impl Reader<'_> {
    fn pieces(&mut self, pieces: Vec<WordPieceWithSource>, quoted: bool) {
        for piece in pieces {
            self.piece(piece.piece, quoted);
        }
    }

    fn piece(&mut self, piece: WordPiece, quoted: bool) {
        match piece {
            WordPiece::Text(text) if quoted => self.text.push_str(&text),
            WordPiece::Text(text) => self.bare(&text),
            WordPiece::SingleQuotedText(text) => self.text.push_str(&text),
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
                self.lose();
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.opaque |= runs_commands(&expression.value);
                self.lose();
            }
            WordPiece::ParameterExpansion(expression) => {
                self.opaque |= expansion_runs(&expression);
                self.lose();
            }
            WordPiece::AnsiCQuotedText(_) | WordPiece::TildeExpansion(_) => self.lose(),
        }
    }

    /// From here on nobody can say what the word is.
    fn lose(&mut self) {
        self.unknown.get_or_insert(self.text.len());
    }

    /// Text outside of quotes, where patterns and braces count, and a bracket can only be part of a pattern.
    fn bare(&mut self, text: &str) {
        if let Some(at) = text.find(['*', '?', '[', '{', '(']) {
            self.pattern.get_or_insert(self.text.len() + at);
        }
        if text.contains("=~") {
            // The home of somebody, behind what looks like an assignment.
            self.lose();
        }
        self.text.push_str(text);
    }

    fn value(&mut self) -> Value {
        let text = std::mem::take(&mut self.text);
        match (self.unknown, self.pattern) {
            (Some(unknown), pattern) => {
                let sure = text.get(..pattern.unwrap_or(unknown).min(unknown));
                match sure.filter(|sure| sure.starts_with('-')) {
                    Some(sure) => Value::Begins(sure.to_owned()),
                    None => Value::Unknown,
                }
            }
            (None, None) => Value::Plain(text),
            (None, Some(at)) => below(&text, at),
        }
    }
}

/// A default or a pattern may hold a substitution of its own, a prompt runs what its text says, and a default may be kept
/// in a variable that changes what programs do.
fn expansion_runs(expression: &ParameterExpr) -> bool {
    let prompts = matches!(
        expression,
        ParameterExpr::Transform {
            op: ParameterTransformOp::PromptExpand,
            ..
        }
    );
    let binds = match expression {
        ParameterExpr::AssignDefaultValues {
            parameter: Parameter::Named(name),
            default_value,
            ..
        } => variables::changes(name, default_value.as_deref()),
        _ => false,
    };
    prompts || binds || runs_commands(&format!("{expression:?}"))
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
        "" => ".".to_owned(),
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
        for (raw, expected) in [
            ("a", plain("a")),
            ("'a b'", plain("a b")),
            ("\"a b\"c", plain("a bc")),
            ("a\\ b", plain("a b")),
            ("'*'", plain("*")),
            ("\\*", plain("*")),
            ("~/x", plain("/home/u/x")),
            ("*.rs", under(".")),
            ("src/*.rs", under("src")),
            ("/src/a?/b", under("/src")),
            ("/*", under("/")),
            ("src/{a,b}.rs", under("src")),
            ("{}", plain("{}")),
            ("[", plain("[")),
            ("a[1]", under(".")),
            ("{a,b}", under(".")),
            ("src/{a,../b}", Value::Unknown),
            ("src/.*", Value::Unknown),
            ("$X", Value::Unknown),
            ("a$X/b", Value::Unknown),
            ("\"$X\"", Value::Unknown),
            ("$(ls)", Value::Unknown),
            ("`ls`", Value::Unknown),
            ("$((1+1))", Value::Unknown),
            ("~other/x", Value::Unknown),
            ("of=~/x", Value::Unknown),
            ("@(a|../b)", Value::Unknown),
            ("@(a|b)", under(".")),
            ("--output=$X", Value::Begins("--output=".to_owned())),
            ("\"-o$X\"", Value::Begins("-o".to_owned())),
            ("--include=*.rs", Value::Begins("--include=".to_owned())),
            ("{-o,a}", Value::Begins("-".to_owned())),
            ("-", plain("-")),
        ] {
            assert_eq!(read(raw, Some("/home/u")).value, expected, "{raw}");
        }
    }

    #[test]
    fn commands_inside_of_words_are_found() {
        assert_eq!(read("a$(rm x)b`rm y`", None).commands, ["rm x", "rm y"]);
        assert_eq!(read("\"$(rm x)\"", None).commands, ["rm x"]);
        assert!(read("${a:-$(rm x)}", None).opaque);
        assert!(read("$((a[$(rm x)]))", None).opaque);
        assert!(read("${a@P}", None).opaque);
        assert!(read("${PATH:=/tmp}", None).opaque);
        assert!(!read("${a:-b}", None).opaque);
        assert!(!read("${a:=b}", None).opaque);
        assert!(!read("${a@Q}", None).opaque);
    }
}
