//! What every command works with: the data root, who acts, where answers go.

use crate::args::Global;
use crate::command::append::open;
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit, Outcome};
use crate::fence::VARIABLE;
use crate::link::Called;
use crate::output::Output;
use crate::render::View;
use crate::render::escape::{visible, visible_json};
use crate::root;
use crate::when::{Spot, When};
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teamlog_server::Served;
use teamlog_server::forward::Cut;
use teamlog_team::engine::reader::Point;
use teamlog_team::engine::{Clock, Error, Receipt, SystemClock, Timestamp};
use teamlog_team::handle::command::Origin;
use teamlog_team::lifecycle::membership::LEADER;
use teamlog_team::mode::rules::denial::session_option;
use teamlog_team::projections::mode::is_session_id;
use teamlog_team::shell::quoted;
use teamlog_team::{BackupDir, Failure, GivenReceipt, Root, RootOptions, Team, names};

/// The environment of one command.
#[derive(Debug)]
pub struct Context {
    /// Standard output.
    pub out: Output,
    env: ProcessEnv,
    /// The teams of this process, where it is a daemon that has the call's data root open.
    served: Option<Arc<Served>>,
    data_root: PathBuf,
    /// As the command line names it, if it does.
    data_root_flag: Option<PathBuf>,
    actor: Option<String>,
    actor_flag: Option<String>,
    options: RootOptions,
    /// The team concerned, for hints.
    team: Option<String>,
    outcome: Unknown,
    /// Whether answers of what records something carry a receipt.
    receipt: bool,
    /// Whether the answer is that of an earlier request under the same key.
    replayed: bool,
    /// What every team that is opened must still hold.
    last_receipt: Option<GivenReceipt>,
    /// The time of an answer about the past.
    now: Option<Timestamp>,
    /// Whether clock times are read as UTC.
    utc: bool,
    called: Called,
}

/// `{note}`: the line that a program gets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note<'a> {
    /// Something beside the answer, for people
    note: &'a str,
}

/// What to do where it is unknown whether a command's events were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing would be recorded.
    Never,
    /// Type it again: what is known already changes nothing.
    Repeat,
    /// Look first: the same again would be a second event.
    Look,
}

impl Unknown {
    /// Of a message, which only an id of its own makes repeatable.
    pub fn of_message(id: Option<&str>) -> Unknown {
        match id {
            Some(_) => Unknown::Repeat,
            None => Unknown::Look,
        }
    }
}

impl Context {
    /// From the global flags and the environment.
    ///
    /// # Errors
    /// There is no working directory, or the agent's name in the environment is not UTF-8.
    pub fn new(
        global: &Global,
        env: &ProcessEnv,
        served: Option<&Arc<Served>>,
    ) -> Result<Context, CommandError> {
        let data_root = root::of(global, env)
            .map_err(|error| CommandError::io("find", "the working directory", &error))?;
        let mut options = RootOptions {
            restart: served.and_then(|served| served.root().options().restart.clone()),
            ..RootOptions::default()
        };
        if let Some(timeout) = global.lock_deadline {
            options.lock_deadline = timeout;
        }
        Ok(Context {
            out: Output::stdout(global.json, env),
            env: env.clone(),
            served: served.cloned(),
            data_root,
            data_root_flag: global.data_root.clone(),
            actor: actor(global, env)?,
            actor_flag: global.actor.clone(),
            options,
            team: None,
            outcome: Unknown::Never,
            receipt: global.receipt,
            replayed: false,
            last_receipt: global
                .last_receipt
                .as_deref()
                .map(|text| presented(env, text))
                .transpose()?,
            now: None,
            utc: global.utc || env.var_set("TEAMLOG_UTC").is_some(),
            called: Called::of(env.program().as_deref()),
        })
    }

    /// What the command sees of the process that it is for.
    pub fn env(&self) -> &ProcessEnv {
        &self.env
    }

    /// How teams are opened.
    pub fn options(&self) -> RootOptions {
        self.options.clone()
    }

