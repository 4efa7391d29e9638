//! What a command sees of the process that it is for: its variables, its directory, its streams. The one reader of
//! these in the crate.
//!
//! A command may run in another process than the one that was started: the daemon carries out what is forwarded to it,
//! and then all of this is the caller's. Nothing else may differ between the two, so that nothing else asks the process.

use crate::render::style::Paint;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, Cursor, IsTerminal, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use teamlog_server::forward::{Child, Cut, Ended, ForwardIo, ForwardedCall, Terminals, frame};
use teamlog_team::handle::deadline::Deadline;

/// What a command sees of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ProcessEnv {
    terminals: Terminals,
    process: Process,
    only_team: Option<String>,
}

/// Of which process.
#[derive(Debug, Clone)]
enum Process {
    /// This one.
    Own(Arc<OwnStreams>),
    /// One that forwarded its call.
    Caller(Arc<Caller>),
}

/// What this process has done with its standard input, and with what else can be read only once.
#[derive(Debug, Default)]
struct OwnStreams {
    /// What was read of it before the command could.
    read: Vec<u8>,
    /// Whether that is all there is, so that it can be read again.
    whole: bool,
    /// Whether the command has begun to read.
    begun: AtomicBool,
    /// Whether the command opened a file that cannot be read from its beginning once more, as a pipe cannot.
    spent: AtomicBool,
}

struct Caller {
    program: OsString,
    vars: BTreeMap<OsString, OsString>,
    here: PathBuf,
    io: Arc<dyn ForwardIo>,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("here", &self.here).finish()
    }
}

/// Variables that mean something to a command: these, and those that begin with [`PREFIXES`]. A caller passes on no others.
const VARIABLES: [&str; 7] = [
    "RCS_SESSION_ID",
    "CODEX_SESSION_ID",
    "SESSION_ID",
    "TMUX_PANE",
    "NO_COLOR",
    "TERM",
    COLUMNS,
];
/// How wide the terminal is.
const COLUMNS: &str = "COLUMNS";
/// By which a caller passes on whose process it is; never read from an environment.
const USER: &str = "TEAMLOG_USER";
/// See [`VARIABLES`].
const PREFIXES: [&str; 3] = ["TEAMLOG_", "PI_", "CLICOLOR"];

/// How often to look whether a program has ended.
const LOOK: Duration = Duration::from_millis(20);

impl ProcessEnv {
    /// Those of this process.
    pub fn of_process() -> ProcessEnv {
        ProcessEnv {
            terminals: Terminals {
                stdin: io::stdin().is_terminal(),
                stdout: io::stdout().is_terminal(),
                stderr: io::stderr().is_terminal(),
            },
            process: Process::Own(Arc::default()),
            only_team: None,
        }
    }

    /// Those of a process that forwarded its call.
    pub fn of_caller(call: &ForwardedCall, io: Arc<dyn ForwardIo>) -> ProcessEnv {
        ProcessEnv {
            terminals: call.terminals,
            process: Process::Caller(Arc::new(Caller {
                program: call.program.clone(),
                vars: call.vars.iter().cloned().collect(),
                here: call.here.clone(),
                io,
            })),
            only_team: None,
        }
    }

    /// The same where the team that is meant when none is named has been looked for.
    #[must_use]
    pub fn with_only_team(self, team: String) -> ProcessEnv {
        ProcessEnv {
            only_team: Some(team),
            ..self
        }
    }

    /// The team that is meant where none is named, if it has been looked for: that reads the state of every team.
    pub fn only_team(&self) -> Option<&str> {
        self.only_team.as_deref()
    }

    /// Which of the standard streams are terminals.
    pub fn terminals(&self) -> Terminals {
        self.terminals
    }

    /// The first word of argv, as it was typed.
    pub fn program(&self) -> Option<OsString> {
        match &self.process {
            Process::Own(_) => std::env::args_os().next(),
            Process::Caller(caller) => Some(caller.program.clone()),
        }
    }

    /// An environment variable.
    pub fn var(&self, name: &str) -> Option<OsString> {
        match &self.process {
            Process::Own(_) => std::env::var_os(name),
            Process::Caller(caller) => caller.vars.get(OsStr::new(name)).cloned(),
        }
    }

