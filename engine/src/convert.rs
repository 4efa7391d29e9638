//! Converting a log into the other format, in place.
//!
//! The new log has a new id and the same groups, and one event more that says so. It is built aside in `archive/` and
//! read back; its segments then move into `events/`, where their ending keeps them apart, and its head into the free
//! slot of `head`, where its id does. The last step is `log.json`: before it the old log is in charge, after it the
//! new one, whole either way. Only then the original moves to `archive/<log id>/`, which is a log by itself.
//! What an interrupted conversion left is tidied by the next one.

use crate::codec::SegmentHeader;
use crate::copy::copy_groups;
use crate::error::{Error, REPLACE, Result};
use crate::event::NewEvent;
use crate::head::{Head, HeadFile};
use crate::identity::{Format, Identity, LogId};
use crate::json::Json;
use crate::layout::{
    ARCHIVE_DIR, CONVERSION_PREFIX, CONVERTED, ENGINE_ACTOR, EVENTS_DIR, HEAD_FILE, LOG_FILE,
};
use crate::log::{Exclusive, Log, NewLog};
use crate::reader::Reader;
use crate::receipt::Receipt;
use crate::segment::SegmentName;
use crate::storage::{Deferred, Open, Storage};
use crate::writer::Durability;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a log takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Size {
    /// The log's id, as hyphenated text.
    pub log: String,
    /// `jsonl` or `binary`.
    pub format: &'static str,
    /// Segments.
    pub segments: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

impl Size {
    fn of(reader: &Reader) -> Result<Size> {
        Ok(Size {
            log: reader.identity().log.to_string(),
            format: reader.identity().format.name(),
            segments: u64::from(reader.head().segment),
            bytes: reader.bytes()?,
        })
    }
}

/// What a conversion did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The log before.
    pub from: Size,
    /// The log now; the event of the conversion is in it.
    pub to: Size,
    /// Events copied.
    pub events: u64,
    /// Groups copied.
    pub groups: u64,
    /// The last receipt of the log before; `None` where it was empty.
    pub receipt: Option<Receipt>,
    /// Where the original lies, relative to the log's directory.
    pub archive: PathBuf,
}

/// The payload of the event: where the log comes from, to hold the original against.
#[derive(Serialize)]
struct Origin<'a> {
    from: &'a Size,
    format: &'static str,
    receipt: Option<&'a Receipt>,
}

impl Log {
    /// Converts the log into that format, under its lock; `None` where it has it. Either way what an interrupted
    /// conversion left is cleaned up. This handle knows the old log: open it again.
    ///
    /// # Errors
    /// `Locked`, `Corrupt`, I/O. Then the log is the old one or the new one, whole.
    pub fn convert(&self, format: Format) -> Result<Option<Converted>> {
        let exclusive = self.lock()?;
        let team_dir = TeamDir {
            storage: self.storage(),
            dir: self.dir(),
            old: exclusive.identity(),
        };
        team_dir.clean_up()?;
        if exclusive.identity().format == format {
            return Ok(None);
        }
        team_dir.refuse_strays(format)?;
        let (new, mut converted) = self.build(&team_dir, &exclusive, format)?;
        let (copy, head) = (new.identity().clone(), new.reader()?.head().clone());
        assert_eq!(
            head.last_seq,
            exclusive.head().last_seq + 1,
            "the new log must have one event more than the old one"
        );
        team_dir.describe_original(exclusive.head())?;
        team_dir.move_in(&new, &head, exclusive.head().generation)?;
        exclusive.check_lock()?;
        team_dir.switch(&copy)?;
        team_dir.forget_old_head(&copy, &head, exclusive.head().generation)?;
        let now = TeamDir {
            old: &copy,
            ..team_dir
        };
        now.clean_up()?;
        converted.archive = Path::new(ARCHIVE_DIR).join(&converted.from.log);
        Ok(Some(converted))
    }

    /// The new log, aside, durable and read back.
    fn build(
        &self,
        team_dir: &TeamDir<'_>,
        exclusive: &Exclusive,
        format: Format,
    ) -> Result<(Log, Converted)> {
        let from = exclusive.reader();
        let storage = Deferred::new(self.storage().clone());
        let id = LogId::new(self.options().ids.as_ref());
        let dir = team_dir.archive().join(format!("{CONVERSION_PREFIX}{id}"));
        let new = NewLog {
            team: team_dir.old.team.clone(),
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
        let (size, receipt) = (Size::of(&from)?, from.receipt()?);
        let origin = Origin {
            from: &size,
            format: format.name(),
            receipt: receipt.as_ref(),
        };
        let payload = Json::of(&origin).map_err(|error| Error::Invalid {
            field: "payload",
            value: CONVERTED.into(),
            rule: error.to_string(),
        })?;
        let event = NewEvent::new(CONVERTED, ENGINE_ACTOR, payload);
        writer.append(vec![event], Durability::Synced)?;
        writer.close()?;
        storage.sync_pending().map_err(Error::io("sync", &dir))?;
        let reader = log.reader()?;
        if reader.content(from.head().last_seq)? != written {
            return Err(Error::Corrupt {
                path: dir,
                offset: 0,
                seq: None,
                why: "the copy does not read back as the log that it was made of".into(),
            });
        }
        let converted = Converted {
            from: size,
            to: Size::of(&reader)?,
            events: written.events,
            groups: written.groups,
            receipt,
            archive: PathBuf::new(),
        };
        Ok((log, converted))
    }
}

/// A log's directory, whose lock is held, and the log in charge of it.
#[derive(Clone, Copy)]
struct TeamDir<'a> {
    storage: &'a Arc<dyn Storage>,
    dir: &'a Path,
    old: &'a Identity,
}

