//! Unguessable ids: UUIDs of random bits (version 4).

use teamlog_engine::{Error, IdSource, internals::uuid};

/// Returns a UUID of random bits.
///
/// # Errors
/// The source has no random bits.
pub(crate) fn new(ids: &dyn IdSource) -> Result<String, Error> {
    Ok(random(ids.random()?, ids.random()?))
}

/// Returns the UUID that contains 122 of the given bits.
pub(crate) fn random(high: u64, low: u64) -> String {
    let mut bytes = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    String::from_utf8_lossy(&uuid::text(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::random;

    #[test]
    fn version_and_variant_stand_where_they_belong() {
        assert_eq!(random(0, 0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(
            random(u64::MAX, u64::MAX),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
    }
}
