//! Projections of one's own: rows that a program folds from a log, kept on disk and caught up with the log.
//!
//! A [`Projection`] is a pure function: it reads an event and changes rows, which are byte keys with byte values. A set of projections
//! ([`Projections`]) keeps the rows in sorted runs in a directory below the log's directory, `projections/NAME/`. The directory is
//! derived data: it may be deleted at any time, and it is folded again after damage, after a change of a version, and after another log
//! replaced the log. Rows never differ from a fold of the whole log.
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use teamlog_engine::projection::{Projection, ProjectionError, ProjectionOptions, Projections, RowChanges};
//! # use teamlog_engine::storage::Memory;
//! # use teamlog_engine::{Durability, Event, Json, Log, LogOptions, NewEvent, NewLog, Point};
//!
//! /// Counts the events of each kind.
//! struct Kinds;
//!
//! impl Projection for Kinds {
//!     fn name(&self) -> &str {
//!         "kinds"
//!     }
//!     fn version(&self) -> u64 {
//!         1
//!     }
//!     fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
//!         rows.add(event.kind.as_bytes(), 1)
//!     }
//! }
//!
//! # let storage = Arc::new(Memory::new());
//! # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
//! # let writer = log.lock()?.into_writer(());
//! # for kind in ["called", "called", "answered"] {
//! #     writer.append(vec![NewEvent::new(kind, "agent-1", Json::parse("{}")?)], Durability::Synced)?;
//! # }
//! # writer.close()?;
//! let mut counts = Projections::open(&log, "counts", vec![Arc::new(Kinds)], ProjectionOptions::default())?;
//! assert_eq!(counts.catch_up()?, 3); // The seq of the last folded event.
//! assert_eq!(counts.number("kinds", b"called")?, Some(2));
//!
//! // The rows as of event 1.
//! let past = counts.at(Point::Seq(1))?;
//! assert_eq!(past.number("kinds", b"called")?, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several programs
//!
//! Several processes may have the same set open. One at a time writes runs; the others fold the rest in memory and never wait. A set
//! belongs to the programs that open it: other programs that use the log neither read nor fold its rows.

mod fold;
mod rows;
mod scan;
mod set;
mod view;

pub use crate::pipeline::Progress;
pub use rows::RowChanges;
pub use scan::{Row, RowScan};
pub use set::{ProjectionOptions, remove};
pub use view::{ProjectionRows, Projections};

use crate::error::Error;
use crate::event::Event;

/// A deterministic fold of events into rows of its own.
///
/// A fold reads no clock, no file and no random bits, so that the same log always gives the same rows. It receives every event of the
/// log, in order, also events with [`Event::foreign`].
pub trait Projection: Send + Sync {
    /// Returns the name: 1 to 64 bytes of `a` to `z`, `0` to `9`, `_` and `-`, unique in its set.
    fn name(&self) -> &str;

    /// Returns the version. Raise the version if the fold changes, or the bytes of the rows: the whole set is then folded again.
    fn version(&self) -> u64;

    /// Returns true if [`Projection::apply`] must see the event. Default: every event.
    fn wants(&self, event: &Event<'_>) -> bool {
        let _ = event;
        true
    }

    /// Folds one event.
    ///
    /// # Errors
    /// An error stops the set before this event. None of the event's changes are kept, and [`Projections::catch_up`] reports the
    /// projection and the seq of the event.
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError>;
}

/// The error of a fold.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// A row could not be read or changed. Return this error unchanged, as `?` does.
    #[error(transparent)]
    Rows(#[from] Error),
    /// The projection cannot fold the event.
    #[error("{0}")]
    Event(String),
}

impl ProjectionError {
    /// Creates the error for an event that the projection cannot fold. `why` is text for people.
    pub fn new(why: impl Into<String>) -> ProjectionError {
        ProjectionError::Event(why.into())
    }
}
