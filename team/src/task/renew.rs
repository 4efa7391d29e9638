//! `renew-task-claim`: the holder of a claim prolongs its lease.

use crate::task::prelude::*;

operation! {
    /// Prolong the lease of a claim
    "renew-task-claim": Records(TaskRenew {
        /// Id of the task
        #[arg(value_name = "TASK")]
        task_id: String,
        /// Token of the claim; required unless `epoch` is given. The command line knows the live claim of its session
        #[arg(long, value_name = "TOKEN")]
        claim_token: Option<String>,
        /// Epoch of the claim, instead of its token
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        epoch: Option<u64>,
        /// Agent that presents the claim, if it is not the acting agent; if the call gives only the epoch, this agent must be the holder
        #[arg(long, value_name = "AGENT")]
        worker: Option<String>,
        /// Act on a claim of another agent; the token or epoch must still be right. The log records the use of force
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[arg(long)]
        force: bool,
        /// Minimum remaining time of the lease, in milliseconds from now; 900000 (15 minutes) if absent
        #[schemars(range(min = 1_000, max = 86_400_000))]
        #[arg(long, value_name = "MILLISECONDS", value_parser = crate::argv::whole::<u64>)]
        lease_ms: Option<u64>,
        /// Version that the task must have
        #[schemars(range(min = 1))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        expected_version: Option<u64>,
    }) -> RenewAnswer as task_renew,
    refuses = [TaskNotFound, AlreadyTerminal, ClaimConflict, NotHolder, LeaseExpired, VersionConflict]
}

/// The answer `{ok, task, claimToken?, epoch, leased_until}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RenewAnswer {
    /// Always true
    pub ok: bool,
    /// The task; without its `claim` if the answer has no token
    pub task: TaskRecord,
    /// Token to present to renew, complete, fail or release the claim; left out if the claim was renewed by force without its
    /// token
    #[serde(
        rename = "claimToken",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub claim_token: Option<String>,
    /// Fencing epoch of the claim: its number among the claims of the task. The holder can present the epoch instead of the token
    pub epoch: u64,
    /// End of the lease
    pub leased_until: Timestamp,
}

claim_proof!(TaskRenew, |it| it.worker.as_deref());

impl Command for TaskRenew {
    /// The token of the claim; `None` if the caller forced the renewal without the token.
    type Decided = Option<String>;
    type Answer = RenewAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Holder(self.proof()))
            .named(self.proof().is_named())
            .grants()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Option<String>>> {
        let proof = self.proof();
        let input = || {
            proof.check_given()?;
            proof.check_worker()?;
            let until = lease_end(self.lease_ms, ctx.now)?;
            check_expected(self.expected_version)?;
            Ok(until)
        };
        proof.decide(ctx, live, input, |decision, until| {
            decision.check_open()?;
            decision.check_version(self.expected_version)?;
            let claim = decision.claim_of(proof)?;
            let lease = Lease {
                held: proof.held(&decision.task, &claim),
                leased_until: until.max(claim.leased_until),
            };
            let actor = proof.actor(&claim);
            decision.act(TaskAct::Renewed(lease), actor, Some(&claim.owner));
            // A caller that overrides the holder does not get the holder's token.
            Ok((!self.force || self.claim_token.is_some()).then_some(claim.token))
        })
    }

    fn answer(&self, token: &Option<String>, after: &After<'_>) -> Result<RenewAnswer> {
        let mut task = record(after.live, &self.task_id, after.ctx.now)?;
        let until = task.claim().map(|claim| claim.leased_until);
        // Removes the claim from the answer, because the claim contains its token.
        if token.is_none() {
            task.task.governed.claim = None;
        }
        Ok(RenewAnswer {
            ok: true,
            claim_token: token.clone(),
            epoch: task.governed.epoch,
            leased_until: until.unwrap_or_default(),
            task,
        })
    }
}
