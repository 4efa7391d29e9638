//! Canonical JSON: compact, one form for each string, numbers as written, no duplicate keys.
//!
//! The grammar is RFC 8259 and nothing more. Two texts that differ only in whitespace and in the escapes of strings
//! become the same canonical text, which the log stores and compares.

pub(crate) mod scan;

use crate::limits::NESTING_MAX;
use std::borrow::Cow;

/// One JSON value as canonical text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Box<str>);

/// Error of a text that is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {offset}")]
pub struct JsonError {
    /// Description of the error.
    pub message: String,
    /// Offset of the error, in bytes from the start.
    pub offset: usize,
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Json {
    /// Reads one JSON value (surrounding whitespace allowed) and makes the value canonical: compact, minimal escapes (only `"`,
    /// `\\` and control characters below U+0020, in the short form if JSON has one, else `\u00xx` in lower case), key order and
    /// number texts kept. A text that is canonical already is copied at once.
    ///
    /// # Errors
    /// Malformed JSON, a lone surrogate, a duplicate key, nesting deeper than [`crate::limits::NESTING_MAX`], a number
    /// that overflows a double, or trailing bytes.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        // RFC 8259 lets a parser ignore a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        canonical(text, NESTING_MAX).map(|text| Json(text.into_owned().into_boxed_str()))
    }
    /// Returns the canonical JSON of a serialisable value.
    pub fn from_value(value: &impl serde::Serialize) -> Result<Json, JsonError> {
        let text = serde_json::to_string(value).map_err(|error| JsonError {
            message: format!("the value does not serialise: {error}"),
            offset: 0,
        })?;
        Json::parse(&text)
    }
    /// Wraps a text that is known to be canonical, without checking it.
    ///
    /// # Panics
    /// If debug assertions are on and the text is not canonical.
    pub fn from_canonical(text: String) -> Json {
        debug_assert_eq!(
            canonical(&text, NESTING_MAX).as_deref(),
            Ok(text.as_str()),
            "the text must be canonical"
        );
        Json(text.into_boxed_str())
    }
    /// Returns the first integer that fits neither an `i64` nor a `u64`, because many parsers round such an integer.
    pub fn rounded_integer(&self) -> Option<&str> {
        let mut rest = self.as_str();
        while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
            rest = rest.get(at..).unwrap_or_default();
            let len = match rest.starts_with('"') {
                true => string_token_len(rest),
                false => {
                    let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                    let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                    let number = rest.get(..len).unwrap_or_default();
                    let is_integer = !number.contains(['.', 'e', 'E']);
                    if is_integer
                        && number.parse::<i64>().is_err()
                        && number.parse::<u64>().is_err()
                    {
                        return Some(number);
                    }
                    len
                }
            };
            rest = rest.get(len..).unwrap_or_default();
        }
        None
    }
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// Returns the text, moved out.
    pub fn into_string(self) -> String {
        self.0.into_string()
    }
}

/// Returns the length of the string at the start of `text`, quotes included.
fn string_token_len(text: &str) -> usize {
    let mut escaped = true;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        // The opening quote counts as escaped, so that it does not end the string.
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Returns the canonical text of one JSON value with at most `depth_max` levels. The result is borrowed if `text` is canonical.
pub(crate) fn canonical(text: &str, depth_max: usize) -> Result<Cow<'_, str>, JsonError> {
    let mut parser = Parser {
        text: text.trim_end_matches([' ', '\t', '\n', '\r']),
        at: 0,
        copied: 0,
        out: String::new(),
        keys: Vec::new(),
        depth_left: depth_max,
        depth_max,
    };
    parser.value()?;
    match parser.peek() {
        None => Ok(parser.finish()),
        Some(_) => parser.fail("unexpected text after the value"),
    }
}

/// Appends `text` as a canonical JSON string, quotes included.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, from_special) = rest.split_at(scan::plain_prefix(rest));
        out.extend_from_slice(plain);
        let Some((&special, behind)) = from_special.split_first() else {
            break;
        };
        let (escape, len) = escape(special);
        out.extend_from_slice(escape.get(..len).unwrap_or_default());
        rest = behind;
    }
    out.push(b'"');
}

/// Returns the number of bytes that [`write_string`] appends for `text`.
pub(crate) fn string_len(text: &str) -> usize {
    let mut len = text.len() + 2;
    let mut rest = text.as_bytes();
    while let Some((&special, behind)) = rest
        .get(scan::plain_prefix(rest)..)
        .and_then(<[u8]>::split_first)
    {
        len += escape(special).1 - 1;
        rest = behind;
    }
    len
}

