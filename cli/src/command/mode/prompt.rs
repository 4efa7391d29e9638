//! `mode prompt`: carries out the skills that a prompt names. An agent's prompt hook runs this command.
//!
//! The command has separate arguments, because the prompt can also come from standard input, as text or as the JSON
//! of a hook.

use crate::agents::event::ContextAnswer;
use crate::call::Call;
use crate::command::prelude::*;
use crate::command::session::SessionScope;
use crate::hint::typed_here;
use crate::render::prompt;
use serde_json::{Map, Value};
use teamlog_team::mode::prompt::ModePrompt;
use teamlog_team::mode::rules::prompt::answer::PromptAnswer;
use teamlog_team::mode::show::ModeList;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Carry out all skills that a prompt names, or none\n\nA prompt starts the modes whose `$name` tokens are at its head. The setting modes.trigger is `tokens` (the default), `phrases` (a verb and a name at the head count \
        too) or `off` (prompts start nothing). If a prompt names planning and executing modes, planning starts and execution is deferred. A vague request to execute starts a plan first. A denied prompt changes nothing and exits with 1.\n\nWith --hook the \
        input and the answer have the form of a native prompt hook, JSON or plain text; the exit code is 0 unless \
        the command fails.",
    after_help = "\
Examples:
  teamlog mode prompt demo --text '$blueprint $team $forge ship this fix'
  echo '$autopilot fix src/main.rs' | teamlog mode prompt demo -
  echo '{\"prompt\":\"$forge fix it\",\"session_id\":\"s-1\"}' | teamlog mode prompt demo --hook"
)]
pub struct Prompt {
    /// The team
    team: String,
    /// Read the prompt from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true, conflicts_with = "text")]
    stdin: Option<String>,
    /// Text of the prompt
    #[arg(long, allow_hyphen_values = true, required_unless_present_any = ["stdin", "hook"])]
    text: Option<String>,
    /// Read the JSON of a native prompt hook, or plain text, from standard input, and answer in that hook's form
    #[arg(long)]
    hook: bool,
    #[command(flatten)]
    scope: SessionScope,
    /// Thread of the prompt
    #[arg(long, value_name = "THREAD")]
    thread_id: Option<String>,
    /// Turn that the prompt starts
    #[arg(long, value_name = "TURN")]
    turn_id: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

/// Builds the answer for the agent's context. `program` is the name of this program in the printed commands.
fn hook_answer(answer: PromptAnswer, program: &str) -> ContextAnswer {
    let mut additional_context = answer.additional_context;
    if let Some(typed) = typed_here(program, &additional_context) {
        additional_context.push_str(&format!(" ({typed})"));
    }
    ContextAnswer::new("UserPromptSubmit", additional_context)
}

/// Error codes after which the prompt is answered by reading the log only: the daemon does not answer, or a lock is held.
const UNANSWERED: [&str; 5] = [
    "daemon_unreachable",
    "daemon_version_mismatch",
    "outcome_unknown",
    "busy",
    "locked",
];

/// Answers a prompt by reading the log only, after the prompt could not be carried out.
fn unanswered(
    context: &mut Context,
    team: &str,
    prompt: ModePrompt,
    error: CommandError,
) -> Result<PromptAnswer, CommandError> {
    if !UNANSWERED.contains(&error.code()) || context.is_remote() {
        return Err(error);
    }
    let session_id = prompt.session_id.clone();
    let mut handle = context.team(team)?;
    if let Some(answer) = handle.mode_prompt_preview(prompt)? {
        return Ok(answer);
    }
    let listed = handle.mode_list(ModeList {
        session_id,
        active: true,
        ..ModeList::default()
    })?;
    let active: Vec<&str> = listed.active_modes.iter().map(|mode| mode.name()).collect();
    let active = match active.is_empty() {
        true => "none".to_owned(),
        false => active.join(", "),
    };
    let outcome = match error.code() {
        "outcome_unknown" => "It is unknown whether the prompt started or ended a mode",
        _ => "The prompt started and ended no mode",
    };
    Ok(PromptAnswer {
        additional_context: format!(
            "teamlog could not carry out this prompt: {}. {outcome}. Modes active when teamlog looked: {active}.",
            error.message().trim_end_matches('.')
        ),
        ..PromptAnswer::default()
    })
}

/// Carries out a prompt. If the prompt is denied, the refusal holds the answer.
fn carry_out(
    stamp: Stamp,
    context: &mut Context,
    team: &str,
    prompt: ModePrompt,
) -> Result<PromptAnswer, CommandError> {
    let done = stamp.execute(context, &Call::operation(), team, prompt);
    done.or_else(|error| match error.code() {
        "mode_denied" => PromptAnswer::from_details(error.details()).ok_or(error),
        _ => Err(error),
    })
}

/// Fields of the hook's JSON that describe the prompt. Other fields are ignored.
#[derive(Debug, Default)]
struct Submitted {
    text: String,
    session_id: Option<String>,
    thread_id: Option<String>,
    turn_id: Option<String>,
}

impl Submitted {
    /// Parses the input of a hook. Input that is not a JSON object with a prompt is the prompt itself.
    fn read(input: String) -> Result<Submitted, CommandError> {
        let fields: Option<Map<String, Value>> = serde_json::from_str(&input).ok();
        let Some(fields) = fields else {
            return Ok(Submitted {
                text: input,
                ..Submitted::default()
            });
        };
        let text = |field: &str| given::text(&fields, field);
        Ok(Submitted {
            text: text("prompt")?.unwrap_or_default(),
            session_id: text("session_id")?,
            thread_id: text("thread_id")?,
            turn_id: text("turn_id")?,
        })
    }
}

impl Prompt {
    pub fn run(self, context: &mut Context) -> Outcome {
        let input = match self.text {
            Some(text) => text,
            None => given::stdin(context.env(), "prompt")?,
        };
        let submitted = match self.hook {
            true => Submitted::read(input)?,
            false => Submitted {
                text: input,
                ..Submitted::default()
            },
        };
        let input = ModePrompt {
            text: submitted.text,
            session_id: self.scope.session_or(submitted.session_id, context)?,
            thread_id: self.thread_id.or(submitted.thread_id),
            turn_id: self.turn_id.or(submitted.turn_id),
        };
        if self.hook {
            context.answer_hook();
            let done = carry_out(self.stamp, context, &self.team, input.clone());
            let answer = match done {
                Err(error) => unanswered(context, &self.team, input, error)?,
                done => done?,
            };
            let program = context.program();
            return context.end(Exit::Done, &hook_answer(answer, &program), line);
        }
        let answer = carry_out(self.stamp, context, &self.team, input)?;
        context.answer(&answer, prompt::prompted)?;
        context.ended(Exit::Done)?;
        if let Some(typed) = typed_here(&context.program(), &answer.additional_context)
            && !context.out.is_json()
        {
            context.out.line(typed)?;
        }
        Ok(match answer.transition_error {
            Some(_) => Exit::Refused,
            None => Exit::Done,
        })
    }
}

/// Renders the answer of a hook. Prints JSON for people too.
fn line(answer: &ContextAnswer, _: &View) -> Vec<String> {
    serde_json::to_string(answer).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_passes_on_json_or_text() {
        let json = r#"{"prompt":"$forge x","session_id":"s-1","turn_id":"t","cwd":"/","n":1}"#;
        let read = Submitted::read(json.to_owned()).unwrap();
        assert_eq!(
            (&*read.text, read.session_id.as_deref()),
            ("$forge x", Some("s-1"))
        );
        assert_eq!((read.thread_id, read.turn_id.as_deref()), (None, Some("t")));
        for text in ["$forge x", "[1]", "{no json}", ""] {
            assert_eq!(Submitted::read(text.to_owned()).unwrap().text, text);
        }
        let error = Submitted::read(r#"{"prompt":7}"#.to_owned()).unwrap_err();
        assert_eq!(error.code(), "invalid_input");
    }
}
