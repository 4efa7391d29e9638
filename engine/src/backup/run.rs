//! Makes or updates a backup: copies only new bytes, and reads every copy back.

use super::{
    BackupFile, BackupSegment, DATA_DIRS, FILES_DIR, MANIFEST_FILE, Manifest, NOT_READ_BACK,
};
use crate::lock;
use crate::prelude::*;
use crate::reader::Reader;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Depth to which directories of data are followed.
const DATA_DEPTH: usize = 16;

/// Result of a backup run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// The new content of the backup.
    pub manifest: Manifest,
    /// Seq of the last event in this log's previous backup; absent if there was no previous backup.
    pub before: Option<u64>,
    /// Number of segments with copied bytes.
    pub segments_copied: u64,
    /// Number of copied files beside the log.
    pub files_copied: u64,
    /// Bytes copied, of segments and files.
    pub bytes_copied: u64,
}

/// Backs up the reader's log up to its head into `dir` of another storage. Writers may continue meanwhile. Waits at
/// most `deadline` for another backup into the same directory.
///
/// # Errors
/// `ForeignFile` if the log does not begin with the existing backup, `Corrupt` if the log is damaged, `Locked`, I/O.
/// The existing backup is then unchanged.
pub fn back_up(
    reader: &Reader,
    to: &Arc<dyn Storage>,
    dir: &Path,
    at: Timestamp,
    deadline: Duration,
) -> Result<BackupReport> {
    let run = Run {
        reader,
        to,
        dir,
        log: dir.join(reader.identity().log.to_string()),
    };
    to.named().create_dir_all(&run.log.join(EVENTS_DIR))?;
    to.named().create_dir_all(&dir.join(FILES_DIR))?;
    let _held = lock::acquire(to.as_ref(), dir, deadline)?;
    let before = run.before()?;
    let mut kept = BackupReport {
        manifest: Manifest {
            name: reader.identity().name.clone(),
            log: reader.identity().log.to_string(),
            backed_up_at: at,
            seq: reader.head().last_seq,
            last_id: reader.head().last_id,
            segments: Vec::new(),
            files: Vec::new(),
        },
        before: before.as_ref().map(|before| before.seq),
        segments_copied: 0,
        files_copied: 0,
        bytes_copied: 0,
    };
    run.read_new(before.as_ref())?;
    run.segments(before.as_ref(), &mut kept)?;
    assert!(
        kept.manifest
            .segments
            .last()
            .is_none_or(|last| last.length == reader.head().end),
        "a backup up to event {} must end at byte {}, where the head does",
        kept.manifest.seq,
        reader.head().end
    );
    run.check_chain(&kept.manifest)?;
    run.files(&mut kept)?;
    let path = run.log.join(LOG_FILE);
    to.named().replace(&path, &reader.identity().encode())?;
    for dir in [&*run.log.join(EVENTS_DIR), &*run.log, &dir.join(FILES_DIR)] {
        to.named().sync_dir(dir)?;
    }
    for above in dir.ancestors() {
        to.named().sync_dir(above)?;
    }
    to.named()
        .replace(&dir.join(MANIFEST_FILE), &kept.manifest.encode())?;
    Ok(kept)
}

struct Run<'a> {
    reader: &'a Reader,
    to: &'a Arc<dyn Storage>,
    dir: &'a Path,
    /// Directory of the log's files in the backup.
    log: PathBuf,
}

