//! `mode`: workflow modes, which of them are active, and what may be done to them.

mod outcome;
pub mod prompt;

use crate::agents::event::{ContextAnswer, StopAnswer};
use crate::command::prelude::*;
use crate::command::printed::Either;
use crate::command::session::SessionScope;
use crate::render::{mode, prompt as told_of};
use outcome::Ended;
use prompt::Prompt;
use serde_json::{Map, Value};
use teamlog_team::mode::clear::ModeClear;
use teamlog_team::mode::end::{ModeCancel, ModeComplete, ModeFail};
use teamlog_team::mode::explain::{ModeExplain, explain};
use teamlog_team::mode::rules::prompt::answer::PromptAnswer;
use teamlog_team::mode::rules::reading::Reading;
use teamlog_team::mode::rules::transition::Review;
use teamlog_team::mode::sessions::{ModeEndSession, ModeSessions};
use teamlog_team::mode::show::{ModeList, ModeShow};
use teamlog_team::mode::start::ModeStart;
use teamlog_team::mode::write::{ModeUpdate, ModeWrite};

actions! {
    Start = "start", of::<ModeStart>;
    Update = "update", of::<ModeUpdate>;
    Complete = "complete", of::<ModeComplete>;
    Fail = "fail", of::<ModeFail>;
    Cancel = "cancel", of::<ModeCancel>;
    Clear = "clear", of::<ModeClear>;
    Write = "write", of::<ModeWrite>;
    List = "list", of::<ModeList>;
    Show = "show", of::<ModeShow>;
    Explain = "explain", of::<ModeExplain>;
    Prompt = "prompt", recorded::<Either<PromptAnswer, ContextAnswer>>;
    Ended = "outcome", read::<Either<Reading, StopAnswer>>;
    Sessions = "sessions", of::<ModeSessions>;
    EndSession = "end-session", of::<ModeEndSession>;
}

// The mode that is meant. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Target {
    /// The team
    pub team: String,
    /// The mode
    #[arg(value_name = "MODE")]
    pub mode: String,
    #[command(flatten)]
    pub scope: SessionScope,
}

// Fields of its state. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
struct Fields {
    /// A field of its state, JSON or text; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = given::field)]
    set: Vec<(String, Value)>,
    /// Fields of its state, a JSON object
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: Option<String>,
}

impl Fields {
    /// All of them; what `--set` says counts before what `--input` holds.
    pub fn all(self, context: &Context) -> Result<Option<Map<String, Value>>, CommandError> {
        let mut fields = given::maybe_object(context.env(), "input", self.input.as_deref())?;
        fields.extend(self.set);
        Ok(Some(fields).filter(|fields| !fields.is_empty()))
    }
}

/// Make a mode active, unless those that are active do not go with it
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Make a mode active, unless those that are active do not go with it\n\nA mode that hands off to it is \
        completed by the same step, all or nothing. What is refused names the modes in the way and the commands that \
        clear them; `mode explain` says the same without doing it.",
    after_help = "\
Examples:
  teamlog mode start demo ultrawork --task 'fix every warning'
  teamlog mode start demo forge --session s-1 --max-iterations 5 --set owner=dev --json"
)]
struct Start {
    #[command(flatten)]
    target: Target,
    /// What it is to do
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The phase to begin with [default: starting]
    #[arg(long)]
    phase: Option<String>,
    /// Rounds at most [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    max_iterations: Option<u64>,
    #[command(flatten)]
    fields: Fields,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Start, target.team, stamp, mode::stands, |args, context| {
    ModeStart {
        mode: args.target.mode,
        session_id: args.target.scope.session(context)?,
        task_description: args.task,
        current_phase: args.phase,
        max_iterations: args.max_iterations,
        set: args.fields.all(context)?,
    }
});

/// Change fields of an active mode; a phase or an outcome that ends it does so
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode update demo ultrawork --phase executing
  teamlog mode update demo ultrawork --iteration 2 --set plan=docs/plan.md --unset error --json")]