    /// The directory that holds `teams/`.
    pub fn data_root(&self) -> &Path {
        &self.data_root
    }

    /// The `--data-root` of this command line.
    pub fn data_root_flag(&self) -> Option<PathBuf> {
        self.data_root_flag.clone()
    }

    /// By which name the program was called.
    pub fn called(&self) -> Called {
        self.called
    }

    /// Whether `--receipt` was given.
    pub fn wants_receipt(&self) -> bool {
        self.receipt
    }

    /// Holds a team against the caller's last receipt, if there is one.
    ///
    /// # Errors
    /// The team cannot be opened; it no longer holds what the receipt vouches for.
    pub fn check_last_receipt(&mut self, team: &str) -> Result<(), CommandError> {
        match self.last_receipt {
            Some(_) => self.team(team).map(drop),
            None => Ok(()),
        }
    }

    /// Who acts, if said by `--actor` or the environment.
    pub fn actor(&self) -> Option<String> {
        self.actor.clone()
    }

    /// Whom the system takes the caller for: recorded where nobody says who acts.
    pub fn user(&self) -> String {
        self.env.user()
    }

    /// Who is recorded as having done it: who acts, else the user.
    pub fn doer(&self) -> Option<String> {
        Some(self.actor().unwrap_or_else(|| self.user()))
    }

    /// The `--actor` of this command line, the environment not asked: `replay` filters by it.
    pub fn actor_flag(&self) -> Option<String> {
        self.actor_flag.clone()
    }

    /// The agent that a flag names, else who acts.
    ///
    /// # Errors
    /// Usage, where neither is known.
    pub fn agent(&self, flag: &str, named: Option<String>) -> Result<String, CommandError> {
        named.or_else(|| self.actor()).ok_or_else(|| {
            let message = format!(
                "{flag} is required: there is neither --actor nor TEAMLOG_AGENT to stand in for it"
            );
            CommandError::new(Exit::Usage, "usage", message)
                .or_hint(|| "export TEAMLOG_AGENT=NAME".to_owned())
        })
    }

    /// The session that the environment names, if it names one: a blank variable is none.
    ///
    /// # Errors
    /// What a variable holds cannot be the id of a session.
    pub fn session(&self) -> Result<Option<String>, CommandError> {
        let set = SESSION_VARIABLES.iter().find_map(|variable| {
            let value = self.env.var(variable)?;
            let text = value.to_string_lossy().trim().to_owned();
            (!text.is_empty()).then_some((*variable, text))
        });
        match set {
            None => Ok(None),
            Some((_, session)) if is_session_id(&session) => Ok(Some(session)),
            Some((variable, session)) => {
                let message =
                    format!("{variable} must match ^[A-Za-z0-9_-]{{1,64}}$, but is {session:?}");
                let error = CommandError::invalid("session_id", message);
                Err(error.or_hint(|| format!("unset {variable}, or name a session with --session")))
            }
        }
    }

    /// Where the call is done from.
    pub fn origin(&self) -> Origin {
        let said = |variable: &str| {
            let value = self.env.var(variable)?;
            let text = value.to_string_lossy().trim().to_owned();
            let plain = !text.is_empty() && !text.chars().any(char::is_control);
            (plain && text.len() <= ORIGIN_BYTES_MAX).then_some(text)
        };
        Origin {
            tmux_pane: said("TMUX_PANE"),
            rcs_session: said("RCS_SESSION_ID"),
            codex_session: said("CODEX_SESSION_ID"),
        }
    }

    /// The team that a flag names, else the environment, else the only one that was not closed.
    ///
    /// # Errors
    /// None is named and there is not just one; the root cannot be read.
    pub fn team_named(&mut self, named: Option<String>) -> Result<String, CommandError> {
        match (named, self.env.var_set("TEAMLOG_TEAM")) {
            (Some(team), _) => Ok(team),
            // A name that is not UTF-8 is refused as any other that cannot be a team's.
            (None, Some(team)) => Ok(team.to_string_lossy().into_owned()),
            (None, None) => match self.env.only_team() {
                Some(team) => Ok(team.to_owned()),
                // To look at every team is no reason for a daemon to take their locks.
                None => Ok(self.data()?.without_residents().only_team()?),
            },
        }
    }

