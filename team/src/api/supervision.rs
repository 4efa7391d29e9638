//! Operations of those who watch over a team: summaries, idleness, stalls, snapshots, approvals.

use super::operation::Op;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::refusal::Refusal;
use crate::task::approval::{ApprovalAnswer, ApprovalWritten, ReadApproval, WriteApproval};
use crate::worker::attention::{AttentionWritten, WriteAttention};
use crate::worker::idle::{IdleAnswer, ReadIdle};
use crate::worker::snapshot::{ReadSnapshot, SnapshotAnswer, SnapshotWritten, WriteSnapshot};
use crate::worker::stall::{ReadStall, StallAnswer};
use crate::worker::summary::{GetSummary, SummaryAnswer};
use crate::worker::who::{Who, WhoAnswer};

impl Op for GetSummary {
    type Data = SummaryAnswer;
    const NAME: &'static str = "get-summary";
    const DOC: &'static str =
        "Count tasks and look at every worker; progress is measured from the summary before";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<SummaryAnswer> {
        team.summary(self)
    }
}

impl Op for Who {
    type Data = WhoAnswer;
    const NAME: &'static str = "who";
    const DOC: &'static str =
        "Read who does what: tasks, leases, last events, what was reported and what blocks";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<WhoAnswer> {
        team.who(&self)
    }
}

impl Op for ReadIdle {
    type Data = IdleAnswer;
    const NAME: &'static str = "read-idle-state";
    const DOC: &'static str = "Read which workers have nothing to do, and since when";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<IdleAnswer> {
        team.idle_state(self)
    }
}

impl Op for ReadStall {
    type Data = StallAnswer;
    const NAME: &'static str = "read-stall-state";
    const DOC: &'static str = "Read whether the team gets on, and what its leader has to decide";
    const MUTATES: bool = false;

    fn run(self, team: &mut Team) -> Result<StallAnswer> {
        team.stall_state(self)
    }
}

impl Op for ReadSnapshot {
    type Data = SnapshotAnswer;
    const NAME: &'static str = "read-monitor-snapshot";
    const DOC: &'static str = "Read what the team's monitor last saw";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<SnapshotAnswer> {
        team.read_monitor_snapshot(self)
    }

    fn without_team(&self, _: Refusal) -> Result<SnapshotAnswer> {
        Ok(SnapshotAnswer::default())
    }
}

impl Op for WriteSnapshot {
    type Data = SnapshotWritten;
    const NAME: &'static str = "write-monitor-snapshot";
    const DOC: &'static str = "Store what the team's monitor saw";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<SnapshotWritten> {
        team.write_monitor_snapshot(self)
    }
}

impl Op for WriteAttention {
    type Data = AttentionWritten;
    const NAME: &'static str = "write-leader-attention";
    const DOC: &'static str = "Record what was seen of the leader's session, for read-stall-state";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<AttentionWritten> {
        team.write_leader_attention(self)
    }
}

impl Op for ReadApproval {
    type Data = ApprovalAnswer;
    const NAME: &'static str = "read-task-approval";
    const DOC: &'static str = "Read what a reviewer last decided on a task";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<ApprovalAnswer> {
        team.read_approval(self)
    }

    fn without_team(&self, _: Refusal) -> Result<ApprovalAnswer> {
        Ok(ApprovalAnswer::default())
    }
}

impl Op for WriteApproval {
    type Data = ApprovalWritten;
    const NAME: &'static str = "write-task-approval";
    const DOC: &'static str = "Record what a reviewer decided on a task";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<ApprovalWritten> {
        team.write_approval(self)
    }
}
