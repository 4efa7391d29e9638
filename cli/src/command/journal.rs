//! `journal`: manages journals, which order the events of teams on several hosts.

mod answer;

use crate::command::prelude::*;
use crate::hint::Cause;
use crate::journals;
use crate::progress::Progress;
use answer::{DamagedRange, DeepCheck, JournalAnswer, JournalHost, JournalStatus};
use teamlog_team::Team;
use teamlog_team::engine::backup::Backup;
use teamlog_team::engine::journal::{DamagedGroup, Durability};
use teamlog_team::engine::{Error, JournalFault};
use teamlog_team::lifecycle::journal::{JournalAnswer as Moved, SystemAnswer};

/// Default of `--min-copies`.
const MIN_COPIES: u32 = 2;
/// Number of hosts that must have an event before `journal trim` removes it.
const HOLDERS_MIN: usize = 2;

subcommands! {
    @examples "\
  teamlog journal create main
  teamlog journal status demo";
    CREATE = own(
        answer::<JournalAnswer>("create"),
        "Create the tables of a journal in its database; existing tables are kept",
        Create::run,
    );
    CHECK = own(
        answer::<JournalAnswer>("check"),
        "Check that a journal can be reached and keeps as many copies as it promises",
        Check::run,
    );
    STATUS = own(
        answer::<JournalStatus>("status"),
        "Show the position of a team's journal, and how much of it this host has",
        Status::run,
    );
    ADOPT = own(
        changed::<Moved>("adopt"),
        "Move a team from this host to a journal, so that other hosts can join",
        Adopt::run,
    );
    LEAVE = own(
        changed::<Moved>("leave"),
        "Take a team off its journal: it continues on this host only and ends on all others",
        Leave::run,
    );
    HEAL = own(
        changed::<Moved>("heal"),
        "Restore events that a team's journal lost from this host, after a restore of an older state or the promotion of a lagging standby",
        Heal::run,
    );
    ACCEPT_SYSTEM = own(
        changed::<SystemAnswer>("accept-system"),
        "Accept on this host that a team's journal moved to another system of servers",
        AcceptSystem::run,
    );
    MIGRATE = own(
        answer::<JournalAnswer>("migrate"),
        "Upgrade the tables of a journal that an older teamlog created; older versions are refused afterwards",
        Migrate::run,
    );
    TRIM = own(
        answer::<Trimmed>("trim"),
        "Remove from a journal the events of a team that a backup and two hosts have; a host that joins later needs that backup",
        Trim::run,
    );
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Create the tables of a journal in its database; existing tables are kept\n\nThe journal is defined \
        in journals.toml of the user's configuration (TEAMLOG_JOURNALS, else ~/.config/teamlog/journals.toml), a \
        file that only its owner may read:\n\n  [journals.main]\n  url = \"postgres://teamlog@127.0.0.1/teamlog\"\n  \
        passfile = \"/home/ada/.pgpass\"",
    after_help = "\
Examples:
  teamlog journal create main
  teamlog journal create main --min-copies 1      one server alone, without a copy

With durability = \"external\" in journals.toml, teamlog does not count copies: the service makes them below PostgreSQL."
)]
struct Create {
    /// The journal, as journals.toml names it
    #[arg(value_name = "NAME")]
    journal: String,
    /// Number of servers that must have an event before it is acknowledged [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    min_copies: Option<u32>,
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Check that a journal can be reached and keeps as many copies as it promises\n\nWith --deep, \
        compare all groups of a team in its journal with the segments of this host. Groups that were changed or \
        removed in the journal are reported (exit 65 journal_damaged). --repair restores them, and needs a role that \
        may change the tables.",
    after_help = "\
Examples:
  teamlog journal check main
  teamlog journal check demo --deep
  teamlog journal check demo --deep --repair"
)]
struct Check {
    /// The journal, as journals.toml names it; with --deep the team
    #[arg(value_name = "NAME")]
    journal: String,
    /// Compare all groups of a team in its journal with the groups on this host
    #[arg(long)]
    deep: bool,
    /// Restore damaged groups in the journal from the log of this host
    #[arg(long, requires = "deep")]
    repair: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog journal status demo
  teamlog journal status demo --json")]
struct Status {
    /// The team
    team: String,
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Move a team from this host to a journal, so that other hosts can join\n\nIts events keep their \
        seqs, and receipts stay valid. If the command is interrupted, repeat it: it continues. Other hosts can join \
        after it has finished.",
    after_help = "\
Examples:
  teamlog journal adopt demo --journal main
  teamlog journal adopt demo --journal main --json"
)]
struct Adopt {
    /// The team
    team: String,
    /// The journal, as journals.toml names it
    #[arg(long, value_name = "NAME")]
    journal: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog journal leave demo
  teamlog journal leave demo --offline      for a kind of journal that this version does not support")]
struct Leave {
    /// The team
    team: String,
    /// Leave a journal of a kind that this version does not support, without closing the log there; use it on one host only
    #[arg(long)]
    offline: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Restore events that a team's journal lost from this host, after a restore of an older state or the promotion of a lagging standby\n\nRun the command first on the host with the most events of the team, because events that another host records can replace lost events. If the histories of the journal and this \
        host differ, nothing is changed.",
    after_help = "\
Examples:
  teamlog journal heal demo
  teamlog journal heal demo --json"
)]
struct Heal {
    /// The team
    team: String,
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Accept on this host that a team's journal moved to another system of servers\n\nPostgreSQL gives \
        each system of servers an id, which standbys and physical backups keep. A restored dump or an upgraded \
        cluster has another id, and hosts refuse it (`journal_moved`): if the former servers were still in use, two \
        hosts could hold one task. Make sure that the former servers accept no writes, then run this command on each \
        host.",
    after_help = "\
Examples:
  teamlog journal accept-system demo
  teamlog journal accept-system demo --json"
)]
struct AcceptSystem {
    /// The team
    team: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog journal migrate main
  teamlog journal migrate main --json")]
struct Migrate {
    /// The journal, as journals.toml names it
    #[arg(value_name = "NAME")]
    journal: String,
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Remove from a journal the events of a team that a backup and two hosts have; a host that joins \
        later needs that backup\n\nNo host loses events. A host is known to have an event after `teamlog doctor \
        check TEAM --deep` there. The command needs a role that may change the tables.",
    after_help = "\
Examples:
  teamlog journal trim demo --before 1000000 --backup ../backups
  teamlog journal trim demo --before 1000000 --backup ../backups --json"
)]
struct Trim {
    /// The team
    team: String,
    /// First event to keep; whole groups are kept
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    before: u64,
    /// Directory of a backup with all removed events; every byte of it is read
    #[arg(long, value_name = "DIR")]
    backup: PathBuf,
}

