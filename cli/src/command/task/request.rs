//! What every change of a task has in common: the task that is meant, the claim that is presented, and what it expects.

use crate::command::stamp::Stamp;
use crate::context::Context;
use crate::exit::{Exit, Outcome};
use crate::render::View;
use serde::Serialize;
use serde::de::DeserializeOwned;
use teamlog_team::api::Op;

// The task that is meant. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Target {
    /// The team
    pub team: String,
    /// The task
    #[arg(value_name = "TASK")]
    pub task_id: String,
}

// What shows that the caller holds the claim. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Hold {
    /// The token that the claim was answered with
    #[arg(long, value_name = "TOKEN", required_unless_present = "epoch")]
    pub claim_token: Option<String>,
    /// The claim's number among those of the task, in place of its token
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    pub epoch: Option<u64>,
    /// Who presents it: with --epoch that must be its holder [default: who is acting]
    #[arg(long, value_name = "AGENT")]
    pub worker: Option<String>,
    /// Even if it is somebody else's: that is recorded, and the epoch must be right all the same
    #[arg(long)]
    pub force: bool,
}

// What may stand beside any change. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Request {
    /// Refuse unless the task has that version
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    pub expected_version: Option<u64>,
    #[command(flatten)]
    stamp: Stamp,
}

impl Request {
    /// As [`Stamp::carry_out`].
    pub fn carry_out<O>(
        self,
        context: &mut Context,
        team: &str,
        input: O,
        show: fn(&O::Data, &View) -> Vec<String>,
    ) -> Outcome
    where
        O: Op + Serialize + Clone,
        O::Data: DeserializeOwned,
    {
        self.stamp
            .carry_out(context, team, input, show)
            .map(|_| Exit::Done)
    }
}
