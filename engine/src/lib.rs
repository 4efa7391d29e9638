//! A durable, ordered, checksummed log of events for one machine, without a server.
//!
//! A **log** is a directory. One writer at a time holds its lock and appends **groups** of events; after a crash a group is there whole or
//! not at all. Any number of readers, in any number of processes, read up to the **head**, the end of the durable log, without a lock. The
//! bytes are documented and do not depend on this crate: `jsonl`, one event a line, or `binary`.
//!
//! The engine knows no domain. A kind is a string, a payload is canonical JSON, and the creator of a log names its **refs**: fields that
//! point at things, such as an order or a session ([`RefNames`]).
//!
//! # A log in five steps
//!
//! Create a log, append durably, read it back:
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use teamlog_engine::storage::Files;
//! use teamlog_engine::{Durability, Json, Log, LogOptions, NewEvent, NewLog};
//!
//! # let temporary = tempfile::tempdir()?;
//! # let root = temporary.path();
//! let storage = Arc::new(Files::create(root)?);
//! let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
//!
//! let writer = log.lock()?.into_writer(());
//! let called = NewEvent::new("tool_called", "agent-1", Json::parse(r#"{"command": "ls"}"#)?);
//! let appended = writer.append(vec![called], Durability::Synced)?;
//! // Durable: the event survives a power failure.
//! assert_eq!(appended.map(|group| group.last_seq), Some(1));
//! writer.close()?;
//!
//! for event in log.reader()?.events(None) {
//!     let (_place, _crc, event) = event?;
//!     assert_eq!((event.seq, &*event.kind, &*event.payload), (1, "tool_called", r#"{"command":"ls"}"#));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Record a command **once**, under an idempotency key: [`Writer::commit`] runs a decision on the current [`State`] under the lock, and the
//! state folds each event before the next decision sees it.
//!
//! ```
//! use std::{collections::HashSet, convert::Infallible, path::Path, sync::Arc};
//! use teamlog_engine::storage::Memory;
//! use teamlog_engine::{
//!     Durability, Event, Head, Json, Log, LogOptions, NewEvent, NewLog, Place, Ref, Result, State,
//! };
//!
//! #[derive(Default)]
//! struct Keys(HashSet<String>);
//!
//! impl State for Keys {
//!     fn apply(&mut self, events: &[Event<'static>]) -> Result<()> {
//!         let keys = events.iter().filter_map(|event| event.refs.get(Ref::KEY));
//!         self.0.extend(keys.map(str::to_owned));
//!         Ok(())
//!     }
//!     fn committed(&mut self, _: &Head, _: &[Event<'static>], _: &[Place], _: &[u32]) {}
//!     // A log without a journal takes nothing back.
//!     fn allow_retract(&mut self) {}
//!     fn retract(&mut self) {}
//! }
//!
//! # let storage = Arc::new(Memory::new());
//! # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
//! let exclusive = log.lock()?;
//! let mut keys = Keys::default();
//! for event in exclusive.reader().events(None) {
//!     keys.apply(&[event?.2])?;
//! }
//! let writer = exclusive.into_writer(keys);
//! for attempt in 1..=2 {
//!     let call = NewEvent::new("tool_called", "agent-1", Json::parse("{}")?).with_ref(Ref::KEY, "call-17");
//!     let recorded = writer.commit(Durability::Synced, move |keys: &Keys, _now| {
//!         let events = if keys.0.contains("call-17") { vec![] } else { vec![call] };
//!         Ok::<_, Infallible>(((), events))
//!     })?;
//!     assert_eq!(recorded.events.len(), if attempt == 1 { 1 } else { 0 });
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read the events with a value of a **ref** that the log declares:
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use teamlog_engine::storage::Memory;
//! use teamlog_engine::{Durability, Json, Log, LogOptions, NewEvent, NewLog, Ref, RefNames};
//!
//! const ORDER: Ref = Ref::new(0);
//!
//! let options = LogOptions { refs: RefNames::new(["order_id"])?, ..LogOptions::default() };
//! # let storage = Arc::new(Memory::new());
//! let log = Log::create(storage, Path::new("orders"), NewLog::new("orders"), options)?;
//! let writer = log.lock()?.into_writer(());
//! for order in ["7", "8", "7"] {
//!     let paid = NewEvent::new("order_paid", "shop", Json::parse("{}")?).with_ref(ORDER, order);
//!     writer.append(vec![paid], Durability::Buffered)?;
//! }
//! writer.close()?;
//!
//! let events = log.reader()?.events(None).collect::<Result<Vec<_>, _>>()?;
//! let of_order_7 = events.iter().filter(|(.., event)| event.refs.get(ORDER) == Some("7"));
//! assert_eq!(of_order_7.count(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Follow** a log from another thread or process: a [`Watch`] wakes when the head moves, and a reader continues after the last [`Place`].
//!
//! ```
//! use std::{path::Path, sync::Arc, time::Duration};
//! use teamlog_engine::storage::Memory;
//! use teamlog_engine::{Durability, Json, Log, LogOptions, NewEvent, NewLog, Place};
//!
//! # let storage = Arc::new(Memory::new());
//! # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
//! # let writer = log.lock()?.into_writer(());
//! let mut watch = log.watch()?;
//! let mut last: Option<Place> = None;
//! # for seq in 1..3 {
//! # writer.append(vec![NewEvent::new("ticked", "clock", Json::parse("{}")?)], Durability::Synced)?;
//! // In a loop:
//! if watch.wait(Some(Duration::from_secs(1)))? {
//!     for event in log.reader()?.events(last) {
//!         let (place, _, event) = event?;
//!         last = Some(place);
//! #       assert_eq!(event.seq, seq);
//!     }
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Verify** the log, and keep a [`Receipt`]: evidence of all events up to now, which can be checked with `b3sum` alone.
//!
//! ```
//! # use std::{path::Path, sync::Arc};
//! # use teamlog_engine::storage::Memory;
//! # use teamlog_engine::{Durability, Json, Log, LogOptions, NewEvent, NewLog};
//! use teamlog_engine::ReceiptStatus;
//! # let storage = Arc::new(Memory::new());
//! # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
//! # let writer = log.lock()?.into_writer(());
//! # writer.append(vec![NewEvent::new("ticked", "clock", Json::parse("{}")?)], Durability::Synced)?;
//! # writer.close()?;
//!
//! let report = log.verify(None)?;
//! assert!(report.ok, "{:?}", report.problems);
//!
//! let receipt = log.reader()?.receipt()?.ok_or("the log is empty")?;
//! // Later, with the stored receipt:
//! assert_eq!(log.check_receipt(&receipt)?, ReceiptStatus::Holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Project** the log: fold the events into rows that are kept on disk, caught up, and read at any point of the past. See [`projection`].
//!
//! ```
//! use std::{path::Path, sync::Arc};
//! use teamlog_engine::projection::{ProjectionError, ProjectionOptions, RowChanges};
//! # use teamlog_engine::storage::Memory;
//! # use teamlog_engine::{Durability, Json, Log, LogOptions, NewEvent, NewLog};
//! use teamlog_engine::{Event, Point, Projection, Projections};
//!
//! /// Counts the events of each actor.
//! struct Actors;
//!
//! impl Projection for Actors {
//!     fn name(&self) -> &str { "actors" }
//!     fn version(&self) -> u64 { 1 }
//!     fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
//!         rows.add(event.actor.as_bytes(), 1)
//!     }
//! }
//!
//! # let storage = Arc::new(Memory::new());
//! # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
//! # let writer = log.lock()?.into_writer(());
//! # for _ in 0..2 {
//! #     writer.append(vec![NewEvent::new("ticked", "clock", Json::parse("{}")?)], Durability::Synced)?;
//! # }
//! # writer.close()?;
//! let set = vec![Arc::new(Actors) as Arc<dyn Projection>];
//! let mut rows = Projections::open(&log, "activity", set, ProjectionOptions::default())?;
//! assert_eq!(rows.catch_up()?, 2);
//! assert_eq!(rows.number("actors", b"clock")?, Some(2));
//! assert_eq!(rows.at(Point::Seq(1))?.number("actors", b"clock")?, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Backup and recovery
//!
//! [`Log::lock`] **recovers** from a crash: it moves a torn group to `quarantine/`, never an acknowledged one. [`LockedLog::recovered`]
//! describes the recovery. A damaged log is refused (`Corrupt`); [`repair`] cuts it or copies the readable events into a new log.
//! [`backup`] copies a log while its writer continues:
//!
//! ```
//! use std::{path::Path, sync::Arc, time::Duration};
//! use teamlog_engine::backup::{self, Backup};
//! use teamlog_engine::storage::{Memory, Storage};
//! use teamlog_engine::{Clock, Durability, Json, Log, LogOptions, NewEvent, NewLog, SystemClock};
//!
//! # let storage = Arc::new(Memory::new());
//! # let log = Log::create(storage, Path::new("audit"), NewLog::new("audit"), LogOptions::default())?;
//! # let writer = log.lock()?.into_writer(());
//! # writer.append(vec![NewEvent::new("ticked", "clock", Json::parse("{}")?)], Durability::Synced)?;
//! # writer.close()?;
//! let elsewhere: Arc<dyn Storage> = Arc::new(Memory::new()); // Files::create(directory) on another disk
//! let at = Path::new("audit");
//! backup::back_up(&log.reader()?, &elsewhere, at, SystemClock.now(), Duration::from_secs(10))?;
//!
//! let kept = Backup::open(elsewhere, at, LogOptions::default())?;
//! assert!(kept.verify()?.ok);
//! let to = Arc::new(Memory::new());
//! let (restored, _) = kept.restore(to, at, "audit", None, LogOptions::default())?;
//! assert_eq!(restored.reader()?.head().last_seq, 2); // The event, and one that records the restore.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! Most names are at the root. [`storage`] is the access to files, [`limits`] has the limits, [`journal`] orders a log that several hosts
//! write. [`internals`] is for the crates that are released with this one and for tools that read its files: it follows no semantic
//! versioning.
//!
//! # Features
//!
//! `schema` derives `schemars::JsonSchema` for receipts, reports and plans. It is off by default.
//!
//! # Errors
//!
//! Functions that read or write files can return I/O errors. Functions that read a log can also return `Corrupt`. A section `# Errors`
//! names other errors.
#![deny(unsafe_code)]

