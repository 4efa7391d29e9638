//! `token rotate`: the token of a team, or of the root, is worth nothing any more, and there is another one.

use crate::command::printed::answer;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::control;
use crate::forward::runtime::Runtime;
use crate::render::escape::visible;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_server::runtime::RUNTIME_FILE;
use teamlog_team::names;

actions! {
    Rotate = "rotate", answer::<Rotated>;
}

/// Give a team that is served a new token; the old one lets nobody in from then on
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Give a team that is served a new token; the old one lets nobody in from then on\n\nThe new one stands in \
        teams/TEAM/runtime.json, which only you may read, and is never printed. That of the root, which reaches every team, \
        stands in runtime.json of the data root. Page sessions that were opened for the same end with the old one.",
    after_help = "\
Examples:
  teamlog token rotate demo
  teamlog token rotate --root"
)]
struct Rotate {
    /// The team
    #[arg(required_unless_present = "root", conflicts_with = "root")]
    team: Option<String>,
    /// Rotate the token of the root, which reaches every team
    #[arg(long)]
    root: bool,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rotated {
    /// The team; `null` for the token of the root
    team: Option<String>,
    /// Where the new token stands
    file: String,
}

impl Rotate {
    fn run(self, context: &mut Context) -> Outcome {
        let root = context.data_root().to_owned();
        let (socket, path, file) = match &self.team {
            Some(team) => {
                names::check_known("team", team)?;
                context.data()?.team(team)?;
                let runtime = Runtime::of_team(&root, team)?;
                let socket = runtime.and_then(|runtime| runtime.socket);
                let path = format!("/control/token/{team}");
                (socket, path, Runtime::place(&root, team))
            }
            None => {
                context.data()?;
                let socket = super::serve::found(&root)?.map(|running| running.socket);
                let file = root.join(RUNTIME_FILE);
                (socket, "/control/token".to_owned(), file)
            }
        };
        let Some(socket) = socket else {
            let served = match &self.team {
                Some(team) => team.clone(),
                None => root.display().to_string(),
            };
            let message = format!("no daemon serves {served}");
            return Err(
                CommandError::new(Exit::Unavailable, "daemon_not_running", message).or_hint(|| {
                    "a token lives as long as its daemon; to start one: teamlog serve".to_owned()
                }),
            );
        };
        let (code, body) = control::ask(&socket, "POST", &path)?;
        if code != 200 {
            return Err(super::serve::strange(code, &body));
        }
        let rotated = Rotated {
            team: self.team,
            file: file.display().to_string(),
        };
        context.answer(&rotated, |rotated, _| {
            let file = visible(&rotated.file);
            let whose = rotated.team.as_deref().unwrap_or("the root");
            vec![format!("{} has a new token, in {file}", visible(whose))]
        })?;
        Ok(Exit::Done)
    }
}
