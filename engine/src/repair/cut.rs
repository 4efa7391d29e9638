//! Cutting a log after an event.
//!
//! The head decides: written with its flag *cutting*, it ends the log at the cut, and whoever takes the lock next removes
//! what lies behind it and records the event, which clears the flag. Before that write the log is what it was.

use super::archive;
use super::survey::{Lost, Sight, Survey};
use crate::convert::ARCHIVE_DIR;
use crate::error::{Error, REPLACE, Result};
use crate::event_id::EventId;
use crate::head::{self, HEAD_FILE, Head};
use crate::identity::{Identity, LOG_FILE};
use crate::lock::LogLock;
use crate::recovery::{Recovered, Scene};
use crate::segment::{EVENTS_DIR, SegmentName};
use crate::storage::{File, Open, Storage};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The kind of the event that records a cut.
pub const CUT: &str = "log_cut";
/// The archive of a cut says what it is in this file.
const NOTE: &str = "cut.json";
const NOTE_BYTES_MAX: u64 = 64 << 10;
/// No more losses than this are listed.
const LOST_MAX: usize = 20;

/// What a cut takes away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CutPlan {
    /// The last event that stays.
    pub to: u64,
    /// The segment that it lies in.
    pub segment: String,
    /// Where its group ends there; what lies behind goes.
    pub offset: u64,
    /// Later segments, which go whole.
    pub segments: Vec<String>,
    /// Bytes that go.
    pub bytes: u64,
    /// Events that go and can still be read.
    pub events: u64,
    /// The last one of them.
    pub last_seq: Option<u64>,
    /// What of it cannot be read; at most 20.
    pub lost: Vec<Lost>,
    #[serde(skip)]
    number: u32,
    #[serde(skip)]
    last_id: Option<EventId>,
}

/// What stays of a segment, before it takes the segment's place; in the team's directory.
const SHORTENED: &str = "shortened";

impl CutPlan {
    /// Whether nothing would go.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0 && self.segments.is_empty() && self.lost.is_empty()
    }
}

/// What the event says, and the archive's note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cut {
    /// The last event that stayed.
    pub to: u64,
    /// Where the originals lie, relative to the team's directory; `null` if they are gone.
    pub archive: Option<String>,
    /// Bytes that went.
    pub bytes: u64,
    /// Events that went and could still be read.
    pub events: u64,
    /// Who wanted it.
    pub actor: String,
    /// The head's generation before.
    pub generation: u64,
}

