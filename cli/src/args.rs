//! What may be typed: the global flags and the subcommands, and the way from argv to one subcommand's `run`.

use crate::command::{self, Command};
use crate::context::Context;
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::{self, Forwarded, Meant};
use crate::link;
use crate::output::Output;
use clap::error::ErrorKind;
use clap::{Args as _, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use teamlog_server::Served;
use teamlog_team::api::Operation;

/// One durable, ordered log per team of agents: every message and task change is an event in it
#[derive(Debug, clap::Parser)]
#[command(
    name = "teamlog",
    version,
    max_term_width = 100,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every subcommand takes, before or behind its name.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print the answer as one line of JSON, and an error as one line of JSON on standard error
    #[arg(long, global = true, overrides_with = "json")]
    pub json: bool,
    /// Directory that holds `teams/` [default: $TEAMLOG_DATA_ROOT, the nearest ancestor with `teams/`, or here]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_root: Option<PathBuf>,
    /// Who is acting; stands in for a missing --from or --agent [default: $TEAMLOG_AGENT]
    #[arg(long, global = true, value_name = "AGENT")]
    pub actor: Option<String>,
    /// Seconds to wait while another process writes to the team [default: 10]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = lock_deadline)]
    pub lock_deadline: Option<std::time::Duration>,
    /// Read clock times (14:00, yesterday) as UTC; times are shown in UTC always [default: $TEAMLOG_UTC, else local]
    #[arg(long, global = true)]
    pub utc: bool,
    /// With the answer of a command that records something, print a receipt that covers it
    #[arg(long, global = true)]
    pub receipt: bool,
    /// Refuse, before anything is written, if the log no longer holds what this receipt vouches for
    #[arg(long, global = true, value_name = "JSON|@FILE")]
    pub last_receipt: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  teamlog demo                                    the whole story in one second
  teamlog init demo --members lead,dev,qa
  teamlog task-assign demo --from lead --to dev --task-id T-1 --subject 'Fix it' --trace-id tr-1
  teamlog task-update demo --from dev --to lead --task-id T-1 --status in_progress
  teamlog read demo --agent dev --unread
  teamlog trace demo --trace-id tr-1
  teamlog rehydrate demo && teamlog verify demo

Exit codes:
  0 done   1 refused   2 usage (doctor: unhealthy)   65 damaged log   69 daemon not to be reached   70 bug
  74 input/output   75 locked, try again   77 not permitted   78 unsafe file system";

/// Whether the user asked for JSON, known before anything is parsed so that even a usage error comes out as asked.
pub fn wants_json(argv: &[OsString]) -> bool {
    argv.iter()
        .skip(1)
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--json")
}

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
    let form = Form::of(&args, &env);
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
pub fn run_resident(argv: &[OsString], env: &ProcessEnv, served: &Arc<Served>) -> u8 {
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

fn typed(argv: &[OsString]) -> Result<(Args, Option<Meant>), clap::Error> {
    quick(argv).or_else(|_| parse(Args::command(), argv))
}

fn carry_out(args: Args, env: &ProcessEnv, served: Option<&Arc<Served>>) -> Exit {
    let form = Form::of(&args, env);
    attempt(args, env, served).unwrap_or_else(|error| form.report(error, env))
}

fn attempt(args: Args, env: &ProcessEnv, served: Option<&Arc<Served>>) -> Outcome {
    let mut context = Context::new(&args.global, env, served)?;
    let outcome = args.command.run(&mut context);
    // What was answered is owed to the reader also when something failed behind it.
    let outcome = context.out.flush().and(outcome);
    context.say_notes();
    outcome.map_err(|error| context.advise(error))
}

/// How the errors of a command are said.
struct Form {
    json: bool,
    whose: Whose,
}

/// In whose words.
enum Whose {
    /// Our own.
    Ours,
    /// Those of the contract, for a call of that operation, if it could be read.
    Contract(Option<&'static Operation>),
    /// Those of callers of `rcs state`.
    State,
    /// Our own, for an agent that takes every exit code but 2 for permission.
    Guard,
}

impl Form {
    fn of(args: &Args, env: &ProcessEnv) -> Form {
        Form {
            json: args.global.json,
            whose: match &args.command {
                Command::Api(api) => Whose::Contract(api.operation(env)),
                Command::State(_) => Whose::State,
                Command::Guard(guard) if guard.is_asked() => Whose::Guard,
                _ => Whose::Ours,
            },
        }
    }

    fn report(&self, error: CommandError, env: &ProcessEnv) -> Exit {
        match self.whose {
            Whose::Guard => error.ending(Exit::Usage).report(self.json, env),
            // Where standard output fails, no second answer goes there.
            Whose::Contract(operation) if !error.is_unwritten() => {
                command::api::undone(env, self.json, operation, error)
            }
            Whose::State => error.report_payload(self.json, env),
            _ => error.report(self.json, env),
        }
    }
}

/// Parses by a definition that holds only the subcommands whose names were typed. Whatever it objects to (errors and
/// calls for help) is for the whole definition to say.
fn quick(argv: &[OsString]) -> Result<(Args, Option<Meant>), clap::Error> {
    let teamlog = Global::augment_args(clap::Command::new("teamlog"))
        .subcommand_required(true)
        .disable_help_subcommand(true);
    let typed = |name: &str| argv.iter().skip(1).any(|word| word == name);
    parse(Command::augment_only(teamlog, typed), argv)
}

fn parse(
    definition: clap::Command,
    argv: &[OsString],
) -> Result<(Args, Option<Meant>), clap::Error> {
    let matches = definition.try_get_matches_from(argv)?;
    let meant = Meant::of(&matches);
    Ok((Args::from_arg_matches(&matches)?, meant))
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

/// The help of a subcommand, for one that reads its words itself.
pub fn help_of(name: &str) -> String {
    let mut root = Args::command();
    root.build();
    let command = root.find_subcommand_mut(name);
    command.map_or_else(String::new, |command| {
        command.render_long_help().to_string()
    })
}

/// `teamlog task show`: how far argv names subcommands.
fn subcommand(argv: &[OsString]) -> String {
    let mut root = Args::command();
    root.build();
    let mut command = &root;
    let mut path = root.get_name().to_owned();
    for word in argv.iter().skip(1) {
        match command.find_subcommand(word) {
            Some(next) => {
                command = next;
                path.push(' ');
                path.push_str(next.get_name());
            }
            None if word.as_encoded_bytes().starts_with(b"-") => {}
            None => break,
        }
    }
    path
}

fn lock_deadline(text: &str) -> Result<std::time::Duration, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.0..=86_400.0).contains(seconds))
        .map(std::time::Duration::from_secs_f64)
        .ok_or_else(|| "must be a number of seconds from 0 to 86400".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_team::{Root, RootOptions};

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_quick_way_understands_what_the_long_one_does() {
        for line in [
            "teamlog status demo --json",
            "teamlog --actor dev send demo --to status --type handoff --payload-json {} --receipt",
            "teamlog task show demo show --history",
            "teamlog dead-letter list list --limit 3",
            "teamlog config set demo views true --data-root config",
            "teamlog append demo --kind k -- --json",
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let quick = quick(&argv).map_err(|error| error.to_string());
            let whole = parse(Args::command(), &argv).map_err(|error| error.to_string());
            assert_eq!(quick.is_ok(), whole.is_ok(), "{line}");
            if whole.is_ok() {
                assert_eq!(format!("{quick:?}"), format!("{whole:?}"), "{line}");
            }
        }
        for line in [
            "teamlog",
            "teamlog stauts demo",
            "teamlog status --help",
            "teamlog -V",
            "teamlog status",
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(quick(&argv).is_err(), "{line}");
        }
    }

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
        let code = run_resident(&argv, &ProcessEnv::of_process(), &served);
        assert_eq!((code, pages.exists()), (2, false));
    }

    #[test]
    fn json_is_seen_wherever_it_stands_but_not_behind_a_double_dash() {
        let wants =
            |line: &str| wants_json(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(wants("teamlog --json status demo"));
        assert!(wants("teamlog status demo --json"));
        assert!(!wants("teamlog status demo"));
        assert!(!wants("teamlog status -- --json"));
    }
}
