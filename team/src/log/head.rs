//! `head`: a receipt for everything up to now.

use crate::prelude::*;
use crate::receipt::key::SecretKey;
use teamlog_engine::Receipt;

/// `{team, log, seq, segment, length, digest}`: `head -c LENGTH SEGMENT | b3sum` gives `digest`. Signed, also
/// `public_key` and `signature`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeadAnswer {
    /// The team.
    pub team: String,
    /// The receipt.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Who signed it, 64 hex digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The signature, 128 hex digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl HeadAnswer {
    /// The same, signed.
    #[must_use]
    pub fn signed(mut self, key: &SecretKey) -> HeadAnswer {
        let signed = key.sign(&self.receipt);
        self.public_key = Some(signed.public_key);
        self.signature = Some(signed.signature);
        self
    }
}

impl Team {
    /// A receipt for everything up to now. Costs hashing the active segment so far; refused for a log
    /// without events.
    pub fn head(&mut self) -> Result<HeadAnswer> {
        let message = "the log must hold an event, but is empty";
        let empty = || Refusal::new(Code::InvalidInput, message);
        Ok(HeadAnswer {
            team: self.name().to_owned(),
            receipt: self.reader()?.receipt()?.ok_or_else(empty)?,
            public_key: None,
            signature: None,
        })
    }
}
