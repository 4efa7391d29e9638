//! From argv to one subcommand; all errors are reported here, once.

use crate::args::{Args, definition_of, subcommand, typed};
use crate::command::{self, Command};
use crate::context::Context;
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit, Outcome};
use crate::global::wants_json;
use crate::link;
use crate::output::Output;
use crate::team_argument::{self, Given, Words};
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::ffi::OsString;
use teamlog_team::api::Operation;

pub fn run(argv: &[OsString], env: &ProcessEnv) -> Exit {
    let json = wants_json(argv);
    if argv.len() < 2 {
        let mut output = Output::stdout(false, env);
        let printed = output.text(&Args::command().render_help().to_string());
        return match printed.and_then(|()| output.flush()) {
            Ok(()) => Exit::Done,
            Err(error) => error.report(json, env),
        };
    }
    let words = asks_for_help(argv);
    let argv = words.as_deref().unwrap_or(argv);
    let args = match read(argv, env) {
        Ok(args) => args,
        Err(Misread::Usage(error)) => return usage(&error, argv, json, env),
        Err(Misread::Team(form, error)) => return form.report(*error, env),
    };
    let form = ErrorOutput::of(&args, env);
    let mut context = match Context::new(&args.global, env, Args::command) {
        Ok(context) => context,
        Err(error) => return form.report(error, env),
    };
    let exit = attempt(args, &mut context).unwrap_or_else(|error| form.report(error, env));
    context.afterwards();
    exit
}

/// Reason why the arguments are no command.
enum Misread {
    Usage(clap::Error),
    /// TEAM was left out, and the team is not known otherwise.
    Team(ErrorOutput, Box<CommandError>),
}

/// Parses the words, with the team in TEAM's place if that was left out.
fn read(argv: &[OsString], env: &ProcessEnv) -> Result<Args, Misread> {
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
        Given::Yes => false,
        Given::No => true,
        Given::IfItExists if words.named.is_some() => true,
        Given::IfItExists => {
            let args = parsed.or_else(|error| typed(&words.with("team")).map_err(|_| error));
            !in_context(args.map_err(Misread::Usage)?, env, |context| {
                Ok(context.has_team(&words.first().cloned().unwrap_or_default()))
            })?
        }
    };
    let argv = match lacks_team {
        // Any name will do to find other errors, and the global options.
        true => {
            let args = match typed(&words.with("team")) {
                Ok(args) => args,
                Err(error) if words.named.is_some() => return Err(Misread::Usage(error)),
                // The words may be right as they are: `mode explain --active team ralph` needs no team.
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
            let form = ErrorOutput::of(&args, env);
            return Err(Misread::Team(form, Box::new(CommandError::usage(message))));
        }
        false => words.without_option(),
    };
    typed(&argv).map_err(Misread::Usage)
}

/// Asks the context of a command.
fn in_context<A>(
    args: Args,
    env: &ProcessEnv,
    ask: impl FnOnce(&mut Context) -> Result<A, CommandError>,
) -> Result<A, Misread> {
    let context = Context::new(&args.global, env, Args::command);
    let answer =
        context.and_then(|mut context| ask(&mut context).map_err(|error| context.advise(error)));
    answer.map_err(|error| Misread::Team(ErrorOutput::of(&args, env), Box::new(error)))
}

/// Returns `teamlog help task claim` as `teamlog task claim --help`.
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
    // The answer is flushed even if a later step failed.
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
    /// The contract's form, for a call of that operation, if it could be read.
    Contract(Option<&'static Operation>),
    /// The form for callers of `rcs state`.
    State,
    /// Our own form, for an agent that takes every exit code except 2 for permission.
    Guard,
}

impl ErrorOutput {
    fn of(args: &Args, env: &ProcessEnv) -> ErrorOutput {
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
            // If standard output fails, no second answer goes there.
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
        // Through clap, which colours headings. A reader that left is no error.
        let _ = error.print();
        return Exit::Done;
    }
    let error = CommandError::of_clap(error, &format!("{} --help", subcommand(argv)));
    match link::is_api(argv) {
        true => command::api::undone(env, json, None, error),
        false if link::is_state(argv) => {
            let error = error.ending(Exit::Refused);
            error.report_payload(json, env)
        }
        false => error.report(json, env),
    }
}
