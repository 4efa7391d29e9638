//! Ed25519 keys for signing receipts.
//!
//! Keys have text forms that other tools read: PKCS #8 for the secret key, SubjectPublicKeyInfo for the public key
//! (RFC 8410), both as PEM (RFC 7468). Neither `Debug` nor an error shows a secret key.

use crate::refusal::{Code, Refusal, shown};
use crate::shapes::hex;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, KeypairBytes,
};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use std::{fmt, io};
use teamlog_engine::Receipt;

/// Length of a secret key's seed, in bytes.
pub const SEED_BYTES: usize = 32;

/// First line of a signed statement. The line distinguishes signatures of receipts from other signatures.
pub const SIGNED_OPENING: &str = "teamlog receipt 2";
/// First line of a statement in older versions, which did not cover the team's name.
pub const SIGNED_OPENING_WITHOUT_TEAM: &str = "teamlog receipt 1";

/// A secret key, which signs receipts.
pub struct SecretKey(SigningKey);

/// A public key, which checks signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// A signature in the form of answers, with the key that the signature names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// Public key, as 64 hex digits.
    pub public_key: String,
    /// Signature, as 128 hex digits.
    pub signature: String,
}

/// The signer of a receipt with a valid signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSigner {
    /// Public key, as 64 hex digits.
    pub public_key: String,
    /// True if the signature covers the team's name; signatures of older versions do not.
    pub covers_team: bool,
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecretKey").field(&"…").finish()
    }
}

impl SecretKey {
    /// Creates the key with the given seed.
    pub fn from_seed(seed: [u8; SEED_BYTES]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(&seed))
    }

    /// Parses a secret key from PEM, in version 1 or 2 of PKCS #8.
    ///
    /// # Errors `invalid_input`. The message does not repeat the text, because the text possibly contains the key.
    pub fn parse(text: &str) -> Result<SecretKey, Refusal> {
        let rule = "the key is not a secret Ed25519 key in the form that keygen writes";
        SigningKey::from_pkcs8_pem(text.trim())
            .map(SecretKey)
            .map_err(|_| Refusal::new(Code::InvalidInput, rule).field("key"))
    }

    /// Returns the key as PEM, for a file that only its owner may read. The PEM has no public key, because OpenSSL accepts no
    /// public key in the file of a secret key.
    ///
    /// # Errors
    /// The key cannot be encoded.
    pub fn text(&self) -> io::Result<String> {
        let bytes = KeypairBytes {
            secret_key: self.0.to_bytes(),
            public_key: None,
        };
        let text = bytes.to_pkcs8_pem(LineEnding::LF);
        text.map(|text| text.to_string()).map_err(io::Error::other)
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a receipt of a team.
    pub fn sign(&self, team: &str, receipt: &Receipt) -> Signed {
        let signature = self.0.sign(&signed_bytes(team, receipt));
        Signed {
            public_key: self.public().hex(),
            signature: hex(&signature.to_bytes()),
        }
    }
}

impl PublicKey {
    /// Parses a public key from PEM.
    ///
    /// # Errors
    /// `invalid_input` for any other text.
    pub fn parse(text: &str) -> Result<PublicKey, Refusal> {
        let rule = "the key is not a public Ed25519 key in the form that keygen writes";
        VerifyingKey::from_public_key_pem(text.trim())
            .map(PublicKey)
            .map_err(|_| Refusal::new(Code::InvalidInput, rule).field("key"))
    }

    /// Returns the key as PEM.
    ///
    /// # Errors
    /// The key cannot be encoded.
    pub fn text(&self) -> io::Result<String> {
        let text = self.0.to_public_key_pem(LineEnding::LF);
        text.map_err(io::Error::other)
    }

    /// Parses the output of [`PublicKey::hex`].
    pub fn from_hex(text: &str) -> Result<PublicKey, Refusal> {
        let point = bytes_of::<{ ed25519_dalek::PUBLIC_KEY_LENGTH }>(text);
        let key = point.and_then(|point| VerifyingKey::from_bytes(&point).ok());
        key.map(PublicKey).ok_or_else(|| {
            let message = format!(
                "public_key must be 64 hex digits of an Ed25519 key, but is {}",
                shown(text)
            );
            Refusal::new(Code::SignatureInvalid, message).field("public_key")
        })
    }

    /// Returns the 32 bytes of the key as 64 hex digits.
    pub fn hex(&self) -> String {
        hex(self.0.as_bytes())
    }