    /// A path as it has to be opened.
    pub fn path(&self, typed: &Path) -> PathBuf {
        self.env.path(typed)
    }

    /// From here on something may be recorded; so much for where its outcome is unknown.
    pub fn records(&mut self, outcome: Unknown) {
        self.outcome = outcome;
    }

    /// Marks the answer as that of an earlier request under the same key, if it is.
    pub fn replays(&mut self, replayed: bool) {
        self.replayed = replayed;
        if replayed && !self.out.is_json() {
            self.note(REPLAYED);
        }
    }

    /// The data root for what creates that team, itself created if it is missing.
    ///
    /// # Errors
    /// The name cannot be a team's; I/O.
    pub fn new_root(&mut self, team: &str) -> Result<Root, CommandError> {
        self.team = Some(team.to_owned());
        self.outcome = Unknown::Repeat;
        // Before a directory comes into the world for a name that never can.
        names::check_known("team", team)?;
        if self.last_receipt.is_some() {
            // A team that somebody holds a receipt of is there already.
            self.team(team)?;
        }
        if let Some(served) = &self.served {
            return Ok(served.root().with_options(self.options()));
        }
        Root::create(&self.data_root, self.options.clone()).map_err(|failure| {
            match missing(&failure) {
                true => self.no_directory("invalid_input", "cannot become one"),
                false => failure.into(),
            }
        })
    }

    /// A team, opened.
    ///
    /// # Errors
    /// There is no such team, or it cannot be opened.
    pub fn team(&mut self, name: &str) -> Result<Team, CommandError> {
        self.concerns(name)?;
        let Some(last) = &self.last_receipt else {
            return self.opened(name);
        };
        // What the caller's last receipt vouches for must be there.
        let team = self.opened(name).map_err(|error| match error.code() {
            "team_not_found" | "data_root_not_found" => gone(&last.receipt, name),
            _ => error,
        })?;
        team.still_holds(&last.receipt)?;
        Ok(team)
    }

    fn opened(&self, name: &str) -> Result<Team, CommandError> {
        Ok(self.data()?.team(name)?)
    }

    /// The team that all of this is about.
    fn concerns(&mut self, team: &str) -> Result<(), CommandError> {
        self.team = Some(team.to_owned());
        Ok(names::check_known("team", team)?)
    }

    /// The data root, for what concerns a team that may not open.
    ///
    /// # Errors
    /// The name cannot be a team's; there is no such directory; I/O.
    pub fn root(&mut self, team: &str) -> Result<Root, CommandError> {
        self.concerns(team)?;
        if self.last_receipt.is_some() {
            // What a receipt is held against has to open.
            self.team(team)?;
        }
        self.data()
    }

    /// The data root, for what concerns no team in particular.
    ///
    /// # Errors
    /// There is none; I/O.
    pub fn data(&self) -> Result<Root, CommandError> {
        if let Some(served) = &self.served {
            return Ok(served.root().with_options(self.options()));
        }
        Root::open(&self.data_root, self.options.clone()).map_err(|failure| {
            match missing(&failure) {
                true if self.data_root.exists() => self.no_directory("invalid_input", "is none"),
                true => self.no_directory("data_root_not_found", "does not exist"),
                false => failure.into(),
            }
        })
    }

    /// The data root for one of all teams. A daemon keeps the lock of every team that its own root opens, so one that it
    /// does not serve is opened apart, and its lock ends with the handle.
    ///
    /// # Errors
    /// As [`Context::data`].
    pub fn data_of(&self, team: &str) -> Result<Root, CommandError> {
        let root = self.data()?;
        Ok(match &self.served {
            Some(served) if !served.serves(team) => root.without_residents(),
            _ => root,
        })
    }

