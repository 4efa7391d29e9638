//! `init`: creates a team, or adds members to one.

use crate::command::prelude::*;
use crate::forward::INIT;
use teamlog_team::engine::Format;
use teamlog_team::lifecycle::init::Init;

/// Maximum number of bytes of a team name that `init` derives.
const NAME_BYTES_MAX: usize = 64;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog init --data-root my-project                      a team named after the directory
  teamlog init demo --members lead,dev,qa
  teamlog init lab --open --format binary
  teamlog init demo --members ops                          add a member
  teamlog init demo --members lead,dev --journal main      on several hosts; the others join it")]
pub struct Args {
    /// Name of the team [default: $TEAMLOG_TEAM, else the name of the data root's directory]
    team: Option<String>,
    /// The team, in place of the first argument
    #[arg(
        long = "team",
        short = 't',
        id = "named_team",
        value_name = "TEAM",
        conflicts_with = "team"
    )]
    named: Option<String>,
    /// Comma-separated members. Without this option, anyone may join
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    members: Vec<String>,
    /// Format of the events: jsonl (readable with jq and grep) or binary [default: jsonl]
    #[arg(long, value_parser = super::format)]
    format: Option<Format>,
    /// Let agents join by acting, even if the team has members
    #[arg(long)]
    open: bool,
    /// Keep no view files (tasks/, inboxes/) beside the log
    #[arg(long)]
    no_views: bool,
    /// The journal that orders the team's events on several hosts, as journals.toml names it
    #[arg(long, value_name = "NAME")]
    journal: Option<String>,
    /// Share the data root with a group, given by name or number: directories 2770, files 660. Repeating the command repairs the
    /// permissions
    #[arg(long, value_name = "GROUP")]
    shared: Option<String>,
    /// Accept a network or host-shared file system, where locks and syncs may not hold
    #[arg(long)]
    allow_network_fs: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let team = self
            .team
            .or(self.named)
            .map_or_else(|| default_name(context), Ok)?;
        let journal = self.journal.map(|name| context.journal(&name));
        let journal = journal.transpose()?;
        let init = Init {
            team: team.clone(),
            members: self.members,
            format: self.format,
            open: self.open,
            no_views: self.no_views,
            allow_network_fs: self.allow_network_fs,
            actor: context.doer(),
            agent: context.actor(),
            journal,
        };
        if let Some(group) = &self.shared {
            context.concerns(&team)?;
            let gid = context.env().group(group).ok_or_else(|| {
                let message = format!(
                    "--shared must name a group of this system, but there is no group {group}"
                );
                CommandError::invalid("shared", message)
            })?;
            context.created()?.share(gid)?;
        }
        let who = context.who();
        let executed = context.execute_in(Context::created, &who, &INIT, &team, init);
        let (answer, created, added) = executed.map_err(|error| match name_from(&team) {
            Some(name) if error.field() == Some("team") && name != team => {
                error.hinting(context.command(&format!("init {name}")))
            }
            _ => advise(error, &team, context),
        })?;
        // The daemon on another machine creates no team.
        let root = match context.is_remote() {
            true => String::new(),
            false => context.data_root()?.display().to_string(),
        };
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

/// Adds hints to two errors: an invalid list of members, and a format that differs from the team's format.
fn advise(error: CommandError, team: &str, context: &Context) -> CommandError {
    if error.field() == Some("members") {
        return error.or_hint("separate the members by commas: --members A,B");
    }
    match error.field() == Some("format") {
        true => error.or_hint(context.command(&format!("convert {} --help", quoted(team)))),
        false => error,
    }
}

/// Returns the default name of a team: `TEAMLOG_TEAM`, the team of the token, or the name of the data root's directory.
/// Characters that a team name cannot have become `-`.
fn default_name(context: &Context) -> Result<String, CommandError> {
    if let Some(team) = context.env().var_set("TEAMLOG_TEAM") {
        return Ok(team.to_string_lossy().into_owned());
    }
    // A token belongs to one team.
    if let Some(remote) = context.remote()? {
        return Ok(remote.team().to_owned());
    }
    let root = context.data_root()?;
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let directory = root.file_name().unwrap_or_default().to_string_lossy();
    let name = name_from(&directory);
    // A missing data root has no teams, and `init` creates the data root.
    let teams = context
        .data()
        .map_or_else(|_| Ok(Vec::new()), |root| root.teams())?;
    if !teams.is_empty() && name.as_ref().is_none_or(|name| !teams.contains(name)) {
        let teams = teams.join(", ");
        let message =
            format!("which team? this data root has: {teams}; name one of them, or the new one");
        return Err(CommandError::usage(message));
    }
    name.ok_or_else(|| {
        let message = format!(
            "cannot derive a team name from {}; name the team: teamlog init NAME",
            root.display()
        );
        CommandError::usage(message)
    })
}

/// Converts a text into a team name, or returns `None` if no character of the text can be part of a name.
fn name_from(text: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !allowed(c)).filter(|word| !word.is_empty());
    let mut name = words.collect::<Vec<_>>().join("-");
    name.truncate(NAME_BYTES_MAX);
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::name_from;

    #[test]
    fn a_name_has_only_letters_digits_and_dashes() {
        for (text, name) in [
            ("demo", Some("demo")),
            ("My Project", Some("My-Project")),
            (".config", Some("config")),
            ("a..b/-c-", Some("a-b-c")),
            ("Zürich", Some("Z-rich")),
            ("日本", None),
            ("", None),
        ] {
            assert_eq!(name_from(text).as_deref(), name, "{text}");
        }
    }
}
