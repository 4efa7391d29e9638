//! A receipt that a user has kept, and its comparison with the log.

use crate::operation::prelude::*;
use crate::receipt::key::{PublicKey, ReceiptSigner, Signed};
use teamlog_engine::ReceiptStatus;

/// A receipt with its optional signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenReceipt {
    /// Name of the team; absent in receipts of older versions. A signature covers the name.
    pub team: Option<String>,
    /// Position and digest of the log.
    pub receipt: Receipt,
    /// The signature, and the key that the signature names. Both are unchecked.
    pub signed: Option<Signed>,
}

impl GivenReceipt {
    /// Parses a receipt as `head --json` prints it, with or without the team's name. Also parses any answer with a receipt in its
    /// field `receipt`.
    pub fn read(text: &str) -> Result<GivenReceipt, Refusal> {
        read(text).map_err(|error| {
            let rule = format!("must be a receipt as head --json prints it ({error})");
            Refusal::invalid("receipt", text.trim(), &rule)
        })
    }

    /// Checks the signature with `key`, or with the receipt's own key if `key` is `None`. Returns `None` if the receipt has no
    /// signature and no key is given.
    ///
    /// # Errors
    /// `signature_missing`, `signed_by_another_key`, `signature_invalid`.
    pub fn check(&self, key: Option<&PublicKey>) -> Result<Option<ReceiptSigner>, Refusal> {
        let (key, signed) = match (key, &self.signed) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(unsigned()),
            (Some(key), Some(signed)) => (key.clone(), signed),
            (None, Some(signed)) => (PublicKey::from_hex(&signed.public_key)?, signed),
        };
        key.check(self.team.as_deref(), &self.receipt, signed)
            .map(Some)
    }
}

fn unsigned() -> Refusal {
    let message = "the receipt has no signature";
    Refusal::new(Code::SignatureMissing, message).field("signature")
}

fn read(text: &str) -> Result<GivenReceipt, serde_json::Error> {
    let mut fields: Map<String, Value> = serde_json::from_str(text)?;
    if let Some(Value::Object(receipt)) = fields.remove("receipt") {
        fields = receipt;
    }
    let team = fields.remove("team").map(serde_json::from_value);
    let signed = match (fields.remove("public_key"), fields.remove("signature")) {
        (None, None) => None,
        (public_key, signature) => Some(Signed {
            public_key: serde_json::from_value(public_key.unwrap_or_default())?,
            signature: serde_json::from_value(signature.unwrap_or_default())?,
        }),
    };
    let receipt = serde_json::from_value(Value::Object(fields))?;
    Ok(GivenReceipt {
        team: team.transpose()?,
        receipt,
        signed,
    })
}

impl Team {
    /// Checks that the log still has everything that a receipt covers. Does not change or recover the log. For the
    /// cost see [`Log::check_receipt`](teamlog_engine::Log::check_receipt).
    ///
    /// # Errors
    /// `rolled_back`, `cut_below_receipt`, `changed_since_receipt`, `receipt_of_another_log`; I/O.
    pub fn still_holds(&self, receipt: &Receipt) -> Result<()> {
        let here = self.log.identity().log.to_string();
        let status = self.log.check_receipt(receipt)?;
        let (seq, length, segment) = (receipt.seq, receipt.length, &receipt.segment);
        let (code, message) = match &status {
            ReceiptStatus::Holds => return Ok(()),
            ReceiptStatus::OtherLog => {
                let log = shown(&receipt.log);
                let message = format!("last_receipt belongs to log {log}, not to this log, {here}");
                (Code::ReceiptOfAnotherLog, message)
            }
            ReceiptStatus::Malformed => {
                let rule = "must name a segment of this log";
                return Err(Refusal::invalid("segment", segment, rule).into());
            }
            ReceiptStatus::RolledBack(last) => (
                Code::RolledBack,
                format!(
                    "last_receipt covers event {seq}, but the log ends with event {last}: an older \
                     state was put back"
                ),
            ),
            ReceiptStatus::Cut => (
                Code::CutBelowReceipt,
                format!(
                    "{segment} was cut: it has fewer than the {length} bytes that last_receipt covers"
                ),
            ),
            ReceiptStatus::Changed => (
                Code::ChangedSinceReceipt,
                format!(
                    "the first {length} bytes of {segment}, up to event {seq}, differ from those that last_receipt covers"
                ),
            ),
            ReceiptStatus::ChangedBefore { file, why } => (
                Code::ChangedSinceReceipt,
                format!(
                    "{} has changed since last_receipt was made (event {seq}): {why}",
                    file.display()
                ),
            ),
        };
        let mut refusal = Refusal::new(code, message)
            .field("last_receipt")
            .details(json!({
                "log": here, "receipt_log": receipt.log, "receipt_seq": seq, "segment": segment,
            }));
        if let ReceiptStatus::RolledBack(last) = status {
            refusal = refusal.detail("last_seq", last);
        }
        Err(refusal.into())
    }
}