    /// The same, at a point of its past if one is given.
    ///
    /// # Errors
    /// As [`Context::team`]; the team has no such point.
    pub fn team_at(&mut self, name: &str, at: Option<Spot>) -> Result<Team, CommandError> {
        let team = self.team(name)?;
        let Some(spot) = at else {
            return Ok(team);
        };
        let point = self.point(spot)?;
        let team = team.at(point)?;
        if let Some(moment) = team.moment() {
            self.now = Some(moment.time);
            if !self.out.is_json() {
                self.note(&format!("as of event {}, {}", moment.seq, moment.time));
            }
        }
        Ok(team)
    }

    /// A point of the past as it was typed.
    ///
    /// # Errors
    /// It lies outside of the years that a log can hold.
    pub fn point(&self, spot: Spot) -> Result<Point, CommandError> {
        let point = spot.resolve(SystemClock.now(), &self.zone());
        point.map_err(|why| CommandError::new(Exit::Usage, "usage", why))
    }

    /// A time as it was typed.
    ///
    /// # Errors
    /// As [`Context::point`].
    pub fn time(&self, when: When) -> Result<Timestamp, CommandError> {
        let time = when.resolve(SystemClock.now(), &self.zone());
        time.map_err(|why| CommandError::new(Exit::Usage, "usage", why))
    }

    /// The zone of clock times: UTC by `--utc` or `TEAMLOG_UTC`, else the machine's.
    fn zone(&self) -> TimeZone {
        match self.utc {
            true => TimeZone::UTC,
            false => TimeZone::try_system().unwrap_or(TimeZone::UTC),
        }
    }

    /// A directory for backups, created if it is missing; it must lie outside the data root.
    ///
    /// # Errors
    /// It lies inside; I/O.
    pub fn new_backup_dir(&mut self, dir: &Path) -> Result<BackupDir, CommandError> {
        let (dir, data_root) = (self.path(dir), self.path(&self.data_root));
        Ok(BackupDir::create(&dir, &data_root, self.options.clone())?)
    }

    /// A directory of backups.
    ///
    /// # Errors
    /// There is none; I/O.
    pub fn backup_dir(&mut self, dir: &Path) -> Result<BackupDir, CommandError> {
        let opened = BackupDir::open(&self.path(dir), self.options.clone());
        opened.map_err(|failure| match missing(&failure) {
            true => CommandError::invalid(
                "directory",
                format!(
                    "directory must be one that backups were made in, but {} is none",
                    dir.display()
                ),
            ),
            false => failure.into(),
        })
    }

    fn no_directory(&self, code: &str, but: &str) -> CommandError {
        let shown = self.data_root.display();
        let message = format!("data_root must be a directory, but {shown} {but}");
        CommandError::new(Exit::Refused, code, message).about("data_root")
    }

