//! `head`: prints a receipt for all events up to now.
//!
//! The command has its own arguments, because `--sign` signs the answer in this process, with a key that never leaves this
//! machine.

use crate::call::Call;
use crate::command::keygen;
use crate::command::prelude::*;
use crate::render::integrity;
use teamlog_team::receipt::head::ReadHead;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog head demo
  teamlog head demo --json > receipt.json
  teamlog head demo --sign key --json > signed.json")]
pub struct Args {
    /// The team
    team: String,
    /// Sign the receipt with this secret key, which `keygen` created
    #[arg(long, value_name = "KEYFILE")]
    sign: Option<PathBuf>,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let sign = self.sign.as_deref();
        let key = sign.map(|file| keygen::secret_key(context.env(), file));
        let key = key.transpose()?;
        let mut answer = context.fetch(&Call::reading(), &self.team, ReadHead::default())?;
        if let Some(key) = &key {
            answer = answer.signed(key);
        }
        context.end(Exit::Done, &answer, integrity::receipt)
    }
}