/// Result of `journal trim`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trimmed {
    /// The team
    team: String,
    /// The journal's id
    journal: String,
    /// Groups that were removed
    groups: u64,
    /// Size of the removed groups in bytes
    bytes: u64,
    /// Hosts that have the removed events
    hosts: Vec<String>,
}

impl Create {
    fn run(self, context: &mut Context) -> Outcome {
        let way = context.journals().named(&self.journal)?;
        let min_copies = match (way.durability(), self.min_copies) {
            (Durability::Standbys, given) => given.unwrap_or(MIN_COPIES),
            (Durability::External, None) => 1,
            (Durability::External, Some(_)) => {
                let message = format!(
                    "--min-copies cannot be used with journal {}, because its durability is \"external\". Remove --min-copies, or change durability in journals.toml",
                    self.journal
                );
                return Err(CommandError::usage(message));
            }
        };
        let shown = way.create(min_copies)?;
        JournalAnswer::new(self.journal, way.as_ref(), shown).print(context)
    }
}

impl Check {
    fn deep(self, context: &mut Context) -> Outcome {
        let team = context.team(&self.journal)?;
        let Some(journal) = &team.log().identity().journal else {
            return Err(without(&self.journal));
        };
        let server = context.journals().of_log(journal)?;
        let none = || unsupported(server.kind(), "cannot be compared with a host");
        let stores = server.group_store().ok_or_else(none)?;
        let (name, way) = context.journals().way_of(&journal.id)?;
        let looked = way.inspect().map_err(unanswered(&name))?;
        let mut answer = JournalAnswer::new(name, way.as_ref(), looked);
        let mut progress = Progress::on_stderr("comparing", context.env());
        let mut show = |done, all| progress.show(done, all);
        let checked = team.log().check_journal(stores, self.repair, &mut show);
        progress.clear();
        let checked = checked.map_err(CommandError::from)?;
        let reader = team.log().reader().map_err(CommandError::from)?;
        let range = |group: DamagedGroup| DamagedRange {
            first_seq: group.first_seq,
            last_seq: group.last_seq,
            why: group.why.to_owned(),
        };
        answer.deep = Some(DeepCheck {
            team: self.journal,
            groups: checked.groups,
            last_seq: checked.last_seq,
            here: reader.head().last_seq,
            damaged: checked.damaged.into_iter().map(range).collect(),
            repaired: checked.repaired,
        });
        answer.print(context)
    }

