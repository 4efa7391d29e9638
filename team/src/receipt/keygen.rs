//! `keygen`: the answer about a new pair of keys. [`SecretKey`] creates the key, and the caller writes the files.

use crate::receipt::key::SecretKey;
use serde::Serialize;

/// The answer `{status, key_file, public_key_file, public_key}`. It does not contain the secret key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct KeygenAnswer {
    /// Always `ok`.
    pub status: &'static str,
    /// File of the secret key.
    pub key_file: String,
    /// File of the public key.
    pub public_key_file: String,
    /// Public key, as 64 hex digits.
    pub public_key: String,
}

impl KeygenAnswer {
    /// Returns the answer about a key in the given files.
    pub fn new(key: &SecretKey, key_file: String, public_key_file: String) -> KeygenAnswer {
        KeygenAnswer {
            status: "ok",
            key_file,
            public_key_file,
            public_key: key.public().hex(),
        }
    }
}
