//! A browser, given a file that only its user can read, which leads it to the page.
//!
//! The address holds a code, and the arguments of a program can be read by every user of the machine. So the address stands in
//! a file of the daemon's own directory, which nobody else may enter. The code in it is good once, and for two minutes.

use crate::command::prelude::*;
use crate::command::serve::refused;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use teamlog_server::lock::own_dir;

/// What opens a file as its user is used to, the first that there is.
const PROGRAMS: [&[&str]; 4] = [&["xdg-open"], &["gio", "open"], &["wslview"], &["open"]];
/// What says that there is a display.
const DISPLAYS: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];
/// How such files are called: before and behind what tells them apart.
const NAME: (&str, &str) = ("open-", ".html");
/// After that long nobody needs one any more.
const KEPT: Duration = Duration::from_secs(120);

/// Has a browser open the address; the name of the program that was given it, nothing where there is no display or no
/// program.
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
        // Nobody is going to read it.
        let _ = fs::remove_file(&path);
    }
    Ok(began)
}

/// Whether there is such a program. It goes on behind this command.
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
    // Of an earlier process of that number.
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(page(url).as_bytes())
}

/// The address is ours: it holds nothing that HTML has a meaning for.
fn page(url: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>teamlog</title>\n"
    )
}

/// Takes away what earlier commands left, once nobody can need it any more.
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
