//! An export: a database, and its catching up with a team.

use crate::batch::Batch;
use crate::database;
use crate::error::{Error, Result};
use crate::position::Position;
use rusqlite::{Connection, TransactionBehavior};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use teamlog_team::engine::Reader;
use teamlog_team::projections::Live;
use teamlog_team::{Failure, Team};

/// Use of the events that the database has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Continue at the position of the database.
    Continue,
    /// Remove all rows in the first transaction, and fill the tables from the first event on.
    Replace,
}

/// The result of catching up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Number of events that this transaction stored.
    pub events: u64,
    /// Seq of the last event in the database; 0 if there is none.
    pub seq: u64,
}

/// A database that follows the log of a team.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::atomic::AtomicBool;
/// use teamlog_sqlite::{Export, Mode};
/// use teamlog_team::{Root, RootOptions};
///
/// let root = Root::open(Path::new("."), RootOptions::default())?;
/// let mut export = Export::open(Path::new("team.db"), Mode::Continue)?;
/// let stop = AtomicBool::new(false);
/// let progress = export.catch_up(&mut root.team("demo")?, &stop)?;
/// assert_eq!(export.catch_up(&mut root.team("demo")?, &stop)?.events, 0);
/// # drop(progress);
/// # Ok::<(), teamlog_sqlite::Error>(())
/// ```
#[derive(Debug)]
pub struct Export {
    database: Connection,
    path: PathBuf,
    mode: Mode,
}

impl Export {
    /// Opens the database, and creates it if the file is missing.
    ///
    /// # Errors
    /// `Foreign` for a file of another program; `Version`, unless the mode is `Replace`; `File`, `Database`.
    pub fn open(path: &Path, mode: Mode) -> Result<Export> {
        Ok(Export {
            database: database::open(path, mode == Mode::Replace)?,
            path: path.to_owned(),
            mode,
        })
    }

    /// Stores all events after the position in one transaction, with the rows that they change. After `stop` became true, stores nothing.
    /// Takes time in proportion to the number of new events and of the tasks that they change.
    ///
    /// # Errors
    /// `Replaced` if the log does not continue the position; `Stopped`; errors of the team and of SQLite. After an error the database is
    /// as it was.
    pub fn catch_up(&mut self, team: &mut Team, stop: &AtomicBool) -> Result<Progress> {
        let name = team.name().to_owned();
        let progress =
            team.query(|live, reader| match self.store(&name, live, reader, stop) {
                // The team repairs a damaged derived file, and asks again.
                Err(Error::Team(failure)) => Err(failure),
                stored => Ok::<_, Failure>(stored),
            })??;
        self.mode = Mode::Continue;
        Ok(progress)
    }

    fn store(
        &mut self,
        team: &str,
        live: &Live,
        reader: &Reader,
        stop: &AtomicBool,
    ) -> Result<Progress> {
        let transaction = self
            .database
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if self.mode == Mode::Replace {
            database::create_anew(&transaction)?;
        }
        let known = Position::read(&transaction)?;
        if let Some(known) = &known
            && let Some(why) = known.difference(live, reader)?
        {
            return Err(Error::Replaced {
                path: self.path.display().to_string(),
                team: team.to_owned(),
                why,
            });
        }
        let mut position = Position {
            team: team.to_owned(),
            log_id: reader.identity().log.to_string(),
            seq: known.as_ref().map_or(0, |known| known.seq),
            event_id: known.as_ref().and_then(|known| known.event_id.clone()),
        };
        let first = position.seq;
        let mut batch = Batch::new(&transaction);
        let mut last = None;
        let after = match first {
            0 => None,
            seq => live.place(seq)?,
        };
        // The reader may know later events than the state.
        let end = live.seq();
        if first < end {
            reader.each(after, |located| {
                let event = &located.frame.event;
                if event.seq > end {
                    return Ok(ControlFlow::Break(()));
                }
                if stop.load(Ordering::Relaxed) {
                    return Err(Error::Stopped);
                }
                last = Some((event.seq, event.id));
                batch.take(event)?;
                Ok::<_, Error>(ControlFlow::Continue(()))
            })?;
            batch.finish(live)?;
        }
        if let Some((seq, id)) = last {
            (position.seq, position.event_id) = (seq, Some(id.to_string()));
        }
        if known.as_ref() != Some(&position) {
            position.write(&transaction)?;
            transaction.commit()?;
        }
        Ok(Progress {
            events: position.seq - first,
            seq: position.seq,
        })
    }
}
