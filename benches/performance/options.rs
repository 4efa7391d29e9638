//! The options: rows, rounds and sizes.

use std::path::{Path, PathBuf};
use teamlog_benches::directory::Directories;
use teamlog_benches::workspace::FORMATS;
use teamlog_engine::Format;

const USAGE: &str = "usage: cargo bench -- [--quick] [--scale [N]] [--worst] [ROW ...]
  --quick      fewer rounds and shorter histories
  --scale [N]  instead of the table: logs of N events (default 10,000,000) in both formats
  --worst      instead of the table: the slowest of 200,000 durable appends in both formats
  ROW          only rows whose name contains one of these words";
const SCALE: u64 = 10_000_000;

/// The command line.
#[derive(Debug)]
pub struct Options {
    /// True for fewer rounds and shorter histories.
    pub quick: bool,
    /// Number of events of the scale mode, if it was requested.
    pub scale: Option<u64>,
    /// True to measure only the slowest appends.
    pub worst: bool,
    names: Vec<String>,
    directories: Directories,
}

impl Options {
    /// Parses the arguments; the error is a usage text.
    pub fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            quick: false,
            scale: None,
            worst: false,
            names: Vec::new(),
            directories: Directories::within(Path::new(env!("CARGO_TARGET_TMPDIR"))),
        };
        let mut args = args.peekable();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                // Cargo passes this option to every bench target.
                "--bench" => {}
                "--quick" => options.quick = true,
                "--worst" => options.worst = true,
                "--scale" => {
                    let number = args.next_if(|next| !next.starts_with("--"));
                    let events =
                        number.map_or(Ok(SCALE), |number| number.replace([',', '_'], "").parse());
                    options.scale = Some(events.map_err(|_| USAGE)?);
                }
                flag if flag.starts_with('-') => return Err(USAGE.into()),
                name => options.names.push(name.to_lowercase()),
            }
        }
        Ok(options)
    }

    /// Creates a fresh directory below the target directory, so that both sides write to the same file system.
    pub fn fresh(&self) -> PathBuf {
        self.directories.fresh()
    }

    /// Returns true if the row is wanted.
    pub fn wants(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.names.is_empty() || self.names.iter().any(|part| name.contains(part))
    }

    /// Measures a row in the wanted formats.
    pub fn both(&self, what: &str, mut measure: impl FnMut(&str, Format)) {
        for format in FORMATS {
            let name = format!("{what}, {}", format.name());
            if self.wants(&name) {
                measure(&name, format);
            }
        }
    }

    /// Returns `full`, or fewer rounds in quick mode.
    pub fn rounds(&self, full: usize) -> usize {
        if self.quick {
            full.div_ceil(4).max(3)
        } else {
            full
        }
    }
}
