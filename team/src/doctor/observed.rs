//! Everything that the checks examine, read once. If a part cannot be read, its field contains the reason, and the other
//! parts are still present.

use super::*;
use crate::backup::notes as backup_notes;
use crate::handle::rollback::shown_by_files;
use crate::log::rehydrate::cores;
use crate::projections::audit::{Audit, Sample, audit, sample};
use crate::projections::live::DerivedReport;
use crate::projections::rebuild::Progress;
use crate::projections::views::ViewsComparison;
use teamlog_engine::Rollback;
use teamlog_engine::storage::Memory;
use teamlog_engine::verify::Report;

/// A value, or the reason why it could not be read.
pub(super) type Observation<T> = std::result::Result<T, String>;

pub(super) struct Observations<'a> {
    pub root: &'a Root,
    pub dir: PathBuf,
    pub check: &'a DoctorCheck,
    /// The log.
    pub log: Observation<Log>,
    /// Result of verifying the log.
    pub report: Observation<Report>,
    /// Reader of the log up to its head. The reader runs no recovery.
    pub reader: Observation<Reader>,
    /// The derived store with its stored state.
    pub found: Observation<DerivedReport>,
    /// State folded from the log alone; in a quick check, the stored state.
    pub fresh: Observation<Live>,
    /// Result of comparing the stored state with the log.
    pub audit: Observation<Audit>,
    /// Seq up to which the views are current, according to the cursor of the views.
    pub cursor: Observation<Option<u64>>,
    /// Rollback of the log, if acknowledged events are missing.
    pub rollback: Option<Rollback>,
    /// Size of the sample in a quick check; `None` in a full check.
    pub sampled: Option<SampleSize>,
}

/// Size of the sample in a quick check.
pub(super) struct SampleSize {
    /// Number of events that were looked up.
    pub events: u64,
    /// Number of inboxes that were checked.
    pub inboxes: u64,
    /// Comparison of the sample's view files; `None` if the team keeps no view files.
    pub views: Option<ViewsComparison>,
}

impl<'a> Observations<'a> {
    pub fn has_journal(&self) -> bool {
        let log = self.log.as_ref().ok();
        log.is_some_and(|log| log.identity().journal.is_some())
    }

    pub fn all(
        root: &'a Root,
        check: &'a DoctorCheck,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Observations<'a>> {
        names::check_known("team", &check.team)?;
        let dir = team_dir(&check.team);
        let storage = root.storage();
        if !root.holds_segments(&check.team) {
            root.team(&check.team)?;
        }
        let log = Log::open(storage.clone(), &dir, root.log_options()).map_err(error_text);
        let report = borrowed(&log).and_then(|log| log.verify(None).map_err(error_text));
        let reader = borrowed(&log).and_then(|log| log.peek().map_err(error_text));
        let both = borrowed(&log).and_then(|log| Ok((log, borrowed(&reader)?)));
        let found = both
            .clone()
            .and_then(|(log, reader)| Live::found(log, reader).map_err(error_text));
        let fresh = both.and_then(|(log, reader)| {
            let mut tell = |at: Progress| progress(at.events, at.total);
            let scratch = Arc::new(Memory::new());
            Live::fresh(log, reader, scratch, cores(), &mut tell).map_err(error_text)
        });
        let cursor =
            borrowed(&log).and_then(|log| ViewsSource::new(log).cursor().map_err(error_text));
        let upto = match (&cursor, &fresh) {
            (Ok(Some(seq)), Ok(live)) if keeps_views(live) => *seq,
            _ => 0,
        };
        let audit = borrowed(&reader).and_then(|reader| {
            // Without a stored state, the next command folds the log. In that case the check examines the freshly folded state.
            let stored = found.as_ref().ok().and_then(|found| found.live.as_ref());
            let state = match stored {
                Some(state) => state,
                None => fresh.as_ref()?,
            };
            audit(state, reader, check.sample_size, upto).map_err(error_text)
        });
        let rollback = borrowed(&log).ok().zip(borrowed(&reader).ok());
        let rollback = rollback.and_then(|(log, reader)| shown(log, reader));
        Ok(Observations {
            rollback,
            root,
            check,
            dir,
            log,
            report,
            reader,
            found,
            fresh,
            audit,
            cursor,
            sampled: None,
        })
    }

    /// Reads a sample of everything that belongs to a team. Returns `None` if a sample is not enough: the log is short, a part
    /// cannot be read, the store is older than the log, or a writer is active.
    pub fn sample(root: &'a Root, check: &'a DoctorCheck) -> Result<Option<Observations<'a>>> {
        names::check_known("team", &check.team)?;
        Ok(Observations::read_sample(root, check).ok().flatten())
    }

