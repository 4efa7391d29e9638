//! `log.json`: the identity of the log in a directory, and its journal if it has one.
//!
//! The file is written at creation. Only a conversion, a salvage, an adoption or a leave replaces it. The file is one line of JSON with its
//! own CRC. The file is accepted only if encoding its values again gives exactly its bytes, so that damage never looks like another
//! identity.

use crate::error::{Error, JournalFault, Result};
use crate::event_id::IdSource;
use crate::json;
use crate::layout::LOG_FILE;
use crate::refs::RefNames;
use crate::storage::Storage;
use crate::timestamp::Timestamp;
use crate::uuid;
use crate::words;
use crate::words::as_text;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Newest format version that this code reads. [`Format::version`] is the version that this code writes.
pub const FORMAT_VERSION: u32 = 2;
/// Version of `log.json` if the log has a journal, for both formats. A program without support for journals refuses this
/// version, and so never writes to such a log.
const JOURNAL_VERSION: u32 = 3;
/// Version of `log.json` if the log declares refs. A program without support for declared refs must refuse the log, because
/// that program would give the refs other names.
const REFS_VERSION: u32 = 4;
/// Largest size of `log.json`.
const LOG_FILE_BYTES_MAX: u64 = 4096;

words! {
    /// Layout of events on disk.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Format {
        /// One event a line, readable with `jq` and `grep`. The default.
        #[default]
        Jsonl = "jsonl",
        /// Length and CRC framed, little-endian.
        Binary = "binary",
    }
}

impl Format {
    /// Returns the format version of a new log. `jsonl` stays at version 1, because its segments are not preallocated, so that
    /// `tail -f` works.
    pub fn version(self) -> u32 {
        match self {
            Format::Jsonl => 1,
            Format::Binary => FORMAT_VERSION,
        }
    }
    /// Returns the file extension of segments in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Binary => "tlog",
        }
    }
}

/// Identity of a log: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LogId(pub [u8; 16]);

impl LogId {
    /// Creates a random id.
    ///
    /// # Errors
    /// `Random`.
    pub fn new(ids: &dyn IdSource) -> Result<LogId> {
        let bits = (u128::from(ids.random()?) << 64) | u128::from(ids.random()?);
        Ok(LogId(bits.to_be_bytes()))
    }
    /// Reads the output of `Display`: lower-case, hyphenated 8-4-4-4-12.
    pub fn from_text(text: &str) -> Option<LogId> {
        uuid::from_text(text.as_bytes()).map(LogId)
    }
}

impl std::fmt::Display for LogId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&uuid::text(self.0)))
    }
}

as_text! { LogId, |text| uuid::from_text(text).map(LogId), "must be the id of a log" }

/// The journal that orders a log's groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalIdentity {
    /// Kind of journal: `postgres`.
    pub kind: String,
    /// Id of the journal, lower-case, hyphenated 8-4-4-4-12. The id tells two journals of one kind apart.
    pub id: String,
    /// Value of [`crate::LogOptions::segment_bytes_max`] on every host, so that their segments are equal.
    pub segment_bytes_max: u64,
}

impl std::fmt::Debug for LogId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// Content of `log.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Id of the log, repeated in every segment, head and receipt.
    pub log: LogId,
    /// Name of the log; stored as `team`.
    pub name: String,
    /// Format of the events.
    pub format: Format,
    /// Version of the format.
    pub version: u32,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Origin of the log: `init`, `import`, `convert`, `restore`.
    pub origin: String,
    /// The journal that orders the log's groups; absent if only this host writes the log.
    pub journal: Option<JournalIdentity>,
    /// Names of the log's refs.
    pub refs: RefNames,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    log: LogId,
    #[serde(rename = "team")]
    name: String,
    format: Format,
    #[serde(skip_serializing_if = "Option::is_none")]
    format_version: Option<u32>,
    created_at: Timestamp,
    origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<JournalIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refs: Option<Vec<String>>,
}

impl Identity {
    /// Returns true if the active segment may end with zeros that were written ahead.
    pub(crate) fn may_prewrite(&self) -> bool {
        self.format == Format::Binary && self.version >= 2
    }

    /// Fails if several hosts share the log. Called by operations that change a whole log.
    pub(crate) fn check_alone(&self) -> Result<()> {
        match &self.journal {
            None => Ok(()),
            Some(_) => {
                let why = "commands that replace or cut the whole log are refused";
                Err(Error::journal(JournalFault::Shared, why))
            }
        }
    }

    /// Encodes `log.json`.
    pub fn encode(&self) -> Vec<u8> {
        let declares_refs = self.refs.are_declared();
        let version = match self.journal {
            _ if declares_refs => REFS_VERSION,
            Some(_) => JOURNAL_VERSION,
            None => self.version,
        };
        let is_own = declares_refs || self.journal.is_some();
        json::sealed_line(&Stored {
            version,
            log: self.log,
            name: self.name.clone(),
            format: self.format,
            format_version: is_own.then_some(self.version),
            created_at: self.created_at,
            origin: self.origin.clone(),
            journal: self.journal.clone(),
            refs: declares_refs.then(|| self.refs.names().map(str::to_owned).collect()),
        })
    }

