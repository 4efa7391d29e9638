//! `verify`: checks that every byte of the log is as it was written.

use super::all_teams::{AllAnswer, Which};
use crate::command::keygen;
use crate::command::prelude::*;
use crate::context::{check_own_signature, receipt_file};
use crate::hint::Cause;
use crate::render::{heading, integrity};
use teamlog_team::integrity::verify::Verify;
use teamlog_team::log::verify::VerifyAnswer;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Check every byte of the log, and that it still holds what a receipt says\n\nThe signature of a signed receipt is always checked. With --key the receipt must be signed with that key. Without --key the key in the receipt itself is used, which anyone can make."
)]
#[command(after_help = "\
Examples:
  teamlog verify demo
  teamlog verify --all
  teamlog verify demo --against receipt.json
  teamlog verify demo --against signed.json --key key.pub")]
pub struct Args {
    /// The team
    #[arg(required_unless_present = "all")]
    team: Option<String>,
    /// Every team of the data root, closed ones too
    #[arg(long, alias = "all-teams", conflicts_with_all = ["team", "against", "backup"])]
    all: bool,
    /// File with a receipt, as `head --json` printed it earlier
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// The signer's public key: the .pub file of `keygen`
    #[arg(long, value_name = "FILE", requires = "against")]
    key: Option<PathBuf>,
    /// Check the team's backup in DIR, the directory that was given to `backup`
    #[arg(long, value_name = "DIR", conflicts_with = "against")]
    backup: Option<PathBuf>,
    /// Id of the log to check, if the directory holds several logs of the team
    #[arg(long, value_name = "ID", requires = "backup")]
    log: Option<String>,
}

impl Args {
    pub fn run(mut self, context: &mut Context) -> Outcome {
        let Some(team) = self.team.take() else {
            return all(context);
        };
        self.one(context, &team)
    }

    fn one(self, context: &mut Context, name: &str) -> Outcome {
        if let Some(dir) = &self.backup {
            let answer = context.backup_dir(dir)?.verify(name, self.log.as_deref())?;
            let exit = Exit::Damaged.unless(answer.ok);
            return context.end(exit, &answer, integrity::verified);
        }
        let env = context.env();
        let against = self.against.as_deref();
        let presented = against.map(|file| receipt_file(env, "against", file));
        let presented = presented.transpose().map_err(|error| {
            let head = format!("head {} --json > FILE", quoted(name));
            error.or_hint(format!("to make a receipt: {}", context.command(&head)))
        })?;
        let key = self.key.as_deref();
        let key = key.map(|file| keygen::public_key(env, file)).transpose()?;
        let signer = match &presented {
            None => None,
            Some(presented) if key.is_some() => presented.check(key.as_ref())?,
            Some(presented) => check_own_signature(presented)?,
        };
        if context.is_remote() && presented.is_none() {
            let answer = context.read(name, Verify {})?;
            let exit = Exit::Damaged.unless(answer.ok);
            return context.end(exit, &answer, integrity::verified);
        }
        let unreadable = context.hint(&Cause::Unreadable(name));
        let team = context.team(name).map_err(|error| match error.code() {
            "damaged" => error.beside(unreadable),
            _ => error,
        })?;
        let receipt = presented.as_ref().map(|presented| &presented.receipt);
        let answer = match receipt {
            Some(receipt) => team.verify(Some(receipt))?,
            None => team.verify_noting(&mut |_, _| {})?,
        };
        // Do not run maintenance, because a check changes nothing except the note of its result.
        let exit = Exit::Damaged.unless(answer.ok);
        let answer = VerifiedLog {
            verified: answer,
            team_signed: signer.as_ref().map(|signer| signer.covers_team),
            signed_by: signer.map(|signer| signer.public_key),
        };
        context.end(exit, &answer, |answer, view| {
            let mut shown = integrity::verified(&answer.verified, view);
            shown.extend(answer.signature(key.is_some()));
            shown
        })
    }
}

/// The result of `verify` for one log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedLog {
    /// Result of the checks of the log and of the receipt.
    #[serde(flatten)]
    verified: VerifyAnswer,
    /// Public key that signed the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_by: Option<String>,
    /// True if the signature covers the team's name; signatures of older versions do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    team_signed: Option<bool>,
}

impl VerifiedLog {
    /// Returns the line about the signature of the receipt.
    fn signature(&self, named: bool) -> Option<String> {
        let mut line = format!("  receipt signed by {}", self.signed_by.as_ref()?);
        if !named {
            line += ", which you did not name (--key checks the signer)";
        }
        if self.team_signed == Some(false) {
            line += "; an older signature, which does not cover the team's name";
        }
        Some(line)
    }
}

/// The result of `verify` for a team.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedTeam {
    /// The team.
    team: String,
    /// Result of the check.
    #[serde(flatten)]
    verified: VerifyAnswer,
}

fn all(context: &mut Context) -> Outcome {
    let all = AllAnswer::collect(context, Which::All, |context, team| {
        Ok(VerifiedTeam {
            verified: context.data()?.team(team)?.verify_noting(&mut |_, _| {})?,
            team: team.to_owned(),
        })
    })?;
    let sound = all.teams.iter().all(|one| one.verified.ok);
    let exit = all.exit(Exit::Damaged, sound);
    context.end(exit, &all, |all, view| {
        all.shown(view, |one, view| {
            let mut shown = vec![heading(view, &one.team, "")];
            shown.extend(integrity::verified(&one.verified, view));
            shown
        })
    })
}