/// Returns the canonical escape of a byte that must be escaped in a string, and its length.
fn escape(byte: u8) -> ([u8; 6], usize) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0C => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let mut digits = [0; 2];
            crate::uuid::hex(&[byte], &mut digits);
            return ([b'\\', b'u', b'0', b'0', digits[0], digits[1]], 6);
        }
    };
    ([b'\\', short, 0, 0, 0, 0], 2)
}

/// Encodes a value as one line of JSON that ends with its own CRC: `,"crc":"` with eight digits, `"}` and the newline.
pub(crate) fn sealed_line(value: &impl serde::Serialize) -> Vec<u8> {
    // Serialising to memory fails only for a map whose keys are not strings.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.pop();
    let crc = crc32fast::hash(&line);
    line.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes());
    line
}

fn fail_at<T>(offset: usize, message: impl Into<String>) -> Result<T, JsonError> {
    Err(JsonError {
        message: message.into(),
        offset,
    })
}

/// Largest number of members whose keys are compared pairwise for duplicates. The keys of a larger object are sorted.
const KEYS_COMPARED: usize = 8;

/// Reads `text` once. Canonical parts stay in place and are copied together: `out` holds the canonical form of everything before
/// `copied`, and `copied..at` is canonical already.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    copied: usize,
    out: String,
    /// Canonical keys of all open objects with their offsets; outer objects first.
    keys: Vec<(Cow<'a, str>, usize)>,
    depth_left: usize,
    depth_max: usize,
}