impl Run<'_> {
    /// Returns the manifest of the existing backup of this log, which must be a prefix of the log. A backup of a log with
    /// another name is an error. The backup of another log of this name (before a conversion or a salvage) stays beside the new
    /// one.
    fn before(&self) -> Result<Option<Manifest>> {
        let Some(before) = Manifest::load(self.to.as_ref(), self.dir)? else {
            return Ok(None);
        };
        let foreign = |why: String| Error::foreign(self.dir.join(MANIFEST_FILE), why);
        let identity = self.reader.identity();
        if before.name != identity.name {
            return Err(foreign(format!(
                "it is a backup of {:?}, not of {:?}",
                before.name, identity.name
            )));
        }
        let before = match before.log == identity.log.to_string() {
            true => before,
            false => {
                self.set_by(&before)?;
                match Manifest::load(self.to.as_ref(), &self.log)? {
                    Some(earlier) => earlier,
                    None => return Ok(None),
                }
            }
        };
        let names = self.reader.segments()?;
        let head = self.reader.head();
        for (index, kept) in before.segments.iter().enumerate() {
            let last = index + 1 == before.segments.len();
            let named = names.get(index) == Some(&kept.name);
            // The header of the last segment holds the digest of the previous segment. So this header proves all earlier
            // segments.
            let same = !last
                || self.reader.digest(&kept.name, kept.length)?.as_ref() == Some(&kept.blake3);
            let within = kept.name != head.name || kept.length <= head.end;
            if !named || !same || !within || before.seq > head.last_seq {
                return Err(foreign(format!(
                    "it holds event {}, which this log lacks or has otherwise: the log was rolled back, has another \
                     history, or is damaged",
                    before.seq
                )));
            }
        }
        Ok(Some(before))
    }

    /// Copies the manifest of another log of the same name into the directory of that log in the backup, before the new manifest replaces
    /// it.
    fn set_by(&self, other: &Manifest) -> Result<()> {
        let dir = self.dir.join(&other.log);
        self.to.named().create_dir_below(self.dir, &dir)?;
        self.to
            .named()
            .replace(&dir.join(MANIFEST_FILE), &other.encode())?;
        self.to.named().sync_dir(self.dir)
    }

    /// Checks every new event, so that no damage enters a backup unnoticed.
    fn read_new(&self, before: Option<&Manifest>) -> Result<()> {
        let last = before.and_then(|before| before.segments.last());
        let after = match (before, last) {
            (Some(before), Some(last)) => Some(Place {
                segment: u32::try_from(before.segments.len()).unwrap_or(u32::MAX),
                offset: last.length,
                len: 0,
            }),
            _ => None,
        };
        if before.is_some_and(|before| before.seq == self.reader.head().last_seq) {
            return Ok(());
        }
        self.reader
            .each::<(), Error>(after, |_| Ok(ControlFlow::Continue(())))?;
        Ok(())
    }

    fn segments(&self, before: Option<&Manifest>, kept: &mut BackupReport) -> Result<()> {
        let head = self.reader.head();
        // The backup of an empty log has no segments, even if the log already has its first segment.
        let names = match head.last_seq {
            0 => Vec::new(),
            _ => self.reader.segments()?,
        };
        for (index, name) in names.into_iter().enumerate() {
            let from = self.reader.dir().join(EVENTS_DIR).join(&name);
            let length = match name == head.name {
                true => head.end,
                false => self.reader.storage().named().len(&from)?,
            };
            let known = before.and_then(|before| before.segments.get(index));
            let newest = before.is_none_or(|before| index + 1 >= before.segments.len());
            if let Some(known) = known.filter(|known| !newest && known.length != length) {
                return Err(not_as_it_was(&from, known, length.min(known.length)));
            }
            let to = self.log.join(EVENTS_DIR).join(&name);
            let there = self.to.named().len(&to)?;
            let segment = match known {
                Some(known) if known.length == length && there >= length => {
                    self.shorten(&to, there, length)?;
                    known.clone()
                }
                known => {
                    let whole = known.map_or(0, |known| known.length);
                    let start = if there >= whole { whole } else { 0 };
                    kept.segments_copied += 1;
                    kept.bytes_copied += length.saturating_sub(start);
                    self.shorten(&to, there, length)?;
                    let blake3 = self.copy(&from, &to, start, length)?;
                    if let Some(known) = known
                        && known.length == length
                        && known.blake3 != blake3
                    {
                        return Err(not_as_it_was(&from, known, 0));
                    }
                    BackupSegment {
                        blake3,
                        name,
                        length,
                    }
                }
            };
            assert_eq!(
                (kept.manifest.segments.len(), segment.length),
                (index, length),
                "segment {} must be kept whole and in its place",
                segment.name
            );
            kept.manifest.segments.push(segment);
        }
        Ok(())
    }

    /// Compares the digest of each copied segment with the digest in the next segment's header, because CRCs alone do not show if
    /// an event was changed. A segment may have been copied by this run or by an earlier one.
    fn check_chain(&self, manifest: &Manifest) -> Result<()> {
        let mut kept = manifest.segments.iter();
        self.reader.chained(&mut |name| {
            let kept = kept.next().filter(|kept| kept.name == name);
            let digest = kept.and_then(|kept| blake3::Hash::from_hex(&kept.blake3).ok());
            Ok(Predecessor {
                name: name.to_owned(),
                len: kept.map_or(0, |kept| kept.length),
                digest: digest.map_or([0; 32], |digest| *digest.as_bytes()),
            })
        })
    }

    /// Removes the bytes after `length`. These bytes come from a run that was stopped before the run wrote its manifest.
    fn shorten(&self, path: &Path, there: u64, length: u64) -> Result<()> {
        if there <= length {
            return Ok(());
        }
        let file = self.to.named().open(path, OpenMode::Write)?;
        file.set_len(length)?;
        file.sync_all()
    }

    /// Copies a file's bytes from `start` on, durably, and returns the digest of all `length` bytes. If the existing bytes before
    /// `start` differ from the log's bytes, copies the whole file.
    fn copy(&self, from: &Path, to: &Path, start: u64, length: u64) -> Result<String> {
        self.copy_range(from, to, start..length)?;
        let missing = || Error::io("read", from)(io::ErrorKind::UnexpectedEof.into());
        let source = self.reader.storage().named().digest(from, length)?;
        let source = source.ok_or_else(missing)?;
        let mut copied = self.to.named().digest(to, length)?;
        if start > 0 && copied.as_ref() != Some(&source) {
            self.copy_range(from, to, 0..length)?;
            copied = self.to.named().digest(to, length)?;
        }
        match copied.as_ref() == Some(&source) {
            true => Ok(source),
            false => Err(Error::corrupt(to, start, None, NOT_READ_BACK)),
        }
    }

    fn copy_range(&self, from: &Path, to: &Path, range: std::ops::Range<u64>) -> Result<()> {
        let source = self.reader.storage().named().open(from, OpenMode::Read)?;
        let copy = self.to.named().open(to, OpenMode::Create)?;
        source.pieces(range, |piece, at| copy.write_all_at(piece, at))?;
        copy.sync_all()
    }

    /// Copies files beside the log. A file that changed between two runs has a copy of each content.
    fn files(&self, kept: &mut BackupReport) -> Result<()> {
        let mut found = BTreeMap::new();
        for dir in DATA_DIRS {
            self.collect(Path::new(dir), DATA_DEPTH, &mut found)?;
        }
        for (path, length) in found {
            let from = self.reader.dir().join(&path);
            // The file may have been removed after it was listed.
            let Some(mut blake3) = self.reader.storage().named().digest(&from, length)? else {
                continue;
            };
            let to = self.dir.join(FILES_DIR).join(&blake3);
            if self.to.named().digest(&to, length)?.as_ref() != Some(&blake3) {
                blake3 = self.copy_file(&from, length)?;
                kept.files_copied += 1;
                kept.bytes_copied += length;
            }
            kept.manifest.files.push(BackupFile {
                path,
                length,
                blake3,
            });
        }
        Ok(())
    }

    /// Copies a file under the digest of the copied bytes. The digest is computed during the copy, because the file may change.
    fn copy_file(&self, from: &Path, length: u64) -> Result<String> {
        let source = self.reader.storage().named().open(from, OpenMode::Read)?;
        let files = self.dir.join(FILES_DIR);
        let aside = files.join("copy.tmp");
        let copy = self.to.named().open(&aside, OpenMode::Create)?;
        copy.set_len(0)?;
        let mut hasher = blake3::Hasher::new();
        source.pieces(0..length, |piece, at| {
            hasher.update(piece);
            copy.write_all_at(piece, at)
        })?;
        copy.sync_all()?;
        let copied = hasher.finalize().to_hex().to_string();
        if self.to.named().digest(&aside, length)?.as_ref() != Some(&copied) {
            return Err(Error::corrupt(aside, 0, None, NOT_READ_BACK));
        }
        self.to.named().rename(&aside, &files.join(&copied))?;
        Ok(copied)
    }

    fn collect(&self, dir: &Path, depth: usize, found: &mut BTreeMap<String, u64>) -> Result<()> {
        let storage = self.reader.storage().named();
        let names = storage.list_if_dir(&self.reader.dir().join(dir))?;
        for name in names.into_iter().filter(|name| !name.ends_with(".tmp")) {
            let path = dir.join(&name);
            let full = self.reader.dir().join(&path);
            match storage.stat(&full)? {
                Some(stat) if stat.is_dir && depth > 0 => self.collect(&path, depth - 1, found)?,
                Some(stat) if !stat.is_dir => {
                    found.insert(path.to_string_lossy().into_owned(), stat.len);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Creates the error for a sealed segment that differs from its backup. Sealed segments never change, so the log's segment is
/// damaged, and the backup holds the original.
fn not_as_it_was(path: &Path, known: &BackupSegment, offset: u64) -> Error {
    let why = format!(
        "it differs from the {} bytes with digest {} that were backed up; the backup still has these",
        known.length, known.blake3
    );
    Error::corrupt(path, offset, None, why)
}
