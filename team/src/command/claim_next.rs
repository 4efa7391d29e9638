//! `claim-next-task`: a worker takes the best task that there is for it.

use super::append::DEFAULT_ACTOR;
use super::task_claim::{check_worker, claimed, take, token};
use super::task_create::record;
use crate::act::{Act, Ruling};
use crate::failure::Result;
use crate::holding::{self, Scene, lease_end};
use crate::projections::{Live, Status, Task, natural};
use crate::task_record::TaskRecord;
use crate::team::Team;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use teamlog_engine::{Event, NewEvent, Timestamp};

/// Most leases that ran out and are looked at; `tick` sees to more.
const EXPIRED_MAX: usize = 64;

/// What `claim-next-task` is asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimNext {
    /// Who takes it
    pub worker: String,
    /// How long the claim counts unless it is renewed, in milliseconds; else 15 minutes
    #[schemars(range(min = 1_000, max = 86_400_000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
}

/// `{ok, task, claimToken?, epoch?, leased_until?}`; `task` is `null` where nothing is ready for the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimNextAnswer {
    /// Always true
    pub ok: bool,
    /// The task; `null` where nothing is ready for the worker
    pub task: Option<TaskRecord>,
    /// What to present to renew, complete, fail or release it
    #[serde(
        rename = "claimToken",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub claim_token: Option<String>,
    /// The same in short: the number of this claim among those of the task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// The claim counts before that moment
    #[schemars(with = "Option<Timestamp>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leased_until: Option<String>,
}

/// A claim with the token it will have.
#[derive(Debug, Clone)]
struct Job {
    claim: ClaimNext,
    token: String,
}

impl Team {
    /// Takes the best task that is ready for a worker: most urgent first, then oldest, then by id.
    ///
    /// # Errors
    /// `worker_not_found`, `invalid_input`, `team_closed`; the log's.
    pub fn claim_next(&mut self, claim: ClaimNext) -> Result<ClaimNextAnswer> {
        let token = token(&*self.options.ids);
        self.perform(Job { claim, token })
    }
}

impl Act for Job {
    /// The task that was taken.
    type Verdict = Option<String>;
    type Answer = ClaimNextAnswer;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Ruling<Option<String>>> {
        let worker = &self.claim.worker;
        check_worker(live, worker)?;
        let until = lease_end(self.claim.lease_ms, now)?;
        let mut events: Vec<NewEvent> = Vec::new();
        let ready = live.ready_tasks(Some(worker), None, 1)?.tasks.pop();
        let mut best = ready.map(|task| (task, None));
        for mut task in live.expired_tasks(now, EXPIRED_MAX)? {
            let overdue = Some(events.len());
            holding::expire(live, &mut task, now, DEFAULT_ACTOR, &mut events)?;
            let better = |(best, _): &(Task, _)| rank(&task) < rank(best);
            if task.status == Status::Pending && best.as_ref().is_none_or(better) {
                best = Some((task, overdue));
            }
        }
        let Some((task, overdue)) = best else {
            return Ok(Ruling::Granted(None, events));
        };
        let id = task.task_id.clone();
        let mut scene = Scene { task, events };
        take(live, &mut scene, worker, (&self.token, until), overdue)?;
        Ok(Ruling::Granted(Some(id), scene.events))
    }

    fn answer(
        &self,
        live: &Live,
        taken: &Option<String>,
        _: &[Event<'static>],
        now: Timestamp,
    ) -> Result<ClaimNextAnswer> {
        let Some(id) = taken else {
            return Ok(ClaimNextAnswer {
                ok: true,
                task: None,
                claim_token: None,
                epoch: None,
                leased_until: None,
            });
        };
        let claimed = claimed(record(live, id, now)?, self.token.clone());
        Ok(ClaimNextAnswer {
            ok: true,
            task: Some(claimed.task),
            claim_token: Some(claimed.claim_token),
            epoch: Some(claimed.epoch),
            leased_until: Some(claimed.leased_until),
        })
    }
}

/// The order in which work is taken up.
fn rank(task: &Task) -> (Reverse<u8>, Timestamp, Vec<u8>) {
    let mut key = Vec::new();
    natural::encode(&task.task_id, &mut key);
    (Reverse(task.priority as u8), task.created_at, key)
}
