//! `mode`: shows the states of workflow modes and runs operations on them.
//!
//! `write` and `explain` have separate arguments: `write` takes the whole input as JSON, and `explain --active` has
//! no team.

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

type Fields = Map<String, Value>;

subcommands! {
    @examples "\
  teamlog mode start demo ultrawork --task 'fix every warning'
  teamlog mode list demo --active";
    START = operation::<ModeStart>("start", mode::stands)
        .with(|start, state: State, context| {
            (start.session_id, start.set) = state.read(context)?;
            Ok(())
        })
        .about("Start a mode, unless an active mode excludes it")
        .details("Starting a mode completes the mode that hands over to it, in the same step. A refusal names the conflicting modes and the commands that clear them; `mode explain` gives the same answer without starting the mode.")
        .examples("\
  teamlog mode start demo ultrawork --task 'fix every warning'
  teamlog mode start demo forge --session s-1 --max-iterations 5 --set owner=dev --json");
    UPDATE = operation::<ModeUpdate>("update", mode::stands)
        .with(|update, state: State, context| {
            (update.session_id, update.set) = state.read(context)?;
            Ok(())
        })
        .about("Change fields of an active mode; a final phase or outcome ends it")
        .examples("\
  teamlog mode update demo ultrawork --phase executing
  teamlog mode update demo ultrawork --iteration 2 --set plan=docs/plan.md --unset error --json");
    COMPLETE = operation::<ModeComplete>("complete", mode::stands)
        .with(|complete, scope: SessionScope, context| {
            complete.session_id = scope.session(context)?;
            Ok(())
        })
        .examples("\
  teamlog mode complete demo ultrawork
  teamlog mode complete demo ultrawork --note 'on branch fix-login' --key done-1");
    FAIL = operation::<ModeFail>("fail", mode::stands)
        .with(|fail, scope: SessionScope, context| {
            fail.session_id = scope.session(context)?;
            Ok(())
        })
        .about("Mark an active mode as failed")
        .examples("\
  teamlog mode fail demo ultrawork --error 'the tests never end'
  teamlog mode fail demo ultrawork --error 'no time left' --key fail-1 --json");
    CANCEL = operation::<ModeCancel>("cancel", mode::stands)
        .with(|cancel, scope: SessionScope, context| {
            cancel.session_id = scope.session(context)?;
            Ok(())
        })
        .about("Cancel an active mode and the mode that it is linked to")
        .examples("\
  teamlog mode cancel demo ultrawork --reason 'no longer wanted'
  teamlog mode cancel demo ultrawork --json");
    CLEAR = operation::<ModeClear>("clear", mode::cleared)
        .with(|clear, scope: SessionScope, context| {
            clear.session_id = scope.session_unless(clear.all_sessions, context)?;
            Ok(())
        })
        .about("Remove the state of a mode, active or not, so that other modes can start")
        .details("If the root has a state of the mode too, the session keeps a mark that hides it; --root removes the state of the root.")
        .examples("\
  teamlog mode clear demo ultrawork
  teamlog mode clear demo forge --session s-1
  teamlog mode clear demo ultrawork --all-sessions --json");
    WRITE = own(
        of::<ModeWrite>("write"),
        "Write fields of the state of a mode, which may start or end modes",
        Write::run,
    );
    LIST = operation::<ModeList>("list", mode::all)
        .at()
        .with(|list, scope: SessionScope, context| {
            let all = list.all_sessions;
            list.all_sessions = !scope.is_given();
            list.session_id = scope.session_unless(all, context)?;
            Ok(())
        })
        .about("List the states of modes: of the root and of every session, or of one scope with --session or --root")
        .examples("\
  teamlog mode list demo
  teamlog mode list demo --session s-1
  teamlog mode list demo --active --json");
    SHOW = operation::<ModeShow>("show", mode::card)
        .at()
        .with(|show, scope: SessionScope, context| {
            show.session_id = scope.session(context)?;
            Ok(())
        })
        .about("Show the state of a mode: of the session, or else of the root")
        .examples("\
  teamlog mode show demo ultrawork
  teamlog mode show demo ultrawork --session s-1 --json");
    EXPLAIN = own(
        of::<ModeExplain>("explain"),
        "Show if a mode could start, without starting it",
        Explain::run,
    );
    PROMPT = own(
        recorded::<Either<PromptAnswer, ContextAnswer>>("prompt"),
        "Carry out all skills that a prompt names, or none",
        Prompt::run,
    );
    OUTCOME = own(
        read::<Either<Reading, StopAnswer>>("outcome"),
        "Read the outcome of a mode: finished, blocked, failed, userinterlude or askuserQuestion",
        Ended::run,
    );
    SESSIONS = operation::<ModeSessions>("sessions", mode::sessions)
        .about("List the sessions of a team: start, last event, and end")
        .examples("\
  teamlog mode sessions demo
  teamlog mode sessions demo --limit 10 --json");
    END_SESSION = operation::<ModeEndSession>("end-session", mode::session_ended)
        .with(|end, scope: SessionScope, context| {
            end.session_id = scope.session(context)?.ok_or_else(|| {
                let message = "session_id is required: pass --session ID, or run inside an agent's session";
                CommandError::invalid("session_id", message)
            })?;
            Ok(())
        })
        .about("End a session and cancel its active modes")
        .details("Meant for the hook that an agent runs when its session ends. A session that is unknown, or has already ended, stays \
            unchanged.")
        .examples("\
  teamlog mode end-session demo --session s-1
  teamlog mode end-session demo --session s-1 --reason 'the terminal was closed' --json");
}

// The session and fields of a state. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
struct State {
    #[command(flatten)]
    scope: SessionScope,
    /// Field of the state, JSON or text; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = given::field)]
    set: Vec<(String, Value)>,
    /// Fields of the state, a JSON object
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: Option<String>,
}

impl State {
    /// Returns the session and the fields. A field of `--set` overrides the same field of `--input`.
    fn read(self, context: &Context) -> Result<(Option<String>, Option<Fields>), CommandError> {
        let mut fields = given::maybe_object(context.env(), "input", self.input.as_deref())?;
        fields.extend(self.set);
        let fields = Some(fields).filter(|fields| !fields.is_empty());
        Ok((self.scope.session(context)?, fields))
    }
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Write fields of the state of a mode, which may start or end modes\n\nThe input is a JSON \
        object {mode, session_id?, state{}?, …}; its other fields are fields of the state too. If a field is given twice, the one in `state` counts. The rules of `mode start` apply to a state that becomes active; a final phase or outcome ends \
        the mode.",
    after_help = "\
Examples:
  teamlog mode write demo --input '{\"mode\":\"ultrawork\",\"active\":true,\"current_phase\":\"planning\"}'
  teamlog mode write demo ultrawork --input '{\"current_phase\":\"executing\"}' --json"
)]
struct Write {
    /// The team
    team: String,
    /// Name of the mode, unless the input has it
    #[arg(value_name = "MODE")]
    mode: Option<String>,
    #[command(flatten)]
    scope: SessionScope,
    /// Fields to write, a JSON object
    #[arg(long, value_name = "JSON|@FILE|-")]
    input: String,
    #[command(flatten)]
    stamp: Stamp,
}

impl Write {
    fn run(self, context: &mut Context) -> Outcome {
        let mut input = given::object(context.env(), "input", &self.input)?;
        self.scope.put_into(&mut input, context)?;
        given::named(&mut input, "mode", self.mode)?;
        let input = given::typed::<ModeWrite>(input)?;
        self.stamp
            .carry_out(context, &self.team, input, mode::stands)
    }
}

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Show if a mode could start, without starting it\n\n--active lists modes in the order of their start; the answer is then for these modes, without a team. The exit code is 0, also for a denial.",
    after_help = "\
Examples:
  teamlog mode explain demo blueprint
  teamlog mode explain --active team,forge blueprint --json
  teamlog mode explain --active autopilot blueprint --review clean"
)]
struct Explain {
    /// The team; with --active, the name of the mode
    #[arg(value_name = "TEAM")]
    team: String,
    /// Name of the mode
    #[arg(value_name = "MODE", required_unless_present = "active")]
    mode: Option<String>,
    /// Active modes, separated by commas, the oldest first; unknown names are ignored
    #[arg(long, value_name = "MODES", conflicts_with_all = ["mode", "session", "root", "at"])]
    active: Option<String>,
    /// Verdict of the code review of autopilot: unknown, not-clean or clean [default: unknown]
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
            return Err(CommandError::invalid("mode", "MODE is required".to_owned()));
        };
        let session_id = self.scope.session(context)?;
        let input = ModeExplain { mode, session_id };
        context.show_at(&self.team, self.at, input, told_of::transition)
    }
}
