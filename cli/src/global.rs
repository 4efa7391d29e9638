//! Options that every subcommand accepts.

use clap::Args as _;
use std::ffi::OsString;
use std::path::PathBuf;

/// Options that every subcommand accepts, before or after its name.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print the answer as one line of JSON, and an error as one line of JSON on standard error
    #[arg(long, global = true, overrides_with = "json")]
    pub json: bool,
    /// Directory that holds `teams/` [default: $TEAMLOG_DATA_ROOT, the nearest ancestor directory whose `teams/` has logs, or the working
    /// directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub data_root: Option<PathBuf>,
    /// Name of the acting agent; replaces a missing --from or --agent [default: $TEAMLOG_AGENT]
    #[arg(
        long = "as",
        visible_alias = "actor",
        global = true,
        value_name = "AGENT"
    )]
    pub actor: Option<String>,
    /// Seconds to wait while another process writes to the team [default: 10]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = lock_timeout)]
    pub lock_timeout: Option<std::time::Duration>,
    /// Read clock times (14:00, yesterday) as UTC; output is always in UTC [default: $TEAMLOG_UTC, else local]
    #[arg(long, global = true)]
    pub utc: bool,
    /// Sync with other hosts first; fails if the journal cannot be reached
    #[arg(long, global = true)]
    pub fresh: bool,
    /// Wait until this host has event SEQ, for example the last event of an answer from another host
    #[arg(long, global = true, value_name = "SEQ")]
    pub at_least: Option<u64>,
    /// Sync first if local data is older than SECONDS
    #[arg(long, global = true, value_name = "SECONDS", value_parser = lock_timeout)]
    pub max_stale: Option<std::time::Duration>,
    /// Also print a receipt that covers the recorded events
    #[arg(long, global = true)]
    pub receipt: bool,
    /// Fail before writing if the log no longer holds the events of this receipt
    #[arg(long, global = true, value_name = "JSON|@FILE")]
    pub last_receipt: Option<String>,
}

impl Global {
    /// Returns each option with its dashes. The flag is true if the option has a value.
    pub fn options() -> Vec<(String, bool)> {
        let defined = Global::augment_args(clap::Command::new("teamlog"));
        let options = defined.get_arguments().flat_map(|option| {
            let takes_value = option.get_action().takes_values();
            let names = option.get_long_and_visible_aliases().unwrap_or_default();
            let named = |name| (format!("--{name}"), takes_value);
            names.into_iter().map(named).collect::<Vec<_>>()
        });
        options.collect()
    }
}

/// Returns true if argv asks for JSON. Does not parse argv, so that a usage error is also printed as JSON.
pub fn wants_json(argv: &[OsString]) -> bool {
    argv.iter()
        .skip(1)
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--json")
}

fn lock_timeout(text: &str) -> Result<std::time::Duration, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.0..=86_400.0).contains(seconds))
        .map(std::time::Duration::from_secs_f64)
        .ok_or_else(|| "must be a number of seconds from 0 to 86400".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