    /// The same, unless it is empty.
    pub fn var_set(&self, name: &str) -> Option<OsString> {
        self.var(name).filter(|value| !value.is_empty())
    }

    /// All variables that mean something to a command.
    pub fn vars(&self) -> Vec<(OsString, OsString)> {
        match &self.process {
            Process::Own(_) => std::env::vars_os()
                .filter(|(name, _)| counts(name) && name != USER)
                .chain([(USER.into(), user_of_process().into())])
                .chain(
                    self.columns()
                        .map(|columns| (COLUMNS.into(), columns.to_string().into())),
                )
                .collect(),
            Process::Caller(caller) => caller.vars.clone().into_iter().collect(),
        }
    }

    /// The user whose process it is, as an actor: `user:alice`, or by its number where it has no name, `user:1000`. No
    /// agent can have that name.
    pub fn user(&self) -> String {
        let passed_on = match &self.process {
            Process::Own(_) => None,
            Process::Caller(caller) => caller.vars.get(OsStr::new(USER)),
        };
        match passed_on.and_then(|user| user.to_str()) {
            Some(user) => user.to_owned(),
            None => user_of_process(),
        }
    }

    /// The working directory.
    ///
    /// # Errors
    /// There is none any more.
    pub fn here(&self) -> io::Result<PathBuf> {
        match &self.process {
            Process::Own(_) => std::env::current_dir(),
            Process::Caller(caller) => Ok(caller.here.clone()),
        }
    }

    /// A path as this process has to open it. What is shown to people stays as they typed it.
    pub fn path(&self, typed: &Path) -> PathBuf {
        match &self.process {
            Process::Own(_) => typed.to_owned(),
            Process::Caller(caller) => caller.here.join(typed),
        }
    }

    /// Where temporary files go.
    pub fn temporary(&self) -> PathBuf {
        std::env::temp_dir()
    }

    /// How many columns the terminal of standard output has: `COLUMNS`, else what the terminal says; `None` off a terminal.
    pub fn columns(&self) -> Option<usize> {
        if !self.terminals.stdout {
            return None;
        }
        let set = self.var(COLUMNS).and_then(|set| set.to_str()?.parse().ok());
        let columns = set
            .filter(|columns| *columns > 0)
            .or_else(|| match &self.process {
                Process::Own(_) => {
                    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
                    Some(usize::from(size.ws_col))
                }
                // A caller passes on what its terminal says as `COLUMNS`.
                Process::Caller(_) => None,
            });
        columns.filter(|columns| *columns > 0)
    }

    /// Colours of standard output.
    pub fn paint_out(&self) -> Paint {
        self.paint(self.terminals.stdout)
    }

    /// Colours of standard error.
    pub fn paint_err(&self) -> Paint {
        self.paint(self.terminals.stderr)
    }

    /// Colours on a terminal, unless `NO_COLOR` is set to something or the terminal is dumb; everywhere where
    /// `CLICOLOR_FORCE` asks for them and `NO_COLOR` does not forbid them.
    fn paint(&self, is_terminal: bool) -> Paint {
        let dumb = self.var("TERM").is_some_and(|value| value == "dumb");
        let forced = self
            .var_set("CLICOLOR_FORCE")
            .is_some_and(|value| value != "0");
        Paint::new(self.var_set("NO_COLOR").is_none() && (forced || is_terminal && !dumb))
    }

    /// Standard input, line by line or whole, for whoever reads it to its end. Nothing is read before it is wanted.
    pub fn stdin(&self) -> Box<dyn BufRead> {
        match &self.process {
            Process::Own(own) => {
                own.begun.store(true, Ordering::Relaxed);
                match own.read.is_empty() {
                    true => Box::new(io::stdin().lock()),
                    false => Box::new(Cursor::new(own.read.clone()).chain(io::stdin().lock())),
                }
            }
            Process::Caller(caller) => Box::new(FarInput::new(caller.io.clone(), frame::STDIN)),
        }
    }

