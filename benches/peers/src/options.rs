//! The options: sections, rounds and sizes.

use std::path::PathBuf;
use teamlog_benches::directory::Directories;
use teamlog_benches::release::{build, target};

const USAGE: &str = "usage: cargo peers [--quick] [--profile NAME] [--teamlog FILE] [SECTION ...]
  --quick         fewer rounds, a history of 100,000 events
  --profile NAME  the profile that `teamlog` is built in for whole processes (default: dist)
  --teamlog FILE  a `teamlog` that is built already
  SECTION         only sections whose heading contains one of these words
       cargo peers plots [EVENTS ...]
  EVENTS          measures histories of so many events (default: 1000 100000 1000000), keeps the figures in
                  docs/performance/cost.csv and draws all that stand there";

/// The command line.
pub struct Options {
    pub quick: bool,
    pub profile: String,
    /// Path of a `teamlog` that is already built.
    teamlog: Option<PathBuf>,
    /// Lengths of histories to plot, if plots were requested.
    pub plots: Option<Vec<u64>>,
    names: Vec<String>,
    directories: Directories,
}

impl Options {
    /// Parses the arguments; the error is a usage text.
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            quick: false,
            profile: "dist".into(),
            teamlog: None,
            plots: None,
            names: Vec::new(),
            directories: Directories::within(&target().join("peers")),
        };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => options.quick = true,
                "--profile" => options.profile = args.next().ok_or(USAGE)?,
                "--teamlog" => options.teamlog = Some(args.next().ok_or(USAGE)?.into()),
                "plots" if options.plots.is_none() => options.plots = Some(Vec::new()),
                flag if flag.starts_with('-') => return Err(USAGE.into()),
                events if options.plots.is_some() => {
                    let events = events.replace(['_', ','], "").parse().map_err(|_| USAGE)?;
                    options.plots.get_or_insert_default().push(events);
                }
                name => options.names.push(name.to_lowercase()),
            }
        }
        Ok(options)
    }

    /// Returns the path of `teamlog`. Builds it, unless an option names one.
    pub fn teamlog(&self) -> PathBuf {
        let named = self.teamlog.clone();
        named.unwrap_or_else(|| build(&self.profile))
    }

    /// Creates a fresh directory on the file system of the build. All fresh directories are removed at the end.
    pub fn fresh(&self) -> PathBuf {
        self.directories.fresh()
    }

    /// Returns true if the section is wanted.
    pub fn wants(&self, heading: &str) -> bool {
        let name = heading.to_lowercase();
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part))
    }

    /// Prints the heading of a section and returns true, if the section is wanted.
    pub fn begins(&self, heading: &str) -> bool {
        let wanted = self.wants(heading);
        if wanted {
            println!("\n### {heading}\n");
        }
        wanted
    }

    /// Returns the number of measured rounds.
    pub fn rounds(&self) -> usize {
        if self.quick { 2 } else { 5 }
    }

    /// Returns the number of events of a long history.
    pub fn history(&self) -> u64 {
        if self.quick { 100_000 } else { 1_000_000 }
    }
}
