//! Restores a log from a backup.
//!
//! Under the same name, the bytes and the log id stay, so receipts of the original hold for the backed-up events. Under
//! another name, the headers would be wrong, so the groups are copied into a log with a new id. In both cases the log
//! continues with an event about the restore.

use super::{Backup, FILES_DIR};
use crate::copy::copy_groups;
use crate::layout::RESTORED;
use crate::log::{Log, NewLog};
use crate::options::LogOptions;
use crate::prelude::*;
use crate::receipt::Receipt;
use crate::writer::Durability;

/// Result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// Number of events in the backup. The restored log has one more event, which records the restore, unless a journal orders
    /// the log.
    pub events: u64,
    /// Total size of the backup's segments in bytes.
    pub bytes: u64,
    /// Number of files beside the log.
    pub files: u64,
    /// True if the log has the id of the original.
    pub same_log: bool,
}

/// Payload of the event that records the restore. Describes the original log.
#[derive(Serialize)]
struct Origin<'a> {
    #[serde(rename = "team")]
    name: &'a str,
    log: &'a str,
    seq: u64,
    backed_up_at: Timestamp,
    receipt: Option<Receipt>,
}

impl Backup {
    /// Restores the backup as the log `name` in `dir`, which must hold no log. The restore is not atomic, so restore into a
    /// temporary directory, and rename that directory. Without `format`, the log has the format of the original.
    ///
    /// # Errors
    /// `LogExists`, `Corrupt` if the backup is damaged, I/O.
    pub fn restore(
        &self,
        storage: Arc<dyn Storage>,
        dir: &Path,
        name: &str,
        format: Option<Format>,
        options: LogOptions,
    ) -> Result<(Log, RestoreReport)> {
        let format = format.unwrap_or(self.identity().format);
        let same_log = name == self.identity().name && format == self.identity().format;
        let log = match same_log {
            true => {
                let origin = "restore".into();
                let identity = Identity {
                    origin,
                    ..self.identity().clone()
                };
                self.copy_bytes(storage.clone(), dir, identity, options)?
            }
            false => {
                let new = NewLog {
                    name: name.to_owned(),
                    format,
                    origin: "restore".into(),
                };
                let log = Log::create(storage.clone(), dir, new, options)?;
                let writer = log.lock()?.into_writer(());
                copy_groups(&self.reader(), &writer)?;
                writer.close()?;
                log
            }
        };
        self.copy_files(storage.as_ref(), dir)?;
        // A replica gets no event about the restore, because other hosts share the log.
        if log.identity().journal.is_none() {
            self.say_restored(&log)?;
        }
        let restored = RestoreReport {
            events: self.manifest.seq,
            bytes: log.reader()?.bytes()?,
            files: self.manifest.files.len() as u64,
            same_log,
        };
        Ok((log, restored))
    }

    /// Restores the backup in `dir` as a replica of the log in a journal: `log.json` comes from the journal, and no event
    /// is recorded.
    ///
    /// # Errors
    /// Like [`Backup::restore`]; `ForeignFile` if the backup is of another log.
    pub fn restore_replica(
        &self,
        storage: Arc<dyn Storage>,
        dir: &Path,
        identity: Identity,
        options: LogOptions,
    ) -> Result<Log> {
        let own = self.identity();
        if own.log != identity.log || own.format != identity.format {
            let why = format!(
                "it is log {}, and the journal has {}",
                own.log, identity.log
            );
            let path = self.log.dir().join(LOG_FILE);
            return Err(Error::foreign(path, why));
        }
        let log = self.copy_bytes(storage.clone(), dir, identity, options)?;
        self.copy_files(storage.as_ref(), dir)?;
        Ok(log)
    }

    fn copy_files(&self, storage: &dyn Storage, dir: &Path) -> Result<()> {
        for kept in &self.manifest.files {
            let from = self.dir.join(FILES_DIR).join(&kept.blake3);
            let to = dir.join(&kept.path);
            self.copy_file(&from, kept.length, &kept.blake3, storage, &to)?;
            let above = Path::new(&kept.path).ancestors().skip(2);
            for above in above.map(|above| dir.join(above)) {
                storage.named().sync_dir(&above)?;
            }
        }
        Ok(())
    }

    fn copy_bytes(
        &self,
        storage: Arc<dyn Storage>,
        dir: &Path,
        identity: Identity,
        options: LogOptions,
    ) -> Result<Log> {
        let to = storage.clone();
        Log::create_filled(identity, storage, dir, options, |events| {
            for kept in &self.manifest.segments {
                let from = self.log.dir().join(EVENTS_DIR).join(&kept.name);
                let path = events.join(&kept.name);
                self.copy_file(&from, kept.length, &kept.blake3, to.as_ref(), &path)?;
            }
            Ok(self.manifest.head())
        })
    }

    /// Copies a file of the backup, durably, and checks the bytes against the manifest.
    fn copy_file(
        &self,
        from: &Path,
        length: u64,
        blake3: &str,
        storage: &dyn Storage,
        to: &Path,
    ) -> Result<()> {
        let (kept, storage) = (self.storage.named(), storage.named());
        let parent = to.parent().unwrap_or(Path::new(""));
        storage.create_dir_all(parent)?;
        if kept.digest(from, length)?.as_deref() != Some(blake3) {
            let why = "the segment differs from what was backed up";
            return Err(Error::corrupt(from, 0, None, why));
        }
        let copy = storage.open(to, OpenMode::Create)?;
        let source = kept.open(from, OpenMode::Read)?;
        source.pieces(0..length, |piece, at| copy.write_all_at(piece, at))?;
        copy.sync_all()?;
        storage.sync_dir(parent)
    }

    fn say_restored(&self, log: &Log) -> Result<()> {
        let origin = Origin {
            name: &self.manifest.name,
            log: &self.manifest.log,
            seq: self.manifest.seq,
            backed_up_at: self.manifest.backed_up_at,
            receipt: self.manifest.receipt(),
        };
        let event = NewEvent::for_payload(RESTORED, ENGINE_ACTOR, &origin)?;
        let writer = log.lock()?.into_writer(());
        writer.append(vec![event], Durability::Synced)?;
        writer.close()
    }
}
