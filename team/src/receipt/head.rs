//! `head`, `read-head`: a receipt for all events so far.

use crate::operation::prelude::*;
use crate::receipt::key::SecretKey;

operation! {
    /// Read a receipt for all events so far
    "read-head": Reads(ReadHead {
        /// False or absent, because only the command line has a key to sign with
        sign: Option<bool>,
    }) -> HeadAnswer = Team::read_head
}

/// The answer `{team, log, seq, segment, length, digest}`. `head -c LENGTH SEGMENT | b3sum` computes `digest`. A signed receipt
/// also has `public_key` and `signature`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct HeadAnswer {
    /// The team.
    pub team: String,
    /// The receipt.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Public key of the signer, as 64 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// Signature, as 128 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl HeadAnswer {
    /// Signs the receipt.
    #[must_use]
    pub fn signed(mut self, key: &SecretKey) -> HeadAnswer {
        let signed = key.sign(&self.team, &self.receipt);
        self.public_key = Some(signed.public_key);
        self.signature = Some(signed.signature);
        self
    }
}

impl Team {
    /// Like [`Team::head`], but refuses to sign, because only the command line has keys.
    pub fn read_head(&mut self, asked: ReadHead) -> Result<HeadAnswer> {
        if asked.sign == Some(true) {
            let message = "cannot sign: the daemon and MCP have no keys";
            return Err(Refusal::new(Code::InvalidInput, message)
                .field("sign")
                .hint("sign the receipt with the command line, which can read your key file")
                .into());
        }
        self.head()
    }

    /// Returns a receipt for all events so far. First reads the active segment, so that damaged bytes get no receipt. Refuses a
    /// log without events.
    pub fn head(&mut self) -> Result<HeadAnswer> {
        let message = "the log has no events yet";
        let empty = || Refusal::new(Code::InvalidInput, message);
        let reader = self.reader()?;
        reader.check_active_segment()?;
        Ok(HeadAnswer {
            team: self.name().to_owned(),
            receipt: reader.receipt()?.ok_or_else(empty)?,
            public_key: None,
            signature: None,
        })
    }
}