struct Update {
    #[command(flatten)]
    target: Target,
    /// The phase that it is in now
    #[arg(long)]
    phase: Option<String>,
    /// The round that it is in now
    #[arg(long, value_name = "N", value_parser = super::whole::<u64>)]
    iteration: Option<u64>,
    #[command(flatten)]
    fields: Fields,
    /// Fields to take away, separated by commas
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    unset: Vec<String>,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Update, target.team, stamp, mode::stands, |args, context| {
    ModeUpdate {
        mode: args.target.mode,
        session_id: args.target.scope.session(context)?,
        current_phase: args.phase,
        iteration: args.iteration,
        set: args.fields.all(context)?,
        unset: Some(args.unset).filter(|fields| !fields.is_empty()),
    }
});

/// Complete an active mode
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode complete demo ultrawork
  teamlog mode complete demo ultrawork --note 'on branch fix-login' --key done-1")]
struct Complete {
    #[command(flatten)]
    target: Target,
    /// What came out of it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

/// Say that an active mode failed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode fail demo ultrawork --error 'the tests never end'")]
struct Fail {
    #[command(flatten)]
    target: Target,
    /// Why
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

/// Cancel an active mode, and what it is linked to
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode cancel demo ultrawork --reason 'no longer wanted'")]
struct Cancel {
    #[command(flatten)]
    target: Target,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

records!(
    Complete,
    target.team,
    stamp,
    mode::stands,
    |args, context| ModeComplete {
        mode: args.target.mode,
        session_id: args.target.scope.session(context)?,
        note: args.note,
    }
);

records!(Fail, target.team, stamp, mode::stands, |args, context| {
    ModeFail {
        mode: args.target.mode,
        session_id: args.target.scope.session(context)?,
        error: args.error,
    }
});

records!(Cancel, target.team, stamp, mode::stands, |args, context| {
    ModeCancel {
        mode: args.target.mode,
        session_id: args.target.scope.session(context)?,
        reason: args.reason,
    }
});

/// Take the state of a mode away, active or not, so that others may start
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Take the state of a mode away, active or not, so that others may start\n\nWhere the root has a state of \
        the mode too, the session keeps a mark that hides it; the root's own goes by --root.",
    after_help = "\
Examples:
  teamlog mode clear demo ultrawork
  teamlog mode clear demo forge --session s-1
  teamlog mode clear demo ultrawork --all-sessions --json"
)]
struct Clear {
    #[command(flatten)]
    target: Target,
    /// The states of the root and of every session
    #[arg(long, conflicts_with_all = ["session", "root"])]
    all_sessions: bool,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Clear, target.team, stamp, mode::cleared, |args, context| {
    ModeClear {
        mode: args.target.mode,
        session_id: args
            .target
            .scope
            .session_unless(args.all_sessions, context)?,
        all_sessions: args.all_sessions,
    }
});

/// Write fields of the state of a mode, which may start it, hand over to it or end it
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Write fields of the state of a mode, which may start it, hand over to it or end it\n\nThe input is a JSON \
        object {mode, session_id?, state{}?, …}; whatever else it holds are fields of the state, and those in `state` \
        count before them. A state that becomes active does so by the rules of `mode start`; one whose phase or outcome \
        is final ends.",
    after_help = "\
Examples:
  teamlog mode write demo --input '{\"mode\":\"ultrawork\",\"active\":true,\"current_phase\":\"planning\"}'
  teamlog mode write demo ultrawork --input '{\"current_phase\":\"executing\"}' --json"
)]
struct Write {
    /// The team
    team: String,
    /// The mode, unless the input names it
    #[arg(value_name = "MODE")]
    mode: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// What to write, a JSON object
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: String,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Write, mode::stands, |args, context| {
    let mut input = given::object(context.env(), "input", &args.input)?;
    args.scope.put_into(&mut input, context)?;
    given::named(&mut input, "mode", args.mode)?;
    given::typed::<ModeWrite>(input)?
});

/// List the states of modes: those of the root and of every session, or with --session or --root those of one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode list demo
  teamlog mode list demo --session s-1
  teamlog mode list demo --active --json")]
