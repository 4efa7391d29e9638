//! Shell arithmetic. An expression runs commands if one of its variables contains an index that runs commands, such as
//! `a[$(rm x)]`.

use super::history::AssignedValue;
use super::*;
use brush_parser::ParserOptions;
use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate, Word};
use brush_parser::word::{self as pieces, Parameter, ParameterExpr, SpecialParameter, WordPiece};

impl Walker {
    /// Finds commands that the evaluation of an expression may run.
    pub fn arithmetic(&self, expression: &str) {
        let Some(text) = self.expanded(expression) else {
            return self.add_unknown("an arithmetic expression may run commands in an expansion");
        };
        let names = names(&text);
        if let Some(name) = names.iter().find(|name| !self.history().is_number(name)) {
            self.add_unknown(format!(
                "{name} may hold an index that runs a command, and arithmetic evaluates it"
            ));
        }
        if assigns(&text) {
            for name in names {
                self.remember().add_value(name, AssignedValue::number());
            }
        }
    }

    /// Replaces the expansions in an expression by numbers. Returns `None` if an expansion may be something else than a number.
    fn expanded(&self, expression: &str) -> Option<String> {
        let options = ParserOptions::default();
        let mut text = String::new();
        for piece in pieces::parse_heredoc(expression, &options).ok()? {
            match piece.piece {
                WordPiece::Text(part) | WordPiece::EscapeSequence(part) => text.push_str(&part),
                WordPiece::ArithmeticExpression(inner) => {
                    self.arithmetic(&inner.value);
                    text.push('0');
                }
                WordPiece::CommandSubstitution(command)
                | WordPiece::BackquotedCommandSubstitution(command) => {
                    let answer = self.substitution(&command);
                    (answer == Answer::Number).then(|| text.push('0'))?;
                }
                WordPiece::ParameterExpansion(expression) => {
                    self.expansion(&expression);
                    self.is_numeric(&expression).then(|| text.push('0'))?;
                }
                _ => return None,
            }
        }
        (!text.contains(['$', '`'])).then_some(text)
    }

    /// Returns true if the value of an expansion is certainly a number.
    pub(super) fn is_numeric(&self, expression: &ParameterExpr) -> bool {
        match expression {
            ParameterExpr::ParameterLength { .. } => true,
            ParameterExpr::Parameter {
                parameter,
                indirect: false,
            } => match parameter {
                Parameter::Named(name)
                | Parameter::NamedWithIndex { name, .. }
                | Parameter::NamedWithAllIndices { name, .. } => self.history().is_number(name),
                Parameter::Special(special) => is_count(special),
                Parameter::Positional(_) => false,
            },
            _ => false,
        }
    }

    /// Walks through a `[[ … ]]` test: its words and its arithmetic.
    pub(super) fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner);
            }
            ExtendedTestExpr::UnaryTest(test, word) => {
                let value = self.word(word);
                let names = matches!(
                    test,
                    UnaryPredicate::ShellVariableIsSetAndAssigned
                        | UnaryPredicate::ShellVariableIsSetAndNameRef
                );
                if names {
                    self.index_of(&value);
                }
            }
            ExtendedTestExpr::BinaryTest(test, left, right) => {
                use BinaryPredicate::*;
                let evaluates = matches!(
                    test,
                    ArithmeticEqualTo
                        | ArithmeticNotEqualTo
                        | ArithmeticLessThan
                        | ArithmeticLessThanOrEqualTo
                        | ArithmeticGreaterThan
                        | ArithmeticGreaterThanOrEqualTo
                );
                for word in [left, right] {
                    match evaluates {
                        true => self.arithmetic(&word.value),
                        false => self.tested(word),
                    }
                }
            }
        }
    }

    fn tested(&mut self, word: &Word) {
        if word.value.contains(['$', '`']) {
            self.word(word);
        }
    }

    /// Evaluates the index after a variable's name.
    pub fn index(&self, name: &str) {
        if let Some((_, index)) = name.split_once('[') {
            self.arithmetic(index);
        }
    }

    /// Evaluates the index in a word that names a variable. Adds an unknown write if the word is unknown.
    pub fn index_of(&self, value: &Value) {
        match value.plain() {
            Some(name) => self.index(name),
            None => self.add_unknown("the name of a variable depends on an expansion"),
        }
    }
}

/// Returns true if the value of a special parameter is a number.
pub(super) fn is_count(special: &SpecialParameter) -> bool {
    matches!(
        special,
        SpecialParameter::PositionalParameterCount
            | SpecialParameter::LastExitStatus
            | SpecialParameter::ProcessId
            | SpecialParameter::LastBackgroundProcessId
    )
}

/// Returns the names of the variables in an expression. `0x1f` and `16#ff` are numbers.
fn names(expression: &str) -> Vec<&str> {
    let in_word = |letter: char| letter.is_alphanumeric() || "_#@".contains(letter);
    expression
        .split(|letter| !in_word(letter))
        .filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
        .collect()
}

/// Returns true if an expression assigns a value to a variable.
fn assigns(expression: &str) -> bool {
    let compares = ["==", "!="];
    let mut rest = expression.replace("<<=", "=").replace(">>=", "=");
    for sign in compares.iter().chain(&["<=", ">="]) {
        rest = rest.replace(sign, "<");
    }
    rest.contains('=') || rest.contains("++") || rest.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_name_variables_and_give_them_values() {
        for (expression, expected, gives) in [
            ("1 + 2", vec![], false),
            ("a+b_1", vec!["a", "b_1"], false),
            ("0x1f + 16#ff", vec![], false),
            ("a[i] == b", vec!["a", "i", "b"], false),
            ("a <= b", vec!["a", "b"], false),
            ("a <<= 2", vec!["a"], true),
            ("i++", vec!["i"], true),
            ("i = 2", vec!["i"], true),
        ] {
            assert_eq!(names(expression), expected, "{expression}");
            assert_eq!(assigns(expression), gives, "{expression}");
        }
    }
}
