//! Random names, which identify a repeated request.

use crate::exit::CommandError;
use std::io;

const BYTES: usize = 12;

/// Returns `prefix_` and 24 random hex digits.
pub fn name(prefix: &str) -> Result<String, CommandError> {
    let digits: String = bytes::<BYTES>()?
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!("{prefix}_{digits}"))
}

/// Returns random bytes.
pub fn bytes<const N: usize>() -> Result<[u8; N], CommandError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| CommandError::io("get", "random bits", &io::Error::other(error)))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_names_differ() {
        let (one, other) = (super::name("key").unwrap(), super::name("key").unwrap());
        assert_eq!(one.len(), "key_".len() + 24);
        assert_ne!(one, other);
    }
}
