//! The environment of the process: variables, working directory and standard streams. In this crate, only this module
//! reads them.

use crate::boot;
use crate::render::escape::visible_json;
use crate::render::style::Paint;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use teamlog_team::projections::hidden::one_line_of_json;

/// The process environment of a command. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ProcessEnv {
    terminals: Terminals,
}

/// For each standard stream, true if it is a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminals {
    pub stdout: bool,
    pub stderr: bool,
}

/// Variable with settings of the C library.
const TUNABLES: &str = "GLIBC_TUNABLES";
/// Blocks of at least this size are returned to the system when they are freed. Without this setting, the C library keeps
/// freed blocks of up to 32 MiB for reuse, so the process would keep the memory of large request bodies.
const MMAP_THRESHOLD: &str = "glibc.malloc.mmap_threshold";
const MMAP_THRESHOLD_BYTES: &str = "1048576";

/// Variable for the terminal's width.
const COLUMNS: &str = "COLUMNS";

impl ProcessEnv {
    pub fn of_process() -> ProcessEnv {
        ProcessEnv {
            terminals: Terminals {
                stdout: io::stdout().is_terminal(),
                stderr: io::stderr().is_terminal(),
            },
        }
    }

    pub fn terminals(&self) -> Terminals {
        self.terminals
    }

    /// Returns the first word of argv, the program.
    pub fn program(&self) -> Option<OsString> {
        std::env::args_os().next()
    }

    pub fn var(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    /// Returns the value of a variable, or `None` if the variable is unset or empty.
    pub fn var_set(&self, name: &str) -> Option<OsString> {
        self.var(name).filter(|value| !value.is_empty())
    }

    /// Returns the user of the process as an actor: `user:alice`, or `user:1000` for a user without a name. An agent
    /// cannot have such a name. Reads the table of users once per process.
    pub fn user(&self) -> String {
        static USER: OnceLock<String> = OnceLock::new();
        let user = USER.get_or_init(|| {
            let uid = rustix::process::getuid().as_raw();
            let users = std::fs::read("/etc/passwd").unwrap_or_default();
            let name = name_of_user(uid, &String::from_utf8_lossy(&users));
            format!("user:{}", name.unwrap_or_else(|| uid.to_string()))
        });
        user.clone()
    }

    /// Returns an identifier of the terminal's session, or of the process that started the shell: the id of the session leader, its start
    /// time, and the boot id. A container may share the session of a process outside; such a container is identified by its process
    /// namespace and the start time of its first process.
    pub fn terminal_session(&self) -> Option<String> {
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        let (session, leader) = match stat_field(&own, 6)? {
            "0" => (process_namespace()?, "1"),
            leader => (format!("sid-{leader}"), leader),
        };
        let stat = std::fs::read_to_string(format!("/proc/{leader}/stat")).ok()?;
        let started = stat_field(&stat, 22)?;
        let boot = boot::id()?
            .iter()
            .take(4)
            .fold(0, |id, byte| id << 8 | u32::from(*byte));
        Some(format!("{session}-{started}-{boot:08x}"))
    }

    /// Returns the id of a group that is given by name or number.
    pub fn group(&self, named: &str) -> Option<u32> {
        let groups = std::fs::read("/etc/group").unwrap_or_default();
        let groups = String::from_utf8_lossy(&groups).into_owned();
        number_of_group(named, &groups).or_else(|| named.parse().ok())
    }

    pub fn here(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    pub fn temporary(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// Returns the width of the terminal: `COLUMNS`, else the width that the terminal reports. Returns `None` if
    /// standard output is not a terminal.
    pub fn columns(&self) -> Option<usize> {
        if !self.terminals.stdout {
            return None;
        }
        let set = self.var(COLUMNS).and_then(|set| set.to_str()?.parse().ok());
        let columns = set.filter(|columns| *columns > 0).or_else(|| {
            let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
            Some(usize::from(size.ws_col))
        });
        columns.filter(|columns| *columns > 0)
    }

    /// Returns columns and rows for a frame: from the terminal, else from `COLUMNS` and `LINES`, else 80 and 24.
    pub fn frame(&self) -> (u16, u16) {
        let size = match self.terminals.stdout {
            true => rustix::termios::tcgetwinsize(io::stdout()).ok(),
            false => None,
        };
        let set = |name: &str| self.var(name).and_then(|set| set.to_str()?.parse().ok());
        let of = |seen: Option<u16>, name: &str, default: u16| {
            let known = seen.filter(|seen| *seen > 0).or_else(|| set(name));
            known.filter(|known| *known > 0).unwrap_or(default)
        };
        (
            of(size.map(|size| size.ws_col), COLUMNS, 80),
            of(size.map(|size| size.ws_row), "LINES", 24),
        )
    }

    /// Returns true if standard output is a terminal that supports cursor movement.
    pub fn has_screen(&self) -> bool {
        let able = |term: OsString| term != "dumb";
        self.terminals.stdout && self.var_set("TERM").is_some_and(able)
    }

    pub fn paint_out(&self) -> Paint {
        self.paint(self.terminals.stdout)
    }

    pub fn paint_err(&self) -> Paint {
        self.paint(self.terminals.stderr)
    }

    /// Decides about colours. A terminal gets colours unless `NO_COLOR` is set or the terminal is dumb. Other output gets
    /// colours only if `CLICOLOR_FORCE` is set and `NO_COLOR` is not set.
    fn paint(&self, is_terminal: bool) -> Paint {
        let dumb = self.var("TERM").is_some_and(|value| value == "dumb");
        let forced = self
            .var_set("CLICOLOR_FORCE")
            .is_some_and(|value| value != "0");
        Paint::new(self.var_set("NO_COLOR").is_none() && (forced || is_terminal && !dumb))
    }

    /// Returns standard input. Reads nothing in advance.
    pub fn stdin(&self) -> Box<dyn BufRead> {
        Box::new(io::stdin().lock())
    }

    pub fn stdin_is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    pub fn open(&self, typed: &Path) -> io::Result<File> {
        File::open(typed)
    }

    pub fn stdout(&self) -> io::Stdout {
        io::stdout()
    }

    /// Formats a value as a line of JSON for standard error.
    pub fn json_line(&self, value: &impl serde::Serialize) -> String {
        let line = serde_json::to_string(value).unwrap_or_default();
        match self.terminals.stderr {
            true => visible_json(&line).into_owned(),
            false => one_line_of_json(&line).into_owned(),
        }
    }

    /// Prints a text to standard error. Ignores failures.
    pub fn say(&self, text: &str) {
        drop(io::stderr().lock().write_all(text.as_bytes()));
    }

    /// Makes the allocator return the memory of large request bodies. The C library reads its settings only at the start of a
    /// process, so this function executes the program again. If that fails, the process continues without the setting.
    pub fn return_memory(&self) {
        let before = self.var(TUNABLES).unwrap_or_default();
        let mut tunables = before.into_encoded_bytes();
        if tunables
            .windows(MMAP_THRESHOLD.len())
            .any(|bytes| bytes == MMAP_THRESHOLD.as_bytes())
        {
            return;
        }
        if !tunables.is_empty() {
            tunables.push(b':');
        }
        tunables.extend(format!("{MMAP_THRESHOLD}={MMAP_THRESHOLD_BYTES}").into_bytes());
        let Ok(program) = std::env::current_exe() else {
            return;
        };
        let mut argv = std::env::args_os();
        let mut command = Command::new(program);
        if let Some(name) = argv.next() {
            command.arg0(name);
        }
        // `exec` returns only on failure.
        let _ = command
            .args(argv)
            .env(TUNABLES, OsString::from_vec(tunables))
            .exec();
    }
}

/// Returns the name of a user id from lines `name:password:uid:…`, if the name is valid in an event.
fn name_of_user(uid: u32, users: &str) -> Option<String> {
    let uid = uid.to_string();
    let mut named = users.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then_some(name)
    });
    let is_plain = |name: &&str| name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control);
    let name = named.next().filter(|name| !name.is_empty());
    name.filter(is_plain).map(str::to_owned)
}

