//! `mode complete|fail|cancel`: an active mode ends, one way or another.

use super::request::Target;
use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::mode;
use teamlog_team::mode::end::{ModeCancel, ModeComplete, ModeFail};

/// Complete an active mode
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode complete demo ultrawork
  teamlog mode complete demo ultrawork --note 'on branch fix-login' --key done-1")]
pub struct Complete {
    #[command(flatten)]
    target: Target,
    /// What came out of it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

/// Say that an active mode failed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode fail demo ultrawork --error 'the tests never end'")]
pub struct Fail {
    #[command(flatten)]
    target: Target,
    /// Why
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

/// Cancel an active mode, and what it is linked to
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode cancel demo ultrawork --reason 'no longer wanted'")]
pub struct Cancel {
    #[command(flatten)]
    target: Target,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Complete {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ModeComplete {
            mode: self.target.mode,
            session_id: self.target.scope.session(context)?,
            note: self.note,
        };
        self.stamp
            .carry_out(context, &self.target.team, input, mode::stands)?;
        Ok(Exit::Done)
    }
}

impl Fail {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ModeFail {
            mode: self.target.mode,
            session_id: self.target.scope.session(context)?,
            error: self.error,
        };
        self.stamp
            .carry_out(context, &self.target.team, input, mode::stands)?;
        Ok(Exit::Done)
    }
}

impl Cancel {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = ModeCancel {
            mode: self.target.mode,
            session_id: self.target.scope.session(context)?,
            reason: self.reason,
        };
        self.stamp
            .carry_out(context, &self.target.team, input, mode::stands)?;
        Ok(Exit::Done)
    }
}
