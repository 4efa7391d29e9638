//! `board`: shows a live view of a team in the terminal.

use crate::board::{self, BoardAnswer, Clock, Ended, Setting, Source, State};
use crate::command::prelude::*;
use teamlog_team::Team;

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
        let mut team = match point {
            None => context.team(&name)?,
            Some(point) => context.team(&name)?.at(point)?,
        };
        if context.out.is_json() {
            let mut answer: BoardAnswer = board::answer(&mut team)?;
            for item in &mut answer.attention.items {
                context.own_commands(std::slice::from_mut(&mut item.command));
            }
            context.answer(&answer, |_, _| Vec::new())?;
            return context.done(team, Exit::Done);
        }
        let setting = setting(context, &name, &team);
        if self.once || !context.env().has_screen() {
            return once(context, team, setting, !self.once);
        }
        let source = Source {
            root: context.data()?,
            team: name.clone(),
            at: point,
        };
        match board::run(source, setting.clone()) {
            Ok(Ended::Left) => context.done(team, Exit::Done),
            Ok(Ended::Killed(signal)) => {
                board::end_by(signal);
                Ok(Exit::Done)
            }
            Ok(Ended::Deaf) => once(context, team, setting, true),
            Err(error) => Err(CommandError::io("use", "the terminal", &error)),
        }
    }
}

fn setting(context: &Context, name: &str, team: &Team) -> Setting {
    let moment = team.moment();
    Setting {
        team: name.to_owned(),
        at: moment.map(|moment| (moment.seq, moment.time)),
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
fn once(context: &mut Context, mut team: Team, setting: Setting, instead: bool) -> Outcome {
    let name = setting.team.clone();
    let state = State::read(setting, &mut team)?;
    context.out.lines(&board::plain(&state))?;
    if instead {
        let follow = context.command(&format!("tail -f {}", teamlog_team::shell::quoted(&name)));
        context.note(&format!(
            "no terminal to go along on, so this is one frame; lines as they come: {follow}"
        ));
    }
    context.done(team, Exit::Done)
}