/// Returns the id of a group from lines `name:password:gid:…`.
fn number_of_group(named: &str, groups: &str) -> Option<u32> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_named = fields.next()? == named;
        is_named.then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

/// Returns a field of `/proc/PID/stat`, with the number that proc(5) gives it. Fields 1 and 2 cannot be read:
/// field 2, the program's name, may contain blanks.
fn stat_field(stat: &str, number: usize) -> Option<&str> {
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(number.checked_sub(3)?)
}

/// Returns `pidns-NUMBER` for the process namespace of this process.
fn process_namespace() -> Option<String> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let number = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    Some(format!("pidns-{number}"))
}

/// Maximum number of bytes of a user name. Real user names are shorter than this limit, and names of actors can be
/// longer.
const NAME_BYTES_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_process_are_found_behind_its_name() {
        let stat = "77 (a name) with) blanks) S 1 77 76 0 -1 4194560";
        let fields = [2, 3, 6, 8, 10].map(|number| stat_field(stat, number));
        assert_eq!(fields, [None, Some("S"), Some("76"), Some("-1"), None]);
        for damaged in ["", "77 teamlog", "77 (teamlog", "77 (teamlog) S 1"] {
            assert_eq!(stat_field(damaged, 6), None, "{damaged}");
        }
    }

    #[test]
    fn a_group_is_found_by_its_name() {
        let groups = "root:x:0:\nodd\ndevs:x:1000:ada,bob\nbad:x:y:\n";
        assert_eq!(number_of_group("devs", groups), Some(1000));
        for none in ["", "dev", "bad", "odd", "ada"] {
            assert_eq!(number_of_group(none, groups), None, "{none}");
        }
    }

    #[test]
    fn a_user_is_named_by_its_line_if_that_can_stand_in_an_event() {
        let users = "root:x:0:0::/root:/bin/sh\n\nodd\nalice:x:1000:1000::/home/alice:/bin/sh\n\
            a\u{7}b:x:7:7::/:/bin/sh\n:x:8:8::/:/bin/sh\nsecond:x:1000:1::/:/bin/sh\n";
        let named = |uid| name_of_user(uid, users);
        assert_eq!(named(0).as_deref(), Some("root"));
        assert_eq!(named(1000).as_deref(), Some("alice"));
        for uid in [7, 8, 9, 100] {
            assert_eq!(named(uid), None, "{uid}");
        }
        let long = format!("{}:x:9:9::/:/bin/sh", "n".repeat(NAME_BYTES_MAX + 1));
        assert_eq!(name_of_user(9, &long), None);
    }
}
