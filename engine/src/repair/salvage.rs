//! Copies the readable events of a damaged log into a new log.
//!
//! The new log has its own id, because receipts of the old log do not hold for it. A group is copied whole or not at all. The exceptions
//! are foreign events of a damaged group that do not depend on the group's other events: each of these events becomes its own group. Events
//! keep id, time and content, and get new seqs.

use super::archive;
use super::survey::{Damaged, Finding, Lost, Survey};
use crate::copy::to_new_event;
use crate::head;
use crate::layout::{SALVAGE_DIR, SALVAGED};
use crate::lock;
use crate::log::{Log, NewLog};
use crate::options::LogOptions;
use crate::prelude::*;
use crate::reader::Reader;
use crate::recovery::switch;
use crate::storage::Deferred;
use crate::verify::{ProblemKind, Severity};
use crate::witness::Witness;
use crate::writer::{Durability, Writer};
use std::ops::ControlFlow;

/// Origin of a salvaged log, for its identity.
const ORIGIN: &str = "salvage";
/// Largest number of losses in the list.
const LOST_MAX: usize = 100;

/// Result of a salvage: the payload of its event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SalvageReport {
    /// Id of the log before; zeros if unknown.
    pub log: String,
    /// Directory of the original files, relative to the log's directory.
    pub archive: String,
    /// Number of events copied.
    pub events: u64,
    /// Number of groups copied.
    pub groups: u64,
    /// Number of lost events, computed from the missing seqs.
    pub lost_events: u64,
    /// Unreadable parts, in order; at most 100.
    pub lost: Vec<Lost>,
    /// Number of further unreadable parts.
    pub lost_omitted: u64,
    /// Damaged groups from which single events were copied, in order; at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<SplitGroup>,
    /// Number of further split groups, which are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub split_omitted: u64,
}

/// A damaged group from which single events were copied, each as its own group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitGroup {
    /// File of the group's segment, relative to the log's directory.
    pub file: String,
    /// Seq of the group's first event in the damaged log.
    pub from_seq: u64,
    /// Seq of the group's last event in the damaged log.
    pub to_seq: u64,
    /// Number of events copied from the group.
    pub events: u64,
    /// Seqs of the events that were not copied, as ranges `[from, to]`; at most 100.
    pub gone: Vec<[u64; 2]>,
    /// Number of further ranges, which are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub gone_omitted: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl SplitGroup {
    /// Adds the seqs of the events after `upto` and before `next` to `gone`.
    fn leave_out(&mut self, upto: u64, next: u64) {
        let gone = [upto.saturating_add(1), next.saturating_sub(1)];
        match gone[0] <= gone[1] {
            true if self.gone.len() < LOST_MAX => self.gone.push(gone),
            true => self.gone_omitted += 1,
            false => {}
        }
    }
}

/// Records which events of damaged groups are copied.
#[derive(Default)]
struct Splits {
    noted: Vec<SplitGroup>,
    omitted: u64,
    /// The current group, and the last event that was copied from it (at first the event before the group).
    open: Option<(SplitGroup, u64)>,
}

impl Splits {
    /// Adds the next copied event. Events come in order.
    fn take(&mut self, file: String, of: Damaged, seq: u64) {
        assert!(
            (of.first..=of.last).contains(&seq),
            "event {seq} must be one of its group, {} to {}",
            of.first,
            of.last
        );
        let same =
            |(split, _): &(SplitGroup, u64)| (split.from_seq, split.to_seq) == (of.first, of.last);
        if !self.open.as_ref().is_some_and(same) {
            self.end();
        }
        let (split, upto) = self.open.get_or_insert_with(|| {
            let split = SplitGroup {
                file,
                from_seq: of.first,
                to_seq: of.last,
                ..SplitGroup::default()
            };
            (split, of.first.saturating_sub(1))
        });
        split.leave_out(*upto, seq);
        split.events += 1;
        *upto = seq;
    }

    fn end(&mut self) {
        if let Some((mut split, upto)) = self.open.take() {
            split.leave_out(upto, split.to_seq.saturating_add(1));
            match self.noted.len() < LOST_MAX {
                true => self.noted.push(split),
                false => self.omitted += 1,
            }
        }
    }
}

