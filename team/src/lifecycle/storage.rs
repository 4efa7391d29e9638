//! `read-storage`: disk usage of a team, free disk space, and the known backups of the team.

use crate::backup::dir::BackupDir;
use crate::backup::notes;
use crate::operation::prelude::*;
use crate::projections::live::DERIVED_DIR;
use teamlog_engine::internals::layout::EVENTS_DIR;

operation! {
    /// Read the disk usage of the team: segments, derived files, free space and known backups
    "read-storage": Reads(ReadStorage) -> StorageShown = Team::read_storage
}

/// Input of `read-storage`, without fields.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadStorage {}

/// Disk usage of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StorageShown {
    /// The team
    pub team: String,
    /// Disk of the data root; `null` if the root is in memory
    pub disk: Option<DiskShown>,
    /// The log
    pub log: LogShown,
    /// Size of the files that can be rebuilt from the log, in bytes
    pub derived_bytes: u64,
    /// Readable backups in all directories to which this team was backed up
    pub backups: Vec<BackupShown>,
    /// Directories to which this team was backed up, but without a readable backup
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups_unreadable: Vec<UnreadableShown>,
}

/// A disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Disk")]
pub struct DiskShown {
    /// Free bytes
    pub free_bytes: u64,
    /// Size of the disk in bytes
    pub total_bytes: u64,
}

/// The files of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LogFiles")]
pub struct LogShown {
    /// Format of the log
    pub format: Cow<'static, str>,
    /// The segments, oldest first
    pub segments: Vec<SegmentShown>,
    /// Size of all segments in bytes
    pub bytes: u64,
}

/// A segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Segment")]
pub struct SegmentShown {
    /// File, relative to the team's directory
    pub file: String,
    /// Seq of the first event
    pub first_seq: u64,
    /// Seq of the last event; `first_seq - 1` if the segment has no events yet
    pub last_seq: u64,
    /// Size up to the head, in bytes
    pub bytes: u64,
    /// True if no more events are appended to the segment
    pub sealed: bool,
}

/// A backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Backup")]
pub struct BackupShown {
    /// Directory that was given to `backup`
    pub path: String,
    /// Time of the backup
    pub taken_at: Timestamp,
    /// Seq of the last event in the backup
    pub last_seq: u64,
    /// Size of the backup in bytes
    pub bytes: u64,
}

/// A directory to which a backup was made, but without a readable backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UnreadableBackup")]
pub struct UnreadableShown {
    /// Directory that was given to `backup`
    pub path: String,
    /// Reason why no backup can be read
    pub why: String,
}

impl Team {
    /// Returns the team's disk usage. Reads the header of every segment, and the manifest of every backup.
    pub fn read_storage(&mut self, _: ReadStorage) -> Result<StorageShown> {
        let root = Root::of_team(self);
        let disk = root.space().transpose().map_err(Error::io("stat", "."))?;
        let segments = self.segments_shown()?;
        let (backups, backups_unreadable) = self.backups_shown(&root);
        let derived = self.log.dir().join(DERIVED_DIR);
        Ok(StorageShown {
            team: self.name().to_owned(),
            disk: disk.map(|space| DiskShown {
                free_bytes: space.free,
                total_bytes: space.total,
            }),
            log: LogShown {
                format: self.log.identity().format.name().into(),
                bytes: segments.iter().map(|segment| segment.bytes).sum(),
                segments,
            },
            derived_bytes: bytes_in(self.log.storage().as_ref(), &derived)
                .map_err(Error::io("list", derived))?,
            backups,
            backups_unreadable,
        })
    }

    fn segments_shown(&self) -> Result<Vec<SegmentShown>> {
        let reader = self.reader()?;
        let names = reader.segments()?;
        let mut segments: Vec<SegmentShown> = Vec::with_capacity(names.len());
        for (number, name) in (1..).zip(&names) {
            let first_seq = reader.header(number)?.first_seq;
            if let Some(before) = segments.last_mut() {
                before.last_seq = first_seq.saturating_sub(1);
            }
            let sealed = number as usize != names.len();
            let path = reader.dir().join(EVENTS_DIR).join(name);
            let bytes = match sealed {
                true => {
                    let stat = reader.storage().stat(&path);
                    let stat = stat.map_err(Error::io("stat", path))?;
                    stat.map_or(0, |stat| stat.len)
                }
                false => reader.head().end,
            };
            segments.push(SegmentShown {
                file: format!("{EVENTS_DIR}/{name}"),
                first_seq,
                last_seq: reader.head().last_seq,
                bytes,
                sealed,
            });
        }
        Ok(segments)
    }

    fn backups_shown(&self, root: &Root) -> (Vec<BackupShown>, Vec<UnreadableShown>) {
        let (mut shown, mut unreadable) = (Vec::new(), Vec::new());
        for directory in notes::directories(root, self.name()) {
            let path = directory.to_string_lossy().into_owned();
            let opened = BackupDir::open(&directory, self.options.clone())
                .and_then(|backup_dir| backup_dir.backups(self.name()));
            let why = match opened {
                Ok(backups) if backups.is_empty() => "there is no backup".to_owned(),
                Ok(backups) => {
                    shown.extend(backups.iter().map(|backup| {
                        let manifest = backup.manifest();
                        BackupShown {
                            path: path.clone(),
                            taken_at: manifest.backed_up_at,
                            last_seq: manifest.seq,
                            bytes: manifest.bytes(),
                        }
                    }));
                    continue;
                }
                Err(failure) => failure.to_string(),
            };
            unreadable.push(UnreadableShown { path, why });
        }
        shown.sort_by_key(|backup| std::cmp::Reverse(backup.taken_at));
        (shown, unreadable)
    }
}

/// Returns the size of all files below a directory. Ignores files that are removed meanwhile.
fn bytes_in(storage: &dyn Storage, dir: &Path) -> std::io::Result<u64> {
    let (mut left, mut bytes) = (vec![dir.to_path_buf()], 0);
    while let Some(path) = left.pop() {
        let Some(stat) = storage.stat(&path)? else {
            continue;
        };
        if !stat.is_dir {
            bytes += stat.len;
            continue;
        }
        match storage.list(&path) {
            Ok(names) => left.extend(names.iter().map(|name| path.join(name))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}
