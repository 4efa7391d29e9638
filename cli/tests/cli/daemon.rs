//! A daemon as a process.

use crate::prelude::*;
use crate::schemas;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, Read, Write};
use std::net::TcpStream;

/// A running daemon. The daemon is killed on drop.
pub struct Daemon {
    child: Child,
    /// First line of the daemon's output.
    pub ready: Value,
}

impl Daemon {
    /// Starts the daemon of a world.
    pub fn of(cli: &Cli) -> Daemon {
        Daemon::with(cli, "")
    }

    /// Starts the daemon of a world with additional options.
    pub fn with(cli: &Cli, words: &str) -> Daemon {
        Daemon::started(cli.command(&format!("serve {words} --json")))
    }

    /// Starts a daemon with this command, and waits for its first line of output.
    pub fn started(mut command: Command) -> Daemon {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{:?}", child.wait_with_output());
        schemas::check(&["serve".to_owned()], &line);
        Daemon {
            child,
            ready: serde_json::from_str(&line).unwrap(),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the path of the daemon's socket.
    pub fn socket(&self) -> PathBuf {
        PathBuf::from(self.ready["socket"].as_str().unwrap())
    }

    /// Sends an HTTP request with a token. Returns status, head and body.
    pub fn ask(&self, token: &str, method: &str, target: &str, body: &str) -> (u16, String, Value) {
        let url = self.ready["url"].as_str().unwrap();
        ask(url, token, method, target, body)
    }

    /// Suspends the daemon with SIGSTOP, and waits until all of its threads are stopped, because a running thread could
    /// still take a request.
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
        let tasks = format!("/proc/{}/task", self.pid());
        let is_stopped = |task: std::io::Result<std::fs::DirEntry>| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat"));
            // A thread that has ended has no `stat` file. The thread's name in this file can
            // contain brackets, so find the state after the last bracket.
            stat.is_ok_and(|stat| {
                stat.rsplit_once(')')
                    .is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
            })
        };
        until("all threads are stopped", || {
            std::fs::read_dir(&tasks).unwrap().all(is_stopped)
        });
    }

    /// Resumes the daemon after [`Daemon::suspend`].
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Kills the daemon with SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the daemon ends. Returns its exit code and its standard error.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        (code, said)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `act` while `runtime.json` of `demo` names no daemon. The file exists but is empty, because the daemon writes a
/// missing file again each second.
pub fn unknown<A>(cli: &Cli, act: impl FnOnce() -> A) -> A {
    let runtime = cli.dir().join("teams/demo/runtime.json");
    let (aside, silent) = (cli.dir().join("aside"), cli.dir().join("silent"));
    // The file must be readable only by its owner. `copy` keeps these permissions.
    for copy in [&aside, &silent] {
        std::fs::copy(&runtime, copy).unwrap();
    }
    std::fs::write(&silent, "{}").unwrap();
    std::fs::rename(&silent, &runtime).unwrap();
    let done = act();
    std::fs::rename(&aside, &runtime).unwrap();
    done
}

/// Sends an HTTP request with a token to a URL. Returns status, head and body.
pub fn ask(url: &str, token: &str, method: &str, target: &str, body: &str) -> (u16, String, Value) {
    let address = url.strip_prefix("http://").unwrap();
    let length = match method {
        "POST" => format!("Content-Length: {}\r\n", body.len()),
        _ => String::new(),
    };
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n{length}\r\n{body}"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = serde_json::from_str(body).unwrap_or(Value::Null);
    (status, head.to_owned(), body)
}