/// Replaces the damaged log in `dir` by a new log of its readable events, under the lock. Calls `more` with the new log before
/// the switch, and appends the events that it returns. Returns `None` if the log is not damaged.
///
/// # Errors
/// `Locked`, `UnsupportedFormat`, I/O, and errors of `more`. The directory then holds the old log or, after the switch, the new
/// log; the next process that opens the new log finishes the switch.
pub fn salvage(
    storage: &Arc<dyn Storage>,
    dir: &Path,
    options: &LogOptions,
    actor: &str,
    more: &mut dyn FnMut(&Reader) -> Result<Vec<NewEvent>>,
) -> Result<Option<SalvageReport>> {
    let lock = lock::acquire(storage.as_ref(), dir, options.lock_deadline)?;
    let identity = Identity::load(storage.as_ref(), dir);
    if let Ok(identity) = &identity {
        identity.check_alone()?;
        identity.check_refs(dir, &options.refs)?;
        switch::finish(storage.as_ref(), dir, identity)?;
        match problems(storage, dir, options).as_deref() {
            Some([]) => return Ok(None),
            // The log is rolled back but not damaged. The operator must decide if the loss of the missing events is accepted.
            Some([ProblemKind::RolledBack]) => return Err(rolled_back(storage, dir, options)),
            _ => {}
        }
    }
    let identity = match identity {
        Ok(identity) => identity,
        Err(Error::Corrupt { .. } | Error::NoLog { .. }) => {
            identity_of_segments(storage.as_ref(), dir, options)?
        }
        Err(error) => return Err(error),
    };
    switch::clear(storage.as_ref(), dir)?;
    let kept = archive::keep(
        storage.as_ref(),
        dir,
        &identity.log.to_string(),
        &originals(storage.as_ref(), dir)?,
        &[],
    )?;
    let mut salvaged = SalvageReport {
        log: identity.log.to_string(),
        archive: kept,
        ..SalvageReport::default()
    };
    let new = build(storage, dir, options, &identity, &mut salvaged, actor, more)?;
    lock.check(storage.as_ref(), false)?;
    switch::decide(storage.as_ref(), dir, &new)?;
    switch::finish(storage.as_ref(), dir, &new)?;
    let head = head::read_slots(storage.as_ref(), dir, new.log)?.newest;
    if let Some(witness) = head.and_then(|head| Witness::from_head(&new, &head)) {
        lock.replace_witness(&witness)?;
    }
    Ok(Some(salvaged))
}

/// Returns the kinds of damage that recovery does not repair; `None` if the log cannot be verified.
fn problems(
    storage: &Arc<dyn Storage>,
    dir: &Path,
    options: &LogOptions,
) -> Option<Vec<ProblemKind>> {
    let log = Log::open(storage.clone(), dir, options.clone()).ok()?;
    let report = log.verify(None).ok()?;
    let errors = report.problems.iter();
    let errors = errors.filter(|problem| problem.severity == Severity::Error);
    Some(errors.map(|problem| problem.kind).collect())
}

/// Creates the error of a log that was rolled back.
fn rolled_back(storage: &Arc<dyn Storage>, dir: &Path, options: &LogOptions) -> Error {
    let shown = Log::open(storage.clone(), dir, options.clone()).and_then(|log| {
        let rollback = log.peek()?.rollback().cloned();
        Ok(rollback.map(|rollback| log.rolled_back(rollback)))
    });
    match shown {
        Ok(Some(error)) | Err(error) => error,
        Ok(None) => Error::corrupt(dir, 0, None, "the log was restored from an older state"),
    }
}

/// Lists identity, head and other files beside the segments, if they exist.
fn originals(storage: &dyn Storage, dir: &Path) -> Result<Vec<PathBuf>> {
    let events = dir.join(EVENTS_DIR);
    let names = storage.named().list(&events)?;
    let mut files: Vec<PathBuf> = names
        .iter()
        .map(|name| Path::new(EVENTS_DIR).join(name))
        .collect();
    files.extend([PathBuf::from(LOG_FILE), PathBuf::from(HEAD_FILE)]);
    let mut there = Vec::with_capacity(files.len());
    for file in files {
        let path = dir.join(&file);
        let stat = storage.named().stat(&path)?;
        if stat.is_some_and(|stat| !stat.is_dir) {
            there.push(file);
        }
    }
    Ok(there)
}

