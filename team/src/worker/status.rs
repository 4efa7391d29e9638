//! `write-worker-status`, `read-worker-status`: the status of a worker. Writing an equal status changes nothing and wakes no
//! reader.

use crate::operation::prelude::*;
use crate::projections::worker::StatusShown;
use crate::projections::worker::event::{StatusChange, WorkerState};

operation! {
    /// Read a worker's last status
    "read-worker-status": Reads(ReadStatus {
        /// Name of the worker
        worker: String,
    }) -> StatusAnswer = Team::read_worker_status,
    empty = |asked, _| StatusAnswer::unknown(&asked.worker)
}

operation! {
    /// Record the status of a worker
    "write-worker-status": Records(WriteStatus {
        /// Name of the worker
        worker: String,
        /// State of the worker
        #[schemars(with = "WorkerState")]
        state: String,
        /// Task that the worker works on
        current_task_id: Option<String>,
        /// Reason of the state
        reason: Option<String>,
    }) -> StatusAnswer as write_worker_status,
    refuses = [WorkerNotFound]
}

/// The answer `{worker, status}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusAnswer {
    /// Name of the worker
    pub worker: String,
    /// Status of the worker
    pub status: StatusShown,
}

impl StatusAnswer {
    /// Returns the answer for a worker without a status.
    pub(crate) fn unknown(worker: &str) -> StatusAnswer {
        StatusAnswer {
            worker: worker.to_owned(),
            status: StatusShown::unknown(),
        }
    }

    fn read(live: &Live, worker: &str) -> Result<StatusAnswer> {
        Ok(match live.worker_status(worker)? {
            Some(status) => StatusAnswer {
                worker: worker.to_owned(),
                status: status.into(),
            },
            None => StatusAnswer::unknown(worker),
        })
    }
}

impl Team {
    /// Returns a worker's last status.
    pub fn read_worker_status(&mut self, read: ReadStatus) -> Result<StatusAnswer> {
        names::check_known("worker", &read.worker)?;
        self.query(|live, _| StatusAnswer::read(live, &read.worker))
    }
}

impl Command for WriteStatus {
    type Decided = ();
    type Answer = StatusAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let mut events = membership::enter(live, "worker", &self.worker)?;
        names::check_known_given([("current_task_id", &self.current_task_id)])?;
        let before = live.worker_status(&self.worker)?.map(|noted| noted.what);
        let (from_name, rule) = (WorkerState::from_name, WorkerState::rule);
        let change = StatusChange {
            state: names::word("state", &self.state, from_name, rule)?,
            prev_state: before.as_ref().map(|before| before.state),
            current_task_id: self.current_task_id.clone(),
            reason: self.reason.clone(),
        };
        let same = before.is_some_and(|before| {
            StatusChange {
                prev_state: before.prev_state,
                ..change.clone()
            } == before
        });
        if !same {
            let task = change.current_task_id.as_deref();
            let trace = page::trace_of_task(live, task)?;
            events.push(change.event(&self.worker, trace.as_deref()));
        }
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<StatusAnswer> {
        StatusAnswer::read(after.live, &self.worker)
    }
}
