//! Operations on workers: who they are, what they say of themselves, what they are told.

use super::operation::Op;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::refusal::Refusal;
use crate::worker::record::{
    HeartbeatAnswer, ReadHeartbeat, UpdateHeartbeat, WorkerAnswer, WriteIdentity, WriteInbox,
};
use crate::worker::status::{ReadStatus, StatusAnswer, WriteStatus};

impl Op for WriteIdentity {
    type Data = WorkerAnswer;
    const NAME: &'static str = "write-worker-identity";
    const DOC: &'static str = "Register a worker, or replace what is known of it";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<WorkerAnswer> {
        team.write_identity(self)
    }
}

impl Op for ReadStatus {
    type Data = StatusAnswer;
    const NAME: &'static str = "read-worker-status";
    const DOC: &'static str = "Read what a worker last said that it does";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<StatusAnswer> {
        team.read_worker_status(self)
    }

    fn without_team(&self, _: Refusal) -> Result<StatusAnswer> {
        Ok(StatusAnswer::unknown(&self.worker))
    }
}

impl Op for WriteStatus {
    type Data = StatusAnswer;
    const NAME: &'static str = "write-worker-status";
    const DOC: &'static str = "Say what a worker does";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<StatusAnswer> {
        team.write_worker_status(self)
    }
}

impl Op for ReadHeartbeat {
    type Data = HeartbeatAnswer;
    const NAME: &'static str = "read-worker-heartbeat";
    const DOC: &'static str = "Read a worker's last sign of life";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<HeartbeatAnswer> {
        team.read_heartbeat(self)
    }

    fn without_team(&self, _: Refusal) -> Result<HeartbeatAnswer> {
        Ok(HeartbeatAnswer {
            worker: self.worker.clone(),
            heartbeat: None,
        })
    }
}

impl Op for UpdateHeartbeat {
    type Data = WorkerAnswer;
    const NAME: &'static str = "update-worker-heartbeat";
    const DOC: &'static str = "Give a worker's sign of life";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<WorkerAnswer> {
        team.update_heartbeat(self)
    }
}

impl Op for WriteInbox {
    type Data = WorkerAnswer;
    const NAME: &'static str = "write-worker-inbox";
    const DOC: &'static str = "Replace a worker's instructions";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<WorkerAnswer> {
        team.write_inbox(self)
    }
}
