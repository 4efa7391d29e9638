//! The text of 16 bytes as a UUID: lower-case hexadecimal in five groups.

/// Offsets of the hyphens, and of each byte's two digits.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const DIGITS: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Returns lower-case hyphenated text, always 36 bytes of ASCII.
pub fn text(bytes: [u8; 16]) -> [u8; 36] {
    let mut text = [b'-'; 36];
    for (at, byte) in DIGITS.into_iter().zip(bytes) {
        text[at] = HEX[usize::from(byte >> 4)];
        text[at + 1] = HEX[usize::from(byte & 15)];
    }
    text
}

/// Reads exactly the output of [`text`]; refuses upper-case digits.
pub fn from_text(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; 36] = text.try_into().ok()?;
    if HYPHENS.map(|at| text[at]) != [b'-'; 4] {
        return None;
    }
    let mut wrong = 0;
    let bytes = DIGITS.map(|at| {
        let (high, low) = (nibble(text[at]), nibble(text[at + 1]));
        wrong |= high | low;
        high << 4 | (low & 15)
    });
    (wrong & 0xF0 == 0).then_some(bytes)
}

/// Writes `bytes` as lower-case hexadecimal digits.
pub(crate) fn hex<const N: usize>(bytes: &[u8], out: &mut [u8; N]) {
    for (pair, byte) in out.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

/// Reads lower-case hexadecimal digits; `None` unless there are exactly `2 * N`.
pub(crate) fn from_hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if digits.len() != 2 * N {
        return None;
    }
    let mut wrong = 0;
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let (high, low) = (nibble(pair[0]), nibble(pair[1]));
        wrong |= high | low;
        *byte = high << 4 | (low & 15);
    }
    (wrong & 0xF0 == 0).then_some(bytes)
}

/// Returns the value of a hexadecimal digit; a value above 15 for any other byte.
fn nibble(digit: u8) -> u8 {
    NIBBLES[usize::from(digit)]
}

const NIBBLES: [u8; 256] = {
    let mut table = [0xFF; 256];
    let mut value = 0;
    while value < 16 {
        table[HEX[value] as usize] = value as u8;
        value += 1;
    }
    table
};