    /// A command for the same data root, as it has to be typed.
    pub fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program())
    }

    /// Commands of an answer, for the same data root.
    pub fn own_commands(&self, commands: &mut [String]) {
        for command in commands {
            if let Some(rest) = command.strip_prefix("teamlog ") {
                *command = self.command(rest);
            }
        }
    }

    /// How such commands begin.
    pub fn program(&self) -> String {
        let name = self.called.name();
        match &self.data_root_flag {
            Some(root) => format!("{name} --data-root {}", quoted(&root.display().to_string())),
            None => name.to_owned(),
        }
    }

    /// The error with what to try next on the team concerned.
    pub fn advise(&self, error: CommandError) -> CommandError {
        match self.env.cut() {
            Some(cut) if error.exit() == Exit::Io => self.cut(cut, &error),
            _ if error.code() == "no_space" && !error.is_unwritten() => self.advised(error).and_hint(
                "make room first, or raise the quota or the limit (ulimit -f); everything that only reads works meanwhile",
            ),
            _ => self.advised(error),
        }
    }

    /// The error where the daemon waited no longer for what the caller was asked for.
    fn cut(&self, cut: Cut, error: &CommandError) -> CommandError {
        let (exit, code) = match cut {
            Cut::Stopping => (Exit::Unavailable, "daemon_gone"),
            Cut::Full => (Exit::Locked, "busy"),
        };
        let cut = CommandError::new(exit, code, error.message());
        cut.or_hint(|| match (self.outcome, &self.team) {
            (Unknown::Never, _) | (_, None) => "nothing was recorded; type it again".to_owned(),
            (Unknown::Repeat, _) => {
                "type the same again: what is recorded already changes nothing".to_owned()
            }
            (Unknown::Look, Some(team)) => {
                let team = quoted(team);
                let look = self.command(&format!("replay {team} --reverse --limit 5 --json"));
                format!("look before you repeat it:\n{look}")
            }
        })
    }

    fn advised(&self, error: CommandError) -> CommandError {
        let Some(team) = self.team.as_deref().map(quoted) else {
            return error;
        };
        let error = error.filling("TEAM", &team);
        let command = |rest: String| self.command(&rest);
        match error.code() {
            "damaged" | "foreign_file" | "undecodable" => {
                error.or_hint(|| command(format!("verify {team}")))
            }
            "not_permitted" if self.env.var(VARIABLE).is_some() => error.or_hint(|| {
                let serve = self.command("serve");
                format!("teamlog guard exec keeps the data root read-only; outside of it, start the daemon: {serve}")
            }),
            "rolled_back" | "cut_below_receipt" | "changed_since_receipt" => error.or_hint(|| {
                let verify = command(format!("verify {team} --against RECEIPT"));
                format!("nothing was written; look at what is there: {verify}")
            }),
            "sync_failed" => error.hinting(format!(
                "{}\n{}",
                self.command("serve --stop"),
                self.command("serve")
            )),
            "derived_unusable" => error.or_hint(|| command(format!("rehydrate {team}"))),
            "worker_not_found" => match error.detail("worker").map(str::to_owned) {
                // The leader of every team is none who works.
                Some(worker) if worker != LEADER => error.and_hint(&format!(
                    "to add it: {}",
                    command(format!("init {team} --members {}", quoted(&worker)))
                )),
                _ => error,
            },
            "setting_unknown" => error.and_hint(&command(format!("config list {team}"))),
            "dead_letter_not_found" | "delivery_open" | "already_acked" => {
                error.or_hint(|| command(format!("dead-letter list {team}")))
            }
            "task_not_found" => error.hinting(format!(
                "list them with: {}",
                command(format!("tasks {team}"))
            )),
            "run_not_found" => error.hinting(format!(
                "to begin one: {}",
                command(format!("bootstrap start {team}"))
            )),
            "run_exists" | "not_launched" => {
                error.and_hint(&command(format!("bootstrap show {team}")))
            }
            "team_closed" => error.and_hint(&format!(
                "to delete it: {}",
                command(format!("purge {team} --yes"))
            )),
            "mode_denied" | "mode_not_found" => {
                let session = error
                    .detail("session_id")
                    .map(session_option)
                    .unwrap_or_default();
                let error = match typed_here(&self.program(), error.message()) {
                    Some(typed) => error.and_hint(&typed),
                    None => error,
                };
                error.or_hint(|| command(format!("mode list {team}{session}")))
            }
            "blocked_dependency" => error.or_hint(|| command(format!("ready {team}"))),
            "already_terminal" | "claim_conflict" | "invalid_transition" | "lease_expired"
            | "not_holder" | "resource_conflict" | "task_exists" | "version_conflict" => {
                match error.detail("task_id").map(quoted) {
                    Some(task) => {
                        let next = command(about_task(&error, &team, &task));
                        error.and_hint(&next)
                    }
                    None => error,
                }
            }
            "team_not_found" => {
                let error =
                    error.and_hint(&format!("the data root is {}", self.data_root.display()));
                error.and_hint(&format!(
                    "to create it: {}",
                    command(format!("init {team}"))
                ))
            }
            "data_root_not_found" => {
                error.or_hint(|| format!("to create it: {}", command(format!("init {team}"))))
            }
            "lock_lost" if error.hint().is_none() => {
                let frees = "deleting the lock file frees nothing";
                match self.if_unknown(&team) {
                    Some(next) => error.hinting(format!("{frees}\n{next}")),
                    None => error.hinting(frees.to_owned()),
                }
            }
            _ if error.exit() == Exit::Io && error.hint().is_none() => match self.if_unknown(&team)
            {
                Some(next) => error.hinting(next),
                None => error,
            },
            _ => error,
        }
    }

    /// What to do where it is unknown whether the command was recorded, if it would have been.
    fn if_unknown(&self, team: &str) -> Option<String> {
        match self.outcome {
            Unknown::Never => None,
            Unknown::Repeat => Some(
                "whether it was recorded is unknown; type the same again: what is recorded already changes nothing"
                    .to_owned(),
            ),
            Unknown::Look => {
                let look = self.command(&format!("replay {team} --reverse --limit 5 --json"));
                Some(format!("whether it was recorded is unknown; look before you repeat it:\n{look}"))
            }
        }
    }

    /// How to show things to people, now.
    pub fn view(&self) -> View {
        View {
            paint: self.out.paint(),
            now: self.now.unwrap_or_else(|| SystemClock.now()),
            width: self.env.columns(),
        }
    }

    /// Prints an answer, as JSON or for people.
    ///
    /// # Errors
    /// Standard output failed.
    pub fn answer<A: Serialize>(
        &mut self,
        answer: &A,
        human: impl FnOnce(&A, &View) -> Vec<String>,
    ) -> Result<(), CommandError> {
        #[derive(Serialize)]
        struct WithMore<'a, A> {
            #[serde(flatten)]
            answer: &'a A,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            replayed: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            receipt: Option<Receipt>,
        }
        let receipt = self.receipt_of_answer();
        if self.out.is_json() {
            let replayed = self.replayed;
            return match (replayed, &receipt) {
                (false, None) => self.out.json(answer),
                _ => self.out.json(&WithMore {
                    answer,
                    replayed,
                    receipt,
                }),
            };
        }
        let lines = human(answer, &self.view());
        self.out.lines(&lines)?;
        match receipt.map(|receipt| serde_json::to_string(&receipt)) {
            Some(Ok(receipt)) => self.out.line(format!("  receipt: {receipt}")),
            _ => Ok(()),
        }
    }

    /// A receipt for everything up to the answer of a command that records something, if one is wanted. What was
    /// recorded is recorded also where none can be made.
    fn receipt_of_answer(&self) -> Option<Receipt> {
        let team = self.team.as_deref().filter(|_| self.receipt)?;
        if self.outcome == Unknown::Never {
            return None;
        }
        let made = self.opened(team).and_then(|mut team| Ok(team.head()?));
        match made {
            Ok(head) => Some(head.receipt),
            Err(error) => {
                self.note(&format!(
                    "the answer stands, but there is no receipt for it: {}",
                    error.message()
                ));
                None
            }
        }
    }

    /// The end of a command on a team: the answer goes out before the maintenance that nobody waits for.
    ///
    /// # Errors
    /// Standard output failed.
    pub fn done(&mut self, mut team: Team, exit: Exit) -> Outcome {
        self.out.flush()?;
        if let Err(failure) = team.finish() {
            self.note(&format!(
                "the answer stands, but maintenance behind it failed: {failure}"
            ));
        }
        Ok(exit)
    }

    /// Passes on what the team had to say.
    pub fn say_notes(&self) {
        for note in self.options.notes.take() {
            self.note(&note);
        }
    }

    /// Says something beside the answer, on standard error.
    pub fn note(&self, text: &str) {
        let line = if self.out.is_json() {
            let line = serde_json::to_string(&Note { note: text }).unwrap_or_default();
            if self.env.terminals().stderr {
                visible_json(&line).into_owned()
            } else {
                line
            }
        } else {
            format!("note: {}", visible(text))
        };
        self.env.say(&format!("{line}\n"));
    }
}

