//! `backup.json`: the content of a backup. The file is one line of JSON with its own CRC, and is replaced whole. A file that `backup.json`
//! does not name does not belong to the backup.

use super::DATA_DIRS;
use crate::json;
use crate::prelude::*;
use crate::receipt::Receipt;
use std::path::Component;

/// Name of the manifest in a backup's directory.
pub const MANIFEST_FILE: &str = "backup.json";
/// Directory of files beside the log, each named by the BLAKE3 of its bytes.
pub const FILES_DIR: &str = "files";
/// The version of the layout that this code writes, and the newest version that it reads.
pub(crate) const BACKUP_VERSION: u32 = 1;
/// Largest size of a manifest: enough for half a million segments and files.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;
/// Bytes after the content: `,"crc":"` + 8 digits + `"}` + `\n`.
const TAIL_BYTES: usize = 19;

/// A segment of a backup, or its backed-up part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupSegment {
    /// File name.
    pub name: String,
    /// Number of bytes that belong to the backup.
    pub length: u64,
    /// BLAKE3 of the bytes that belong to the backup, lower-case hex.
    pub blake3: String,
}

/// A file beside the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// Path, relative to the log's directory, with `/`.
    pub path: String,
    /// Length in bytes.
    pub length: u64,
    /// BLAKE3 of the bytes of the file. The backup stores the file under this name.
    pub blake3: String,
}

/// The content of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The log's name.
    #[serde(rename = "team")]
    pub name: String,
    /// The log's id. The directory of the log's files in the backup has this name.
    pub log: String,
    /// Time of the backup.
    pub backed_up_at: Timestamp,
    /// Seq of the last event; 0 for an empty log.
    pub seq: u64,
    /// Id of the last event.
    pub last_id: Option<EventId>,
    /// The segments in order; the last file may be longer than its backed-up part.
    pub segments: Vec<BackupSegment>,
    /// Files beside the log, by path.
    pub files: Vec<BackupFile>,
}

#[derive(Serialize)]
struct Stored<'a> {
    version: u32,
    #[serde(flatten)]
    manifest: &'a Manifest,
}

impl Manifest {
    /// Returns the receipt of the last event; `None` for an empty log. The receipt is valid for the log, too.
    pub fn receipt(&self) -> Option<Receipt> {
        let last = self.segments.last()?;
        Some(Receipt {
            log: self.log.clone(),
            seq: self.seq,
            segment: last.name.clone(),
            length: last.length,
            digest: last.blake3.clone(),
        })
    }

    /// Returns the size of the backed-up segments in bytes.
    pub fn bytes(&self) -> u64 {
        self.segments
            .iter()
            .fold(0, |sum, kept| sum.saturating_add(kept.length))
    }

