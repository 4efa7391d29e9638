//! `board`: shows a live view of a team in the terminal.

use crate::board::{
    self, BoardAnswer, Clock, Ended, Loaded, LocalTeam, RemoteTeam, Setting, Source, State,
};
use crate::command::prelude::*;
use teamlog_team::Team;
use teamlog_team::engine::{Point, Timestamp};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Watch a team in the terminal\n\nFour panels: who does what, the tasks by status, what needs \
        attention, and new events. The panels follow the log and take no lock. Press ? for all keys, q to quit. Without a \
        terminal, or with --once, it prints one frame; COLUMNS and LINES set its size.",
    after_help = "\
Examples:
  teamlog board demo --once
  teamlog board demo --at 3 --once                          as it was then
  teamlog board demo --json                                 the same data, once"
)]
pub struct Args {
    /// The team [default: TEAMLOG_TEAM, else the only team]
    team: Option<String>,
    /// Print one frame as text, then exit
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    at: Past,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let name = context.team_named(self.team)?;
        let at = Option::from(self.at);
        let point = at.map(|spot| context.point(spot)).transpose()?;
        let mut team = Shown::open(context, &name, point)?;
        if context.out.is_json() {
            let mut answer = team.answer()?;
            for item in &mut answer.attention.items {
                context.own_commands(std::slice::from_mut(&mut item.command));
            }
            context.answer(&answer, |_, _| Vec::new())?;
            return team.done(context);
        }
        let setting = setting(context, &name, team.moment()?);
        if self.once || !context.env().has_screen() {
            return once(context, team, setting, !self.once);
        }
        let source = match &team {
            Shown::Remote(team) => Source::Remote((**team).clone()),
            Shown::Here(_) => Source::Here(LocalTeam {
                root: context.data()?,
                team: name.clone(),
                at: point,
            }),
        };
        match board::run(source, setting.clone()) {
            Ok(Ended::Left) => team.done(context),
            Ok(Ended::Killed(signal)) => {
                board::end_by(signal);
                Ok(Exit::Done)
            }
            Ok(Ended::Deaf) => once(context, team, setting, true),
            Err(error) => Err(CommandError::io("use", "the terminal", &error)),
        }
    }
}

/// The team that the board shows.
enum Shown {
    Here(Box<Team>),
    Remote(Box<RemoteTeam>),
}

impl Shown {
    fn open(context: &mut Context, name: &str, at: Option<Point>) -> Result<Shown, CommandError> {
        let Some(remote) = context.remote()? else {
            let team = context.team(name)?;
            return Ok(Shown::Here(Box::new(match at {
                None => team,
                Some(point) => team.at(point)?,
            })));
        };
        context.concerns(name)?;
        Ok(Shown::Remote(Box::new(RemoteTeam {
            client: context.client(Some(remote)),
            who: context.who(),
            team: name.to_owned(),
            at,
        })))
    }

    fn answer(&mut self) -> Result<BoardAnswer, CommandError> {
        match self {
            Shown::Here(team) => Ok(board::answer(team)?),
            Shown::Remote(team) => team.answer(),
        }
    }

    fn look(&mut self) -> Result<Loaded, CommandError> {
        match self {
            Shown::Here(team) => Ok(board::look(team, None)?),
            Shown::Remote(team) => team.look(None),
        }
    }

    fn moment(&self) -> Result<Option<(u64, Timestamp)>, CommandError> {
        match self {
            Shown::Here(team) => Ok(team.moment().map(|moment| (moment.seq, moment.time))),
            Shown::Remote(team) => team.moment(),
        }
    }

    fn done(self, context: &mut Context) -> Outcome {
        match self {
            Shown::Here(team) => context.done(*team, Exit::Done),
            Shown::Remote(_) => context.ended(Exit::Done),
        }
    }
}

fn setting(context: &Context, name: &str, at: Option<(u64, Timestamp)>) -> Setting {
    Setting {
        team: name.to_owned(),
        at,
        clock: match context.is_utc() {
            true => Clock::Utc,
            false => Clock::Local,
        },
        program: context.program(),
        zone: context.zone(),
        colours: context.out.paint().is_on(),
        size: context.env().frame(),
        now: context.view().now,
    }
}

/// Prints one frame as text. `instead` is true if the user wanted the live board but standard output is no terminal.
fn once(context: &mut Context, mut team: Shown, setting: Setting, instead: bool) -> Outcome {
    let name = setting.team.clone();
    let state = State::loaded(setting, team.look()?);
    context.out.lines(&board::plain(&state))?;
    if instead {
        let follow = context.command(&format!("tail -f {}", teamlog_team::shell::quoted(&name)));
        context.note(&format!(
            "no terminal to go along on, so this is one frame; lines as they come: {follow}"
        ));
    }
    team.done(context)
}