/// What leads on with a task about which a command was refused.
fn about_task(error: &CommandError, team: &str, task: &str) -> String {
    let own = error.number("epoch").filter(|_| error.says("yours"));
    match (error.code(), own, error.detail("owner").map(quoted)) {
        ("claim_conflict", Some(epoch), Some(owner)) => {
            format!("task renew {team} {task} --worker {owner} --epoch {epoch}")
        }
        ("already_terminal", _, _) if error.detail("status") == Some("failed") => {
            format!("task reopen {team} {task}")
        }
        ("lease_expired", _, _) => match error.detail("holder").map(quoted) {
            Some(holder) => format!("task claim {team} {task} --worker {holder}"),
            None => format!("task show {team} {task}"),
        },
        _ => format!("task show {team} {task}"),
    }
}

/// Whether no directory is there.
fn missing(failure: &Failure) -> bool {
    let kind = match failure.engine() {
        Some(Error::Io { source, .. }) => source.kind(),
        _ => return false,
    };
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::AlreadyExists
    )
}

/// The note beside an answer that was given before.
const REPLAYED: &str = "answered again: this key was used before, and nothing new was recorded";

/// Most bytes of what the environment says of where a call is done from.
const ORIGIN_BYTES_MAX: usize = 128;
/// Where the session that is meant stands, the first that is set before the others.
const SESSION_VARIABLES: [&str; 3] = ["RCS_SESSION_ID", "CODEX_SESSION_ID", "SESSION_ID"];

