//! Cuts a log after an event.
//!
//! A head with the flag *cutting* ends the log at the cut. Until that head is written, the log is unchanged. Then the next
//! process that takes the lock removes the bytes after the head and records the event, which clears the flag.

use super::archive;
use super::survey::{Finding, Lost, Survey};
use crate::head::{self, HeadFile};
use crate::lock::{self, LogLock};
use crate::log::{LockedLog, Log};
use crate::prelude::*;
use crate::recovery::RecoveryContext;
use crate::recovery::cut::{Cut, NOTE, archive_name};
use crate::recovery::switch;
use std::ops::ControlFlow;

/// Largest number of losses in the list.
const LOST_MAX: usize = 20;

/// The part of a log that a cut removes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CutPlan {
    /// Seq of the last event that stays.
    pub to: u64,
    /// Segment of the event `to`.
    pub segment: String,
    /// End of the group of the event `to` in the segment. Later bytes are removed.
    pub offset: u64,
    /// Later segments, removed whole.
    pub segments: Vec<String>,
    /// Bytes removed.
    pub bytes: u64,
    /// Number of removed events that can be read.
    pub events: u64,
    /// Seq of the last removed event that can be read.
    pub last_seq: Option<u64>,
    /// Removed parts that cannot be read; at most 20.
    pub lost: Vec<Lost>,
    #[serde(skip)]
    number: u32,
    #[serde(skip)]
    last_id: Option<EventId>,
}

impl CutPlan {
    /// Returns true if the cut would remove nothing.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0 && self.segments.is_empty() && self.lost.is_empty()
    }
}

impl Log {
    /// Plans a cut after the event `to`. Changes nothing, takes no lock.
    ///
    /// # Errors
    /// `Invalid` if the log cannot be cut there: `to` is not the last event of a group, or is after damage; I/O.
    pub fn plan_cut(&self, to: u64) -> Result<CutPlan> {
        plan(self.storage().as_ref(), self.dir(), self.identity(), to)
    }

    /// Cuts the log after the event `to`, to remove later damage. The removed bytes are kept in `archive/`, and an event by
    /// `actor` records the cut. Does nothing if no bytes follow the event `to`.
    ///
    /// # Errors
    /// Like [`Log::plan_cut`]; `Locked`, I/O. After an error the log is either unchanged or cut. If the log is cut, the next
    /// process that opens the log finishes the cut.
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
    /// let plan = log.plan_cut(2)?;
    /// assert!(!plan.is_empty());
    /// let (_, locked) = log.cut(2, "operator")?;
    /// assert_eq!(locked.head().last_seq, 3); // Two events, and one that records the cut.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cut(&self, to: u64, actor: &str) -> Result<(CutPlan, LockedLog)> {
        let (storage, dir) = (self.storage().as_ref(), self.dir());
        let lock = lock::acquire(storage, dir, self.options().lock_deadline)?;
        let identity = Identity::load(storage, dir)?;
        identity.check_alone()?;
        switch::finish(storage, dir, &identity)?;
        let head_file = HeadFile::open(storage, dir, identity.log, OpenMode::Create)?;
        let unfinished = head_file.read()?.newest.is_some_and(|head| head.cutting);
        let lock = match unfinished {
            // Finish an earlier cut first, and record its event.
            true => self.locked(lock)?.into_lock(),
            false => lock,
        };
        let plan = plan(storage, dir, &identity, to)?;
        if !plan.is_empty() {
            decide(&self.locked_log(&identity, &head_file), &plan, actor, &lock)?;
        }
        Ok((plan, self.locked(lock)?))
    }
}

/// Finds the place of a cut, and reads the part of the log after the cut.
fn plan(storage: &dyn Storage, dir: &Path, identity: &Identity, to: u64) -> Result<CutPlan> {
    let invalid = |rule: String| Error::invalid("to", to.to_string(), rule);
    let head = head::read_slots(storage, dir, identity.log)?.newest;
    let survey = Survey {
        storage,
        dir,
        identity,
        head_seq: head.map(|head| head.last_seq),
    };
    let mut plan: Option<CutPlan> = None;
    let (mut readable, mut straddles, mut lost_any) = (0, None, false);
    survey.walk(&mut |finding| {
        match (finding, &mut plan) {
            (Finding::Group(group), Some(plan)) => {
                plan.events += group.frames.len() as u64;
                plan.last_seq = Some(group.seqs().1);
            }
            (Finding::Lost(lost), Some(plan)) if plan.lost.len() < LOST_MAX => plan.lost.push(lost),
            (Finding::Lost(_), Some(_)) => {}
            (Finding::Lost(_), None) => {
                lost_any = true;
                return Ok(ControlFlow::Break(()));
            }
            (Finding::Group(group), None) => {
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
                        number: group.segment,
                        last_id: group.last_id(),
                        ..CutPlan::default()
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
    let len = |name: &String| storage.named().len(&dir.join(EVENTS_DIR).join(name));
    plan.bytes = len(&plan.segment)?.saturating_sub(plan.offset);
    for name in &plan.segments {
        plan.bytes += len(name)?;
    }
    Ok(plan)
}

/// Keeps the originals and writes the head that ends the log at the cut. Afterwards the caller must call [`finish`].
fn decide(log: &RecoveryContext<'_>, plan: &CutPlan, actor: &str, lock: &LogLock) -> Result<()> {
    assert!(
        !plan.is_empty(),
        "a cut after event {} must take something away",
        plan.to
    );
    let storage = log.storage.as_ref();
    let before = log.head_file.read()?.newest;
    let (generation, quarantining) = match &before {
        Some(head) => (head.generation, head.quarantining),
        None => (0, false),
    };
    let witness = lock.witness();
    let witness = witness.filter(|witness| witness.log == log.identity.log);
    let of_head = before.as_ref().map(|head| head.last_seq);
    let known = of_head.max(witness.map(|witness| witness.seq));
    let cut = Cut {
        to: plan.to,
        archive: None,
        bytes: plan.bytes,
        events: plan.events,
        actor: actor.to_owned(),
        generation,
        known_seq: known.filter(|seq| *seq > plan.to),
    };
    let note = serde_json::to_vec(&cut)
        .map_err(|error| Error::invalid("actor", actor, error.to_string()))?;
    let changed = std::iter::once(&plan.segment).chain(&plan.segments);
    let mut files: Vec<PathBuf> = changed
        .map(|name| Path::new(EVENTS_DIR).join(name))
        .collect();
    files.extend([PathBuf::from(LOG_FILE), PathBuf::from(HEAD_FILE)]);
    archive::keep(
        storage,
        log.dir,
        &archive_name(plan.to),
        &files,
        &[(NOTE, note)],
    )?;
    // Bytes after an old head are perhaps not on the disk, so the segment is written again and synced.
    let path = log.segment_path(&plan.segment);
    let file = storage.named().open(&path, OpenMode::Write)?;
    file.write_again(0..plan.offset)?;
    log.sync_names()?;
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
    assert!(
        head.segment > 0 && head.last_id.is_some(),
        "a cut after event {} must leave that event, in segment {}",
        head.last_seq,
        head.segment
    );
    lock.check(storage, false)?;
    log.head_file.write(&mut head, true)
}