impl TeamDir<'_> {
    fn archive(&self) -> PathBuf {
        self.dir.join(ARCHIVE_DIR)
    }

    fn create(&self, dir: &Path) -> Result<()> {
        self.storage
            .create_dir(dir)
            .map_err(Error::io("create", dir))
    }

    fn sync(&self, dir: &Path) -> Result<()> {
        self.storage.sync_dir(dir).map_err(Error::io("sync", dir))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>> {
        match self.storage.list(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => listed.map_err(Error::io("list", dir)),
        }
    }

    /// Refuses if a file among the segments has a name that the new log would take for its own.
    fn refuse_strays(&self, format: Format) -> Result<()> {
        let events = self.dir.join(EVENTS_DIR);
        let stray = self
            .list(&events)?
            .into_iter()
            .find(|name| SegmentName::parse(name, format).is_some());
        match stray {
            None => Ok(()),
            Some(name) => Err(Error::ForeignFile {
                path: events.join(name),
                why: "it has the name of a segment of the converted log, and is none; move it away"
                    .into(),
            }),
        }
    }

    /// Puts the original's identity and head into its archive; its segments follow once it is no longer in charge.
    fn describe_original(&self, head: &Head) -> Result<()> {
        let dir = self.archive().join(self.old.log.to_string());
        self.create(&dir.join(EVENTS_DIR))?;
        let files = [
            (HEAD_FILE, head.file(self.old.log)),
            (LOG_FILE, self.old.encode()),
        ];
        for (name, bytes) in files {
            let path = dir.join(name);
            self.storage
                .replace(&path, &bytes, true)
                .map_err(Error::io(REPLACE, path))?;
        }
        self.sync(&self.archive())?;
        self.sync(self.dir)
    }

    /// The new segments under their names, then the new head into the slot that the old one does not use.
    fn move_in(&self, new: &Log, head: &Head, generation: u64) -> Result<()> {
        let (from, to) = (new.dir().join(EVENTS_DIR), self.dir.join(EVENTS_DIR));
        for name in self.list(&from)? {
            self.rename(&from.join(&name), &to.join(&name))?;
        }
        self.sync(&to)?;
        // From here on the slot with the old log's last head is the only one of it.
        HeadFile::open(self.storage.as_ref(), self.dir, self.old.log, Open::Write)?.sync()?;
        self.write_head(new.identity(), head, generation)
    }

    /// Puts the new log in charge.
    fn switch(&self, new: &Identity) -> Result<()> {
        let path = self.dir.join(LOG_FILE);
        self.storage
            .replace(&path, &new.encode(), true)
            .map_err(Error::io(REPLACE, path))
    }

    /// Overwrites the other slot too, so that no handle writes to the old log any more.
    fn forget_old_head(&self, new: &Identity, head: &Head, generation: u64) -> Result<()> {
        self.write_head(new, head, generation + 1)
    }

    fn write_head(&self, new: &Identity, head: &Head, behind: u64) -> Result<()> {
        let mut head = Head {
            generation: behind,
            ..head.clone()
        };
        HeadFile::open(self.storage.as_ref(), self.dir, new.log, Open::Write)?
            .write(&mut head, true)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.storage
            .rename(from, to)
            .map_err(Error::io("rename", from))
    }

    /// Segments that are not of the log in charge go: those that never were of any log are removed, an original's
    /// move to its archive. Then whatever was built aside is removed.
    fn clean_up(&self) -> Result<()> {
        let (events, archive) = (self.dir.join(EVENTS_DIR), self.archive());
        let built: Vec<String> = self
            .list(&archive)?
            .into_iter()
            .filter(|name| name.starts_with(CONVERSION_PREFIX))
            .collect();
        let other = match self.old.format {
            Format::Jsonl => Format::Binary,
            Format::Binary => Format::Jsonl,
        };
        let mut touched = BTreeSet::new();
        for name in self.list(&events)? {
            if SegmentName::parse(&name, other).is_none() {
                continue;
            }
            let Some(log) = self.owner(&events.join(&name), other)? else {
                continue;
            };
            if built.contains(&format!("{CONVERSION_PREFIX}{log}")) {
                let path = events.join(&name);
                self.storage
                    .remove_file(&path)
                    .map_err(Error::io("remove", path))?;
            } else {
                let to = archive.join(log.to_string()).join(EVENTS_DIR);
                self.create(&to)?;
                self.rename(&events.join(&name), &to.join(&name))?;
                touched.insert(to);
            }
        }
        // New names are durable before the old ones are gone for good.
        for to in &touched {
            self.sync(to)?;
        }
        if !touched.is_empty() || !built.is_empty() {
            self.sync(&events)?;
        }
        for name in built {
            let path = archive.join(name);
            self.storage
                .remove_dir_all(&path)
                .map_err(Error::io("remove", path))?;
        }
        Ok(())
    }

    /// The log that a segment says it is of; `None` where its header does not read.
    fn owner(&self, path: &Path, format: Format) -> Result<Option<LogId>> {
        let bytes = self.storage.sealed(path).map_err(Error::io("read", path))?;
        Ok(SegmentHeader::decode(format, &bytes)
            .ok()
            .map(|(header, _)| LogId(header.log)))
    }
}