    /// Decodes `log.json`; `path` is for the error.
    ///
    /// # Errors
    /// `UnsupportedFormat` for a newer version, `Corrupt` for anything that `encode` does not write.
    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Identity> {
        let corrupt = |why: &str| Error::corrupt(path, 0, None, why);
        // Check the version first, because a newer version may have other fields.
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let version = serde_json::from_slice::<Version>(bytes)
            .map_err(|_| corrupt("it is not a log's identity"))?
            .version;
        if version == 0 {
            return Err(corrupt("version is 0"));
        }
        if version > REFS_VERSION {
            return Err(Error::unsupported(path, version, REFS_VERSION));
        }
        let stored: Stored =
            serde_json::from_slice(bytes).map_err(|_| corrupt("it is not a log's identity"))?;
        let refs = match stored.refs {
            None => RefNames::default(),
            Some(names) => RefNames::new(names)
                .map_err(|_| corrupt("it declares refs that no log can have"))?,
        };
        let identity = Identity {
            log: stored.log,
            name: stored.name,
            format: stored.format,
            version: stored.format_version.unwrap_or(stored.version),
            created_at: stored.created_at,
            origin: stored.origin,
            journal: stored.journal,
            refs,
        };
        let known = identity.format.version();
        if identity.version > known {
            return Err(Error::unsupported(path, identity.version, known));
        }
        if identity.encode() != bytes {
            return Err(corrupt("its checksum does not match its content"));
        }
        Ok(identity)
    }

    /// Fails if the log has other refs than the program uses.
    pub(crate) fn check_refs(&self, dir: &Path, expected: &RefNames) -> Result<()> {
        match self.refs == *expected {
            true => Ok(()),
            false => Err(Error::OtherRefs {
                path: dir.join(LOG_FILE),
                declared: self.refs.to_string(),
                expected: expected.to_string(),
            }),
        }
    }

    /// Reads `log.json` of the log in `dir`.
    ///
    /// # Errors
    /// `NoLog` if the file is missing, the errors of [`Identity::decode`], and I/O.
    pub fn load(storage: &dyn Storage, dir: &Path) -> Result<Identity> {
        let path = dir.join(LOG_FILE);
        match storage.named().read_if_there(&path, LOG_FILE_BYTES_MAX)? {
            Some(bytes) => Identity::decode(&path, &bytes),
            None => Err(Error::no_log(dir)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_id::SeededIds;

    fn example() -> Identity {
        Identity {
            log: LogId::new(&SeededIds(7.into())).unwrap(),
            name: "demo".into(),
            format: Format::Binary,
            version: FORMAT_VERSION,
            created_at: Timestamp::from_micros(1_763_719_200_000_001).unwrap(),
            origin: "init".into(),
            journal: None,
            refs: RefNames::default(),
        }
    }

    fn with_refs() -> Identity {
        Identity {
            refs: RefNames::new(["order_id", "customer"]).unwrap(),
            ..example()
        }
    }

    fn with_journal() -> Identity {
        Identity {
            journal: Some(JournalIdentity {
                kind: "postgres".into(),
                id: "0b0c1f5e-7a44-4b9e-8d5e-0f3f6f0f7a11".into(),
                segment_bytes_max: 1 << 26,
            }),
            ..example()
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let both = Identity {
            refs: with_refs().refs,
            ..with_journal()
        };
        for identity in [example(), with_journal(), with_refs(), both] {
            assert_eq!(
                Identity::decode(Path::new("log.json"), &identity.encode()).unwrap(),
                identity
            );
        }
    }

    #[test]
    fn every_bit_flip_and_every_cut_is_refused() {
        refuses_damage(&example().encode());
        refuses_damage(&with_journal().encode());
        refuses_damage(&with_refs().encode());
    }

    fn refuses_damage(bytes: &[u8]) {
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(
                Identity::decode(Path::new("log.json"), &damaged).is_err(),
                "bit {bit}"
            );
        }
        for len in 0..bytes.len() {
            assert!(
                Identity::decode(Path::new("log.json"), &bytes[..len]).is_err(),
                "cut at {len}"
            );
        }
    }

    #[test]
    fn a_newer_version_is_named() {
        let newer = br#"{"version":5,"shape":"unknown"}"#;
        let error = Identity::decode(Path::new("log.json"), newer).unwrap_err();
        assert!(
            matches!(
                error,
                Error::UnsupportedFormat {
                    found: 5,
                    known: 4,
                    ..
                }
            ),
            "{error}"
        );
    }
}
