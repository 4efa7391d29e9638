//! `teamlog-sqlite`: the program that `teamlog export TEAM --to sqlite FILE` runs.
#![forbid(unsafe_code)]

use clap::Parser;
use serde_json::{Map, Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use teamlog_sqlite::{Error, Export, Mode, Progress};
use teamlog_team::{Root, RootOptions};

/// Longest wait for an event before this process looks for a signal.
const WAIT: Duration = Duration::from_millis(200);

/// Keep the tables of an SQLite database in step with a team's log
#[derive(Debug, Parser)]
#[command(name = "teamlog-sqlite", version)]
struct Args {
    /// The team
    team: String,
    /// The database; it is created if it is missing
    file: PathBuf,
    /// Directory that contains teams/
    #[arg(
        long,
        value_name = "DIR",
        env = "TEAMLOG_DATA_ROOT",
        default_value = "."
    )]
    data_root: PathBuf,
    /// Continue with events as they are recorded, until SIGTERM or SIGINT
    #[arg(long)]
    follow: bool,
    /// Remove all rows, and fill the tables from the first event on
    #[arg(long)]
    replace: bool,
    /// Print JSON, one line per transaction
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let stop = Arc::<AtomicBool>::default();
    for signal in [SIGTERM, SIGINT] {
        if let Err(error) = signal_hook::flag::register(signal, stop.clone()) {
            return report(&args, &file_error("handle", "signals", error));
        }
    }
    match run(&args, &stop) {
        Ok(()) => ExitCode::SUCCESS,
        // A signal is the usual end of --follow.
        Err(Error::Stopped) if args.follow => ExitCode::SUCCESS,
        Err(error) => report(&args, &error),
    }
}

fn run(args: &Args, stop: &AtomicBool) -> Result<(), Error> {
    let mode = match args.replace {
        true => Mode::Replace,
        false => Mode::Continue,
    };
    let root = Root::open(&args.data_root, RootOptions::default())?;
    let mut team = root.team(&args.team)?;
    // The watch starts before the first read of the log, so that no event is missed.
    let mut watch = team.log().watch()?;
    let mut export = Export::open(&args.file, mode)?;
    let progress = export.catch_up(&mut team, stop)?;
    print(args, &progress)?;
    // Saves the next reader the fold of the same events.
    team.finish()?;
    while args.follow && !stop.load(Ordering::Relaxed) {
        if !watch.wait(Some(WAIT))? {
            continue;
        }
        // A new handle, because another log may have taken the place of the log.
        let mut team = root.team(&args.team)?;
        let progress = export.catch_up(&mut team, stop)?;
        if progress.events > 0 && args.json {
            print(args, &progress)?;
        }
        team.finish()?;
    }
    Ok(())
}

fn print(args: &Args, progress: &Progress) -> Result<(), Error> {
    let Progress { events, seq } = progress;
    let line = match args.json {
        true => json!({
            "team": args.team,
            "file": args.file.display().to_string(),
            "events": events,
            "seq": seq,
        })
        .to_string(),
        false => {
            let file = args.file.display();
            let noun = if *events == 1 { "event" } else { "events" };
            format!(
                "{file}: {events} new {noun} of {}, up to event {seq}",
                args.team
            )
        }
    };
    let mut out = io::stdout().lock();
    let printed = writeln!(out, "{line}").and_then(|()| out.flush());
    match printed {
        // A reader that left does not end an export that follows.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(file_error("write", "standard output", error))
        }
        _ => Ok(()),
    }
}

fn file_error(doing: &'static str, what: &str, source: io::Error) -> Error {
    Error::File {
        doing,
        path: what.to_owned(),
        source,
    }
}

/// Prints the error on standard error, in the form of `teamlog`. Returns the exit code.
fn report(args: &Args, error: &Error) -> ExitCode {
    let (code, message, hint) = (error.code(), error.to_string(), error.hint());
    let text = match args.json {
        true => {
            let mut body = Map::new();
            body.insert("code".to_owned(), code.into());
            body.insert("message".to_owned(), message.into());
            if let Some(hint) = hint {
                body.insert("hint".to_owned(), hint.into());
            }
            json!({ "error": Value::Object(body) }).to_string()
        }
        false => {
            let hint = hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            format!("error: {message}{hint}")
        }
    };
    // Without standard error, only the exit code remains.
    let _ = writeln!(io::stderr(), "{text}");
    ExitCode::from(exit_code(error))
}

/// Returns the exit code that `teamlog` has for such an error.
fn exit_code(error: &Error) -> u8 {
    match error.code() {
        "damaged" | "rolled_back" | "derived_unusable" | "unsupported_format" | "newer_log" => 65,
        "io" | "no_space" => 74,
        "locked" | "lock_lost" => 75,
        "not_permitted" => 77,
        _ => 1,
    }
}
