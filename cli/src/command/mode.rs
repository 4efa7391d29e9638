//! `mode`: workflow modes, which of them are active, and what may be done to them.

mod clear;
mod end;
mod explain;
mod list;
mod outcome;
pub mod prompt;
mod request;
mod sessions;
mod show;
mod start;
mod update;
mod write;

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
    Start(start::Start),
    Update(update::Update),
    Complete(end::Complete),
    Fail(end::Fail),
    Cancel(end::Cancel),
    Clear(clear::Clear),
    Write(write::Write),
    List(list::List),
    Show(show::Show),
    Explain(explain::Explain),
    Prompt(prompt::Prompt),
    Outcome(outcome::Outcome),
    Sessions(sessions::Sessions),
    EndSession(sessions::EndSession),
}

impl Args {
    /// Runs it.
    pub fn run(self, context: &mut Context) -> Outcome {
        match self.action {
            Action::Start(start) => start.run(context),
            Action::Update(update) => update.run(context),
            Action::Complete(complete) => complete.run(context),
            Action::Fail(fail) => fail.run(context),
            Action::Cancel(cancel) => cancel.run(context),
            Action::Clear(clear) => clear.run(context),
            Action::Write(write) => write.run(context),
            Action::List(list) => list.run(context),
            Action::Show(show) => show.run(context),
            Action::Explain(explain) => explain.run(context),
            Action::Prompt(prompt) => prompt.run(context),
            Action::Outcome(outcome) => outcome.run(context),
            Action::Sessions(sessions) => sessions.run(context),
            Action::EndSession(end) => end.run(context),
        }
    }
}
