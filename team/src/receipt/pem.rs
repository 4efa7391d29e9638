//! Text armour for keys (RFC 7468): a label, and bytes in base64. Strict in what counts, lenient about line ends.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in armour, lines of 64 characters.
pub(crate) fn armour(label: &str, bytes: &[u8]) -> String {
    let mut text = format!("-----BEGIN {label}-----\n");
    for (at, c) in base64(bytes).chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            text.push('\n');
        }
        text.push(c);
    }
    text + &format!("\n-----END {label}-----\n")
}

/// The bytes out of the armour; `None` where text, label or coding is another.
pub(crate) fn bare(label: &str, text: &str) -> Option<Vec<u8>> {
    let inner = text
        .trim()
        .strip_prefix(&format!("-----BEGIN {label}-----"))?
        .strip_suffix(&format!("-----END {label}-----"))?;
    let coded: String = inner.lines().map(str::trim).collect();
    let bytes = bytes_of(coded.as_bytes())?;
    // There is one way to write bytes; trailing bits and wrong padding are none.
    (base64(&bytes) == coded).then_some(bytes)
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits: u32, at| {
            bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0))
        });
        for sextet in 0..4 {
            let letter = ALPHABET.get((bits >> (18 - 6 * sextet) & 63) as usize);
            match letter.filter(|_| sextet <= chunk.len()) {
                Some(letter) => text.push(char::from(*letter)),
                None => text.push('='),
            }
        }
    }
    text
}

fn bytes_of(coded: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(coded.len() / 4 * 3);
    for chunk in coded.chunks(4) {
        let mut bits: u32 = 0;
        let mut letters = 0;
        for byte in chunk.iter().take_while(|byte| **byte != b'=') {
            let value = ALPHABET.iter().position(|letter| letter == byte)?;
            bits |= (value as u32) << (18 - 6 * letters);
            letters += 1;
        }
        let [_, whole @ ..] = bits.to_be_bytes();
        bytes.extend(whole.iter().take(letters * 6 / 8));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // The vectors of RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
            assert_eq!(bytes_of(text.as_bytes()).unwrap(), bytes.as_bytes());
        }
    }

    #[test]
    fn armour_comes_off_again_and_nothing_else_is_taken_for_it() {
        for len in [0, 1, 32, 47, 48, 49, 200] {
            let bytes: Vec<u8> = (0..len).map(|n| (n * 37) as u8).collect();
            let text = armour("A KEY", &bytes);
            assert!(text.lines().all(|line| line.len() <= 64));
            assert_eq!(bare("A KEY", &text).unwrap(), bytes);
            assert_eq!(bare("A KEY", &text.replace('\n', "\r\n")).unwrap(), bytes);
            assert_eq!(bare("B KEY", &text), None);
        }
        let armoured = |inner: &str| format!("-----BEGIN A-----\n{inner}\n-----END A-----\n");
        assert_eq!(bare("A", &armoured("Zg==")).unwrap(), b"f");
        for inner in [
            "Zh==", "Zg=", "Zg", "Z", "Zg==Zg==", "Z*==", "Zg==\n=", "Z g==",
        ] {
            assert_eq!(bare("A", &armoured(inner)), None, "{inner}");
        }
        for text in [
            "",
            "Zg==",
            "-----BEGIN A-----",
            "-----BEGIN A----------END A-----x",
        ] {
            assert_eq!(bare("A", text), None, "{text}");
        }
    }
}
