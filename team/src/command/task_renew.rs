//! `renew-task-claim`: the holder of a claim gets more time.

use super::append::DEFAULT_ACTOR;
use super::task_claim::{ClaimAnswer, claimed};
use super::task_create::record;
use crate::act::{Act, Ruling};
use crate::failure::Result;
use crate::holding::{Hold, Scene, check_expected, lease_end};
use crate::names;
use crate::projections::Live;
use crate::projections::fact::{Lease, TaskAct};
use crate::team::Team;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_engine::{Event, Timestamp};

/// What `renew-task-claim` is asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRenew {
    /// The task
    pub task_id: String,
    /// What the claim was answered with; required unless `epoch` is given
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_token: Option<String>,
    /// The number of the claim, in place of its token
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Who presents the claim; with an epoch alone that must be its holder, and so must an `actor`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Whether the claim may be somebody else's; recorded. Its token or epoch must be right all the same
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// How long the claim counts from now on at least, in milliseconds; else 15 minutes
    #[schemars(range(min = 1_000, max = 86_400_000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// The version that the task must have
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

impl Team {
    /// Prolongs the lease of a claim; it never shortens one.
    ///
    /// # Errors
    /// `task_not_found`, `already_terminal`, `claim_conflict`, `not_holder`, `lease_expired`, `version_conflict`, `invalid_input`,
    /// `team_closed`; the log's.
    pub fn task_renew(&mut self, renew: TaskRenew) -> Result<ClaimAnswer> {
        self.perform(renew)
    }
}

impl Act for TaskRenew {
    /// The token of the claim.
    type Verdict = String;
    type Answer = ClaimAnswer;
    const GRANTS: bool = true;

    fn admits(&self, live: &Live, actor: Option<&str>, _: Timestamp) -> Result<()> {
        let presenters = [("worker", self.worker.as_deref()), ("actor", actor)];
        self.hold().admits(live, &self.task_id, presenters)
    }

    fn names_actor(&self) -> bool {
        // A token is its holder's own.
        self.worker.is_some() || self.claim_token.is_some()
    }

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Ruling<String>> {
        let hold = self.hold().check()?;
        if let Some(worker) = &self.worker {
            names::check_known("worker", worker)?;
        }
        let until = lease_end(self.lease_ms, now)?;
        check_expected(self.expected_version)?;
        let scene = Scene::of(live, &self.task_id, now)?;
        scene.ruling(|scene| {
            scene.check_open()?;
            scene.check_version(self.expected_version)?;
            let claim = scene.held(hold)?;
            let lease = Lease {
                held: hold.held(&scene.task, &claim),
                leased_until: until.max(claim.leased_until),
            };
            let unnamed = if self.force {
                DEFAULT_ACTOR
            } else {
                &claim.owner
            };
            let actor = self.worker.as_deref().unwrap_or(unnamed);
            scene.act(TaskAct::Renewed(lease), actor, Some(&claim.owner));
            Ok(claim.token)
        })
    }

    fn answer(
        &self,
        live: &Live,
        token: &String,
        _: &[Event<'static>],
        now: Timestamp,
    ) -> Result<ClaimAnswer> {
        Ok(claimed(record(live, &self.task_id, now)?, token.clone()))
    }
}

impl TaskRenew {
    fn hold(&self) -> Hold<'_> {
        Hold {
            token: self.claim_token.as_deref(),
            epoch: self.epoch,
            force: self.force,
        }
    }
}
