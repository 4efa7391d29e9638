//! `cleanup`, `orphan-cleanup`: close a team. The log stays, the view files are removed, and the team becomes read-only.
//!
//! Before a cleanup, a gate checks three conditions: failed tasks are confirmed, no task is unfinished, and no worker has rejected
//! its shutdown. The gate is skipped with `force`, in a team whose settings require no gate, and before an orphan cleanup.

use crate::lifecycle::closing;
use crate::operation::Rules;
use crate::operation::prelude::*;
use crate::projections::task::TaskCounts;
use crate::projections::team::event::TeamClosed;
use crate::projections::worker::event::AckStatus;
use crate::projections::worker::supervision::{PhaseChanged, ShutdownGated};

operation! {
    /// Close the team if all its work is done; the log stays
    "cleanup": Records(Cleanup {
        /// Close the team even if work is unfinished
        #[serde(default)]
        #[arg(long)]
        force: bool,
        /// Close the team although tasks failed
        #[serde(default)]
        #[arg(long)]
        confirm_issues: bool,
    }) -> CleanupAnswer = Team::cleanup,
    refuses = [ShutdownConfirm, ShutdownGateBlocked, ShutdownRejected, WorkerNotFound],
    scope = Operate,
    rules = Rules {
        aliases: &[("confirmIssues", "confirm_issues")],
        ..Rules::COMMON
    }
}

operation! {
    /// Close the team without a gate; the log stays
    "orphan-cleanup": Records(OrphanCleanup {}) -> CleanupAnswer = Team::orphan_cleanup,
    refuses = [WorkerNotFound],
    scope = Operate
}

/// Phase of a team without a recorded phase.
const FIRST_PHASE: &str = "team-exec";
/// Phase of a closed team.
const LAST_PHASE: &str = "cancelled";

/// The answer `{team_name, cleanup_mode}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CleanupAnswer {
    /// The team
    pub team_name: String,
    /// Mode of the cleanup
    pub cleanup_mode: CleanupMode,
}

words! {
    /// Mode of a cleanup
    pub enum CleanupMode in json {
        /// With the gate, or with `force`
        Shutdown = "shutdown",
        /// Without a gate
        OrphanCleanup = "orphan_cleanup",
    }
}

impl Team {
    /// Closes the team if the gate permits it. If the team is already closed, only ends work that is still active.
    pub fn cleanup(&mut self, cleanup: Cleanup) -> Result<CleanupAnswer> {
        self.close(Some(cleanup))
    }

    /// Closes the team without a gate. If the team is already closed, only ends work that is still active.
    pub fn orphan_cleanup(&mut self, _: OrphanCleanup) -> Result<CleanupAnswer> {
        self.close(None)
    }

    /// Closes the team. Active work ends in the group that closes the team. Later groups end the work that did not fit, and work that an
    /// earlier version left active in a closed team.
    fn close(&mut self, gate: Option<Cleanup>) -> Result<CleanupAnswer> {
        let answer = self.execute(CloseTeam { gate })?;
        let mut more = self.query(|live, _| Ok(live.is_closed()? && closing::is_due(live)?))?;
        let terms = CommandTerms::new(Authority::Anyone).when_closed();
        while more {
            more = self.execute_unkeyed(act(terms, |ctx, live| {
                let mut events = Vec::new();
                let more = live.is_closed()? && closing::end(live, ctx.now, None, &mut events)?;
                Ok((more, events))
            }))?;
        }
        Ok(answer)
    }
}

/// The command that closes a team.
#[derive(Debug, Clone)]
struct CloseTeam {
    gate: Option<Cleanup>,
}

impl CloseTeam {
    fn mode(&self) -> CleanupMode {
        match self.gate {
            Some(_) => CleanupMode::Shutdown,
            None => CleanupMode::OrphanCleanup,
        }
    }
}

