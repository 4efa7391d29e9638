//! Rules for kinds, actors and refs. These texts are short and have no control characters, so they can be printed on one line
//! and compared byte by byte.

use crate::limits::IDENTIFIER_BYTES_MAX;

/// Returns true if `text` may be an actor or a ref: 1 to 128 bytes, no control characters (U+0000 to 1F, 7F to 9F).
pub fn is_identifier(text: &str) -> bool {
    (1..=IDENTIFIER_BYTES_MAX).contains(&text.len()) && !has_control(text)
}

/// Returns true if `text` may be a kind: `^[a-z][a-z0-9_]*$` of at most 128 bytes.
pub fn is_kind(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() | byte.is_ascii_digit() | (byte == b'_');
    text.len() <= IDENTIFIER_BYTES_MAX
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        // Without an early exit, the compiler can check many bytes at a time.
        && text.bytes().fold(true, |all, byte| all & allowed(byte))
}

fn has_control(text: &str) -> bool {
    if text.is_ascii() {
        // Without an early exit, the compiler can check many bytes at a time.
        return text
            .bytes()
            .fold(false, |found, byte| found | (byte < 0x20) | (byte == 0x7F));
    }
    text.chars().any(char::is_control)
}
