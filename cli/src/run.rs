//! The way from argv to one subcommand, here or in the daemon that has the team; every error is reported here, once.

use crate::args::{Args, subcommand, typed};
use crate::command::{self, Command};
use crate::context::{Context, Program};
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::{self, Forwarded};
use crate::global::wants_json;
use crate::link;
use crate::output::Output;
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::sync::Arc;
use teamlog_server::Served;
use teamlog_team::api::Operation;

/// What commands need of the program as a whole.
const PROGRAM: Program = Program {
    definition: Args::command,
    run_forwarded,
};

/// Parses and runs, here or in the daemon that has the team; every error is reported here, once.
pub fn run(argv: Vec<OsString>, env: ProcessEnv) -> u8 {
    let json = wants_json(&argv);
    if argv.len() < 2 {
        let mut output = Output::stdout(false, &env);
        let printed = output.text(&Args::command().render_help().to_string());
        return match printed.and_then(|()| output.flush()) {
            Ok(()) => Exit::Done.into(),
            Err(error) => error.report(json, &env).into(),
        };
    }
    let (args, meant) = match typed(&argv) {
        Ok(typed) => typed,
        Err(error) => return usage(&error, &argv, json, &env).into(),
    };
    let Some(meant) = meant else {
        return carry_out(args, &env, None).into();
    };
    let form = ErrorOutput::of(&args, &env);
    let global = args.global.clone();
    let env = match forward::try_forward(&argv, &global, &meant, env) {
        Ok(Forwarded::Ended(code)) => return code,
        Ok(Forwarded::Nowhere(env)) => env,
        Err((error, env)) => return form.report(error, &env).into(),
    };
    match attempt(args, &env, None) {
        Ok(exit) => exit.into(),
        // A daemon may have come in between, and has the lock for good.
        Err(error)
            if error.exit() == Exit::Locked && error.code() == "locked" && env.is_untouched() =>
        {
            match forward::try_forward(&argv, &global, &meant, env) {
                Ok(Forwarded::Ended(code)) => code,
                Ok(Forwarded::Nowhere(env)) => form.report(error, &env).into(),
                Err((error, env)) => form.report(error, &env).into(),
            }
        }
        Err(error) => form.report(error, &env).into(),
    }
}

/// The same in the daemon, for a caller elsewhere: with the teams that are open here.
pub fn run_forwarded(argv: &[OsString], env: &ProcessEnv, served: &Arc<Served>) -> u8 {
    match typed(argv) {
        Ok((args, meant)) if meant.is_some() || args.command.is_one_tool() => {
            carry_out(args, env, Some(served)).into()
        }
        // It would write and start things as the daemon, whatever the caller itself may do.
        Ok(_) => {
            let message =
                "the daemon must be asked for what records something, and for nothing else";
            let error = CommandError::new(Exit::Usage, "usage", message);
            error.report(wants_json(argv), env).into()
        }
        // The caller's own parser has taken it.
        Err(error) => usage(&error, argv, wants_json(argv), env).into(),
    }
}

fn carry_out(args: Args, env: &ProcessEnv, served: Option<&Arc<Served>>) -> Exit {
    let form = ErrorOutput::of(&args, env);
    attempt(args, env, served).unwrap_or_else(|error| form.report(error, env))
}

fn attempt(args: Args, env: &ProcessEnv, served: Option<&Arc<Served>>) -> Outcome {
    let mut context = Context::new(&args.global, env, served, PROGRAM)?;
    let outcome = args.command.run(&mut context);
    // What was answered is owed to the reader also when something failed behind it.
    let outcome = context.out.flush().and(outcome);
    context.say_notes();
    outcome.map_err(|error| context.advise(error))
}

/// How the errors of a command are said.
struct ErrorOutput {
    json: bool,
    format: ErrorFormat,
}

/// In whose words.
enum ErrorFormat {
    /// Our own.
    Ours,
    /// Those of the contract, for a call of that operation, if it could be read.
    Contract(Option<&'static Operation>),
    /// Those of callers of `rcs state`.
    State,
    /// Our own, for an agent that takes every exit code but 2 for permission.
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
            // Where standard output fails, no second answer goes there.
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
        // Through clap, which colours headings where colours are wanted. A reader that left is no error.
        let _ = error.print();
        return Exit::Done;
    }
    let error = CommandError::usage(error, &format!("{} --help", subcommand(argv)));
    match link::is_api(argv) {
        true => command::api::undone(env, json, None, error),
        false if link::is_state(argv) => {
            let error = error.ending(Exit::Refused);
            error.report_payload(json, env)
        }
        false => error.report(json, env),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_team::{Root, RootOptions};

    #[test]
    fn the_daemon_carries_out_nothing_but_what_records() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::create(dir.path(), RootOptions::default()).unwrap();
        let served = Arc::new(Served::new(root));
        let pages = dir.path().join("pages");
        let argv: Vec<OsString> = vec![
            "teamlog".into(),
            "man".into(),
            "--out".into(),
            pages.clone().into(),
        ];
        let code = run_forwarded(&argv, &ProcessEnv::of_process(), &served);
        assert_eq!((code, pages.exists()), (2, false));
    }
}
