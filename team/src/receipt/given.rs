//! A receipt as somebody hands it in again, and what the log says to it.

use crate::prelude::*;
use crate::receipt::key::{PublicKey, Signed};
use teamlog_engine::{Receipt, Standing};

/// A receipt, and its signature if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenReceipt {
    /// What it vouches for.
    pub receipt: Receipt,
    /// Who signed it, as it says itself.
    pub signed: Option<Signed>,
}

impl GivenReceipt {
    /// Reads a receipt as `head --json` prints it (the team's name may be left out), or any answer that holds one as
    /// its `receipt`.
    pub fn read(text: &str) -> Result<GivenReceipt, Refusal> {
        read(text).map_err(|error| {
            let rule = format!("must be a receipt as head --json prints it ({error})");
            Refusal::invalid("receipt", text.trim(), &rule)
        })
    }

    /// Whether the owner of that key signed it.
    ///
    /// # Errors
    /// `signature_missing`, `signed_by_another_key`, `signature_invalid`.
    pub fn check(&self, key: &PublicKey) -> Result<(), Refusal> {
        match &self.signed {
            Some(signed) => key.check(&self.receipt, signed),
            None => {
                let message = "the receipt must be signed, but holds no signature";
                Err(Refusal::new(Code::SignatureMissing, message)
                    .field("signature")
                    .hint("make one with: teamlog head TEAM --sign KEYFILE --json"))
            }
        }
    }
}

fn read(text: &str) -> Result<GivenReceipt, serde_json::Error> {
    let mut fields: Map<String, Value> = serde_json::from_str(text)?;
    if let Some(Value::Object(receipt)) = fields.remove("receipt") {
        fields = receipt;
    }
    fields.remove("team");
    let signed = match (fields.remove("public_key"), fields.remove("signature")) {
        (None, None) => None,
        (public_key, signature) => Some(Signed {
            public_key: serde_json::from_value(public_key.unwrap_or_default())?,
            signature: serde_json::from_value(signature.unwrap_or_default())?,
        }),
    };
    let receipt = serde_json::from_value(Value::Object(fields))?;
    Ok(GivenReceipt { receipt, signed })
}

impl Team {
    /// Whether the log still holds everything that a receipt vouches for. Changes nothing, recovery included; costs what
    /// [`Log::standing`](teamlog_engine::Log::standing) says.
    ///
    /// # Errors
    /// `rolled_back`, `cut_below_receipt`, `changed_since_receipt`, `receipt_of_another_log`; I/O.
    pub fn still_holds(&self, receipt: &Receipt) -> Result<()> {
        let here = self.log.identity().log.to_string();
        let standing = self.log.standing(receipt)?;
        let (code, message) = match &standing {
            Standing::Holds => return Ok(()),
            Standing::OtherLog => (
                Code::ReceiptOfAnotherLog,
                format!(
                    "last_receipt must be of this log, {here}, but is of log {}",
                    shown(&receipt.log)
                ),
            ),
            Standing::Malformed => {
                let rule = "must name a segment of this log";
                return Err(Refusal::invalid("segment", &receipt.segment, rule).into());
            }
            Standing::RolledBack(last) => (
                Code::RolledBack,
                format!(
                    "the log must hold event {}, for which last_receipt vouches, but ends with event {last}: an older \
                     state was put back",
                    receipt.seq
                ),
            ),
            Standing::Cut => (
                Code::CutBelowReceipt,
                format!(
                    "{} must hold the {} bytes for which last_receipt vouches, but was cut",
                    receipt.segment, receipt.length
                ),
            ),
            Standing::Changed => (
                Code::ChangedSinceReceipt,
                format!(
                    "the first {} bytes of {} must be those for which last_receipt vouches (event {}), but are others",
                    receipt.length, receipt.segment, receipt.seq
                ),
            ),
            Standing::ChangedBefore { file, why } => (
                Code::ChangedSinceReceipt,
                format!(
                    "{} must be what it was when last_receipt was given (event {}), but {why}",
                    file.display(),
                    receipt.seq
                ),
            ),
        };
        let refusal = Refusal::new(code, message)
            .field("last_receipt")
            .detail("log", here)
            .detail("receipt_log", receipt.log.as_str())
            .detail("receipt_seq", receipt.seq)
            .detail("segment", receipt.segment.as_str());
        Err(match standing {
            Standing::RolledBack(last) => refusal.detail("last_seq", last),
            _ => refusal,
        }
        .into())
    }
}