    /// Checks that this key signed a receipt. The signature covers the team's name, or has the form of older versions without the
    /// name. The check is strict, so it refuses signatures that another receipt or key could share.
    ///
    /// # Errors `signed_by_another_key` if the signature names another key, `signature_invalid` if the
    /// signature is wrong.
    pub fn check(
        &self,
        team: Option<&str>,
        receipt: &Receipt,
        signed: &Signed,
    ) -> Result<ReceiptSigner, Refusal> {
        if signed.public_key != self.hex() {
            let message = format!(
                "the receipt must be signed with key {}, but names key {}",
                self.hex(),
                shown(&signed.public_key)
            );
            return Err(Refusal::new(Code::SignedByAnotherKey, message).field("key"));
        }
        let signature = bytes_of(&signed.signature).map(|bytes| Signature::from_bytes(&bytes));
        let verifies = |statement: &[u8]| {
            signature.is_some_and(|good| self.0.verify_strict(statement, &good).is_ok())
        };
        let covers_team = team.is_some_and(|team| verifies(&signed_bytes(team, receipt)));
        if covers_team || verifies(&signed_bytes_without_team(receipt)) {
            let public_key = self.hex();
            return Ok(ReceiptSigner {
                public_key,
                covers_team,
            });
        }
        let message = match team {
            Some(_) => {
                "the receipt's signature is wrong: a field of the receipt or the signature was changed"
            }
            None => {
                "the receipt's signature is wrong: a field of the receipt or the signature was changed, or `team` is missing"
            }
        };
        Err(Refusal::new(Code::SignatureInvalid, message)
            .field("signature")
            .hint("use the signed receipt as it was printed"))
    }
}

/// Returns the statement that is signed for a receipt: lines of ASCII text, each ended by `\n`.
pub fn signed_bytes(team: &str, receipt: &Receipt) -> Vec<u8> {
    let mut statement = format!("{SIGNED_OPENING}\nteam {team}\n").into_bytes();
    statement.extend(receipt_lines(receipt));
    statement
}

/// Returns the statement that older versions signed for a receipt.
pub fn signed_bytes_without_team(receipt: &Receipt) -> Vec<u8> {
    let mut statement = format!("{SIGNED_OPENING_WITHOUT_TEAM}\n").into_bytes();
    statement.extend(receipt_lines(receipt));
    statement
}

fn receipt_lines(receipt: &Receipt) -> Vec<u8> {
    format!(
        "log {}\nseq {}\nsegment {}\nlength {}\ndigest {}\n",
        receipt.log, receipt.seq, receipt.segment, receipt.length, receipt.digest
    )
    .into_bytes()
}

