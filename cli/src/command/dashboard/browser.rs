//! Opens a URL in a browser through a file that only its user can read.
//!
//! The URL holds a one-time code, and every user of the machine can read a program's arguments. Therefore the URL is
//! written to a file in the daemon's private directory. The code can be used once, within two minutes.

use crate::command::prelude::*;
use crate::command::serve::refused;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use teamlog_server::lock::own_dir;

/// Programs that open a file in the user's browser. The first installed program is used.
const PROGRAMS: [&[&str]; 4] = [&["xdg-open"], &["gio", "open"], &["wslview"], &["open"]];
/// Environment variables that are set if there is a display.
const DISPLAYS: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];
/// Prefix and suffix of the names of the redirecting files.
const NAME: (&str, &str) = ("open-", ".html");
/// Age after which a redirecting file is deleted.
const KEPT: Duration = Duration::from_secs(120);

/// Opens the URL in a browser. Returns the started program, or `None` if there is no display or no suitable program.
pub fn open(root: &Path, env: &ProcessEnv, url: &str) -> Result<Option<String>, CommandError> {
    let displayed = DISPLAYS.iter().any(|name| env.var_set(name).is_some());
    if !displayed && !cfg!(target_os = "macos") {
        return Ok(None);
    }
    let dir = root
        .canonicalize()
        .map_err(|error| CommandError::io("find", &root.display().to_string(), &error))?;
    let dir = own_dir(&dir).map_err(refused)?;
    clear(&dir);
    let path = dir.join(format!("{}{}{}", NAME.0, std::process::id(), NAME.1));
    written(&path, url)
        .map_err(|error| CommandError::io("write", &path.display().to_string(), &error))?;
    let began = PROGRAMS.iter().find_map(|words| {
        let (program, words) = words.split_first()?;
        begun(program, words, &path).then(|| (*program).to_owned())
    });
    if began.is_none() {
        // No program was started, so no program needs the file.
        let _ = fs::remove_file(&path);
    }
    Ok(began)
}

/// Starts a program that outlives this command. Returns false if the program is not installed.
fn begun(program: &str, words: &[&str], path: &Path) -> bool {
    let spawned = Command::new(program)
        .args(words)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    spawned.is_ok()
}

fn written(path: &Path, url: &str) -> io::Result<()> {
    // Remove a file that an earlier process with the same process id left.
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(page(url).as_bytes())
}

/// Returns an HTML page that redirects to the URL. The daemon's URL contains no HTML metacharacters, so the URL needs no escape.
fn page(url: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>teamlog</title>\n"
    )
}

/// Deletes redirecting files of earlier commands whose codes have expired.
fn clear(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name
            .to_str()
            .is_some_and(|name| name.starts_with(NAME.0) && name.ends_with(NAME.1));
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let old = modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > KEPT));
        if ours && old {
            let path: PathBuf = entry.path();
            let _ = fs::remove_file(path);
        }
    }
}
