//! Conversion of a log into the other format, in place.
//!
//! The new log has a new id, the same groups, and one more event about the conversion. The new log is built in `archive/` and
//! read back. Then its segments move into `events/` (their file extension differs), and its head into the free slot of `head`
//! (its log id differs). The last step replaces `log.json`: before this step the old log is valid, after it the new log, whole
//! in both cases. Then the original moves to `archive/<log id>/`, which is a log of its own. The next conversion cleans up
//! after an interrupted conversion.

use crate::copy::copy_groups;
use crate::head::HeadFile;
use crate::layout::{ARCHIVE_DIR, CONVERSION_PREFIX, CONVERTED};
use crate::log::{LockedLog, Log, NewLog};
use crate::prelude::*;
use crate::reader::Reader;
use crate::receipt::Receipt;
use crate::storage::Deferred;
use crate::writer::Durability;
use std::collections::BTreeSet;

/// Size of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Size {
    /// The log's id, as hyphenated text.
    pub log: String,
    /// `jsonl` or `binary`.
    pub format: &'static str,
    /// Number of segments.
    pub segments: u64,
    /// Bytes of all segments.
    pub bytes: u64,
}

impl Size {
    fn from_reader(reader: &Reader) -> Result<Size> {
        Ok(Size {
            log: reader.identity().log.to_string(),
            format: reader.identity().format.name(),
            segments: u64::from(reader.head().segment),
            bytes: reader.bytes()?,
        })
    }
}

/// Result of a conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// The log before the conversion.
    pub from: Size,
    /// The log after the conversion, including the event about the conversion.
    pub to: Size,
    /// Number of events copied.
    pub events: u64,
    /// Number of groups copied.
    pub groups: u64,
    /// The last receipt of the log before the conversion; `None` if the log was empty.
    pub receipt: Option<Receipt>,
    /// Directory of the original, relative to the log's directory.
    pub archive: PathBuf,
}

/// Payload of the event that records the conversion. Describes the original log, so that the original can be checked.
#[derive(Serialize)]
struct Origin<'a> {
    from: &'a Size,
    format: &'static str,
    receipt: Option<&'a Receipt>,
}

impl Log {
    /// Converts the log into a format, under its lock; returns `None` if the log has that format already. Also cleans up after an
    /// interrupted conversion. Open the log again afterwards, because this handle still has the old log.
    ///
    /// # Errors
    /// `Locked`, `Corrupt`, I/O. The directory then holds either the whole old log or the whole new log.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{path::Path, sync::Arc};
    /// # use teamlog_engine::storage::Memory;
    /// # use teamlog_engine::*;
    /// # let storage = Arc::new(Memory::new());
    /// # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
    /// # let writer = log.lock()?.into_writer(());
    /// # for _ in 0..3 {
    /// #     writer.append(vec![NewEvent::new("ticked", "clock", Json::parse("{}")?)], Durability::Synced)?;
    /// # }
    /// # writer.close()?;
    /// let conversion = log.convert(Format::Binary)?;
    /// assert!(conversion.is_some());
    ///
    /// let log = Log::open(log.storage().clone(), Path::new("audit"), LogOptions::default())?;
    /// assert_eq!(log.identity().format, Format::Binary);
    /// assert_eq!(log.reader()?.head().last_seq, 4); // Three events, and one that records the conversion.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convert(&self, format: Format) -> Result<Option<Conversion>> {
        self.identity().check_alone()?;
        let exclusive = self.lock()?;
        let log_dir = LogDir {
            storage: self.storage(),
            dir: self.dir(),
            old: exclusive.identity(),
        };
        log_dir.clean_up()?;
        if exclusive.identity().format == format {
            return Ok(None);
        }
        log_dir.refuse_strays(format)?;
        let (new, mut converted) = self.build(&log_dir, &exclusive, format)?;
        let (copy, head) = (new.identity().clone(), new.reader()?.head().clone());
        assert_eq!(
            head.last_seq,
            exclusive.head().last_seq + 1,
            "the new log must have one event more than the old one"
        );
        log_dir.describe_original(exclusive.head())?;
        log_dir.move_in(&new, &head, exclusive.head().generation)?;
        exclusive.check_lock()?;
        log_dir.switch(&copy)?;
        exclusive.replace_witness(&copy, &head)?;
        log_dir.forget_old_head(&copy, &head, exclusive.head().generation)?;
        let now = LogDir {
            old: &copy,
            ..log_dir
        };
        now.clean_up()?;
        converted.archive = Path::new(ARCHIVE_DIR).join(&converted.from.log);
        Ok(Some(converted))
    }

    /// Builds the new log in `archive/`, makes it durable and reads it back.
    fn build(
        &self,
        log_dir: &LogDir<'_>,
        exclusive: &LockedLog,
        format: Format,
    ) -> Result<(Log, Conversion)> {
        let from = exclusive.reader();
        let storage = Deferred::new(self.storage().clone());
        let id = LogId::new(self.options().ids.as_ref())?;
        let dir = log_dir.archive().join(format!("{CONVERSION_PREFIX}{id}"));
        let new = NewLog {
            name: log_dir.old.name.clone(),
            format,
            origin: "convert".into(),
        };
        let log = Log::create_as(
            id,
            Arc::new(storage.clone()),
            &dir,
            new,
            self.options().clone(),
        )?;
        let writer = log.lock()?.into_writer(());
        let written = copy_groups(&from, &writer)?;
        assert_eq!(
            written.events,
            from.head().last_seq,
            "a converted log must have every event"
        );
        let (size, receipt) = (Size::from_reader(&from)?, from.receipt()?);
        let origin = Origin {
            from: &size,
            format: format.name(),
            receipt: receipt.as_ref(),
        };
        let event = NewEvent::for_payload(CONVERTED, ENGINE_ACTOR, &origin)?;
        writer.append(vec![event], Durability::Synced)?;
        writer.close()?;
        storage.sync_pending().map_err(Error::io("sync", &dir))?;
        let reader = log.reader()?;
        if reader.content(from.head().last_seq)? != written {
            let why = "the copy differs from the original log";
            return Err(Error::corrupt(dir, 0, None, why));
        }
        let converted = Conversion {
            from: size,
            to: Size::from_reader(&reader)?,
            events: written.events,
            groups: written.groups,
            receipt,
            archive: PathBuf::new(),
        };
        Ok((log, converted))
    }
}

