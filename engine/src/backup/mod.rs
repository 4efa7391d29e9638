//! Backups: a consistent prefix of a log, and its files of data, in a directory outside the data root.
//!
//! `backup.json` names the content: each segment with its length and BLAKE3. Files only grow after the named bytes, and the
//! manifest is replaced last, so an interrupted run leaves the previous backup valid. A segment of the backup has the bytes of
//! the log's segment, so receipts of the log hold for its backup. If a conversion or salvage replaced the log, the old log and
//! the new log each have a backup. The manifest of the old log's backup is in the directory of that log.

pub(crate) mod manifest;
mod restore;
mod run;

pub use manifest::{BackupFile, BackupSegment, Manifest};
use manifest::{FILES_DIR, MANIFEST_FILE};
pub use restore::RestoreReport;
pub use run::{BackupReport, back_up};

use crate::log::Log;
use crate::options::LogOptions;
use crate::prelude::*;
use crate::reader::Reader;
use crate::verify::{ProblemKind, Report, Severity, verify_kept};

/// Directories beside a log whose files cannot be rebuilt from the log.
pub(crate) const DATA_DIRS: [&str; 2] = ["artifacts", "quarantine"];
const NOT_READ_BACK: &str = "the copy differs from what was written";

/// A backup of one log.
#[derive(Debug)]
pub struct Backup {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    manifest: Manifest,
    log: Log,
}

impl Backup {
    /// Opens the backup in `dir`.
    ///
    /// # Errors
    /// `NoLog` if there is no backup, `Corrupt`, `UnsupportedFormat`, I/O.
    pub fn open(storage: Arc<dyn Storage>, dir: &Path, options: LogOptions) -> Result<Backup> {
        match Manifest::load(storage.as_ref(), dir)? {
            Some(manifest) => Backup::from_manifest(manifest, storage, dir, options),
            None => Err(Error::no_log(dir)),
        }
    }

    /// Opens all backups in `dir`: the backup that the manifest names first, then the backups of earlier logs of the same name, the newest
    /// first.
    pub fn open_all(
        storage: &Arc<dyn Storage>,
        dir: &Path,
        options: &LogOptions,
    ) -> Result<Vec<Backup>> {
        let open =
            |manifest| Backup::from_manifest(manifest, storage.clone(), dir, options.clone());
        let Some(last) = Manifest::load(storage.as_ref(), dir)? else {
            return Ok(Vec::new());
        };
        let mut backups = Vec::new();
        for name in storage.named().list(dir)? {
            if name == last.log {
                continue;
            }
            match Manifest::load(storage.as_ref(), &dir.join(&name))? {
                Some(manifest) if manifest.log == name => backups.push(open(manifest)?),
                _ => {}
            }
        }
        backups.sort_by_key(|backup| std::cmp::Reverse(backup.manifest.backed_up_at));
        backups.insert(0, open(last)?);
        Ok(backups)
    }

    fn from_manifest(
        manifest: Manifest,
        storage: Arc<dyn Storage>,
        dir: &Path,
        options: LogOptions,
    ) -> Result<Backup> {
        let log = Log::open(storage.clone(), &dir.join(&manifest.log), options)?;
        let fits =
            log.identity().log.to_string() == manifest.log && log.identity().name == manifest.name;
        if !fits {
            return Err(Error::foreign(
                dir.join(MANIFEST_FILE),
                "the manifest names another log than the backup in its directory",
            ));
        }
        let backup = Backup {
            storage,
            dir: dir.to_path_buf(),
            manifest,
            log,
        };
        Ok(backup)
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the identity of the backed-up log.
    pub fn identity(&self) -> &Identity {
        self.log.identity()
    }

    /// Returns a reader of the backup's events.
    pub fn reader(&self) -> Reader {
        let (dir, head) = (self.log.dir(), self.manifest.head());
        Reader::new(&self.storage, dir, self.identity(), head)
    }

    /// Checks every byte: the log as [`Log::verify`] does, every digest of the manifest, and every file beside the log. Changes
    /// nothing.
    ///
    /// # Errors
    /// I/O. Damage is reported, not an error.
    pub fn verify(&self) -> Result<Report> {
        let kept = self.manifest.segments.iter();
        let names: Vec<String> = kept.map(|kept| kept.name.clone()).collect();
        let mut report = match self.are_there(&names)? {
            true => verify_kept(&self.log, &self.manifest.head(), &names)?,
            // The digest is missing, which is reported below.
            false => Report::empty(),
        };
        for kept in &self.manifest.segments {
            let file = Path::new(&self.manifest.log)
                .join(EVENTS_DIR)
                .join(&kept.name);
            self.check_digest(&mut report, &file, kept.length, &kept.blake3)?;
        }
        for kept in &self.manifest.files {
            let file = Path::new(FILES_DIR).join(&kept.blake3);
            self.check_digest(&mut report, &file, kept.length, &kept.blake3)?;
        }
        Ok(report)
    }

    fn are_there(&self, segments: &[String]) -> Result<bool> {
        for name in segments {
            let path = self.log.dir().join(EVENTS_DIR).join(name);
            if self.storage.named().stat(&path)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn check_digest(
        &self,
        report: &mut Report,
        file: &Path,
        length: u64,
        blake3: &str,
    ) -> Result<()> {
        let found = self.storage.named().digest(&self.dir.join(file), length)?;
        let message = match found {
            Some(found) if found == blake3 => return Ok(()),
            Some(_) => format!("its first {length} bytes differ from those that were backed up"),
            None => format!("the backup should hold {length} bytes of it, but they are missing"),
        };
        report.add(
            Severity::Error,
            ProblemKind::ChangedBackup,
            &file.to_string_lossy(),
            message,
        );
        Ok(())
    }
}

impl Manifest {
    /// Returns the head of the backed-up log.
    fn head(&self) -> Head {
        let last = self.segments.last();
        Head {
            segment: u32::try_from(self.segments.len()).unwrap_or(u32::MAX),
            name: last.map(|last| last.name.clone()).unwrap_or_default(),
            end: last.map_or(0, |last| last.length),
            last_seq: self.seq,
            last_id: self.last_id,
            ..Head::empty()
        }
    }
}
