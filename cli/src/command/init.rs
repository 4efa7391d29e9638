//! `init`: a team comes into the world, or gains members.

use crate::command::prelude::*;
use crate::forward::INIT;
use teamlog_team::engine::Format;
use teamlog_team::lifecycle::init::Init;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog init demo --members lead,dev,qa
  teamlog init lab --open --format binary
  teamlog init demo --members ops                          add a member
  teamlog init demo --members lead,dev --journal main      on several hosts; the others join it")]
pub struct Args {
    /// The team's name
    team: String,
    /// Its members, separated by commas; without any the team is open
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    members: Vec<String>,
    /// How events are stored: jsonl (readable with jq and grep) or binary [default: jsonl]
    #[arg(long, value_parser = super::format)]
    format: Option<Format>,
    /// Let agents join by acting, also where there are members
    #[arg(long)]
    open: bool,
    /// Keep no view files (tasks/, inboxes/) beside the log
    #[arg(long)]
    no_views: bool,
    /// The journal that orders its events on several hosts, as journals.toml names it
    #[arg(long, value_name = "NAME")]
    journal: Option<String>,
    /// Let a group share the data root, by its name or number: directories 2770, files 660. Repeating it mends what differs
    #[arg(long, value_name = "GROUP")]
    shared: Option<String>,
    /// Accept a network or host-shared file system, where locks and syncs may not hold
    #[arg(long)]
    allow_network_fs: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let team = self.team.clone();
        let journal = self.journal.map(|name| context.journal(&name));
        let journal = journal.transpose()?;
        let init = Init {
            team: self.team,
            members: self.members,
            format: self.format,
            open: self.open,
            no_views: self.no_views,
            allow_network_fs: self.allow_network_fs,
            actor: context.doer(),
            journal,
        };
        if let Some(group) = &self.shared {
            context.concerns(&team)?;
            let gid = context.env().group(group).ok_or_else(|| {
                let message = format!("shared must name a group, but there is no {group}");
                CommandError::invalid("shared", message)
            })?;
            context.created()?.share(gid)?;
        }
        let who = context.who();
        let (answer, created, added) =
            context.execute_in(Context::created, &who, &INIT, &team, init)?;
        let root = context.data_root()?.display().to_string();
        context.answer(&answer, |answer, view| {
            let team = view.paint.show(Style::Bold, visible(&answer.team));
            let done = match (created, added.is_empty()) {
                (true, _) => format!("created in {}", visible(&root)),
                (false, true) => "is there already, unchanged".to_owned(),
                (false, false) => format!("gained {}", visible(&added.join(", "))),
            };
            let members = names_or("no members yet; agents join by acting", &answer.members);
            vec![
                format!("{team} {done}"),
                format!("  members: {}", visible(&members)),
            ]
        })?;
        Ok(Exit::Done)
    }
}
