//! `journal`: what orders the events of teams on several hosts.

use crate::command::printed::answer;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::View;
use crate::render::escape::visible;
use crate::render::style::Style;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_journal_postgres::{Copies, PostgresJournals};

actions! {
    Create = "create", answer::<JournalAnswer>;
    Check = "check", answer::<JournalAnswer>;
    Status = "status", answer::<JournalStatus>;
}

/// Make the tables of a journal in its database; what is there already stays as it is
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Make the tables of a journal in its database; what is there already stays as it is\n\nThe journal is named \
        in journals.toml of the user's configuration (TEAMLOG_JOURNALS, else ~/.config/teamlog/journals.toml), which only its \
        owner may read:\n\n  [journals.main]\n  url = \"postgres://teamlog@127.0.0.1/teamlog\"\n  passfile = \
        \"/home/ada/.pgpass\"",
    after_help = "\
Examples:
  teamlog journal create main
  teamlog journal create main --min-copies 1      one server alone, without a copy"
)]
struct Create {
    /// The journal, as journals.toml names it
    #[arg(value_name = "NAME")]
    journal: String,
    /// On how many servers an event must be before it is acknowledged
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=9))]
    min_copies: u32,
}

/// Look whether a journal can be reached, and keeps as many copies as it promises
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog journal check main")]
struct Check {
    /// The journal, as journals.toml names it
    #[arg(value_name = "NAME")]
    journal: String,
}

/// Show how far a team's journal is, and how far this host has followed it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog journal status demo")]
struct Status {
    /// The team
    team: String,
}

/// A journal, as its server shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JournalAnswer {
    /// Its name in journals.toml
    name: String,
    /// Its id
    journal: String,
    /// On how many servers an event must be before it is acknowledged
    min_copies: u32,
    /// On how many it is now
    copies: u32,
    /// Standbys that have to have it, as the server names them
    standby_names: String,
    /// The server's timeline, which rises with each promotion
    timeline: u32,
    /// The server's version
    server_version: String,
    /// What keeps it from being durable; then nothing is recorded
    wrong: Vec<String>,
}

/// How far a team's journal is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JournalStatus {
    /// The team
    team: String,
    /// The journal's id
    journal: String,
    /// `open`, or why it takes nothing
    state: String,
    /// The last event that the journal has
    last_seq: u64,
    /// The last event that is here
    here: u64,
    /// Groups that the journal has of it
    groups: u64,
    /// Their bytes
    bytes: u64,
    /// The hosts that have spoken to the journal
    hosts: Vec<JournalHost>,
}

/// A host that has spoken to a journal.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JournalHost {
    /// What it calls itself
    host: String,
    /// Seconds since then
    seconds_ago: f64,
}

impl JournalAnswer {
    fn of(name: String, copies: Copies) -> JournalAnswer {
        JournalAnswer {
            name,
            journal: copies.journal,
            min_copies: copies.min_copies,
            copies: copies.standbys + 1,
            standby_names: copies.standby_names,
            timeline: copies.timeline,
            server_version: copies.version,
            wrong: copies.wrong,
        }
    }

    fn print(self, context: &mut Context) -> Outcome {
        let wrong = self.wrong.join("; ");
        context.answer(&self, JournalAnswer::lines)?;
        match wrong.is_empty() {
            true => Ok(Exit::Done),
            false => Err(CommandError::new(
                Exit::Unsafe,
                "journal_not_durable",
                wrong,
            )),
        }
    }

    fn lines(&self, view: &View) -> Vec<String> {
        let name = view.paint.show(Style::Bold, visible(&self.name));
        vec![
            format!("{name} is journal {}", visible(&self.journal)),
            format!(
                "  PostgreSQL {}, timeline {}; {} copies, {} wanted",
                visible(&self.server_version),
                self.timeline,
                self.copies,
                self.min_copies
            ),
        ]
    }
}

impl Create {
    fn run(self, context: &mut Context) -> Outcome {
        let config = context.journals().named(&self.journal)?;
        let copies = PostgresJournals::create(&config, self.min_copies)?;
        JournalAnswer::of(self.journal, copies).print(context)
    }
}

impl Check {
    fn run(self, context: &mut Context) -> Outcome {
        let config = context.journals().named(&self.journal)?;
        let looked = PostgresJournals::look(&config).map_err(CommandError::from);
        let copies = looked.map_err(|error| match error.code() {
            "journal_of_another" => {
                let make = context.command(&format!("journal create {}", self.journal));
                error.hinting(format!("to make it: {make}"))
            }
            _ => error,
        })?;
        JournalAnswer::of(self.journal, copies).print(context)
    }
}

impl Status {
    fn run(self, context: &mut Context) -> Outcome {
        let team = context.team(&self.team)?;
        let here = team
            .log()
            .reader()
            .map_err(CommandError::from)?
            .head()
            .last_seq;
        let identity = team.log().identity();
        let Some(journal) = &identity.journal else {
            let message = format!(
                "team {} has no journal: it lives on this host alone",
                self.team
            );
            return Err(CommandError::new(Exit::Refused, "journal_none", message));
        };
        let journals = context.journals().of_log(journal)?;
        let status = journals.status(identity.log)?.ok_or_else(|| {
            let message = format!(
                "journal {} does not know the log of {}",
                journal.id, self.team
            );
            CommandError::new(Exit::Unsafe, "journal_of_another", message)
        })?;
        let hosts = journals.hosts()?.into_iter().map(|seen| JournalHost {
            host: seen.host,
            seconds_ago: seen.seconds_ago,
        });
        let answer = JournalStatus {
            team: self.team,
            journal: journal.id.clone(),
            state: status.state,
            last_seq: status.last_seq,
            here,
            groups: status.groups,
            bytes: status.bytes,
            hosts: hosts.collect(),
        };
        context.answer(&answer, JournalStatus::lines)?;
        Ok(Exit::Done)
    }
}

impl JournalStatus {
    fn lines(&self, view: &View) -> Vec<String> {
        let team = view.paint.show(Style::Bold, visible(&self.team));
        let behind = match self.last_seq.saturating_sub(self.here) {
            0 => "this host has all of it".to_owned(),
            behind => format!("this host lacks {behind}"),
        };
        let mut lines = vec![
            format!(
                "{team} on journal {}: {}",
                visible(&self.journal),
                visible(&self.state)
            ),
            format!("  up to event {}, {behind}", self.last_seq),
        ];
        lines.extend(self.hosts.iter().map(|seen| {
            format!(
                "  {} was seen {:.0} s ago",
                visible(&seen.host),
                seen.seconds_ago
            )
        }));
        lines
    }
}
