//! Finds the ends of strings and values in JSON text, eight bytes at a time if possible.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns the length of the prefix without `"`, `\` and control characters below U+0020, which a JSON string holds
/// unescaped.
pub(crate) fn plain_prefix(text: &[u8]) -> usize {
    prefix(text, |word| {
        below_space(word) | equal_to(word, b'"') | equal_to(word, b'\\')
    })
}

/// Returns the length of the prefix of printable ASCII without `"` and `\`, which covers nearly every identifier.
pub(crate) fn printable_prefix(text: &[u8]) -> usize {
    prefix(text, |word| {
        word & HIGHS
            | below_space(word)
            | equal_to(word, 0x7F)
            | equal_to(word, b'"')
            | equal_to(word, b'\\')
    })
}

/// Returns the length of the prefix in which `stops` marks no byte. A mark is the top bit of a byte. Only the lowest mark is
/// reliable, because a subtraction borrows from higher bytes.
#[inline(always)]
fn prefix(text: &[u8], stops: impl Fn(u64) -> u64) -> usize {
    let mut at = 0;
    while let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let found = stops(u64::from_le_bytes(*word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    // The rest is checked as one word that is padded with blanks, which are never marked.
    let rest = text.get(at..).unwrap_or_default();
    let found = stops(padded(rest));
    at + ((found.trailing_zeros() / 8) as usize).min(rest.len())
}

/// Returns fewer than eight bytes as the low bytes of a word, with blanks above. Uses no loop, because names are short.
#[inline(always)]
fn padded(rest: &[u8]) -> u64 {
    const BLANKS: u64 = ONES * 0x20;
    if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        // If the two halves overlap, the overlapping bytes are equal.
        let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
        let len = rest.len();
        return first | last << (8 * (len - 4)) | BLANKS << (8 * len);
    }
    let byte = |at: usize| u64::from(rest.get(at).copied().unwrap_or(b' ')) << (8 * at);
    byte(0) | byte(1) | byte(2) | BLANKS << 24
}

fn equal_to(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ (ONES * u64::from(byte));
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & HIGHS
}

fn below_space(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x20) & !word & HIGHS
}

/// Returns the length of the JSON string at the start of `text`, quotes included; `None` if the string does not end. Does not
/// check escapes.
pub(crate) fn string_len(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    if text.first() != Some(&b'"') {
        return None;
    }
    loop {
        at += plain_prefix(text.get(at..)?);
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => return None,
        }
    }
}

/// Returns the length of the JSON value at the start of compact `text`: up to its closing bracket or quote, or for a number or a
/// word up to the first byte that cannot belong to it. Returns `None` if the value does not end, or if the text is no value.
/// Brackets must match; levels deeper than 64 are not checked.
pub(crate) fn value_len(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => string_len(text),
        b'{' | b'[' => container_len(text),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let scalar =
                |byte: &u8| !matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E');
            Some(text.iter().position(scalar).unwrap_or(text.len()))
        }
        _ => None,
    }
}

// The stack of open brackets is one word.
const _: () = assert!(crate::limits::NESTING_MAX <= u64::BITS as usize);

fn container_len(text: &[u8]) -> Option<usize> {
    // The stack has one bit for each open bracket, 1 for `{`. The innermost bracket is the lowest bit.
    let (mut open, mut depth) = (0_u64, 0_u32);
    let mut at = 0;
    loop {
        let byte = *text.get(at)?;
        match byte {
            b'"' => at += string_len(text.get(at..)?)?,
            b'{' | b'[' => {
                open = open << 1 | u64::from(byte == b'{');
                depth += 1;
                at += 1;
                if depth > u64::BITS {
                    return None;
                }
            }
            b'}' | b']' => {
                if open & 1 != u64::from(byte == b'}') {
                    return None;
                }
                open >>= 1;
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{plain_prefix, printable_prefix, value_len};

    #[test]
    fn prefixes_end_at_the_first_byte_that_stops_wherever_it_stands() {
        for len in 0..40 {
            let plain = vec![b'a'; len];
            assert_eq!((plain_prefix(&plain), printable_prefix(&plain)), (len, len));
            for at in 0..len {
                for byte in 0..=255_u8 {
                    // After the first stop follow a second stop, and bytes that cause borrows.
                    let mut text = plain.clone();
                    text[at] = byte;
                    text[at + 1..].fill(if at % 2 == 0 { 0x1F } else { b'"' });
                    let stops = byte < 0x20 || byte == b'"' || byte == b'\\';
                    let expected = if stops { at } else { len.min(at + 1) };
                    assert_eq!(plain_prefix(&text), expected, "{text:?}");
                    let expected = if stops || byte >= 0x7F {
                        at
                    } else {
                        len.min(at + 1)
                    };
                    assert_eq!(printable_prefix(&text), expected, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn values_end_where_they_end() {
        for (text, len) in [
            ("{},", Some(2)),
            ("[{\"a\":\"]}\\\"\"}]}", Some(14)),
            ("\"a\\\\\"b", Some(5)),
            ("-1.5E+3,", Some(7)),
            ("true]", Some(4)),
            ("{]", None),
            ("[[]", None),
            ("\"a\\\"", None),
            ("\"a\n\"", None),
            ("}", None),
            ("", None),
        ] {
            assert_eq!(value_len(text.as_bytes()), len, "{text}");
        }
        let deep = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(value_len(deep(64).as_bytes()), Some(128));
        assert_eq!(value_len(deep(65).as_bytes()), None);
    }
}
