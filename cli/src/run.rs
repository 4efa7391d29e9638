//! Runs the subcommand of argv. All errors are reported here, once.

use crate::args::{Args, definition_of, subcommand, typed};
use crate::command::{self, Command};
use crate::context::Context;
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit, Outcome};
use crate::global::wants_json;
use crate::hint::mistyped::{self, Condition, Correction};
use crate::link::{self, Called};
use crate::output::Output;
use crate::team_argument::{self, TeamTyped, Words};
use clap::error::ErrorKind;
use clap::{CommandFactory, Subcommand};
use std::ffi::OsString;
use teamlog_team::api::Operation;

pub fn run(argv: &[OsString], env: &ProcessEnv) -> Exit {
    let json = wants_json(argv);
    let brief = match briefing(argv, env) {
        Ok(brief) => brief,
        Err((form, error)) => return form.report(error, env),
    };
    let argv = brief.as_deref().unwrap_or(argv);
    if argv.len() < 2 {
        return print(&Args::command().render_help().to_string(), json, env);
    }
    if let Some(text) = command::help::requested(argv) {
        return print(&text, json, env);
    }
    let words = asks_for_help(argv);
    let argv = words.as_deref().unwrap_or(argv);
    let args = match read(argv, env) {
        Ok(args) => args,
        Err(Misread::Usage(error)) => return usage(&error, argv, json, env),
        Err(Misread::Team(form, error)) => return form.report(corrected(*error, argv, env), env),
    };
    let form = ErrorOutput::from_args(&args, env);
    let mut context = match Context::new(&args.global, env, Args::command) {
        Ok(context) => context,
        Err(error) => return form.report(error, env),
    };
    let exit = attempt(args, &mut context).unwrap_or_else(|error| {
        let error = match error.code() {
            "team_not_found" => corrected(error, argv, env),
            _ => error,
        };
        form.report(error, env)
    });
    context.afterwards();
    exit
}

fn print(text: &str, json: bool, env: &ProcessEnv) -> Exit {
    let mut output = Output::stdout(false, env);
    let printed = output.text(text);
    match printed.and_then(|()| output.flush()) {
        Ok(()) => Exit::Done,
        Err(error) => error.report(json, env),
    }
}

/// Reason why argv could not be parsed into a command.
enum Misread {
    Usage(clap::Error),
    /// TEAM is missing, and the team is not known in another way.
    Team(ErrorOutput, Box<CommandError>),
}

/// Parses argv. If TEAM was left out, inserts the team.
fn read(argv: &[OsString], env: &ProcessEnv) -> Result<Args, Misread> {
    let moved = team_argument::moved(argv, || definition_of(argv));
    let argv = moved.as_deref().unwrap_or(argv);
    let parsed = typed(argv);
    let may_lack_team = match &parsed {
        Ok(_) => team_argument::may_differ(argv),
        Err(error) => match error.kind() {
            ErrorKind::MissingRequiredArgument => true,
            ErrorKind::UnknownArgument => team_argument::may_differ(argv),
            _ => false,
        },
    };
    let words = may_lack_team.then(|| Words::read(argv, definition_of(argv)));
    let Some(words) = words.flatten() else {
        return parsed.map_err(Misread::Usage);
    };
    let lacks_team = match words.given(parsed.is_err()) {
        _ if words.is_named_twice => false,
        TeamTyped::Yes => false,
        TeamTyped::No => true,
        TeamTyped::IfItExists if words.named.is_some() => true,
        TeamTyped::IfItExists => {
            let args = parsed.or_else(|error| typed(&words.with("team")).map_err(|_| error));
            !in_context(args.map_err(Misread::Usage)?, env, |context| {
                Ok(context.has_team(&words.first().cloned().unwrap_or_default()))
            })?
        }
    };
    let argv = match lacks_team {
        // Parse with any team name, to find other errors and the global options.
        true => {
            let args = match typed(&words.with("team")) {
                Ok(args) => args,
                Err(error) if words.named.is_some() || words.command() == "undo" => {
                    return Err(Misread::Usage(error));
                }
                // The command may need no team, as in `mode explain --active team ralph`.
                Err(error) => {
                    return typed(&words.without_option()).map_err(|_| Misread::Usage(error));
                }
            };
            let named = words
                .named
                .as_ref()
                .map(|team| team.to_string_lossy().into_owned());
            words.with(&in_context(args, env, |context| context.team_named(named))?)
        }
        false if words.names_another() => {
            let message = words.given_twice();
            let args = typed(&words.without_option()).map_err(Misread::Usage)?;
            let form = ErrorOutput::from_args(&args, env);
            return Err(Misread::Team(form, Box::new(CommandError::usage(message))));
        }
        false => words.without_option(),
    };
    typed(&argv).map_err(Misread::Usage)
}

/// Calls `ask` with the context of a command. Adds hints to an error of `ask`.
fn in_context<A>(
    args: Args,
    env: &ProcessEnv,
    ask: impl FnOnce(&mut Context) -> Result<A, CommandError>,
) -> Result<A, Misread> {
    let context = Context::new(&args.global, env, Args::command);
    let answer =
        context.and_then(|mut context| ask(&mut context).map_err(|error| context.advise(error)));
    answer.map_err(|error| Misread::Team(ErrorOutput::from_args(&args, env), Box::new(error)))
}

