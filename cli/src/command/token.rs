//! `token rotate`: a team's token is worth nothing any more, and there is another one.

use crate::command::printed::answer;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::control;
use crate::forward::runtime::Runtime;
use crate::render::escape::visible;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::names;

actions! {
    Rotate = "rotate", answer::<Rotated>;
}

/// Give a team that is served a new token; the old one lets nobody in from then on
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Give a team that is served a new token; the old one lets nobody in from then on\n\nThe new one stands in \
        teams/TEAM/runtime.json, which only you may read, and is never printed.",
    after_help = "\
Examples:
  teamlog token rotate demo"
)]
struct Rotate {
    /// The team
    team: String,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rotated {
    /// The team
    team: String,
    /// Where the new token stands
    file: String,
}

impl Rotate {
    fn run(self, context: &mut Context) -> Outcome {
        names::check_known("team", &self.team)?;
        context.data()?.team(&self.team)?;
        let root = context.data_root().to_owned();
        let runtime = Runtime::of_team(&root, &self.team)?;
        let Some(socket) = runtime.and_then(|runtime| runtime.socket) else {
            let message = format!("no daemon serves {}", self.team);
            return Err(
                CommandError::new(Exit::Unavailable, "daemon_not_running", message).or_hint(|| {
                    "a token lives as long as its daemon; to start one: teamlog serve".to_owned()
                }),
            );
        };
        let path = format!("/control/token/{}", self.team);
        let (code, body) = control::ask(&socket, "POST", &path)?;
        if code != 200 {
            return Err(super::serve::strange(code, &body));
        }
        let file = Runtime::place(context.data_root(), &self.team);
        let rotated = Rotated {
            team: self.team,
            file: file.display().to_string(),
        };
        context.answer(&rotated, |rotated, _| {
            let (team, file) = (visible(&rotated.team), visible(&rotated.file));
            vec![format!("{team} has a new token, in {file}")]
        })?;
        Ok(Exit::Done)
    }
}
