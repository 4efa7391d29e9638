//! `prime`: prints a briefing for an agent that starts.
//!
//! The command has its own arguments, because `--hook` reads an event from standard input and answers in the format of
//! the hook.

mod everyday;
mod hook;

use crate::command::prelude::*;
use teamlog_team::message::prime::{Few, Prime, PrimeAnswer};

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show an agent's briefing, in at most 800 tokens; with --json fewer than 2,000\n\nThe briefing lists the agent's tasks and what blocks them, tasks that it can claim, unread messages and posts, news of its tasks, and the next commands. A leader also gets the state of the team: open decisions, blocked tasks and why, holders, and tasks finished since its last command. A shortened list says how many entries there are.\n\nWith --hook, reads an agent's hook event \
        from standard input and answers in the form of that hook: JSON for SessionStart and SubagentStart (which \
        also registers the subagent); for SubagentStop a reason to continue if the subagent still holds tasks; plain \
        text for other events.",
    after_help = "\
Examples:
  teamlog prime demo --agent dev
  teamlog prime demo --agent dev --json
  echo '{\"hook_event_name\":\"SessionStart\"}' | teamlog prime demo --agent dev --hook"
)]
pub struct Args {
    /// The team
    team: String,
    /// The agent [default: the acting agent]
    #[arg(long)]
    agent: Option<String>,
    #[command(flatten)]
    at: Past,
    /// Read the JSON of an agent's hook from standard input, and answer in that hook's form
    #[arg(long, conflicts_with = "at")]
    hook: bool,
    /// Only the first items of each list, and six next commands
    #[arg(long, conflicts_with = "hook")]
    short: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        if self.hook {
            return hook::answer(context, &self.team, self.agent);
        }
        let agent = context.agent("--agent", self.agent)?;
        let session = context.origin().claim_session;
        let prime = Prime { agent, session };
        let mut answer = context.read_at(&self.team, self.at, prime)?;
        match self.short {
            true => shorten(&mut answer),
            false if context.out.is_json() => context.own_commands(&mut answer.commands),
            false => everyday::reword(&mut answer, context),
        }
        if let Some(damage) = context.damage(&self.team) {
            context.note(&damage);
        }
        context.end(Exit::Done, &answer, render::hand::primed)
    }
}

/// Maximum number of items in each list of a short briefing.
const SHORT_MAX: usize = 3;
/// Number of commands below a short briefing.
const COMMANDS: usize = 6;

/// Keeps only the first items of each list, and the next commands.
fn shorten(answer: &mut PrimeAnswer) {
    fn cut<T>(few: &mut Few<T>) {
        few.items.truncate(SHORT_MAX);
    }
    cut(&mut answer.in_progress);
    cut(&mut answer.blocked);
    cut(&mut answer.ready);
    cut(&mut answer.rejected);
    cut(&mut answer.unread);
    cut(&mut answer.posts);
    cut(&mut answer.news);
    answer.lead = None;
    answer.commands = next(answer);
}

/// Returns the commands that the agent should run next, most urgent first.
fn next(answer: &PrimeAnswer) -> Vec<String> {
    let mut commands = Vec::new();
    if let Some(task) = answer.in_progress.items.first() {
        let id = quoted(&task.task_id);
        commands.push(format!("done {id} RESULT"));
        commands.push(format!("note {id} TEXT"));
    }
    if answer.unread.total > 0 || answer.posts.total > 0 {
        commands.extend(["inbox", "ack --all"].map(str::to_owned));
    }
    if answer.ready.total > 0 {
        commands.push("next".to_owned());
    }
    let others = [
        "add SUBJECT",
        "list",
        "say AGENT TEXT",
        "log",
        "status",
        "--help",
    ];
    commands.extend(others.map(str::to_owned));
    commands.truncate(COMMANDS);
    commands
        .iter()
        .map(|command| format!("teamlog {command}"))
        .collect()
}
