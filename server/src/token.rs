//! Bearer tokens. Each team has a token of 32 random bytes, and each start of the daemon makes new tokens. The daemon
//! keeps only the digest of a token.

use std::fmt;

/// Digest of a token. Digests are compared in constant time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest(blake3::Hash);

impl Digest {
    /// Returns the digest of the text that a client presents.
    pub fn new(presented: &[u8]) -> Digest {
        Digest(blake3::hash(presented))
    }
}

impl fmt::Debug for Digest {
    /// Prints no digits, so that digests do not get into log files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest")
    }
}

/// Creates a token as text.
pub(crate) fn new() -> std::io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(blake3::Hash::from_bytes(bytes).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_256_bits_and_is_never_the_same() {
        let (one, other) = (new().unwrap(), new().unwrap());
        assert_eq!(one.len(), 64);
        assert!(one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, other);
        assert_eq!(Digest::new(one.as_bytes()), Digest::new(one.as_bytes()));
        assert_ne!(Digest::new(one.as_bytes()), Digest::new(other.as_bytes()));
    }
}
