//! Digests of sealed segments that were hashed before, each with its file's metadata at that time.
//!
//! A digest counts only while device, inode, length, `mtime` and `ctime` of the file are unchanged. A digest is stored only if
//! the file's `ctime` is earlier than the start of hashing. Both times come from the file system's clock, so every later change
//! gives the file another `ctime`.

use crate::layout::DIGESTS_FILE;
use crate::prelude::*;
use crate::storage::{FileTime, Stat};
use std::collections::BTreeMap;

/// Largest size of the file: enough for some 200,000 segments.
const BYTES_MAX: u64 = 64 << 20;
/// Length of the CRC-32 in hex digits at the start, and the space after it.
const CRC_BYTES: usize = 9;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileDigest {
    dev: u64,
    ino: u64,
    len: u64,
    mtime: FileTime,
    ctime: FileTime,
    blake3: String,
}

/// Known digests of a log's segments.
pub(super) struct Digests<'a> {
    storage: &'a dyn Storage,
    path: PathBuf,
    known: BTreeMap<String, FileDigest>,
    /// Time at which hashing began; `None` before hashing, or if the temporary file that shows the time cannot be written.
    began: Option<FileTime>,
    changed: bool,
}

impl<'a> Digests<'a> {
    /// Reads the file. A missing or unreadable file counts as an empty file.
    pub fn load(storage: &'a dyn Storage, dir: &Path) -> Digests<'a> {
        let path = dir.join(DIGESTS_FILE);
        let known = storage.read(&path, BYTES_MAX).ok();
        Digests {
            storage,
            known: known.and_then(|bytes| decode(&bytes)).unwrap_or_default(),
            path,
            began: None,
            changed: false,
        }
    }

    /// Returns the digest of a segment if the segment's file is unchanged since it was hashed.
    pub fn get(&self, name: &str, stat: &Stat) -> Option<Predecessor> {
        let known = self.known.get(name)?;
        let digest = blake3::Hash::from_hex(&known.blake3).ok()?;
        (*known == FileDigest::new(stat, &digest)).then(|| Predecessor {
            name: name.to_owned(),
            len: known.len,
            digest: *digest.as_bytes(),
        })
    }

    /// Reads the file system's clock, once, before hashing.
    pub fn begin(&mut self) {
        if self.began.is_none() {
            let moment = || {
                let file = self.storage.open(&self.aside(), OpenMode::Create)?;
                file.set_len(0)?;
                file.write_all_at(b" ", 0)?;
                file.stat()
            };
            self.began = moment().ok().map(|stat| stat.changed);
        }
    }

    /// Adds a digest, unless the file's ctime is as late as the start of hashing: a later change could then have the
    /// same ctime.
    pub fn put(&mut self, sealed: &Predecessor, stat: &Stat) {
        if self.began.is_some_and(|began| stat.changed < began) {
            let digest = blake3::Hash::from_bytes(sealed.digest);
            self.known
                .insert(sealed.name.clone(), FileDigest::new(stat, &digest));
            self.changed = true;
        }
    }

    /// Writes the file if there is a new digest. If the write fails, the segments are hashed again next time.
    pub fn keep(&self) {
        if self.changed {
            let _ = self
                .storage
                .replace(&self.path, &encode(&self.known), false);
        } else {
            self.discard();
        }
    }

    /// Removes the temporary file from which [`Digests::begin`] read the time, and writes no digests.
    pub fn discard(&self) {
        if self.began.is_some() {
            let _ = self.storage.remove_file(&self.aside());
        }
    }

    /// Returns the temporary path that [`Storage::replace`] uses.
    fn aside(&self) -> PathBuf {
        self.path.with_extension("tmp")
    }
}

impl FileDigest {
    fn new(stat: &Stat, digest: &blake3::Hash) -> FileDigest {
        FileDigest {
            dev: stat.identity.0,
            ino: stat.identity.1,
            len: stat.len,
            mtime: stat.modified,
            ctime: stat.changed,
            blake3: digest.to_hex().to_string(),
        }
    }
}

fn encode(known: &BTreeMap<String, FileDigest>) -> Vec<u8> {
    // Serialising strings and numbers cannot fail.
    let json = serde_json::to_string(known).unwrap_or_default();
    format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())).into_bytes()
}

fn decode(bytes: &[u8]) -> Option<BTreeMap<String, FileDigest>> {
    let known = serde_json::from_slice(bytes.get(CRC_BYTES..)?).ok()?;
    // Accept only the output of `encode`, checksum included.
    (encode(&known) == bytes).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Memory;

    #[test]
    fn a_file_that_changed_when_hashing_began_is_not_kept() {
        let memory = Memory::new();
        let stat = |changed| Stat {
            len: 3,
            is_dir: false,
            identity: (1, 2),
            modified: 1,
            changed,
        };
        let sealed = Predecessor {
            name: "2026-11-21.jsonl".into(),
            len: 3,
            digest: [5; 32],
        };
        let mut digests = Digests::load(&memory, Path::new(""));
        digests.put(&sealed, &stat(0));
        assert_eq!(digests.get(&sealed.name, &stat(0)), None, "never begun");
        digests.begin();
        let began = digests.began.unwrap();
        digests.put(&sealed, &stat(began));
        assert_eq!(digests.get(&sealed.name, &stat(began)), None);
        digests.put(&sealed, &stat(began - 1));
        digests.keep();
        let known = Digests::load(&memory, Path::new(""));
        assert_eq!(
            known.get(&sealed.name, &stat(began - 1)),
            Some(sealed.clone())
        );
        let others = [
            Stat {
                len: 4,
                ..stat(began - 1)
            },
            Stat {
                identity: (9, 2),
                ..stat(began - 1)
            },
            Stat {
                identity: (1, 9),
                ..stat(began - 1)
            },
            Stat {
                modified: 0,
                ..stat(began - 1)
            },
            stat(began - 2),
        ];
        for other in others {
            assert_eq!(known.get(&sealed.name, &other), None, "{other:?}");
        }
    }
}
