//! `export --to sqlite FILE`: runs the program `teamlog-sqlite`, so that this program contains no SQLite.

use super::Args;
use crate::command::prelude::*;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Name of the program that writes the database.
const PROGRAM: &str = "teamlog-sqlite";
/// Command that installs the program, in the directory of the source.
const INSTALL: &str = "cargo install --locked --path sqlite";

/// Replaces this process by the program. Returns only if that fails.
pub fn run(context: &mut Context, args: &Args, to: &[OsString]) -> Outcome {
    let [format, file] = to else {
        return Err(CommandError::usage("--to takes a format and a file"));
    };
    if format != "sqlite" {
        let format = format.to_string_lossy();
        let message = format!("--to must be sqlite FILE, but the format is {format:?}");
        return Err(CommandError::usage(message));
    }
    context.check_local()?;
    // Refuses an unknown team with the hints of this program.
    drop(context.team(&args.team)?);
    let mut export = Command::new(beside(PROGRAM));
    export.arg("--data-root").arg(context.data_root()?);
    for (option, is_set) in [
        ("--follow", args.follow),
        ("--replace", args.replace),
        ("--json", context.out.is_json()),
    ] {
        if is_set {
            export.arg(option);
        }
    }
    export.arg("--").arg(&args.team).arg(file);
    context.out.flush()?;
    let failed = export.exec();
    Err(match failed.kind() {
        ErrorKind::NotFound => {
            let message = format!(
                "the program {PROGRAM} is neither beside this program nor in a directory of PATH"
            );
            CommandError::new(Exit::Unavailable, "program_missing", message)
                .or_hint(format!("in the source of teamlog: {INSTALL}"))
        }
        _ => CommandError::io("run", PROGRAM, &failed),
    })
}

/// Returns the path of a program in the directory of this program. Returns the name alone if the program is not there; the system then
/// searches PATH.
fn beside(name: &str) -> OsString {
    let own = std::env::current_exe().ok();
    let other = own.and_then(|own| Some(own.parent()?.join(name)));
    match other.filter(|other| other.is_file()) {
        Some(other) => other.into_os_string(),
        None => OsStr::new(name).to_owned(),
    }
}