struct List {
    /// The team
    team: String,
    #[command(flatten)]
    scope: SessionScope,
    /// Those of the root and of every session, each by itself: the default
    #[arg(long, conflicts_with_all = ["session", "root"])]
    all_sessions: bool,
    /// Only active ones
    #[arg(long)]
    active: bool,
    /// Most sessions beside those in which a mode is active; 0 is all [default: 50]
    #[arg(long, value_name = "N", conflicts_with_all = ["session", "root"], value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// The session that the page before ended with
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["session", "root"])]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(List, at, render::mode::all, |args, context| ModeList {
    all_sessions: !args.scope.is_given(),
    session_id: args.scope.session_unless(args.all_sessions, context)?,
    active: args.active,
    limit: args.limit,
    cursor: args.cursor,
});

/// Show the state of a mode: that of the session, else that of the root
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode show demo ultrawork
  teamlog mode show demo ultrawork --session s-1 --json")]
struct Show {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    at: Past,
}

impl Show {
    fn run(self, context: &mut Context) -> Outcome {
        let show = ModeShow {
            mode: self.target.mode,
            session_id: self.target.scope.session(context)?,
        };
        context.show_at(&self.target.team, self.at, show, mode::card)
    }
}

/// Say what would become of making a mode active, without doing it
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Say what would become of making a mode active, without doing it\n\nWith --active it says so for these \
        modes, in the order in which they became active, and there is no team. A denial is an answer: it ends with 0.",
    after_help = "\
Examples:
  teamlog mode explain demo blueprint
  teamlog mode explain --active team,forge blueprint --json
  teamlog mode explain --active autopilot blueprint --review clean"
)]
struct Explain {
    /// The team; with --active, the mode
    #[arg(value_name = "TEAM")]
    team: String,
    /// The mode
    #[arg(value_name = "MODE", required_unless_present = "active")]
    mode: Option<String>,
    /// The modes that are active, by comma, the first one first; names of none are left out
    #[arg(long, value_name = "MODES", conflicts_with_all = ["mode", "session", "root", "at"])]
    active: Option<String>,
    /// What the review of autopilot's code said: unknown, not-clean or clean [default: unknown]
    #[arg(long, value_name = "VERDICT", requires = "active", conflicts_with = "mode", value_parser = verdict)]
    review: Option<Review>,
    #[command(flatten)]
    scope: SessionScope,
    #[command(flatten)]
    at: Past,
}

fn verdict(text: &str) -> Result<Review, String> {
    Review::from_name(text).ok_or_else(|| "must be unknown, not-clean or clean".to_owned())
}

impl Explain {
    fn run(self, context: &mut Context) -> Outcome {
        if let Some(active) = &self.active {
            let active: Vec<&str> = active.split(',').map(str::trim).collect();
            let told = explain(&active, &self.team, self.review.unwrap_or_default())?;
            return context.end(Exit::Done, &told, told_of::transition);
        }
        let Some(mode) = self.mode else {
            return Err(CommandError::invalid(
                "mode",
                "mode must be given".to_owned(),
            ));
        };
        let session_id = self.scope.session(context)?;
        let input = ModeExplain { mode, session_id };
        context.show_at(&self.team, self.at, input, told_of::transition)
    }
}

/// List the sessions that work in a team: since when, when they were heard of last, and whether they ended
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog mode sessions demo
  teamlog mode sessions demo --limit 10 --json")]
struct Sessions {
    /// The team
    team: String,
    /// Most sessions; 0 is all [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// The session that the page before ended with
    #[arg(long, value_name = "SESSION")]
    cursor: Option<String>,
}

/// End a session: what is active in it is canceled, and it holds up nobody any more
#[derive(Debug, clap::Args)]
#[command(
    long_about = "End a session: what is active in it is canceled, and it holds up nobody any more\n\nMeant for the hook that \
        an agent runs when its session ends. A session that is unknown, or ended already, stays as it is.",
    after_help = "\
Examples:
  teamlog mode end-session demo --session s-1
  teamlog mode end-session demo --session s-1 --reason 'the terminal was closed' --json"
)]
struct EndSession {
    /// The team
    team: String,
    #[command(flatten)]
    scope: SessionScope,
    /// Why it ends
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

reads!(
    Sessions,
    render::mode::sessions,
    ModeSessions(limit, cursor)
);

records!(EndSession, mode::session_ended, |args, context| {
    ModeEndSession {
        session_id: args.scope.session(context)?.ok_or_else(|| {
            let message = "session_id must be given, as --session or by the environment";
            CommandError::invalid("session_id", message)
        })?,
        reason: args.reason,
    }
});
