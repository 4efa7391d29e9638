//! `write-shutdown-request`, `write-shutdown-ack`, `read-shutdown-ack`: request a worker's shutdown and record its
//! answer.

use crate::doubts::RecipientDoubts;
use crate::operation::prelude::*;
use crate::projections::worker::ShutdownAckShown;
use crate::projections::worker::event::{AckStatus, ShutdownAck, ShutdownRequest, WorkerAct};
use crate::worker::record::WorkerAnswer;

operation! {
    /// Ask a worker to stop
    "write-shutdown-request": Records(RequestShutdown {
        /// Name of the worker
        worker: String,
        /// Agent that asks the worker to stop
        requested_by: String,
    }) -> WorkerAnswer as request_shutdown,
    refuses = [WorkerNotFound]
}

operation! {
    /// Read a worker's answer to its shutdown request
    "read-shutdown-ack": Reads(ReadAck {
        /// Name of the worker
        worker: String,
        /// Time, ISO 8601; older answers are ignored
        min_updated_at: Option<String>,
    }) -> AckAnswer = Team::read_shutdown_ack,
    empty = |asked, _| AckAnswer::none(&asked.worker)
}

operation! {
    /// Record that a worker accepts or rejects its shutdown
    "write-shutdown-ack": Records(WriteAck {
        /// Name of the worker
        worker: String,
        /// Answer of the worker: `accept` or `reject`
        #[schemars(with = "AckStatus")]
        status: String,
        /// Reason of the answer
        reason: Option<String>,
    }) -> AckAnswer as write_shutdown_ack,
    refuses = [WorkerNotFound]
}

/// The answer `{worker, ack}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AckAnswer {
    /// Name of the worker
    pub worker: String,
    /// The worker's answer; `null` if there is none, or if the answer is older than `min_updated_at`
    pub ack: Option<ShutdownAckShown>,
}

impl AckAnswer {
    /// Returns the answer for a worker that has not answered.
    pub(crate) fn none(worker: &str) -> AckAnswer {
        AckAnswer {
            worker: worker.to_owned(),
            ack: None,
        }
    }
}

impl Team {
    /// Returns a worker's last answer to a shutdown request. If `min_updated_at` is not a valid time, returns no answer.
    pub fn read_shutdown_ack(&mut self, read: ReadAck) -> Result<AckAnswer> {
        names::check_known("worker", &read.worker)?;
        let counts = |at: Timestamp| match &read.min_updated_at {
            None => true,
            Some(bound) => Timestamp::parse(bound).is_ok_and(|bound| at >= bound),
        };
        self.query(|live, _| {
            let ack = live.shutdown_ack(&read.worker)?;
            Ok(AckAnswer {
                worker: read.worker.clone(),
                ack: ack.filter(|ack| counts(ack.at)).map(Into::into),
            })
        })
    }
}

impl Command for RequestShutdown {
    type Decided = RecipientDoubts;
    type Answer = WorkerAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<RecipientDoubts>> {
        membership::check(live, "worker", &self.worker)?;
        names::check_free("requested_by", &self.requested_by)?;
        let request = WorkerAct::ShutdownRequested(ShutdownRequest {
            requested_by: self.requested_by.clone(),
        });
        let event = request.event(&self.requested_by, &self.worker);
        let doubts = RecipientDoubts::of_recipient(live, &self.worker, &self.requested_by)?;
        Ok(Decision::Granted(doubts, vec![event]))
    }

    fn answer(&self, doubts: &RecipientDoubts, _: &After<'_>) -> Result<WorkerAnswer> {
        Ok(WorkerAnswer {
            doubts: doubts.clone(),
            ..WorkerAnswer::new(&self.worker)
        })
    }
}

impl Command for WriteAck {
    type Decided = ();
    type Answer = AckAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let mut events = membership::enter(live, "worker", &self.worker)?;
        let (from_name, rule) = (AckStatus::from_name, AckStatus::rule);
        let ack = WorkerAct::ShutdownAcked(ShutdownAck {
            status: names::word("status", &self.status, from_name, rule)?,
            reason: self.reason.clone(),
        });
        events.push(ack.event(&self.worker, &self.worker));
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<AckAnswer> {
        Ok(AckAnswer {
            worker: self.worker.clone(),
            ack: after.live.shutdown_ack(&self.worker)?.map(Into::into),
        })
    }
}
