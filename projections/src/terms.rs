//! Terms of the search index: the words of texts, and the fields of tasks, messages, threads and posts.
//!
//! A posting is a mark in a series: the namespace, the term, a zero byte, and the seq of the event that the posting names. Tasks
//! and texts have a namespace each, because two projections write them.

use crate::common::*;
use crate::tx::Tx;

/// Largest number of words of one task, message or post that are indexed.
pub const WORDS_MAX: usize = 500;
/// Largest length of a word, in characters. Longer words are cut.
pub const WORD_CHARS_MAX: usize = 40;

/// The first byte of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TermKind {
    /// Agent that wrote the text, or created the task.
    By = b'b',
    /// Kind of the entry: task, message, report, thread, post or comment.
    Kind = b'k',
    /// Label of a task.
    Label = b'l',
    /// Status of a task.
    Status = b's',
    /// Owner of a task.
    To = b't',
    /// A word.
    Word = b'w',
}

/// Returns a term as the name of a series.
pub(crate) fn term(kind: TermKind, text: &str) -> String {
    let mut term = String::with_capacity(text.len() + 1);
    term.push(char::from(kind as u8));
    term.push_str(text);
    term
}

/// Adds the posting of a term.
pub(crate) fn post(tx: &mut Tx<'_>, namespace: u8, (kind, text): (TermKind, &str), seq: u64) {
    // One allocation, because a message has many terms. The key equals the key that `numbered` builds.
    let mut key = Vec::with_capacity(text.len() + 11);
    key.extend_from_slice(&[namespace, kind as u8]);
    key.extend_from_slice(text.as_bytes());
    key.push(0);
    key.extend_from_slice(&seq.to_be_bytes());
    tx.mark(&key);
}

/// The words of some texts, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// The words. An empty word is the end of a text, so that no phrase spans two texts.
    words: Vec<String>,
    /// Number of words, without the ends of texts.
    count: usize,
}

impl Words {
    /// Returns the words of texts, up to [`WORDS_MAX`].
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Words {
        let mut words = Words::default();
        for text in texts {
            words.push_text(text);
        }
        words
    }

    /// Returns the words in order. An empty word is the end of a text.
    pub fn in_order(&self) -> &[String] {
        &self.words
    }

    /// Returns each different word once, sorted.
    pub fn distinct(&self) -> BTreeSet<&str> {
        let words = self.words.iter().map(String::as_str);
        words.filter(|word| !word.is_empty()).collect()
    }

    /// Returns true if the words follow each other somewhere. If `is_prefix`, the last word may be the beginning of a word.
    pub fn contain(&self, phrase: &[String], is_prefix: bool) -> bool {
        let Some((last, exact)) = phrase.split_last() else {
            return true;
        };
        self.words.windows(phrase.len()).any(|window| {
            window.split_last().is_some_and(|(end, start)| {
                start == exact && (end == last || is_prefix && end.starts_with(last.as_str()))
            })
        })
    }

    fn push_text(&mut self, text: &str) {
        let mut word = String::new();
        let mut chars = 0;
        for c in text.chars() {
            if self.count == WORDS_MAX {
                break;
            }
            match part(c) {
                Part::Between => self.end_word(&mut word, &mut chars),
                Part::Alone => {
                    self.end_word(&mut word, &mut chars);
                    word.push(c);
                    self.end_word(&mut word, &mut chars);
                }
                Part::Letter => {
                    for lower in c.to_lowercase().filter(|c| !is_mark(*c)) {
                        if chars < WORD_CHARS_MAX {
                            word.push(lower);
                            chars += 1;
                        }
                    }
                }
                Part::Mark => {}
            }
        }
        self.end_word(&mut word, &mut chars);
        if self.words.last().is_some_and(|last| !last.is_empty()) {
            self.words.push(String::new());
        }
    }

    fn end_word(&mut self, word: &mut String, chars: &mut usize) {
        *chars = 0;
        if !word.is_empty() && self.count < WORDS_MAX {
            self.words.push(std::mem::take(word));
            self.count += 1;
        }
    }
}

/// The role of a character in a text.
enum Part {
    /// The character belongs to a word.
    Letter,
    /// The character is a word of its own: Chinese and Japanese are written without spaces between words.
    Alone,
    /// The character changes the letter before it, and is left out.
    Mark,
    /// The character separates words.
    Between,
}

fn part(c: char) -> Part {
    match c {
        _ if c.is_ascii_alphanumeric() => Part::Letter,
        _ if c.is_ascii() => Part::Between,
        _ if is_mark(c) => Part::Mark,
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3134f}' => Part::Alone,
        _ if c.is_alphanumeric() => Part::Letter,
        _ => Part::Between,
    }
}

/// Returns true for marks that are written over the letter before them.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{ad}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let words = Words::from_texts([text]);
        let mut words = words.in_order().to_vec();
        words.pop();
        words
    }

    #[test]
    fn texts_are_split_into_words() {
        for (text, expected) in [
            ("", &[][..]),
            ("Fix the LOGIN!", &["fix", "the", "login"]),
            ("a-b_c.d", &["a", "b", "c", "d"]),
            ("40 %, v1.2", &["40", "v1", "2"]),
            ("ÄRGER Straße", &["ärger", "straße"]),
            ("e\u{301}te\u{301}", &["ete"]),
            ("登录 api", &["登", "录", "api"]),
            ("по-русски", &["по", "русски"]),
            ("\0\u{202e}x", &["x"]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn words_and_texts_are_cut() {
        let long = "x".repeat(WORD_CHARS_MAX + 7);
        assert_eq!(words(&long), ["x".repeat(WORD_CHARS_MAX)]);
        let many = "ab ".repeat(WORDS_MAX + 7);
        assert_eq!(words(&many).len(), WORDS_MAX);
        let two = Words::from_texts([&*many, "cd"]);
        assert!(!two.distinct().contains("cd"));
    }

    #[test]
    fn a_phrase_lies_within_one_text() {
        let found = Words::from_texts(["fix the login", "of the api"]);
        let has = |phrase: &str, is_prefix| {
            let phrase: Vec<String> = phrase.split(' ').map(str::to_owned).collect();
            found.contain(&phrase, is_prefix)
        };
        assert!(has("the login", false) && has("the api", false) && has("the lo", true));
        assert!(!has("login of", false) && !has("the lo", false) && !has("th login", true));
    }
}
