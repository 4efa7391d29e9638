//! `config list|get|set|unset`: the settings of a team.

use crate::call::Call;
use crate::command::prelude::*;
use crate::render::config;
use teamlog_team::api::Op;
use teamlog_team::lifecycle::config::{
    ConfigChangeAnswer, ConfigGet, ConfigList, ConfigSet, ConfigUnset,
};

actions! {
    List = "list", of::<ConfigList>;
    Get = "get", of::<ConfigGet>;
    Set = "set", of::<ConfigSet>;
    Unset = "unset", of::<ConfigUnset>;
}

/// List all settings with their values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog config list demo")]
struct List {
    /// The team
    team: String,
    /// Most settings on the page; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Go on: the next_cursor of the page before
    #[arg(long, value_name = "KEY")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

/// Show a setting
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog config get demo nudge.idle_seconds
  teamlog config get demo delivery.decision_required.max_retries --json")]
struct Get {
    /// The team
    team: String,
    /// The setting
    key: String,
    #[command(flatten)]
    at: Past,
}

/// Give a setting back to its default
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog config unset demo nudge.idle_seconds")]
struct Unset {
    /// The team
    team: String,
    /// The setting
    key: String,
}

/// Change a setting
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog config set demo delivery.default.ack_timeout_seconds 120
  teamlog config set demo members.open true
  teamlog config set demo resources.root /home/me/app")]
struct Set {
    /// The team
    team: String,
    /// The setting
    key: String,
    /// Its value: a whole number, true or false, a name or a path
    #[arg(allow_hyphen_values = true)]
    value: String,
}

impl Set {
    fn run(self, context: &mut Context) -> Outcome {
        let set = ConfigSet {
            setting: self.key,
            value: self.value,
        };
        change(context, &self.team, set)
    }
}

impl Unset {
    fn run(self, context: &mut Context) -> Outcome {
        let unset = ConfigUnset { setting: self.key };
        change(context, &self.team, unset)
    }
}

reads!(List, at, config::page, ConfigList(limit, cursor));

reads!(Get, at, config::one, |args, context| ConfigGet {
    setting: args.key
});

fn change<O>(context: &mut Context, team: &str, change: O) -> Outcome
where
    O: Op<Data = ConfigChangeAnswer> + Serialize + Clone,
{
    context.records(Repeat::Same);
    let answer = context.execute(&Call::operation(), team, change)?;
    context.end(Exit::Done, &answer, config::changed)
}