    fn run(self, context: &mut Context) -> Outcome {
        if self.deep {
            return self.deep(context);
        }
        let way = context.journals().named(&self.journal)?;
        let looked = way.inspect().map_err(unanswered(&self.journal));
        let shown = looked.map_err(|error| match error.code() {
            "journal_of_another" => {
                error.beside(context.hint(&Cause::NoJournalThere(&self.journal)))
            }
            _ => error,
        })?;
        JournalAnswer::new(self.journal, way.as_ref(), shown).print(context)
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
            return Err(without(&self.team));
        };
        let journals = context.journals().of_log(journal)?;
        let status = journals.status(identity.log)?.ok_or_else(|| {
            let message = format!(
                "journal {} does not know the log of {}",
                journal.id, self.team
            );
            CommandError::new(Exit::Unsafe, "journal_of_another", message)
        })?;
        let last_seq = status.last_seq;
        let hosts = journals.hosts(identity.log)?.into_iter();
        let hosts = hosts.map(|seen| JournalHost {
            host: seen.name,
            id: seen.id,
            seconds_ago: seen.seconds_ago,
            seq: seen.followed,
            lag: seen.followed.map(|seq| last_seq.saturating_sub(seq)),
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
        context.end(Exit::Done, &answer, JournalStatus::lines)
    }
}

fn unsupported(kind: &str, why: &str) -> CommandError {
    let message = format!("a journal of kind {kind} {why}");
    CommandError::new(Exit::Refused, "journal_refused", message)
}

/// Returns a function that makes the error for a journal that did not answer. The request only read from the journal.
fn unanswered(journal: &str) -> impl Fn(Error) -> CommandError + use<'_> {
    move |error| match error {
        Error::Journal {
            fault: JournalFault::Unreachable,
            ref why,
        } => {
            let message = format!("journal {journal} does not answer: {why}");
            CommandError::from(error)
                .saying(message)
                .hinting("start the server, or correct the url in journals.toml")
        }
        _ => error.into(),
    }
}

/// Makes the error for a team without a journal.
fn without(team: &str) -> CommandError {
    let message = format!("team {team} has no journal: it lives on this host alone");
    CommandError::new(Exit::Refused, "journal_none", message)
}