    /// Whether a command can still be begun anew, as if it had not been.
    pub fn is_untouched(&self) -> bool {
        match &self.process {
            Process::Own(own) => {
                let begun = own.begun.load(Ordering::Relaxed) && !own.whole;
                !begun && !own.spent.load(Ordering::Relaxed)
            }
            Process::Caller(_) => false,
        }
    }

    /// The same, where somebody has read so much of standard input already; `whole`: to its end.
    #[must_use]
    pub fn having_read(self, bytes: Vec<u8>, whole: bool) -> ProcessEnv {
        match self.process {
            Process::Caller(_) => self,
            Process::Own(_) => ProcessEnv {
                process: Process::Own(Arc::new(OwnStreams {
                    read: bytes,
                    whole,
                    begun: AtomicBool::new(false),
                    spent: AtomicBool::new(false),
                })),
                ..self
            },
        }
    }

    /// A file that the user named, to be read once.
    ///
    /// # Errors
    /// The system's.
    pub fn open(&self, typed: &Path) -> io::Result<Source> {
        match &self.process {
            Process::Caller(caller) if is_of_process(typed) => {
                let handle = caller.io.open(typed)?;
                let far = FarInput::new(caller.io.clone(), handle);
                Ok(Source::There(Box::new(far)))
            }
            Process::Caller(_) => File::open(self.path(typed)).map(Source::Here),
            Process::Own(own) => {
                let file = File::open(self.path(typed))?;
                if !file.metadata()?.is_file() {
                    own.spent.store(true, Ordering::Relaxed);
                }
                Ok(Source::Here(file))
            }
        }
    }

    /// Standard output, not buffered where it is another process's.
    pub fn stdout(&self) -> Out {
        Out(self.clone())
    }

    /// Says something on standard error. Nobody is left to tell when that is gone.
    pub fn say(&self, text: &str) {
        self.say_bytes(text.as_bytes());
    }

    /// The same of what is text already, or not.
    pub fn say_bytes(&self, text: &[u8]) {
        match &self.process {
            Process::Own(_) => drop(io::stderr().lock().write_all(text)),
            Process::Caller(caller) => drop(caller.io.write_err(text)),
        }
    }

    /// Does what waits for others to do something, with the deadline of whoever typed the command; `None` where as many
    /// wait already as may, and nothing was done.
    pub fn waiting<A>(&self, act: impl FnOnce(&Deadline) -> A) -> Option<A> {
        let Process::Caller(caller) = &self.process else {
            return Some(act(&Deadline::default()));
        };
        if !caller.io.begin_wait() {
            return None;
        }
        let io = caller.io.clone();
        let done = act(&Deadline::as_long_as(move || io.is_awaited()));
        caller.io.end_wait();
        Some(done)
    }

    /// Why the process that the command is for was asked for something and not waited for, if that happened.
    pub fn cut(&self) -> Option<Cut> {
        match &self.process {
            Process::Own(_) => None,
            Process::Caller(caller) => caller.io.cut(),
        }
    }

    /// Standard input, where a wait for it is one for whoever is at its other end.
    pub fn stdin_awaited(&self) -> Option<io::Stdin> {
        match &self.process {
            Process::Own(own) if own.read.is_empty() => Some(io::stdin()),
            _ => None,
        }
    }

    /// Runs a program to its end, or to its deadline: without standard input, and with its output on standard error.
    pub fn run(&self, child: &Child) -> Ended {
        match &self.process {
            Process::Own(_) => run(child).unwrap_or_else(|error| Ended::Failed(error.to_string())),
            Process::Caller(caller) => caller
                .io
                .run_child(child)
                .unwrap_or_else(|error| Ended::Failed(error.to_string())),
        }
    }
}

/// Whether a path means another file in every process, as those do that a shell makes of `<(command)`.
fn is_of_process(path: &Path) -> bool {
    [
        "/dev/fd",
        "/dev/stdin",
        "/dev/tty",
        "/proc/self",
        "/proc/thread-self",
    ]
    .iter()
    .any(|special| path.starts_with(special))
}