/// Directory of a log whose lock is held, and the log that `log.json` in this directory names.
#[derive(Clone, Copy)]
struct LogDir<'a> {
    storage: &'a Arc<dyn Storage>,
    dir: &'a Path,
    old: &'a Identity,
}

impl LogDir<'_> {
    fn archive(&self) -> PathBuf {
        self.dir.join(ARCHIVE_DIR)
    }

    /// Fails if a file in `events/` has a name that the new log would read as a segment.
    fn refuse_strays(&self, format: Format) -> Result<()> {
        let events = self.dir.join(EVENTS_DIR);
        let names = self.storage.named().list_if_there(&events)?;
        let is_segment = |name: &String| SegmentName::parse(name, format).is_some();
        match names.into_iter().find(is_segment) {
            None => Ok(()),
            Some(name) => Err(Error::foreign(
                events.join(name),
                "the file has the name of a segment but is none; move it away",
            )),
        }
    }

    /// Copies identity and head of the original log into the archive. The segments follow after `log.json` is replaced.
    fn describe_original(&self, head: &Head) -> Result<()> {
        let storage = self.storage.named();
        let dir = self.archive().join(self.old.log.to_string());
        storage.create_dir_below(self.dir, &dir.join(EVENTS_DIR))?;
        storage.replace(&dir.join(HEAD_FILE), &head.file(self.old.log))?;
        storage.replace(&dir.join(LOG_FILE), &self.old.encode())?;
        storage.sync_dir(&self.archive())?;
        storage.sync_dir(self.dir)
    }

    /// Moves the new segments into place, then writes the new head into the slot that the old log does not use.
    fn move_in(&self, new: &Log, head: &Head, generation: u64) -> Result<()> {
        let (from, to) = (new.dir().join(EVENTS_DIR), self.dir.join(EVENTS_DIR));
        let storage = self.storage.named();
        for name in storage.list_if_there(&from)? {
            storage.rename(&from.join(&name), &to.join(&name))?;
        }
        storage.sync_dir(&to)?;
        // This overwrites one of the two slots that hold a head of the old log.
        HeadFile::open(
            self.storage.as_ref(),
            self.dir,
            self.old.log,
            OpenMode::Write,
        )?
        .sync()?;
        self.write_head(new.identity(), head, generation)
    }

    /// Replaces `log.json`. From this moment on, the new log is the log of the directory.
    fn switch(&self, new: &Identity) -> Result<()> {
        let path = self.dir.join(LOG_FILE);
        self.storage.named().replace(&path, &new.encode())
    }

    /// Overwrites the other slot of the head file, so that no old handle can write to the old log.
    fn forget_old_head(&self, new: &Identity, head: &Head, generation: u64) -> Result<()> {
        self.write_head(new, head, generation + 1)
    }

    fn write_head(&self, new: &Identity, head: &Head, behind: u64) -> Result<()> {
        let mut head = Head {
            generation: behind,
            ..head.clone()
        };
        HeadFile::open(self.storage.as_ref(), self.dir, new.log, OpenMode::Write)?
            .write(&mut head, true)?;
        assert_eq!(
            head.generation,
            behind + 1,
            "the head must not take the slot of generation {behind}"
        );
        Ok(())
    }

    /// Moves the original's segments to its archive, and removes leftovers of interrupted conversions.
    fn clean_up(&self) -> Result<()> {
        let storage = self.storage.named();
        let (events, archive) = (self.dir.join(EVENTS_DIR), self.archive());
        let mut built = storage.list_if_there(&archive)?;
        built.retain(|name| name.starts_with(CONVERSION_PREFIX));
        let other = match self.old.format {
            Format::Jsonl => Format::Binary,
            Format::Binary => Format::Jsonl,
        };
        let mut touched = BTreeSet::new();
        for name in storage.list_if_there(&events)? {
            if SegmentName::parse(&name, other).is_none() {
                continue;
            }
            let Some(log) = self.owner(&events.join(&name), other)? else {
                continue;
            };
            if built.contains(&format!("{CONVERSION_PREFIX}{log}")) {
                storage.remove_file(&events.join(&name))?;
            } else {
                let to = archive.join(log.to_string()).join(EVENTS_DIR);
                storage.create_dir_below(self.dir, &to)?;
                storage.rename(&events.join(&name), &to.join(&name))?;
                touched.insert(to);
            }
        }
        // Sync the new names before the old names are removed.
        for to in &touched {
            storage.sync_dir(to)?;
        }
        if !touched.is_empty() || !built.is_empty() {
            storage.sync_dir(&events)?;
        }
        for name in built {
            storage.remove_dir_all(&archive.join(name))?;
        }
        Ok(())
    }

    /// Returns the log id in a segment's header; `None` if the header cannot be read.
    fn owner(&self, path: &Path, format: Format) -> Result<Option<LogId>> {
        let bytes = self.storage.named().sealed(path)?;
        Ok(SegmentHeader::decode(format, &bytes)
            .ok()
            .map(|(header, _)| LogId(header.log)))
    }
}