/// Locks the log exclusively, runs the change, and shows its progress.
fn moved(
    context: &mut Context,
    team: &str,
    doing: &'static str,
    mut run: impl FnMut(
        &mut Context,
        &mut Team,
        &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Option<Moved>, CommandError>,
) -> Outcome {
    context.records(Repeat::Same);
    let mut progress = Progress::on_stderr(doing, context.env());
    let mut show = |done, all| progress.show(done, all);
    let done = context.alone(team, |context| {
        let mut handle = context.team(team)?;
        Ok((run(context, &mut handle, &mut show)?, handle))
    });
    progress.clear();
    let (answer, handle) = done?;
    let answer = answer.ok_or_else(|| without(team))?;
    context.answer(&answer, |answer, view| {
        let team = view.paint.show(Style::Bold, visible(&answer.team));
        let journal = visible(&answer.journal);
        let done = match (doing, answer.changed) {
            ("adopting", true) => format!("is on journal {journal} from now on"),
            ("adopting", false) => format!("is on journal {journal} already"),
            ("leaving", _) => format!("left journal {journal}, and goes on here alone"),
            (_, true) => format!("gave journal {journal} {} events back", answer.events),
            (_, false) => format!("has nothing that journal {journal} lacks"),
        };
        vec![format!("{team} {done}, up to event {}", answer.last_seq)]
    })?;
    context.done(handle, Exit::Done)
}

impl Adopt {
    fn run(self, context: &mut Context) -> Outcome {
        // Report an unknown team before contacting the journal.
        drop(context.team(&self.team)?);
        let journal = context.journal(&self.journal)?;
        moved(context, &self.team, "adopting", |_, team, show| {
            Ok(Some(team.adopt(&journal, show)?))
        })
    }
}

impl Leave {
    fn run(self, context: &mut Context) -> Outcome {
        moved(context, &self.team, "leaving", |_, team, _| {
            if !self.offline {
                return Ok(team.leave()?);
            }
            if team
                .log()
                .identity()
                .journal
                .as_ref()
                .is_some_and(journals::is_known)
            {
                let message =
                    "--offline is for a kind of journal that this version does not support";
                return Err(CommandError::usage(message));
            }
            Ok(team.leave_offline()?)
        })
    }
}

impl Heal {
    fn run(self, context: &mut Context) -> Outcome {
        moved(context, &self.team, "healing", |_, team, show| {
            Ok(team.heal(show)?)
        })
    }
}

impl AcceptSystem {
    fn run(self, context: &mut Context) -> Outcome {
        context.records(Repeat::Same);
        let (answer, handle) = context.alone(&self.team, |context| {
            let mut handle = context.team(&self.team)?;
            Ok((handle.accept_system()?, handle))
        })?;
        let answer = answer.ok_or_else(|| without(&self.team))?;
        context.answer(&answer, |answer, view| {
            let team = view.paint.show(Style::Bold, visible(&answer.team));
            let done = match answer.changed {
                true => format!(
                    "{team} accepts system {} here, it was {}",
                    answer.system, answer.was
                ),
                false => format!("{team} knows system {} already", answer.system),
            };
            vec![done]
        })?;
        context.done(handle, Exit::Done)
    }
}

impl Migrate {
    fn run(self, context: &mut Context) -> Outcome {
        let way = context.journals().named(&self.journal)?;
        let none = || {
            unsupported(
                way.kind(),
                "has one version so far: there is nothing to migrate",
            )
        };
        let shown = way.migrate().ok_or_else(none)??;
        JournalAnswer::new(self.journal, way.as_ref(), shown).print(context)
    }
}

impl Trim {
    /// Reads every byte of the backup. Checks that the backup is intact, belongs to the history of this host, and has all
    /// events that will be removed. The manifest alone is no proof, because a file of the backup may be truncated.
    fn check_backup(
        &self,
        context: &Context,
        team: &Team,
        backup: &Backup,
    ) -> Result<(), CommandError> {
        let checked = backup.verify().map_err(CommandError::from)?;
        let again = context.hint(&Cause::NotCovered {
            team: &self.team,
            backup: &self.backup.display().to_string(),
        });
        if !checked.ok {
            let found = checked
                .problems
                .first()
                .map(|problem| format!("{}: {}", problem.file, problem.message));
            let message = format!(
                "the backup in {} is damaged, so nothing was removed: {}",
                self.backup.display(),
                found.unwrap_or_default()
            );
            let error = CommandError::new(Exit::Damaged, "damaged", message).about("backup");
            return Err(error.beside(again));
        }
        let not_covered = |message| {
            let error = CommandError::new(Exit::Refused, "not_covered", message).about("backup");
            Err(error.beside(again.clone()))
        };
        if checked.last_seq < self.before - 1 {
            return not_covered(format!(
                "the backup in {} ends with event {}, before event {}",
                self.backup.display(),
                checked.last_seq,
                self.before - 1
            ));
        }
        let receipt = backup.manifest().receipt();
        match receipt {
            Some(receipt) if !team.verify(Some(&receipt))?.ok => not_covered(format!(
                "the backup in {} has other events than this host under the same seqs, or this host's log is damaged",
                self.backup.display()
            )),
            _ => Ok(()),
        }
    }

    fn run(self, context: &mut Context) -> Outcome {
        let team = context.team(&self.team)?;
        let identity = team.log().identity();
        let Some(journal) = &identity.journal else {
            return Err(without(&self.team));
        };
        let journals = context.journals().of_log(journal)?;
        let none = || {
            unsupported(
                journals.kind(),
                "keeps all groups: nothing is trimmed there",
            )
        };
        let trims = journals.trimmer().ok_or_else(none)?;
        let last = self.before - 1;
        let dir = context.backup_dir(&self.backup)?;
        let backup = dir.backup(&self.team, Some(&identity.log.to_string()))?;
        self.check_backup(context, &team, &backup)?;
        let hosts = trims.holders(identity.log, last)?;
        if hosts.len() < HOLDERS_MIN {
            let message = format!(
                "only {} of {HOLDERS_MIN} required hosts are known to have event {last}: {}",
                hosts.len(),
                hosts.join(", ")
            );
            let error = CommandError::new(Exit::Refused, "not_covered", message).about("before");
            return Err(error.or_hint("run doctor check --deep on the other hosts"));
        }
        let (groups, bytes) = trims.trim(identity.log, self.before)?;
        let answer = Trimmed {
            journal: journal.id.clone(),
            team: self.team,
            groups,
            bytes,
            hosts,
        };
        context.end(Exit::Done, &answer, |answer, view| {
            let team = view.paint.show(Style::Bold, visible(&answer.team));
            let hosts = visible(&answer.hosts.join(", ")).into_owned();
            vec![format!(
                "{} groups of {team} were removed, {} bytes; the backup and {hosts} have them",
                answer.groups, answer.bytes
            )]
        })
    }
}
