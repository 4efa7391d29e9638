//! `task`: one task in full, and what may be done to it: made, taken under a claim, finished, given back.

mod cancel;
mod claim;
mod create;
mod finish;
mod next;
mod release;
mod renew;
mod reopen;
mod request;
mod show;

use super::{point, whole};
use crate::context::Context;
use crate::exit::Outcome;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Show(show::Show),
    Create(create::Create),
    Next(next::Next),
    Claim(claim::Claim),
    Renew(renew::Renew),
    Complete(finish::Complete),
    Fail(finish::Fail),
    Release(release::Release),
    Cancel(cancel::Cancel),
    Reopen(reopen::Reopen),
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Show(show) => show.run(context),
            Action::Create(create) => create.run(context),
            Action::Next(next) => next.run(context),
            Action::Claim(claim) => claim.run(context),
            Action::Renew(renew) => renew.run(context),
            Action::Complete(complete) => complete.run(context),
            Action::Fail(fail) => fail.run(context),
            Action::Release(release) => release.run(context),
            Action::Cancel(cancel) => cancel.run(context),
            Action::Reopen(reopen) => reopen.run(context),
        }
    }
}