/// Returns the arguments for a short briefing, if argv has no words and the acting agent and its team are known.
///
/// # Errors
/// The question for the team, if the acting agent is known and several teams are open.
fn briefing(
    argv: &[OsString],
    env: &ProcessEnv,
) -> Result<Option<Vec<OsString>>, (ErrorOutput, CommandError)> {
    let [program] = argv else {
        return Ok(None);
    };
    if env.var_set("TEAMLOG_AGENT").is_none() {
        return Ok(None);
    }
    let words = vec![program.clone(), "prime".into(), "--short".into()];
    match read(&words, env) {
        Ok(_) => Ok(Some(words)),
        Err(Misread::Team(form, error)) if error.has("open") => Err((form, *error)),
        Err(_) => Ok(None),
    }
}

/// Puts the command line that was probably meant into the hint of an error.
fn corrected(error: CommandError, argv: &[OsString], env: &ProcessEnv) -> CommandError {
    match meant(argv, env) {
        Some(line) => error.hinting(line),
        None => error,
    }
}

/// Returns the command line that was probably meant.
fn meant(argv: &[OsString], env: &ProcessEnv) -> Option<String> {
    let words = Words::read(argv, definition_of(argv));
    let corrections = mistyped::corrections(argv, words.as_ref());
    let right = corrections.iter().find(|one| is_right(one, env))?;
    Some(right.line(Called::from_program(env.program().as_deref()).name()))
}

/// Returns true if a correction can be parsed and its condition is met.
fn is_right(correction: &Correction, env: &ProcessEnv) -> bool {
    let argv = &correction.argv;
    let parsed = typed(argv).or_else(|error| {
        let words = Words::read(argv, definition_of(argv)).ok_or(error)?;
        typed(&words.with("team"))
    });
    let Ok(args) = parsed else {
        return false;
    };
    let context = || Context::new(&args.global, env, Args::command).ok();
    match &correction.condition {
        Condition::Always => true,
        Condition::Team(team) => context().is_some_and(|context| context.has_team(team)),
        Condition::Agent(agent) => context().is_some_and(|mut context| context.has_agent(agent)),
    }
}

/// Converts `teamlog help task claim` into `teamlog task claim --help`.
fn asks_for_help(argv: &[OsString]) -> Option<Vec<OsString>> {
    let (program, words) = argv.split_first()?;
    let (_, words) = words.split_first().filter(|(first, _)| *first == "help")?;
    let mut rewritten = vec![program.clone()];
    rewritten.extend(words.iter().filter(|word| *word != "--help").cloned());
    rewritten.push("--help".into());
    Some(rewritten)
}

fn attempt(args: Args, context: &mut Context) -> Outcome {
    let outcome = args.command.run(context);
    // Flush the answer even if a later step failed.
    let outcome = context.out.flush().and(outcome);
    context.say_notes();
    outcome.map_err(|error| context.advise(error))
}

struct ErrorOutput {
    json: bool,
    format: ErrorFormat,
}

enum ErrorFormat {
    Ours,
    /// In the JSON envelope of the API. The operation is `None` if argv could not be parsed.
    Contract(Option<&'static Operation>),
    /// In the format for callers of `rcs state`.
    State,
    /// In the usual format, with exit code 2, because an agent treats every other exit code of the guard as permission.
    Guard,
}

impl ErrorOutput {
    fn from_args(args: &Args, env: &ProcessEnv) -> ErrorOutput {
        ErrorOutput {
            json: args.global.json,
            format: match &args.command {
                Command::Api(api) => ErrorFormat::Contract(api.operation(env)),
                Command::State(_) => ErrorFormat::State,
                Command::Guard(guard) if guard.is_asked() => ErrorFormat::Guard,
                _ => ErrorFormat::Ours,
            },
        }
    }

    fn report(&self, error: CommandError, env: &ProcessEnv) -> Exit {
        match self.format {
            ErrorFormat::Guard => error.ending(Exit::Usage).report(self.json, env),
            // If standard output failed, do not print a second answer there.
            ErrorFormat::Contract(operation) if !error.is_unwritten() => {
                command::api::undone(env, self.json, operation, error)
            }
            ErrorFormat::State => error.report_payload(self.json, env),
            _ => error.report(self.json, env),
        }
    }
}

fn usage(error: &clap::Error, argv: &[OsString], json: bool, env: &ProcessEnv) -> Exit {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // clap prints the error, because clap colours headings. A closed pipe is not an error.
        let _ = error.print();
        return Exit::Done;
    }
    let help = format!("{} --help", subcommand(argv));
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    let error = CommandError::of_clap(error, &help, Command::has_subcommand);
    let error = match is_unknown {
        true => corrected(error, argv, env),
        false => error,
    };
    match link::is_api(argv) {
        true => command::api::undone(env, json, None, error),
        false if link::is_state(argv) => {
            let error = error.ending(Exit::Refused);
            error.report_payload(json, env)
        }
        false => error.report(json, env),
    }
}
