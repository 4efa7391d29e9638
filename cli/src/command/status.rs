//! `status`: prints the state of a team on one screen.

use crate::command::prelude::*;
use teamlog_team::lifecycle::status::Status;

subcommands! {
    operation::<Status>("status", render::status::overview)
        .at()
        .with(|status, All { all }, context| {
            context.show_whole(all || status.limit.is_some());
            status.limit = status.limit.or(all.then_some(0));
            Ok(())
        })
        .below(|answer, _, context| Ok(context.damage(&answer.team).into_iter().collect()))
        .examples("\
  teamlog status demo
  teamlog status demo --all
  teamlog status demo --stale-minutes 30 --json
  teamlog status demo --digest                              equals that of `teamlog rehydrate demo`")
}

// The length of the answer. Not a doc comment, because clap would print it in the help of the command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct All {
    /// Show all items, even if they fill more than a screen
    #[arg(long)]
    all: bool,
}