impl<'a> Parser<'a> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, JsonError> {
        fail_at(self.at, message)
    }
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }
    /// Returns the next byte that is not whitespace, and drops the whitespace.
    fn peek(&mut self) -> Option<u8> {
        let from = self.at;
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        if self.at > from {
            self.replace(from, "");
        }
        self.byte()
    }
    /// Replaces the text from `from` to the current place by `canonical`.
    fn replace(&mut self, from: usize, canonical: &str) {
        self.out.push_str(self.slice(self.copied, from));
        self.out.push_str(canonical);
        self.copied = self.at;
    }
    fn finish(self) -> Cow<'a, str> {
        let rest = self.slice(self.copied, self.at);
        if self.out.is_empty() {
            Cow::Borrowed(rest)
        } else {
            Cow::Owned(self.out + rest)
        }
    }

    fn value(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(_) => self.fail("expected a value"),
            None => self.fail("expected a value, found the end"),
        }
    }
    fn word(&mut self, word: &str) -> Result<(), JsonError> {
        if !self
            .text
            .as_bytes()
            .get(self.at..)
            .unwrap_or_default()
            .starts_with(word.as_bytes())
        {
            return self.fail("expected a value");
        }
        self.at += word.len();
        Ok(())
    }
    fn nested(&mut self, inside: fn(&mut Self) -> Result<(), JsonError>) -> Result<(), JsonError> {
        let Some(left) = self.depth_left.checked_sub(1) else {
            return self.fail(format!("nesting must be at most {} deep", self.depth_max));
        };
        self.depth_left = left;
        self.at += 1;
        inside(self)?;
        self.depth_left += 1;
        Ok(())
    }
    fn array(&mut self) -> Result<(), JsonError> {
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value()?;
            if self.closes(b']', "expected , or ]")? {
                return Ok(());
            }
        }
    }
    fn object(&mut self) -> Result<(), JsonError> {
        let outer = self.keys.len();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.key()?;
            if self.peek() != Some(b':') {
                return self.fail("expected :");
            }
            self.at += 1;
            self.value()?;
            if self.closes(b'}', "expected , or }")? {
                return self.refuse_duplicates(outer);
            }
        }
    }
    /// Steps over a comma and returns false, or over the closing bracket and returns true.
    fn closes(&mut self, bracket: u8, expected: &str) -> Result<bool, JsonError> {
        let found = self.peek();
        if found != Some(b',') && found != Some(bracket) {
            return self.fail(expected);
        }
        self.at += 1;
        Ok(found == Some(bracket))
    }
    fn key(&mut self) -> Result<(), JsonError> {
        if self.peek() != Some(b'"') {
            return self.fail("expected a key in quotes");
        }
        let (from, rewritten) = (self.at, self.out.len());
        let copied = self.copied;
        self.string()?;
        let key = if self.copied == copied {
            Cow::Borrowed(self.slice(from, self.at))
        } else {
            // The canonical key differs from the text. The key is the end of `out`, followed by the text that is not copied yet.
            let canonical = self
                .out
                .get(rewritten + (from - copied)..)
                .unwrap_or_default();
            Cow::Owned(canonical.to_owned() + self.slice(self.copied, self.at))
        };
        self.keys.push((key, from));
        Ok(())
    }
    /// Fails if an open object has two equal keys; its keys start at `outer`. Compares canonical texts, which are equal only for equal
    /// keys.
    fn refuse_duplicates(&mut self, outer: usize) -> Result<(), JsonError> {
        let keys = self.keys.get_mut(outer..).unwrap_or_default();
        let duplicate = if keys.len() <= KEYS_COMPARED {
            (1..keys.len()).find_map(|last| {
                let (key, _) = keys.get(last)?;
                keys.iter()
                    .take(last)
                    .any(|(other, _)| other == key)
                    .then_some(last)
            })
        } else {
            keys.sort_unstable();
            let equal =
                |pair: &[(Cow<'_, str>, usize)]| matches!(pair, [(one, _), (two, _)] if one == two);
            keys.windows(2).position(equal).map(|first| first + 1)
        };
        if let Some((key, offset)) = duplicate.and_then(|at| keys.get(at)) {
            let shown: String = key.chars().take(64).collect();
            return fail_at(*offset, format!("duplicate key {shown}"));
        }
        self.keys.truncate(outer);
        Ok(())
    }
    fn string(&mut self) -> Result<(), JsonError> {
        let opening = self.at;
        self.at += 1;
        loop {
            self.at += scan::plain_prefix(self.text.as_bytes().get(self.at..).unwrap_or_default());
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escaped()?,
                Some(_) => return self.fail("a control character in a string must be escaped"),
                None => return fail_at(opening, "the string does not end"),
            }
        }
    }
    /// Reads one escape, and replaces the escape by its canonical form if they differ.
    fn escaped(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        self.at += 1;
        let letter = self.byte();
        self.at += 1;
        let meant = match letter {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => return Ok(()),
            Some(b'/') => '/',
            Some(b'u') => self.escaped_unit(from)?,
            _ => return fail_at(from, "unknown escape"),
        };
        let mut buffer = [0; 4];
        let plain = meant.encode_utf8(&mut buffer);
        let (escape, len) = match plain.as_bytes() {
            [byte] if *byte < 0x20 || matches!(byte, b'"' | b'\\') => escape(*byte),
            _ => ([0; 6], 0),
        };
        let escape = escape
            .get(..len)
            .and_then(|bytes| std::str::from_utf8(bytes).ok());
        let canonical = escape.filter(|text| !text.is_empty()).unwrap_or(plain);
        if self.slice(from, self.at) != canonical {
            self.replace(from, canonical);
        }
        Ok(())
    }
    /// Returns the character of a `\u` escape, or of two `\u` escapes that are a surrogate pair.
    fn escaped_unit(&mut self, from: usize) -> Result<char, JsonError> {
        let lone = "a surrogate must be one of a pair";
        let unit = self.four_digits(from)?;
        let code = match unit {
            0xD800..=0xDBFF => {
                if self.slice(self.at, self.at + 2) != "\\u" {
                    return fail_at(from, lone);
                }
                self.at += 2;
                match self.four_digits(from)? {
                    low @ 0xDC00..=0xDFFF => 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00),
                    _ => return fail_at(from, lone),
                }
            }
            _ => unit,
        };
        char::from_u32(code).map_or_else(|| fail_at(from, lone), Ok)
    }
    fn four_digits(&mut self, from: usize) -> Result<u32, JsonError> {
        let digits = self.slice(self.at, self.at + 4);
        if digits.len() != 4 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return fail_at(from, "\\u needs four hexadecimal digits");
        }
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or_default())
    }
    fn number(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        let whole = self.at;
        self.digits()?;
        if self.text.as_bytes().get(whole) == Some(&b'0') && self.at > whole + 1 {
            return fail_at(from, "a number must have no leading zero");
        }
        // Only an exponent or very many digits can overflow a double.
        let mut may_overflow = self.at - whole > f64::MAX_10_EXP as usize;
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
            may_overflow = true;
        }
        if may_overflow && !self.slice(from, self.at).parse().is_ok_and(f64::is_finite) {
            return fail_at(from, "a number must fit a double");
        }
        Ok(())
    }
    fn digits(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        while matches!(self.byte(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == from {
            return self.fail("expected a digit");
        }
        Ok(())
    }
}