/// Looks for the place of a cut, and at what lies behind it.
pub(crate) fn plan(
    storage: &dyn Storage,
    dir: &Path,
    identity: &Identity,
    to: u64,
) -> Result<CutPlan> {
    let invalid = |rule: String| Error::Invalid {
        field: "to",
        value: to.to_string(),
        rule,
    };
    let head = head::read_slots(storage, dir, identity.log)?.newest;
    let survey = Survey {
        storage,
        dir,
        identity,
        head_seq: head.map(|head| head.last_seq),
    };
    let mut plan: Option<CutPlan> = None;
    let (mut readable, mut straddles, mut lost_any) = (0, None, false);
    survey.walk(&mut |sight| {
        match (sight, &mut plan) {
            (Sight::Group(group), Some(plan)) => {
                plan.events += group.frames.len() as u64;
                plan.last_seq = Some(group.seqs().1);
            }
            (Sight::Lost(lost), Some(plan)) if plan.lost.len() < LOST_MAX => plan.lost.push(lost),
            (Sight::Lost(_), Some(_)) => {}
            (Sight::Lost(_), None) => {
                lost_any = true;
                return Ok(ControlFlow::Break(()));
            }
            (Sight::Group(group), None) => {
                let (first, last) = group.seqs();
                if !group.clean {
                    lost_any = true;
                    return Ok(ControlFlow::Break(()));
                }
                if first <= to && to < last {
                    straddles = Some((first - 1, last));
                    return Ok(ControlFlow::Break(()));
                }
                readable = last;
                if last == to {
                    plan = Some(CutPlan {
                        to,
                        segment: group.name.to_owned(),
                        offset: group.end,
                        segments: Vec::new(),
                        bytes: 0,
                        events: 0,
                        last_seq: None,
                        lost: Vec::new(),
                        number: group.segment,
                        last_id: group.last_id(),
                    });
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some((before, last)) = straddles {
        let rule = match before {
            0 => format!("must be the last event of a group: {last}"),
            before => format!("must be the last event of a group: {before} or {last}"),
        };
        return Err(invalid(rule));
    }
    let Some(mut plan) = plan else {
        let why = if lost_any {
            ", where it is damaged"
        } else {
            ""
        };
        let rule = match readable {
            0 => format!("must be an event that can be read, but the log has none{why}"),
            last => format!("must be from 1 to {last}, up to which the log can be read{why}"),
        };
        return Err(invalid(rule));
    };
    let names = survey.names()?;
    let at = names.iter().position(|name| *name == plan.segment);
    let behind = at.map_or(names.len(), |at| at + 1);
    plan.segments = names.get(behind..).unwrap_or_default().to_vec();
    let len = |name: &String| -> Result<u64> {
        let path = dir.join(EVENTS_DIR).join(name);
        let stat = storage.stat(&path).map_err(Error::io("stat", &path))?;
        Ok(stat.map_or(0, |stat| stat.len))
    };
    plan.bytes = len(&plan.segment)?.saturating_sub(plan.offset);
    for name in &plan.segments {
        plan.bytes += len(name)?;
    }
    Ok(plan)
}

/// Keeps the originals and writes the head that ends the log at the cut. From then on [`finish`] is owed.
pub(crate) fn decide(scene: &Scene<'_>, plan: &CutPlan, actor: &str, lock: &LogLock) -> Result<()> {
    let storage = scene.storage.as_ref();
    let before = scene.head_file.read()?.newest;
    let (generation, quarantining) = match &before {
        Some(head) => (head.generation, head.quarantining),
        None => (0, false),
    };
    let cut = Cut {
        to: plan.to,
        archive: None,
        bytes: plan.bytes,
        events: plan.events,
        actor: actor.to_owned(),
        generation,
    };
    let note = serde_json::to_vec(&cut).map_err(|error| Error::Invalid {
        field: "actor",
        value: actor.to_owned(),
        rule: error.to_string(),
    })?;
    let changed = std::iter::once(&plan.segment).chain(&plan.segments);
    let mut files: Vec<PathBuf> = changed
        .map(|name| Path::new(EVENTS_DIR).join(name))
        .collect();
    files.extend([PathBuf::from(LOG_FILE), PathBuf::from(HEAD_FILE)]);
    archive::keep(storage, scene.dir, &name(plan.to), &files, &[(NOTE, note)])?;
    // What stays is written again: of bytes behind an old head nobody knows whether the disk has them.
    let path = scene.segment_path(&plan.segment);
    let file = storage
        .open(&path, Open::Write)
        .map_err(Error::io("open", &path))?;
    let kept = scene.read_range(file.as_ref(), &plan.segment, 0, plan.offset)?;
    file.write_all_at(&kept, 0)
        .map_err(Error::io("write", &path))?;
    file.sync_all().map_err(Error::io("sync", &path))?;
    scene.sync_names()?;
    let mut head = Head {
        generation,
        segment: plan.number,
        name: plan.segment.clone(),
        end: plan.offset,
        last_seq: plan.to,
        last_id: plan.last_id,
        rotating: false,
        quarantining,
        cutting: true,
    };
    lock.check(storage, false)?;
    scene.head_file.write(&mut head, true)
}

fn name(to: u64) -> String {
    format!("cut-after-{to}")
}

/// Removes what lies behind a head that is cutting. Doing it twice is doing it once.
pub(crate) fn finish(scene: &Scene<'_>, mut head: Head) -> Result<Recovered> {
    let storage = scene.storage.as_ref();
    scene.sweep()?;
    let format = scene.identity.format;
    for name in scene.segments()?.iter().map(|name| name.file(format)) {
        let path = scene.segment_path(&name);
        if is_behind(scene, &name, &head.name) {
            storage
                .remove_file(&path)
                .map_err(Error::io("remove", path))?;
        }
    }
    scene.sync_names()?;
    let path = scene.segment_path(&head.name);
    let file = storage
        .open(&path, Open::Write)
        .map_err(Error::io("open", &path))?;
    let len = file.stat().map_err(Error::io("stat", &path))?.len;
    if len < head.end {
        return Err(Error::Corrupt {
            path,
            offset: len,
            seq: Some(head.last_seq),
            why: format!(
                "the segment ends here, before the durable end at byte {}",
                head.end
            ),
        });
    }
    let file = match len > head.end {
        true => shortened(scene, &path, file.as_ref(), head.end)?,
        false => file,
    };
    head.rotating = false;
    let cut = found(storage, scene.dir, &head)?;
    let kept = cut.archive.as_deref().unwrap_or("nowhere any more");
    let notes = vec![format!(
        "cut the log after event {}; what was there before is kept in {kept}",
        cut.to
    )];
    Ok(Recovered {
        head,
        active: Some(file),
        unnamed: Vec::new(),
        cut: Some(cut),
        notes,
    })
}

/// Puts a file of the bytes that stay in the place of a segment. Others may have mapped it as sealed, and reading a map
/// behind the end of its file would kill them.
fn shortened(scene: &Scene<'_>, path: &Path, file: &dyn File, end: u64) -> Result<Box<dyn File>> {
    let storage = scene.storage.as_ref();
    let mut bytes = vec![0; usize::try_from(end).unwrap_or(usize::MAX)];
    let mut done = 0;
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        let read = file.read_at(rest, done as u64);
        match read.map_err(Error::io("read", path))? {
            0 => return Err(Error::io("read", path)(ErrorKind::UnexpectedEof.into())),
            n => done += n,
        }
    }
    let aside = scene.dir.join(SHORTENED);
    storage
        .replace(&aside, &bytes, true)
        .map_err(Error::io(REPLACE, &aside))?;
    storage
        .rename(&aside, path)
        .map_err(Error::io("rename", aside))?;
    scene.sync_names()?;
    storage
        .open(path, Open::Write)
        .map_err(Error::io("open", path))
}

fn is_behind(scene: &Scene<'_>, name: &str, last: &str) -> bool {
    let parse = |name| SegmentName::parse(name, scene.identity.format);
    parse(name) > parse(last)
}

/// What the archive says of the cut that a head is in the middle of: the newest one after that event.
fn found(storage: &dyn Storage, dir: &Path, head: &Head) -> Result<Cut> {
    let archive = dir.join(ARCHIVE_DIR);
    let names = match storage.list(&archive) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("list", archive)(error)),
    };
    let mut newest: Option<Cut> = None;
    let own = name(head.last_seq);
    for name in names {
        let ours = name
            .strip_prefix(&own)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if !ours || name.ends_with(".tmp") {
            continue;
        }
        let read = storage.read(&archive.join(&name).join(NOTE), NOTE_BYTES_MAX);
        let Some(cut) = read
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Cut>(&bytes).ok())
        else {
            continue;
        };
        // One that was never decided has the same generation as the one that was, or an older one.
        let newer = newest
            .as_ref()
            .is_none_or(|newest| newest.generation <= cut.generation);
        if cut.to == head.last_seq && cut.generation < head.generation && newer {
            newest = Some(Cut {
                archive: Some(format!("{ARCHIVE_DIR}/{name}")),
                ..cut
            });
        }
    }
    Ok(newest.unwrap_or(Cut {
        to: head.last_seq,
        archive: None,
        bytes: 0,
        events: 0,
        actor: crate::log::ENGINE_ACTOR.to_owned(),
        generation: head.generation,
    }))
}