/// Parses `N` bytes from lower-case hex digits.
fn bytes_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    (hex(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> Receipt {
        Receipt {
            log: "bdd73226-2feb-6e95-28ef-e333b266f103".into(),
            seq: 3,
            segment: "2026-11-21.jsonl".into(),
            length: 1009,
            digest: "0f".repeat(32),
        }
    }

    #[test]
    fn keys_are_read_back_from_their_text_and_shown_to_nobody() {
        let key = SecretKey::from_seed([7; SEED_BYTES]);
        let text = key.text().unwrap();
        assert_eq!(SecretKey::parse(&text).unwrap().public(), key.public());
        let public = PublicKey::parse(&key.public().text().unwrap()).unwrap();
        assert_eq!(public, key.public());
        let secret = text.lines().nth(1).unwrap();
        assert!(!format!("{key:?}").contains("7, 7"));
        let changed = text.replace("MC4C", "MC4D");
        for broken in [changed, secret.to_owned(), String::new()] {
            let said = SecretKey::parse(&broken).unwrap_err();
            assert!(!format!("{said:?}").contains(&secret[..20]), "{said:?}");
        }
        assert!(PublicKey::parse(&text).is_err());
        assert!(SecretKey::parse(&key.public().text().unwrap()).is_err());
    }

    #[test]
    fn a_key_of_the_standard_reads_as_in_the_standard() {
        // The keys are from RFC 8410, sections 10.3 and 10.1.
        let secret = "-----BEGIN PRIVATE KEY-----\n\
            MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
            -----END PRIVATE KEY-----\n";
        let public = "-----BEGIN PUBLIC KEY-----\n\
            MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
            -----END PUBLIC KEY-----\n";
        let key = SecretKey::parse(secret).unwrap();
        assert_eq!(key.public().text().unwrap(), public);
        assert_eq!(key.text().unwrap(), secret);
    }

    #[test]
    fn a_signature_is_good_for_that_receipt_and_that_key_alone() {
        let key = SecretKey::from_seed([7; SEED_BYTES]);
        let signed = key.sign("demo", &receipt());
        let signer = key.public().check(Some("demo"), &receipt(), &signed);
        assert!(signer.unwrap().covers_team);
        let refused = |key: &SecretKey, receipt: &Receipt, signed: &Signed| {
            let checked = key.public().check(Some("demo"), receipt, signed);
            checked.unwrap_err().code
        };
        let invalid = Code::SignatureInvalid;
        for team in [None, Some("demo2"), Some("")] {
            let refusal = key.public().check(team, &receipt(), &signed).unwrap_err();
            assert_eq!(refusal.code, invalid, "{team:?}");
        }
        let changes: [fn(&mut Receipt); 5] = [
            |receipt| receipt.log.replace_range(0..1, "0"),
            |receipt| receipt.seq += 1,
            |receipt| receipt.segment.push('x'),
            |receipt| receipt.length += 1,
            |receipt| receipt.digest.replace_range(0..1, "f"),
        ];
        for change in changes {
            let mut changed = receipt();
            change(&mut changed);
            assert_eq!(refused(&key, &changed, &signed), invalid);
        }
        for at in 0..signed.signature.len() {
            let mut forged = signed.clone();
            let digit = match &forged.signature[at..=at] {
                "0" => "1",
                _ => "0",
            };
            forged.signature.replace_range(at..=at, digit);
            assert_eq!(refused(&key, &receipt(), &forged), invalid, "digit {at}");
        }
        let other = SecretKey::from_seed([8; SEED_BYTES]);
        let by_another = refused(&other, &receipt(), &signed);
        assert_eq!(by_another, Code::SignedByAnotherKey);
        // This signature names a key that did not make the signature.
        let mut borrowed = other.sign("demo", &receipt());
        borrowed.public_key = signed.public_key.clone();
        assert_eq!(refused(&key, &receipt(), &borrowed), invalid);
        let upper = signed.signature.to_uppercase();
        for signature in ["", "é", &upper, &signed.signature[2..]] {
            let mut broken = signed.clone();
            broken.signature = signature.to_owned();
            assert_eq!(refused(&key, &receipt(), &broken), invalid, "{signature:?}");
        }
    }

    #[test]
    fn what_is_signed_is_these_lines() {
        let lines = "log bdd73226-2feb-6e95-28ef-e333b266f103\n\
            seq 3\n\
            segment 2026-11-21.jsonl\n\
            length 1009\n";
        let lines = format!("{lines}digest {}\n", "0f".repeat(32));
        let expected = format!("teamlog receipt 2\nteam demo\n{lines}");
        assert_eq!(signed_bytes("demo", &receipt()), expected.into_bytes());
        let expected = format!("teamlog receipt 1\n{lines}");
        assert_eq!(signed_bytes_without_team(&receipt()), expected.into_bytes());
    }

    #[test]
    fn a_signature_of_an_older_version_is_good_and_does_not_cover_the_team() {
        let presented = crate::GivenReceipt::read(documented("signed receipt, version 1")).unwrap();
        let signer = presented.check(None).unwrap().unwrap();
        assert!(!signer.covers_team);
        let statement = documented("signed bytes, version 1").as_bytes();
        assert_eq!(signed_bytes_without_team(&presented.receipt), statement);
        for team in [None, Some("another".to_owned())] {
            let mut renamed = presented.clone();
            renamed.team = team;
            assert_eq!(renamed.check(None), Ok(Some(signer.clone())));
        }
        let mut changed = presented.clone();
        changed.receipt.seq += 1;
        assert_eq!(
            changed.check(None).unwrap_err().code,
            Code::SignatureInvalid
        );
    }

    /// Returns the text of an example in the document of the format.
    fn documented(name: &str) -> &'static str {
        let document = include_str!("../../../docs/format.md");
        let marker = format!("<!-- example: {name} -->");
        let (_, behind) = document.split_once(&marker).unwrap();
        let (_, fenced) = behind.split_once("```").unwrap();
        let (_, content) = fenced.split_once('\n').unwrap();
        content.split_once("```").unwrap().0
    }

    #[test]
    fn the_documented_example_is_signed_as_documented() {
        let unhex = |text: &str| -> Vec<u8> {
            let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
            (0..text.len()).step_by(2).map(byte).collect()
        };
        let answer: serde_json::Value =
            serde_json::from_str(documented("signed receipt").trim()).unwrap();
        let field = |name: &str| answer[name].as_str().unwrap();
        // Checks the signature with only the text of the document, as another program would.
        let message = documented("signed bytes").as_bytes();
        let point: [u8; 32] = unhex(field("public_key")).try_into().unwrap();
        let signature: [u8; 64] = unhex(field("signature")).try_into().unwrap();
        VerifyingKey::from_bytes(&point)
            .unwrap()
            .verify_strict(message, &Signature::from_bytes(&signature))
            .unwrap();
        let log = documented("jsonl events/2026-11-21.jsonl");
        let (start, _) = log.as_bytes().split_at(1009);
        assert_eq!(field("digest"), blake3::hash(start).to_hex().as_str());
        // Checks the signature with teamlog's own code.
        let presented = crate::GivenReceipt::read(&answer.to_string()).unwrap();
        let key = PublicKey::parse(documented("public key")).unwrap();
        assert_eq!(key.hex(), field("public_key"));
        assert!(presented.check(Some(&key)).unwrap().unwrap().covers_team);
        assert_eq!(signed_bytes("demo", &presented.receipt), message);
        let seed = "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842";
        let secret = SecretKey::from_seed(unhex(seed).try_into().unwrap());
        assert_eq!(
            Some(secret.sign("demo", &presented.receipt)),
            presented.signed
        );
    }
}
