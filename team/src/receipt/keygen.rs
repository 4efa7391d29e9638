//! `keygen`: what a new pair of keys is called. The key itself is [`SecretKey`]'s; files are the caller's business.

use crate::receipt::key::SecretKey;
use serde::Serialize;

/// `{status, key_file, public_key_file, public_key}`. The secret key is in its file alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct KeygenAnswer {
    /// Always `ok`.
    pub status: &'static str,
    /// The file of the secret key.
    pub key_file: String,
    /// The file of the public key.
    pub public_key_file: String,
    /// The public key, 64 hex digits.
    pub public_key: String,
}

impl KeygenAnswer {
    /// Of a key that was stored there.
    pub fn of(key: &SecretKey, key_file: String, public_key_file: String) -> KeygenAnswer {
        KeygenAnswer {
            status: "ok",
            key_file,
            public_key_file,
            public_key: key.public().hex(),
        }
    }
}
