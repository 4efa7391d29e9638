//! Sort keys for natural order of names: `2` before `10`, `bd-2` before `bd-10`.
//!
//! A key is the name with each run of digits replaced by `0`, the number of significant digits (one byte), the
//! significant digits, and the number of leading zeros (one byte). So a shorter number comes first, equal numbers with
//! fewer leading zeros come first, and [`decode`] returns the name.

/// Largest number of digits of a name that counts as a number.
pub const NUMBER_DIGITS_MAX: usize = 15;

/// Appends the key of a name.
///
/// Names have at most 128 bytes. In a longer name, a run of more than 255 digits counts as several numbers.
pub fn encode(name: &str, key: &mut Vec<u8>) {
    let mut rest = name.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if !first.is_ascii_digit() {
            key.push(first);
            rest = tail;
            continue;
        }
        let len = rest
            .iter()
            .take(usize::from(u8::MAX))
            .take_while(|b| b.is_ascii_digit())
            .count();
        let (digits, tail) = rest.split_at(len);
        let zeros = digits.iter().take_while(|b| **b == b'0').count();
        let significant = digits.get(zeros..).unwrap_or_default();
        key.extend_from_slice(&[b'0', significant.len() as u8]);
        key.extend_from_slice(significant);
        key.push(zeros as u8);
        rest = tail;
    }
}

/// Returns the key of a name.
pub fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 8);
    encode(name, &mut key);
    key
}

/// Returns the value of a name that is a number, unless it has too many digits.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.len() <= NUMBER_DIGITS_MAX && name.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| name.parse().ok()).flatten()
}

/// Returns the name of a key; `None` if the bytes are no key.
pub fn decode(mut key: &[u8]) -> Option<String> {
    let mut name = Vec::with_capacity(key.len());
    while let Some((&first, tail)) = key.split_first() {
        if first != b'0' {
            name.push(first);
            key = tail;
            continue;
        }
        let (&len, tail) = tail.split_first()?;
        let (digits, tail) = tail.split_at_checked(usize::from(len))?;
        let (&zeros, tail) = tail.split_first()?;
        name.resize(name.len() + usize::from(zeros), b'0');
        name.extend_from_slice(digits);
        key = tail;
    }
    String::from_utf8(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_sort_by_value() {
        let names = [
            "0", "00", "2", "02", "10", "100", "bd-1", "bd-2", "bd-2a", "bd-10", "bd-10.2",
            "bd-10.10", "bd-test1", "x",
        ];
        for pair in names.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn a_name_before_its_extension() {
        assert!(key("bd") < key("bd-1"));
        assert!(key("bd-1") < key("bd-1x"));
        assert!(key("1") < key("1-a"));
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in "[A-Za-z0-9._-]{0,64}", other in "[0-9a.-]{0,9}") {
            prop_assert_eq!(decode(&key(&name)), Some(name.clone()));
            prop_assert_eq!(key(&name) == key(&other), name == other);
        }
        #[test]
        fn whole_numbers_sort_as_numbers(a in 0u64.., b in 0u64..) {
            prop_assert_eq!(key(&a.to_string()).cmp(&key(&b.to_string())), a.cmp(&b));
        }
        #[test]
        fn any_bytes_decode_or_not(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = decode(&bytes);
        }
    }
}
