//! `dashboard`: opens the daemon's page in a browser with a one-time code.
//!
//! The code is in the fragment of the URL, which browsers do not send to a server. Every user of the machine can read
//! a program's arguments, so the code is never in a program's arguments. Instead, the browser opens a file that only
//! its user can read, and that file redirects to the page.

mod background;
mod browser;

use super::serve::strange;
use crate::command::prelude::*;
use crate::forward::control;
use serde::Deserialize;
use teamlog_team::names;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Open the teams' page in a browser\n\nIf no daemon runs for the data root, this starts one, which \
        outlives the command and logs to teamd/serve.log in the data root. The page logs in with a code that can be used once, within two minutes. The session of the page ends after twelve hours, with the daemon, or after `token rotate`. Without --act the page can only read. Without a display, or with --print, the address is \
        printed.",
    after_help = "\
Examples:
  teamlog dashboard
  teamlog dashboard --team demo --act
  teamlog dashboard --print"
)]
pub struct Args {
    /// Show this team [default: the only team, else all teams]
    #[arg(long, short = 't', value_name = "TEAM")]
    team: Option<String>,
    /// Let the page record changes, too
    #[arg(long)]
    act: bool,
    /// Print the address instead of opening a browser
    #[arg(long)]
    print: bool,
}

/// URL of the dashboard, and the program that opened it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DashboardAnswer {
    /// Address of the dashboard; contains the code unless a browser was opened
    url: String,
    /// The team; `null` if the page shows all teams
    team: Option<String>,
    /// `read` or `act`
    scope: &'static str,
    /// True if this command started a daemon
    started_daemon: bool,
    /// Log file of the daemon, if this command started it
    #[serde(skip_serializing_if = "Option::is_none")]
    daemon_log: Option<String>,
    /// The program that opened the page
    #[serde(skip_serializing_if = "Option::is_none")]
    browser: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Code {
    code: String,
    url: String,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        if context.is_remote() {
            let message = "the page is only for users of the daemon's machine: it shows every team of the data root and all claim tokens, and an agent's token gives no session of the page";
            let error = CommandError::new(Exit::Refused, "remote_unsupported", message);
            return Err(error.or_hint(format!(
                "watch the team here: {}\nor run dashboard on the daemon's machine",
                context.command("board")
            )));
        }
        if let Some(team) = &self.team {
            names::check_known("team", team)?;
            context.data()?.team(team)?;
        }
        let mut teams = context.data()?.teams()?;
        let team = match (self.team, teams.len()) {
            (Some(team), _) => Some(team),
            (None, 1) => teams.pop(),
            (None, _) => None,
        };
        let root = context.data_root()?.to_owned();
        let (running, log) = background::daemon(&root)?;
        let scope = if self.act { "act" } else { "read" };
        let code = code(&running.socket, scope, team.as_deref())?;
        let url = format!("{}/#code={}", code.url, code.code);
        let browser = match self.print {
            true => None,
            false => browser::open(&root, context.env(), &url)?,
        };
        let opened = DashboardAnswer {
            url: match browser {
                Some(_) => code.url,
                None => url,
            },
            team,
            scope,
            started_daemon: log.is_some(),
            daemon_log: log.map(|log| log.display().to_string()),
            browser,
        };
        context.end(Exit::Done, &opened, |opened, view| {
            let mut lines = Vec::new();
            if let Some(log) = &opened.daemon_log {
                let log = visible(log);
                lines.push(format!("a daemon was started; it writes to {log}"));
            }
            let url = view.paint.show(Style::Bold, &opened.url);
            lines.push(match &opened.browser {
                Some(browser) => format!("{} opens {url}", visible(browser)),
                None => url.to_string(),
            });
            lines
        })
    }
}

fn code(socket: &Path, scope: &str, team: Option<&str>) -> Result<Code, CommandError> {
    let path = match team {
        Some(team) => format!("/control/code/{scope}/{team}"),
        None => format!("/control/code/{scope}"),
    };
    let (status, body) = control::ask(socket, "POST", &path)?;
    match (status, serde_json::from_slice(&body)) {
        (201, Ok(code)) => Ok(code),
        // The daemon has an older version without a page.
        (404, _) if !is_refusal(&body) => {
            Err(strange(status, &body).or_hint("restart the daemon with this program"))
        }
        (status, _) => Err(strange(status, &body)),
    }
}

fn is_refusal(body: &[u8]) -> bool {
    let told: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    told.is_some_and(|told| told["error"]["code"] == "team_not_found")
}
