//! `join`: sets up a team on this host that another host created.

use crate::command::prelude::*;
use crate::progress::Progress;
use crate::render::token;
use teamlog_team::engine::Identity;
use teamlog_team::engine::internals::layout::LOG_FILE;
use teamlog_team::lifecycle::join::Join;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Join a team that another host put on a journal\n\nThis host gets all events of the team, and can record in the team from now on. Repeating the command fetches new events.",
    after_help = "\
Examples:
  teamlog init demo --members lead,dev --journal main      on the first host
  teamlog join demo --journal main                         on the others
  teamlog join demo --journal main --from ../backups       where a backup has most of it"
)]
pub struct Args {
    /// The team
    team: String,
    /// The journal, as journals.toml names it
    #[arg(long, value_name = "NAME")]
    journal: String,
    /// Backup directory that holds most of the log; the journal supplies the later events
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Accept a network or host-shared file system
    #[arg(long)]
    allow_network_fs: bool,
    /// Accept the tokens in the log from agents on other machines; without this option, the tokens are not valid here
    #[arg(long)]
    keep_tokens: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.concerns(&self.team)?;
        let (id, journals) = context.journals().found(&self.journal)?;
        let Some(bytes) = journals.find(&self.team)? else {
            let message = format!("journal {} ({id}) has no team {}", self.journal, self.team);
            return Err(CommandError::new(Exit::Refused, "not_in_journal", message)
                .about("team")
                .detailing("journal", &self.journal));
        };
        let join = Join {
            identity: Identity::decode(Path::new(LOG_FILE), &bytes)?,
            allow_network_fs: self.allow_network_fs,
            keep_tokens: self.keep_tokens,
        };
        let team = self.team.clone();
        let from = self.from.as_ref().map(|dir| context.backup_dir(dir));
        let from = from.transpose()?;
        let mut progress = Progress::on_stderr("joining", context.env());
        let mut show = |done, all| progress.show(done, all);
        let joined = context.alone(&team, |context| {
            let root = context.created()?;
            Ok(root.join(join.clone(), from.as_ref(), &mut show)?)
        });
        progress.clear();
        let answer = joined?;
        context.end(Exit::Done, &answer, |answer, view| {
            let team = view.paint.show(Style::Bold, visible(&answer.team));
            let done = if answer.joined {
                "joined"
            } else {
                "is here already"
            };
            let mut shown = vec![format!("{team} {done}, up to event {}", answer.last_seq)];
            shown.extend(token::unaccepted(&answer.team, &answer.unaccepted_tokens));
            shown
        })
    }
}