    /// Encodes the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        json::sealed_line(&Stored {
            version: BACKUP_VERSION,
            manifest: self,
        })
    }

    /// Decodes the file; `path` is for the error.
    ///
    /// # Errors
    /// `UnsupportedFormat` for a newer version, `Corrupt` for anything that `encode` does not write.
    pub(crate) fn decode(path: &Path, bytes: &[u8]) -> Result<Manifest> {
        let corrupt = |why: String| Error::corrupt(path, 0, None, why);
        let content = bytes.len().checked_sub(TAIL_BYTES);
        let content = content.and_then(|len| bytes.get(..len)).unwrap_or_default();
        let mut text = String::from_utf8_lossy(content).into_owned();
        text.push('}');
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let version = serde_json::from_str::<Version>(&text)
            .map_err(|_| corrupt("it is not the manifest of a backup".into()))?
            .version;
        if version > BACKUP_VERSION {
            return Err(Error::unsupported(path, version, BACKUP_VERSION));
        }
        let manifest: Manifest =
            serde_json::from_str(&text).map_err(|error| corrupt(error.to_string()))?;
        if manifest.encode() != bytes {
            return Err(corrupt("its checksum does not match its content".into()));
        }
        if !manifest.is_sound() {
            return Err(corrupt(
                "it names a file outside the log's directory".into(),
            ));
        }
        Ok(manifest)
    }

    /// Returns true if every path stays within its directory.
    fn is_sound(&self) -> bool {
        let one = |name: &str| Path::new(name).components().count() == 1 && plain(name);
        one(&self.log)
            && self.segments.iter().all(|kept| is_segment(&kept.name))
            && self
                .files
                .iter()
                .all(|kept| is_data(&kept.path) && one(&kept.blake3))
            && self.last_id.is_some() == (self.seq > 0)
            && self.segments.is_empty() == (self.seq == 0)
    }

    /// Reads the manifest in `dir`; `None` if there is none.
    pub(crate) fn load(storage: &dyn Storage, dir: &Path) -> Result<Option<Manifest>> {
        let path = dir.join(MANIFEST_FILE);
        let bytes = storage.named().read_if_there(&path, MANIFEST_BYTES_MAX)?;
        let decoded = bytes.map(|bytes| Manifest::decode(&path, &bytes));
        decoded.transpose()
    }
}

fn is_segment(name: &str) -> bool {
    Format::ALL
        .iter()
        .any(|format| SegmentName::parse(name, *format).is_some())
}

/// Returns true if a path is relative, without `..`, and begins with one of the directories of [`DATA_DIRS`].
fn is_data(path: &str) -> bool {
    let first = Path::new(path).components().next();
    let below = DATA_DIRS
        .iter()
        .any(|dir| first == Some(Component::Normal(dir.as_ref())));
    below && plain(path)
}

/// Returns true for a relative path without `..`.
fn plain(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Manifest {
        Manifest {
            name: "demo".into(),
            log: "11111111-2222-3333-4444-555555555555".into(),
            backed_up_at: Timestamp::from_micros(1_763_719_200_000_001).unwrap(),
            seq: 9,
            last_id: Some(EventId::new(
                Timestamp::from_micros(1_763_719_200_000_000).unwrap(),
                5,
            )),
            segments: vec![BackupSegment {
                name: "2026-11-21.jsonl".into(),
                length: 700,
                blake3: "ab".repeat(32),
            }],
            files: vec![BackupFile {
                path: "artifacts/summaries/1.md".into(),
                length: 3,
                blake3: "cd".repeat(32),
            }],
        }
    }

    #[test]
    fn reads_what_it_writes_and_refuses_every_flip_and_cut() {
        let (path, bytes) = (Path::new(MANIFEST_FILE), example().encode());
        assert_eq!(Manifest::decode(path, &bytes).unwrap(), example());
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Manifest::decode(path, &damaged).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(
                Manifest::decode(path, &bytes[..len]).is_err(),
                "cut at {len}"
            );
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let refused = |change: &dyn Fn(&mut Manifest)| {
            let mut manifest = example();
            change(&mut manifest);
            Manifest::decode(Path::new(MANIFEST_FILE), &manifest.encode()).is_err()
        };
        assert!(!refused(&|_| {}));
        assert!(refused(&|manifest| manifest.log = "..".into()));
        assert!(refused(
            &|manifest| manifest.segments[0].name = "../x".into()
        ));
        for name in ["log.json", "aéééé.jsonl", "2026-11-21.txt"] {
            assert!(refused(&|manifest| manifest.segments[0].name = name.into()));
        }
        for path in ["/etc/passwd", "log.json", "events/2026-11-21.jsonl"] {
            assert!(refused(&|manifest| manifest.files[0].path = path.into()));
        }
        assert!(refused(
            &|manifest| manifest.files[0].path = "a/../../b".into()
        ));
        assert!(refused(&|manifest| manifest.files[0].blake3 = "a/b".into()));
        assert!(refused(&|manifest| manifest.seq = 0));
    }
}