    fn read_sample(root: &'a Root, check: &'a DoctorCheck) -> Result<Option<Observations<'a>>> {
        let dir = team_dir(&check.team);
        let log = Log::open(root.storage().clone(), &dir, root.log_options())?;
        let reader = log.peek()?;
        if reader.head().last_seq <= SHORT_EVENTS_MAX || shown(&log, &reader).is_some() {
            return Ok(None);
        }
        let report = log.outline(&reader)?;
        let mut found = Live::opened(&log, &reader)?;
        let Some(live) = found.live.take() else {
            return Ok(None);
        };
        let views = ViewsSource::new(&log);
        let cursor = views.cursor()?;
        let Sample {
            events,
            audit,
            agents,
            tasks,
        } = sample(&live, &reader, check.sample_size)?;
        let files = match (keeps_views(&live), is_closed(&live)) {
            (false, false) => None,
            // Always checks a closed team: it has no view files, so the check is cheap.
            (_, true) => Some(views.against(&live, &reader)?),
            (true, false) if cursor == Some(live.seq()) => {
                Some(views.sampled(&live, &reader, (&tasks, &agents))?)
            }
            (true, false) => return Ok(None),
        };
        let inboxes = agents.len() as u64;
        Ok(Some(Observations {
            rollback: None,
            root,
            check,
            dir,
            report: Ok(report),
            found: Ok(found),
            fresh: Ok(live),
            audit: Ok(audit),
            cursor: Ok(cursor),
            sampled: Some(SampleSize {
                events,
                inboxes,
                views: files,
            }),
            log: Ok(log),
            reader: Ok(reader),
        }))
    }

    /// Returns true if a writer has changed the log or the views since they were read.
    pub fn has_moved(&self) -> bool {
        let (Ok(log), Ok(reader)) = (&self.log, &self.reader) else {
            return false;
        };
        let head = log
            .peek()
            .is_ok_and(|now| now.head().generation != reader.head().generation);
        let views = ViewsSource::new(log).cursor().ok();
        head || views != self.cursor.as_ref().ok().copied()
    }

    /// Returns true if the cursor of the views is at the end of the log.
    pub fn views_are_current(&self, live: &Live) -> bool {
        matches!(self.cursor, Ok(Some(seq)) if seq == live.seq())
    }

    /// Returns the backup directories in the team's notes and in the caller's options.
    pub fn backup_directories(&self) -> Vec<PathBuf> {
        let mut directories = backup_notes::directories(self.root, &self.check.team);
        directories.extend(self.check.backups.iter().cloned());
        directories.sort();
        directories.dedup();
        directories
    }

    /// Returns a command line for the team.
    pub fn command(&self, name: &str, flags: &str) -> String {
        let space = if flags.is_empty() { "" } else { " " };
        let DoctorCheck { program, team, .. } = self.check;
        format!("{program} {name} {team}{space}{flags}")
    }

    /// Returns the command that rebuilds all derived data.
    pub fn rehydrate(&self) -> String {
        self.command("rehydrate", "")
    }

    /// Returns the command that accepts the loss of events by a rollback.
    pub fn accept_rollback(&self) -> String {
        self.command("doctor repair", "--accept-rollback")
    }

    /// Returns the command that repairs a damaged log. Without a journal, this is the salvage. With a journal, the command moves
    /// the log away and joins the team again.
    pub fn salvage(&self) -> String {
        let has_journal = |log: &Log| log.identity().journal.is_some();
        match self.log.as_ref().is_ok_and(has_journal) {
            true => self.command("join", "--journal NAME"),
            false => self.command("rehydrate", "--salvage"),
        }
    }
}

/// Returns the rollback that the log's witness shows, or else the rollback that the derived files
/// show.
fn shown(log: &Log, reader: &Reader) -> Option<Rollback> {
    let by_witness = reader.rollback().cloned();
    by_witness.or_else(|| shown_by_files(log, reader).ok().flatten())
}

pub(super) fn keeps_views(live: &Live) -> bool {
    matches!(live.team(), Ok(Some(team)) if team.keeps_views())
}

/// Returns true if a team is closed. A closed team has no view files.
pub(super) fn is_closed(live: &Live) -> bool {
    matches!(live.is_closed(), Ok(true))
}

/// Borrows a value, or returns the reason why the value is missing.
pub(super) fn borrowed<T>(seen: &Observation<T>) -> Observation<&T> {
    seen.as_ref().map_err(Clone::clone)
}

pub(super) fn error_text(error: impl ToString) -> String {
    error.to_string()
}
