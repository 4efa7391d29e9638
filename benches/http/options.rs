//! The options: rows, rounds and durations.

use std::path::PathBuf;
use std::time::Duration;
use teamlog_benches::daemon::Views;

const USAGE: &str = "usage: http [--quick] [--rounds N] [--seconds S] [--clients N,…] [--views after_answer,before_answer,off]
            [--format jsonl|binary] [--profile release|dist] [--teamlog FILE] [--dir DIR]
  --quick     one round of one second
  --rounds    how often each row is measured, in turns with the others (5)
  --seconds   how long each time, behind half a second that is not counted (2)
  --clients   connections at a time (1,32,256)
  --views     when view files are written (all three)
  --format    of the log (jsonl)
  --profile   in which the command line is built (release)
  --teamlog   a command line that is built already
  --dir       where the roots lie (beneath the target directory)";

/// The command line.
#[derive(Debug)]
pub struct Options {
    /// Number of rounds for each row.
    pub rounds: usize,
    /// Duration of each round.
    pub window: Duration,
    /// Numbers of clients.
    pub clients: Vec<usize>,
    /// Times at which view files are written.
    pub views: Vec<Views>,
    /// Format of the log.
    pub format: String,
    /// Profile of the command line's build.
    pub profile: String,
    /// Path of a command line that is already built.
    pub teamlog: Option<PathBuf>,
    /// Directory of the roots.
    pub dir: Option<PathBuf>,
}

impl Options {
    /// Parses the arguments; the error is a usage text.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, &'static str> {
        let mut options = Options {
            rounds: 5,
            window: Duration::from_secs(2),
            clients: vec![1, 32, 256],
            views: Views::ALL.into(),
            format: "jsonl".into(),
            profile: "release".into(),
            teamlog: None,
            dir: None,
        };
        while let Some(arg) = args.next() {
            if arg == "--quick" {
                (options.rounds, options.window) = (1, Duration::from_secs(1));
                continue;
            }
            let value = args.next().ok_or(USAGE)?;
            match arg.as_str() {
                "--rounds" => options.rounds = value.parse().map_err(|_| USAGE)?,
                "--seconds" => {
                    let seconds = value.parse().map_err(|_| USAGE)?;
                    options.window = Duration::try_from_secs_f64(seconds).map_err(|_| USAGE)?;
                }
                "--clients" => options.clients = list(&value, |number| number.parse().ok())?,
                "--views" => options.views = list(&value, views)?,
                "--format" => options.format = value,
                "--profile" => options.profile = value,
                "--teamlog" => options.teamlog = Some(value.into()),
                "--dir" => options.dir = Some(value.into()),
                _ => return Err(USAGE),
            }
        }
        Ok(options)
    }
}

fn list<T>(text: &str, each: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, &'static str> {
    let all: Option<Vec<T>> = text.split(',').map(each).collect();
    all.ok_or(USAGE)
}

fn views(name: &str) -> Option<Views> {
    Views::ALL.into_iter().find(|views| views.name() == name)
}