/// Builds the new log in its own directory, durably; returns its identity.
fn build(
    storage: &Arc<dyn Storage>,
    dir: &Path,
    options: &LogOptions,
    old: &Identity,
    salvaged: &mut SalvageReport,
    actor: &str,
    more: &mut dyn FnMut(&Reader) -> Result<Vec<NewEvent>>,
) -> Result<Identity> {
    // The new log is invisible until the switch, so one sync for each file at the end is enough.
    let deferred = Deferred::new(storage.clone());
    let new = NewLog {
        name: old.name.clone(),
        format: old.format,
        origin: ORIGIN.to_owned(),
    };
    let place = dir.join(SALVAGE_DIR);
    let log = Log::create(Arc::new(deferred.clone()), &place, new, options.clone())?;
    let writer = log.lock()?.into_writer(());
    take(storage.as_ref(), dir, old, &writer, salvaged)?;
    writer.close()?;
    let mut events = vec![NewEvent::for_payload(SALVAGED, actor, salvaged)?];
    let taken = log.reader()?;
    assert_eq!(
        taken.head().last_seq,
        salvaged.events,
        "the new log must hold the events that were taken"
    );
    events.extend(more(&taken)?);
    let writer = log.lock()?.into_writer(());
    writer.append(events, Durability::Synced)?;
    writer.close()?;
    deferred.sync_pending().map_err(Error::io("sync", &place))?;
    Ok(log.identity().clone())
}

/// Appends every readable group, and independent events of damaged groups.
fn take(
    storage: &dyn Storage,
    dir: &Path,
    old: &Identity,
    writer: &Writer<()>,
    salvaged: &mut SalvageReport,
) -> Result<()> {
    let head = head::read_slots(storage, dir, old.log);
    let head_seq = head.ok().and_then(|slots| slots.newest);
    let survey = Survey {
        storage,
        dir,
        identity: old,
        head_seq: head_seq.map(|head| head.last_seq),
    };
    let mut splits = Splits::default();
    survey.walk(&mut |finding| {
        match finding {
            Finding::Lost(lost) => {
                salvaged.lost_events += lost.events();
                match salvaged.lost.len() < LOST_MAX {
                    true => salvaged.lost.push(lost),
                    false => salvaged.lost_omitted += 1,
                }
            }
            Finding::Group(group) => {
                if let Some(of) = group.part_of {
                    splits.take(format!("{EVENTS_DIR}/{}", group.name), of, group.seqs().0);
                }
                let events = group
                    .frames
                    .iter()
                    .map(to_new_event)
                    .collect::<Result<Vec<_>>>()?;
                salvaged.events += events.len() as u64;
                salvaged.groups += 1;
                let appended = writer.append(events, Durability::Synced)?;
                assert_eq!(
                    appended.map(|group| group.last_seq),
                    Some(salvaged.events),
                    "the new log must hold what was taken of it so far"
                );
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    splits.end();
    salvaged.split = splits.noted;
    salvaged.split_omitted = splits.omitted;
    Ok(())
}

/// Returns the identity from the segments' headers, if `log.json` is missing. A conversion may have left segments of another log,
/// so the identity must match the head. If there is no head, the first readable header decides.
fn identity_of_segments(
    storage: &dyn Storage,
    dir: &Path,
    options: &LogOptions,
) -> Result<Identity> {
    let events = dir.join(EVENTS_DIR);
    let dir_name = dir.file_name().unwrap_or_default().to_string_lossy();
    let (mut known, mut identity_of_segments): (Option<Identity>, Option<Identity>) = (None, None);
    for name in storage.named().list(&events)? {
        for format in Format::ALL {
            if SegmentName::parse(&name, format).is_none() {
                continue;
            }
            let path = events.join(&name);
            let bytes = storage.named().sealed(&path)?;
            let header = SegmentHeader::decode(format, &bytes).ok();
            let reads = header.is_some();
            let (log, log_name, version) = match header {
                Some((header, _)) => (LogId(header.log), header.name, header.version),
                None => (
                    LogId([0; 16]),
                    dir_name.clone().into_owned(),
                    format.version(),
                ),
            };
            let identity = Identity {
                log,
                name: log_name,
                format,
                version,
                created_at: Timestamp::default(),
                origin: ORIGIN.to_owned(),
                journal: None,
                refs: options.refs.clone(),
            };
            let head_is_of =
                |log| head::read_slots(storage, dir, log).is_ok_and(|slots| slots.newest.is_some());
            match reads {
                true if head_is_of(log) => return Ok(identity),
                true => known.get_or_insert(identity),
                false => identity_of_segments.get_or_insert(identity),
            };
        }
    }
    known
        .or(identity_of_segments)
        .ok_or_else(|| Error::no_log(dir))
}