fn user_of_process() -> String {
    let uid = rustix::process::getuid().as_raw();
    let users = std::fs::read("/etc/passwd").unwrap_or_default();
    let name = name_of_user(uid, &String::from_utf8_lossy(&users));
    format!("user:{}", name.unwrap_or_else(|| uid.to_string()))
}

/// The name of a user in the lines `name:password:uid:…`, if it can stand in an event.
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

/// Far more than a user's name has, and less than an actor may have.
const NAME_BYTES_MAX: usize = 100;

fn counts(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    VARIABLES.iter().any(|known| name == *known)
        || PREFIXES
            .iter()
            .any(|prefix| bytes.starts_with(prefix.as_bytes()))
}

/// Standard output.
#[derive(Debug)]
pub struct Out(ProcessEnv);

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0.process {
            Process::Own(_) => io::stdout().write(bytes),
            Process::Caller(caller) => caller.io.write_out(bytes).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &self.0.process {
            Process::Own(_) => io::stdout().flush(),
            // Every write is answered once it is out.
            Process::Caller(_) => Ok(()),
        }
    }
}

/// A file of the caller, read as it is wanted.
struct FarInput {
    io: Arc<dyn ForwardIo>,
    handle: u32,
    held: Cursor<Vec<u8>>,
    ended: bool,
}

impl FarInput {
    fn new(io: Arc<dyn ForwardIo>, handle: u32) -> FarInput {
        FarInput {
            io,
            handle,
            held: Cursor::default(),
            ended: false,
        }
    }
}

impl Read for FarInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let count = from.len().min(into.len());
        for (to, from) in into.iter_mut().zip(from) {
            *to = *from;
        }
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for FarInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.held.fill_buf()?.is_empty() && !self.ended {
            let bytes = self.io.read(self.handle)?;
            self.ended = bytes.is_empty();
            self.held = Cursor::new(bytes);
        }
        self.held.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.held.consume(count);
    }
}

/// A file that is read from its beginning to its end.
pub enum Source {
    /// It lies where this process finds it.
    Here(File),
    /// Only the caller's process has it.
    There(Box<dyn Read>),
}

impl Source {
    /// Whether it is a directory, which opens and cannot be read.
    pub fn is_dir(&self) -> bool {
        match self {
            Source::Here(file) => file.metadata().is_ok_and(|metadata| metadata.is_dir()),
            Source::There(_) => false,
        }
    }

    /// Who may do what with it; nobody else has what only the caller has.
    ///
    /// # Errors
    /// The system's.
    pub fn mode(&self) -> io::Result<u32> {
        match self {
            Source::Here(file) => Ok(file.metadata()?.mode()),
            Source::There(_) => Ok(0),
        }
    }

    /// The file, if it is one that can be read twice.
    ///
    /// # Errors
    /// The source, where it is none.
    pub fn seekable(self) -> Result<File, Source> {
        match self {
            Source::Here(file) if file.metadata().is_ok_and(|metadata| metadata.is_file()) => {
                Ok(file)
            }
            source => Err(source),
        }
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Here(file) => file.read(into),
            Source::There(source) => source.read(into),
        }
    }
}

fn run(child: &Child) -> io::Result<Ended> {
    let started = Instant::now();
    let mut process = Command::new(&child.program)
        .args(&child.args)
        .envs(child.vars.iter().cloned())
        .stdin(Stdio::null())
        // Standard output is for the answer.
        .stdout(io::stderr())
        .spawn()?;
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Ended::Exited(status.code()));
        }
        if started.elapsed() >= child.deadline {
            process.kill()?;
            process.wait()?;
            return Ok(Ended::TimedOut);
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn only_what_means_something_is_passed_on() {
        for name in [
            "TEAMLOG_TEAM",
            "PI_AGENT_ID",
            "SESSION_ID",
            "CLICOLOR_FORCE",
            "TERM",
        ] {
            assert!(counts(OsStr::new(name)), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "AWS_SECRET_ACCESS_KEY",
            "XTEAMLOG_",
            "SESSION_ID_",
            "P",
        ] {
            assert!(!counts(OsStr::new(name)), "{name}");
        }
    }
}
