//! Operations by which workers and the team come to their end.

use super::operation::Op;
use super::rules::Rules;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::lifecycle::cleanup::{Cleanup, CleanupAnswer, CleanupMode, OrphanCleanup};
use crate::refusal::Refusal;
use crate::worker::record::WorkerAnswer;
use crate::worker::shutdown::{AckAnswer, ReadAck, RequestShutdown, WriteAck};
use serde_json::Value;

impl Op for RequestShutdown {
    type Data = WorkerAnswer;
    const NAME: &'static str = "write-shutdown-request";
    const DOC: &'static str = "Ask a worker to stop";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<WorkerAnswer> {
        team.request_shutdown(self)
    }
}

impl Op for ReadAck {
    type Data = AckAnswer;
    const NAME: &'static str = "read-shutdown-ack";
    const DOC: &'static str = "Read what a worker says to its shutdown";
    const MUTATES: bool = false;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<AckAnswer> {
        team.read_shutdown_ack(self)
    }

    fn without_team(&self, _: Refusal) -> Result<AckAnswer> {
        Ok(AckAnswer::none(&self.worker))
    }
}

impl Op for WriteAck {
    type Data = AckAnswer;
    const NAME: &'static str = "write-shutdown-ack";
    const DOC: &'static str = "Say that a worker accepts or rejects its shutdown";
    const MUTATES: bool = true;

    fn run(self, team: &mut Team) -> Result<AckAnswer> {
        team.write_shutdown_ack(self)
    }
}

impl Op for Cleanup {
    type Data = CleanupAnswer;
    const NAME: &'static str = "cleanup";
    const DOC: &'static str = "Close the team once nothing is left over; its log stays";
    const MUTATES: bool = true;
    const ANSWERS_EMPTY: bool = true;
    const RULES: Rules = Rules {
        aliases: &[("confirmIssues", "confirm_issues")],
        ..Rules::COMMON
    };

    fn run(self, team: &mut Team) -> Result<CleanupAnswer> {
        team.cleanup(self)
    }

    fn without_team(&self, missing: Refusal) -> Result<CleanupAnswer> {
        Ok(nothing(&missing, CleanupMode::Shutdown))
    }
}

impl Op for OrphanCleanup {
    type Data = CleanupAnswer;
    const NAME: &'static str = "orphan-cleanup";
    const DOC: &'static str = "Close the team whatever is left over; its log stays";
    const MUTATES: bool = true;
    const ANSWERS_EMPTY: bool = true;

    fn run(self, team: &mut Team) -> Result<CleanupAnswer> {
        team.orphan_cleanup(self)
    }

    fn without_team(&self, missing: Refusal) -> Result<CleanupAnswer> {
        Ok(nothing(&missing, CleanupMode::OrphanCleanup))
    }
}

/// There is nothing to close.
fn nothing(missing: &Refusal, cleanup_mode: CleanupMode) -> CleanupAnswer {
    let team = missing.details.get("team").and_then(Value::as_str);
    CleanupAnswer {
        team_name: team.unwrap_or_default().to_owned(),
        cleanup_mode,
    }
}
