//! A team: load, decide, append, fold.

use crate::command::ack::{Ack, AckAnswer};
use crate::command::append::{Append, AppendAnswer};
use crate::command::append_batch::{AppendBatch, BatchAnswer};
use crate::command::head::HeadAnswer;
use crate::command::read::{Read, ReadAnswer};
use crate::command::rehydrate::{Rehydrate, RehydrateAnswer};
use crate::command::replay::Replay;
use crate::command::send::{Send, SendAnswer};
use crate::command::status::{Status, StatusAnswer};
use crate::command::task_assign::TaskAssign;
use crate::command::task_show::{TaskShow, TaskShowAnswer};
use crate::command::task_update::TaskUpdate;
use crate::command::tasks::{Tasks, TasksAnswer};
use crate::command::trace::{Trace, TraceAnswer};
use crate::command::verify::VerifyAnswer;
use crate::failure::Result;
use std::io::BufRead;
use std::ops::ControlFlow;
use teamlog_engine::{Event, Log, Receipt};

/// A handle on one team. Mutations take the team's lock for their own duration; queries take none.
#[derive(Debug)]
pub struct Team {
    log: Log,
}

impl Team {
    /// The team's name.
    pub fn name(&self) -> &str {
        &self.log.identity().team
    }
    /// Its log.
    pub fn log(&self) -> &Log {
        &self.log
    }
    /// What recovery did when this handle last took the lock, for people; empty in the clean case.
    pub fn recovered(&self) -> &[String] {
        todo!()
    }
    /// Work that may follow the answer: flush and merge derived runs. Call it once the answer is printed; a failure
    /// here costs time later and loses nothing.
    ///
    /// # Errors
    /// I/O.
    pub fn finish(&mut self) -> Result<()> {
        todo!()
    }

    /// Sends a message.
    ///
    /// # Errors
    /// `invalid_input`, `worker_not_found`, `created_at_ahead`; the log's.
    pub fn send(&mut self, send: Send) -> Result<SendAnswer> {
        let _ = send;
        todo!()
    }
    /// Assigns a task.
    ///
    /// # Errors
    /// As [`Team::send`].
    pub fn task_assign(&mut self, assign: TaskAssign) -> Result<SendAnswer> {
        let _ = assign;
        todo!()
    }
    /// Reports on a task.
    ///
    /// # Errors
    /// As [`Team::send`].
    pub fn task_update(&mut self, update: TaskUpdate) -> Result<SendAnswer> {
        let _ = update;
        todo!()
    }
    /// Acknowledges a message.
    ///
    /// # Errors
    /// `invalid_input`, `worker_not_found`; the log's.
    pub fn ack(&mut self, ack: Ack) -> Result<AckAnswer> {
        let _ = ack;
        todo!()
    }
    /// Records a fact of somebody else's vocabulary.
    ///
    /// # Errors
    /// `invalid_input`, `reserved_kind`; the log's.
    pub fn append(&mut self, append: Append) -> Result<AppendAnswer> {
        let _ = append;
        todo!()
    }
    /// Records many, from JSON lines, in bounded memory. At a bad line everything before its batch is in the log,
    /// and the refusal's details say how much.
    ///
    /// # Errors
    /// `invalid_input`, `reserved_kind`, `too_large` (each with the line); the log's, the source's.
    pub fn append_batch(
        &mut self,
        batch: AppendBatch,
        source: &mut dyn BufRead,
    ) -> Result<BatchAnswer> {
        let _ = (batch, source);
        todo!()
    }

    /// A page of an inbox.
    ///
    /// # Errors
    /// `worker_not_found`, `cursor_unknown`; the log's.
    pub fn read(&mut self, read: Read) -> Result<ReadAnswer> {
        let _ = read;
        todo!()
    }
    /// The team's state.
    ///
    /// # Errors
    /// The log's.
    pub fn status(&mut self, status: Status) -> Result<StatusAnswer> {
        let _ = status;
        todo!()
    }
    /// The events of a story.
    ///
    /// # Errors
    /// `invalid_input`, `cursor_unknown`; the log's.
    pub fn trace(&mut self, trace: Trace) -> Result<TraceAnswer> {
        let _ = trace;
        todo!()
    }
    /// The tasks.
    ///
    /// # Errors
    /// `invalid_input`, `cursor_unknown`; the log's.
    pub fn tasks(&mut self, tasks: Tasks) -> Result<TasksAnswer> {
        let _ = tasks;
        todo!()
    }
    /// One task.
    ///
    /// # Errors
    /// `task_not_found`; the log's.
    pub fn task_show(&mut self, show: TaskShow) -> Result<TaskShowAnswer> {
        let _ = show;
        todo!()
    }
    /// Hands the chosen events to `each`, in order, as they are and as public JSON (without newline), until it
    /// breaks. Returns how many it was given.
    ///
    /// # Errors
    /// `invalid_input`; the log's.
    pub fn replay(
        &mut self,
        replay: Replay,
        each: &mut dyn FnMut(&Event<'_>, &[u8]) -> ControlFlow<()>,
    ) -> Result<u64> {
        let _ = (replay, each);
        todo!()
    }
    /// Hands every event to `each` as its public JSON line (without newline), until it breaks; lossless. Returns how many.
    ///
    /// # Errors
    /// The log's.
    pub fn export(&mut self, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<u64> {
        let _ = each;
        todo!()
    }
    /// Checks every byte of the log, and (if given) that a receipt still holds.
    ///
    /// # Errors
    /// I/O. Damage is an answer, not an error.
    pub fn verify(&self, against: Option<&Receipt>) -> Result<VerifyAnswer> {
        let _ = against;
        todo!()
    }
    /// A receipt for everything up to now.
    ///
    /// # Errors
    /// `invalid_input` for an empty log; the log's.
    pub fn head(&mut self) -> Result<HeadAnswer> {
        todo!()
    }
    /// Builds everything derived anew. `progress` hears `(events done, events in all)` now and then.
    ///
    /// # Errors
    /// The log's.
    pub fn rehydrate(
        &mut self,
        rehydrate: Rehydrate,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RehydrateAnswer> {
        let _ = (rehydrate, progress);
        todo!()
    }
}