/// Many times a receipt's size: a whole answer may hold it.
const RECEIPT_BYTES_MAX: u64 = 8 << 20;

/// A receipt as the command line names it: its text, or `@` and a file that holds it.
fn presented(env: &ProcessEnv, text: &str) -> Result<GivenReceipt, CommandError> {
    match text.strip_prefix('@') {
        Some(file) => receipt_file(env, "last_receipt", Path::new(file)),
        None => Ok(GivenReceipt::read(text)?),
    }
}

/// A receipt out of a file.
pub fn receipt_file(
    env: &ProcessEnv,
    flag: &str,
    path: &Path,
) -> Result<GivenReceipt, CommandError> {
    let mut text = String::new();
    open(env, flag, path)?
        .take(RECEIPT_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| {
            CommandError::io("read", &format!("{flag} file {}", path.display()), &error)
        })?;
    Ok(GivenReceipt::read(&text)?)
}

/// There is no log at all any more.
fn gone(last: &Receipt, team: &str) -> CommandError {
    let message = format!(
        "the log must hold event {}, for which last_receipt vouches, but there is no team {team} any more",
        last.seq
    );
    CommandError::new(Exit::Damaged, "rolled_back", message).about("last_receipt")
}

fn actor(global: &Global, env: &ProcessEnv) -> Result<Option<String>, CommandError> {
    if global.actor.is_some() {
        return Ok(global.actor.clone());
    }
    match env.var_set("TEAMLOG_AGENT") {
        None => Ok(None),
        Some(value) => value.into_string().map(Some).map_err(|value| {
            CommandError::invalid(
                "TEAMLOG_AGENT",
                format!("TEAMLOG_AGENT must be UTF-8, but is {value:?}"),
            )
        }),
    }
}

/// The commands of the link that a text of the contract names, as they have to be typed here; `None` where they work as they
/// stand, or there are none.
pub fn typed_here(program: &str, text: &str) -> Option<String> {
    if program == Called::Rcs.name() {
        return None;
    }
    let quoted = text.split('`').skip(1).step_by(2);
    let named = quoted.filter_map(|words| words.strip_prefix("rcs state clear --"));
    let typed: Vec<String> = named
        .map(|options| format!("`{program} state clear --{options}`"))
        .collect();
    (!typed.is_empty()).then(|| format!("typed here: {}", typed.join(" and ")))
}