impl Command for CloseTeam {
    type Decided = ();
    type Answer = CleanupAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
            .members_only()
            .when_closed()
    }

    /// The three events that close the team have the caller as actor. Events that end work are consequences, and keep the traces of that
    /// work.
    fn is_consequence(&self, event: &NewEvent) -> bool {
        !["shutdown_gated", "phase_changed", "team_closed"].contains(&&*event.kind)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        if live.is_closed()? {
            return Ok(Decision::Granted((), Vec::new()));
        }
        let mut events = Vec::new();
        if let Some(gate) = &self.gate {
            let counts = live.task_counts()?;
            if !gate.force && live.setting(Setting::CleanupGate)?.0.switch() {
                gate.check(live, &counts)?;
            }
            let gated = ShutdownGated {
                forced: gate.force,
                counts,
            };
            events.push(gated.event(DEFAULT_ACTOR));
        }
        let gated = (!events.is_empty()).then_some(Cause::Earlier(0));
        let [mut phase, mut closed] = self.end(live)?;
        (phase.cause, closed.cause) = (gated, gated);
        events.push(phase);
        let led = events.len() - 1;
        closing::end(live, ctx.now, Some(led), &mut events)?;
        events.push(closed);
        Ok(Decision::Granted((), events))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<CleanupAnswer> {
        Ok(CleanupAnswer {
            team_name: after.team.to_owned(),
            cleanup_mode: self.mode(),
        })
    }
}

impl CloseTeam {
    /// Returns the events that close the team.
    fn end(&self, live: &Live) -> Result<[NewEvent; 2]> {
        let phase = live.phase()?.map(|noted| noted.what);
        let phase = PhaseChanged {
            from: phase.unwrap_or_else(|| FIRST_PHASE.to_owned()),
            to: LAST_PHASE.to_owned(),
        };
        let closed = TeamFact::Closed(TeamClosed {
            reason: self.mode().name().to_owned(),
        });
        Ok([phase.event(DEFAULT_ACTOR), closed.event(DEFAULT_ACTOR)])
    }
}

impl Cleanup {
    fn check(&self, live: &Live, counts: &TaskCounts) -> Result<()> {
        let of = |status: Status| counts.by_status.get(status as usize).copied().unwrap_or(0);
        // A task that is assigned to an owner counts as pending.
        let pending = of(Status::Pending) + of(Status::Assigned);
        let (blocked, in_progress) = (of(Status::Blocked), of(Status::InProgress));
        let failed = of(Status::Failed);
        let left = json!({
            "pending": pending, "blocked": blocked, "in_progress": in_progress, "failed": failed,
        });
        if failed > 0 && !self.confirm_issues {
            let message = format!("shutdown_confirm_issues_required:failed={failed}");
            let hint = "check the failed tasks, then pass \"confirm_issues\": true";
            let refusal = Refusal::new(Code::ShutdownConfirm, message).details(left);
            return Err(refusal.hint(hint).into());
        }
        if pending + blocked + in_progress > 0 {
            let message = format!(
                "shutdown_gate_blocked:pending={pending},blocked={blocked},in_progress={in_progress},failed={failed}"
            );
            let hint = "finish or cancel the remaining tasks, or pass \"force\": true";
            let refusal = Refusal::new(Code::ShutdownGateBlocked, message).details(left);
            return Err(refusal.hint(hint).into());
        }
        let Some((worker, reason)) = rejected(live)? else {
            return Ok(());
        };
        let message = format!("shutdown_rejected:{worker}:{reason}");
        let refusal = Refusal::new(Code::ShutdownRejected, message)
            .hint("request its shutdown again, or pass \"force\": true");
        Err(refusal
            .details(json!({"worker": worker, "reason": reason}))
            .into())
    }
}

/// Returns the first worker that rejected its last shutdown request, and the reason.
fn rejected(live: &Live) -> Result<Option<(String, String)>> {
    for worker in membership::workers(live)? {
        let Some(ack) = live.shutdown_ack(&worker)? else {
            continue;
        };
        let asked = live.shutdown_request(&worker)?;
        let stale = asked.is_some_and(|asked| asked.seq > ack.seq);
        if ack.what.status == AckStatus::Reject && !stale {
            let reason = ack.what.reason;
            let reason = reason.unwrap_or_else(|| "no reason given".to_owned());
            return Ok(Some((worker, reason)));
        }
    }
    Ok(None)
}
