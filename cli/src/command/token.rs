//! `token`: adds, lists, accepts and revokes tokens of agents on other machines. Also rotates the tokens for HTTP on this
//! machine.

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
    @examples "\
  teamlog token add demo --agent dev --out dev.token
  teamlog token list demo";
    ADD = own(
        recorded::<Added>("add"),
        "Give an agent access from other machines: create a token in a new file that only you may read",
        Add::run,
    );
    LIST = operation::<TokenList>("list", token::list)
        .examples("\
  teamlog token list demo
  teamlog token list demo --agent dev --json");
    REVOKE = operation::<TokenRevoke>("revoke", |answer, view| {
        token::rows(std::slice::from_ref(&answer.token), view)
    })
    .about("Revoke a token: it is refused from now on")
    .examples("\
  teamlog token revoke demo 5f0c2b7a91d3e846
  teamlog token revoke demo 5f0c2b7a91d3e846 --key revoke-1 --json");
    ACCEPT = own(
        answer::<AcceptedTokens>("accept"),
        "Accept the tokens of an imported, restored or joined log",
        Accept::run,
    );
    ROTATE = own(
        answer::<Rotated>("rotate"),
        "Replace the HTTP token of a served team; the old token stops working at once",
        Rotate::run,
    );
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Give an agent access from other machines: create a token in a new file that only you may read\n\nThe log \
        and the daemon keep only the digest: if the file is lost, create a new token. With TEAMLOG_REMOTE and \
        TEAMLOG_TOKEN_FILE the agent uses the team from another machine; its events are recorded under its name.",
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
    /// Path of the token file, which must not exist
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    stamp: Stamp,
}

/// Answer of `token add`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Added {
    #[serde(flatten)]
    answer: TokenAnswer,
    /// Path of the token file
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
            // If the outcome is unknown, keep the file, because the token may have been recorded.
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
                "token {token_id} gives {agent} access ({}); it is in {file}, which only you may read",
                scope.name()
            )]
        })
    }
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Accept the tokens of an imported, restored or joined log\n\nThe data root keeps a list of \
        accepted tokens beside its teams, never in a log or a backup. Tokens that were revoked here stay revoked.",
    after_help = "\
Examples:
  teamlog token accept demo 5f0c2b7a91d3e846
  teamlog token accept demo --all"
)]
struct Accept {
    /// The team
    team: String,
    /// Ids of the tokens, as `token list` shows them
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

/// Answer of `token accept`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AcceptedTokens {
    /// The team
    team: String,
    /// Tokens that are now valid
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
    long_about = "Replace the HTTP token of a served team; the old token stops working at once\n\nThe new token is in \
        teams/TEAM/runtime.json, which only you may read, and is never printed. The root's token, which gives access to every \
        team, is in runtime.json of the data root. Page sessions of the old token end.",
    after_help = "\
Examples:
  teamlog token rotate demo
  teamlog token rotate --root"
)]
struct Rotate {
    /// The team
    #[arg(required_unless_present = "root", conflicts_with = "root")]
    team: Option<String>,
    /// Rotate the root's token, which gives access to every team
    #[arg(long)]
    root: bool,
}

/// Answer of `token rotate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rotated {
    /// The team; `null` if the root's token was rotated
    team: Option<String>,
    /// Path of the file with the new token
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
            let message = format!("{message}; a token is valid only while its daemon runs");
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
