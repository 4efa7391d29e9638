//! The state of a team now: the derived store, and over it the events that no run holds yet.
//!
//! [`Live`] rides with the engine's writer as its [`State`]: `apply` folds what is about to be written, and
//! `committed` notes the places and brings the views up to date. Queries cost as much as what they
//! answer, whatever the length of the history.

use crate::error::Result;
use crate::message::{Message, MessageType};
use crate::messages::{AgentInfo, InboxQuery, LastSent, MessageInfo, SeqPage, Unacked};
use crate::tasks::{Task, TaskCounts, TaskFilter, TaskPage};
use crate::team::TeamInfo;
use crate::views::Mended;
use teamlog_engine::{Event, Head, Log, Place, Reader, RefKind, State, Timestamp};

/// The state of a team.
pub struct Live {}

/// How many of what the team's log holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events, foreign ones included.
    pub events: u64,
    /// Messages sent.
    pub messages: u64,
    /// Messages acknowledged.
    pub acks: u64,
    /// Tasks.
    pub tasks: u64,
}

impl Live {
    /// Loads the state up to the reader's head: opens the derived store, rebuilds what is damaged or missing, folds the tail.
    /// Views are left alone until [`Live::keep_views`].
    ///
    /// # Errors
    /// `Corrupt`, I/O, `Undecodable`.
    pub fn load(log: &Log, reader: &Reader) -> Result<Live> {
        let _ = (log, reader);
        todo!()
    }
    /// The state as it was once `seq` was recorded, folded from scratch in memory; its cost grows with history.
    /// Such a state writes neither runs nor views.
    ///
    /// # Errors
    /// As [`Live::load`].
    pub fn at(log: &Log, reader: &Reader, seq: u64) -> Result<Live> {
        let _ = (log, reader, seq);
        todo!()
    }
    /// For the holder of the log's lock: mends the views that a crash left behind the head, and keeps them current from
    /// now on. Does nothing for a team without views.
    ///
    /// # Errors
    /// I/O.
    pub fn keep_views(&mut self, reader: &Reader) -> Result<Mended> {
        let _ = reader;
        todo!()
    }
    /// Puts the tail into a run if it is longer than [`TAIL_BYTES_MAX`] or [`TAIL_EVENTS_MAX`], then merges runs
    /// of at most [`MERGE_BYTES_MAX`]. Cheap when nothing is due. Does nothing while buffered events are not yet written.
    ///
    /// # Errors
    /// I/O.
    pub fn flush_if_due(&mut self) -> Result<()> {
        todo!()
    }
    /// After an error that [`is_derived`](crate::Error::is_derived): loads the state anew, rebuilding the damaged runs.
    ///
    /// # Errors
    /// As [`Live::load`].
    pub fn repair(&mut self) -> Result<()> {
        todo!()
    }
    /// The last event that the state covers; 0 for an empty log.
    pub fn seq(&self) -> u64 {
        todo!()
    }
    /// The digest of the state, as lower-case hex: equal to that of a rebuilt state. Reads all of it.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn digest(&self) -> Result<String> {
        todo!()
    }

    // --- the team -------------------------------------------------------------------------------

    /// The team, once `team_created` is recorded.
    ///
    /// # Errors
    /// I/O, `Derived` (so for all queries).
    pub fn team(&self) -> Result<Option<TeamInfo>> {
        todo!()
    }
    /// All members, sorted.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn members(&self) -> Result<Vec<String>> {
        todo!()
    }
    /// Whether an agent is a member.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn is_member(&self, name: &str) -> Result<bool> {
        let _ = name;
        todo!()
    }
    /// How many of what there are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn counts(&self) -> Result<Counts> {
        todo!()
    }
    /// How many events of a reserved kind there are.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn count_of(&self, kind: &str) -> Result<u64> {
        let _ = kind;
        todo!()
    }

    // --- messages -------------------------------------------------------------------------------

    /// A message by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn message(&self, id: &str) -> Result<Option<MessageInfo>> {
        let _ = id;
        todo!()
    }
    /// An agent's inbox in numbers; zeros for one that never got anything.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn agent(&self, name: &str) -> Result<AgentInfo> {
        let _ = name;
        todo!()
    }
    /// All agents that have an inbox, sorted by name.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn agents(&self) -> Result<Vec<AgentInfo>> {
        todo!()
    }
    /// A page of an inbox: the newest `limit` messages, oldest of the page first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn inbox(&self, agent: &str, query: InboxQuery) -> Result<SeqPage> {
        let _ = (agent, query);
        todo!()
    }
    /// When a message of that type was last sent to `to` about that task (for the cooldown).
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn last_sent(
        &self,
        to: &str,
        task_id: Option<&str>,
        kind: MessageType,
    ) -> Result<Option<LastSent>> {
        let _ = (to, task_id, kind);
        todo!()
    }
    /// The oldest messages that were recorded before `before` and never acknowledged, oldest first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn stale_messages(&self, before: Timestamp, limit: usize) -> Result<Vec<Unacked>> {
        let _ = (before, limit);
        todo!()
    }

    // --- tasks ----------------------------------------------------------------------------------

    /// A task by its id.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn task(&self, id: &str) -> Result<Option<Task>> {
        let _ = id;
        todo!()
    }
    /// Tasks in natural order, behind the one with id `after` (which need not exist).
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn tasks(
        &self,
        filter: &TaskFilter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
        let _ = (filter, after, limit);
        todo!()
    }
    /// Whether all dependencies of a task are completed.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn ready(&self, task: &Task) -> Result<bool> {
        let _ = task;
        todo!()
    }
    /// How many tasks are in each state.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn task_counts(&self) -> Result<TaskCounts> {
        todo!()
    }
    /// Tasks in state `blocked` or reported blocked, in natural order.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn blocked_tasks(&self, after: Option<&str>, limit: usize) -> Result<TaskPage> {
        let _ = (after, limit);
        todo!()
    }
    /// Unfinished tasks last updated before `before`, longest untouched first.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn stale_tasks(&self, before: Timestamp, limit: usize) -> Result<Vec<Task>> {
        let _ = (before, limit);
        todo!()
    }
    /// Whether the message recorded by that event came too late and changed nothing.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn superseded(&self, seq: u64) -> Result<bool> {
        let _ = seq;
        todo!()
    }

    // --- events ---------------------------------------------------------------------------------

    /// The newest `limit` events before `before` that name `value` as their ref of that kind.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn with_ref(
        &self,
        kind: RefKind,
        value: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<SeqPage> {
        let _ = (kind, value, before, limit);
        todo!()
    }
    /// Where an event lies; `None` past the state's end.
    ///
    /// # Errors
    /// I/O, `Derived`.
    pub fn place(&self, seq: u64) -> Result<Option<Place>> {
        let _ = seq;
        todo!()
    }
    /// Reads an event by its seq.
    ///
    /// # Errors
    /// `Corrupt`, I/O, `Derived`.
    pub fn event(&self, reader: &Reader, seq: u64) -> Result<Option<Event<'static>>> {
        let _ = (reader, seq);
        todo!()
    }
    /// Reads the message that an event recorded.
    ///
    /// # Errors
    /// As [`Live::event`]; `Undecodable` if it recorded none.
    pub fn sent(&self, reader: &Reader, seq: u64) -> Result<Option<Message>> {
        let _ = (reader, seq);
        todo!()
    }
}

impl State for Live {
    fn apply(&mut self, events: &[Event<'static>]) -> teamlog_engine::Result<()> {
        let _ = events;
        todo!()
    }
    fn committed(
        &mut self,
        head: &Head,
        events: &[Event<'static>],
        places: &[Place],
        crcs: &[u32],
    ) {
        let _ = (head, events, places, crcs);
        todo!()
    }
}

/// A tail of more bytes of log becomes a run.
pub const TAIL_BYTES_MAX: u64 = 256 << 10;
/// A tail of more events becomes a run.
pub const TAIL_EVENTS_MAX: usize = 512;
/// A command merges no more bytes than this.
pub const MERGE_BYTES_MAX: u64 = 16 << 20;