// Imports lead in one direction. From the bottom: names, limits and values (`layout`, `limits`, `timestamp`, `event`,
// `storage`); the files of a log (`identity`, `head`, `segment`, `codec`, `witness`, `lock`) and the rule of their
// order (`sequence`, `tail`); `reader`, and beside it `chain` and `journal`; `recovery`; `writer`; `log`, which
// combines these; and modules for a whole log: `receipt`, `verify`, `copy`, `convert`, `repair`, `backup`. `derived` is
// independent of the log, and knows its events only by their places; `pipeline` folds a log into it, and `projection` keeps the
// rows of programs by both.
mod adoption;
pub mod backup;
mod blob;
mod chain;
mod clock;
mod codec;
mod comparison;
mod convert;
mod copy;
mod derived;
mod error;
mod event;
mod event_id;
mod head;
mod identifier;
mod identity;
pub mod internals;
pub mod journal;
mod json;
mod layout;
pub mod limits;
mod lock;
mod log;
mod options;
mod pipeline;
mod place;
mod prelude;
pub mod projection;
mod reader;
mod receipt;
mod recovery;
mod refs;
pub mod repair;
mod segment;
mod sequence;
pub mod storage;
mod tail;
mod timestamp;
mod uuid;
pub mod verify;
mod watch;
mod witness;
mod words;
mod writer;

pub use clock::{Clock, ManualClock, SystemClock};
pub use convert::{Conversion, Size};
pub use error::{Error, JournalFault, Result, Rollback};
pub use event::{Cause, Event, NewEvent};
pub use event_id::{EventId, IdSource, RandomIds, SeededIds};
pub use head::Head;
pub use identity::{Format, Identity, JournalIdentity, LogId};
pub use json::{Json, JsonError};
pub use log::{AcceptedRollback, LockedLog, Log, LostEvent, NewLog, RolledBackLog};
pub use options::LogOptions;
pub use place::Place;
pub use projection::{Projection, Projections};
pub use reader::{Point, Reader};
pub use receipt::{Receipt, ReceiptStatus};
pub use refs::{REF_NAME_BYTES_MAX, REFS_MAX, Ref, RefNames, Refs};
pub use timestamp::Timestamp;
pub use watch::Watch;
pub use writer::{
    AppendedGroup, Commit, CommitError, Durability, Room, State, Writer, WriterCounts,
};
