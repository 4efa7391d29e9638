//! `task complete|fail`: the holder of a claim is done with its task, one way or the other.

use super::request::{Hold, Request, Target};
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::claim;
use teamlog_team::task::finish::TaskFinish;

/// Complete a claimed task; what waited for it alone is then ready
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task complete demo T-6 --epoch 1
  teamlog task complete demo T-6 --epoch 1 --result 'on branch fix-login' --key done-6")]
pub struct Complete {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    /// What it brought
    #[arg(long, value_name = "TEXT")]
    result: Option<String>,
    #[command(flatten)]
    request: Request,
}

/// Give a claimed task up as failed; it can be reopened
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog task fail demo T-6 --epoch 1 --error 'the schema is missing'")]
pub struct Fail {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    hold: Hold,
    /// Why
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    #[command(flatten)]
    request: Request,
}

impl Complete {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskFinish {
            result: self.result,
            ..finish("completed", &self.target, self.hold)
        };
        run(context, &self.target.team, self.request, input)
    }
}

impl Fail {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = TaskFinish {
            error: self.error,
            ..finish("failed", &self.target, self.hold)
        };
        run(context, &self.target.team, self.request, input)
    }
}

fn finish(to: &str, target: &Target, hold: Hold) -> TaskFinish {
    TaskFinish {
        task_id: target.task_id.clone(),
        // Nothing else leads there.
        from: "in_progress".to_owned(),
        to: to.to_owned(),
        claim_token: hold.claim_token,
        epoch: hold.epoch,
        worker: hold.worker,
        force: hold.force,
        ..TaskFinish::default()
    }
}

fn run(context: &mut Context, team: &str, request: Request, input: TaskFinish) -> Outcome {
    let input = TaskFinish {
        expected_version: request.expected_version,
        ..input
    };
    request.carry_out(context, team, input, claim::held)
}
