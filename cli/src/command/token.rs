//! `token`: agents' tokens for other machines are added, listed and revoked; the token of a team, or of the root, for HTTP on
//! this machine gives way to another one.

use crate::call::Call;
use crate::command::prelude::*;
use crate::file;
use crate::forward::control;
use crate::forward::runtime::Runtime;
use crate::render::token;
use teamlog_server::agent_token;
use teamlog_server::runtime::RUNTIME_FILE;
use teamlog_team::agent_token::{TokenAdd, TokenAnswer, TokenList, TokenRevoke, TokenShown};
use teamlog_team::names;

subcommands! {
    ADD = own(
        recorded::<Added>("add"),
        "Let an agent in from other machines: make a token, and put it into a new file that only you may read",
        Add::run,
    );
    LIST = operation::<TokenList>("list", token::list)
        .examples("\
  teamlog token list demo
  teamlog token list demo --agent dev --json");
    REVOKE = operation::<TokenRevoke>("revoke", |answer, view| {
        token::rows(std::slice::from_ref(&answer.token), view)
    })
    .about("Revoke a token: it lets nobody in any more")
    .examples("\
  teamlog token revoke demo 5f0c2b7a91d3e846");
    ACCEPT = own(
        answer::<AcceptedTokens>("accept"),
        "Accept tokens that came with a log from elsewhere, by import, restore or join",
        Accept::run,
    );
    ROTATE = own(
        answer::<Rotated>("rotate"),
        "Give a team that is served a new token; the old one lets nobody in from then on",
        Rotate::run,
    );
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Let an agent in from other machines: make a token, and put it into a new file that only you may read\n\nThe log \
        and the daemon keep the digest alone: whoever loses the file needs another token. With TEAMLOG_REMOTE and \
        TEAMLOG_TOKEN_FILE the agent uses the team from elsewhere; what it records is recorded as that agent's.",
    after_help = "\
Examples:
  teamlog token add demo --agent dev --out dev.token
  teamlog token add demo --agent qa --scope read --out qa.token"
)]
struct Add {
    /// The team
    team: String,
    #[command(flatten)]
    input: TokenAdd,
    /// The file of the token, which must not exist
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    stamp: Stamp,
}

/// What was added.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Added {
    #[serde(flatten)]
    answer: TokenAnswer,
    /// The file that holds the token
    file: String,
}

impl Add {
    fn run(self, context: &mut Context) -> Outcome {
        let token = agent_token::new(&self.team, &self.input.agent)
            .map_err(|error| CommandError::io("get", "random bits", &error))?;
        let new = file::create("file_exists", &self.out, 0o600)?;
        let input = TokenAdd {
            digest: agent_token::digest(&token).to_hex().to_string(),
            ..self.input
        };
        let added = file::fill(new, &self.out, &format!("{token}\n"))
            .and_then(|()| file::sync_names(&self.out))
            .and_then(|()| {
                self.stamp
                    .execute(context, &Call::operation(), &self.team, input)
            });
        let answer = added.inspect_err(|error| {
            // A token that may let somebody in is kept.
            if error.code() != "outcome_unknown" {
                let _ = std::fs::remove_file(&self.out);
            }
        })?;
        let file = self.out.display().to_string();
        context.end(Exit::Done, &Added { answer, file }, |added, _| {
            let TokenShown {
                token_id,
                agent,
                scope,
                ..
            } = &added.answer.token;
            let (agent, file) = (visible(agent), visible(&added.file));
            vec![format!(
                "token {token_id} lets {agent} in ({}); it is in {file}, for you alone",
                scope.name()
            )]
        })
    }
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Accept tokens that came with a log from elsewhere, by import, restore or join\n\nWhich tokens let agents in \
        is kept beside the teams of a data root, and never in a log or a backup. Tokens that were revoked here stay \
        revoked.",
    after_help = "\
Examples:
  teamlog token accept demo 5f0c2b7a91d3e846
  teamlog token accept demo --all"
)]
struct Accept {
    /// The team
    team: String,
    /// The tokens, as `token list` names them
    #[arg(
        value_name = "TOKEN",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    tokens: Vec<String>,
    /// Accept all tokens of the team
    #[arg(long)]
    all: bool,
}

/// The tokens that let agents in now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AcceptedTokens {
    /// The team
    team: String,
    /// The tokens
    tokens: Vec<TokenShown>,
}

impl Accept {
    fn run(self, context: &mut Context) -> Outcome {
        let root = context.data()?;
        let tokens = root.accept_tokens(&self.team, &self.tokens)?;
        let accepted = AcceptedTokens {
            team: self.team,
            tokens,
        };
        context.end(Exit::Done, &accepted, |accepted, view| {
            match accepted.tokens.is_empty() {
                true => vec![format!(
                    "{} has no token to accept",
                    visible(&accepted.team)
                )],
                false => token::rows(&accepted.tokens, view),
            }
        })
    }
}

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
        let root = context.data_root()?.to_owned();
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
            let message = format!("{message}; a token lives as long as its daemon");
            return Err(CommandError::new(
                Exit::Unavailable,
                "daemon_not_running",
                message,
            ));
        };
        let (code, body) = control::ask(&socket, "POST", &path)?;
        if code != 200 {
            return Err(super::serve::strange(code, &body));
        }
        let rotated = Rotated {
            team: self.team,
            file: file.display().to_string(),
        };
        context.end(Exit::Done, &rotated, |rotated, _| {
            let file = visible(&rotated.file);
            let whose = rotated.team.as_deref().unwrap_or("the root");
            vec![format!("{} has a new token, in {file}", visible(whose))]
        })
    }
}
