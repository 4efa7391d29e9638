//! Commands from another machine, with the token of an agent, over TLS.

mod agents;
mod certificates;
mod commands;
mod line;
mod lost;
mod namespaces;
mod projections;
mod subscriptions;
mod tokens;

use crate::daemon::Daemon;
use crate::prelude::*;
use rustls::StreamOwned;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::ChildStdout;
use std::sync::Arc;

/// The daemon's certificate for localhost, 127.0.0.1 and 10.77.0.1. `CA` signed it.
const SERVER: &str = include_str!("remote/server.pem");
const KEY: &str = include_str!("remote/server.key");
const CA: &str = include_str!("remote/ca.pem");
/// A certificate that the daemon does not use.
const OTHER: &str = include_str!("remote/other.pem");

/// The machine of the daemon, and another machine that reaches the daemon by host and port.
struct Machine {
    cli: Cli,
    daemon: Option<Daemon>,
    /// The other machine, which has no files of the team.
    elsewhere: Cli,
    host: String,
    port: u16,
}

fn private(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

impl Machine {
    /// Starts a daemon for the team `demo`. There are tokens for `lead` (scope operate), `dev` (act) and `qa` (read).
    fn new() -> Machine {
        let machine = Machine::unserved();
        let daemon = Daemon::with(&machine.cli, &machine.words("127.0.0.1:0"));
        let url = daemon.ready["remoteUrl"].as_str().unwrap().to_owned();
        let (_, port) = url.rsplit_once(':').unwrap();
        Machine {
            port: port.parse().unwrap(),
            daemon: Some(daemon),
            ..machine
        }
    }

    fn unserved() -> Machine {
        let (cli, elsewhere) = (Cli::with_team(), Cli::new());
        private(&cli.outside().join("server.pem"), SERVER);
        private(&cli.outside().join("server.key"), KEY);
        private(&elsewhere.outside().join("ca.pem"), CA);
        let machine = Machine {
            cli,
            daemon: None,
            elsewhere,
            host: "localhost".to_owned(),
            port: 0,
        };
        for (agent, scope) in [("lead", "operate"), ("dev", "act"), ("qa", "read")] {
            machine.cli.ok(&format!(
                "token add demo --agent {agent} --scope {scope} --out {}",
                machine.token(agent).display()
            ));
        }
        machine
    }

    fn words(&self, listen: &str) -> String {
        let dir = self.cli.outside().display();
        format!("--listen {listen} --tls-cert {dir}/server.pem --tls-key {dir}/server.key")
    }

    fn token(&self, agent: &str) -> PathBuf {
        self.elsewhere.outside().join(format!("{agent}.token"))
    }

    /// Returns the token in the token file of an agent.
    fn secret(&self, agent: &str) -> String {
        let text = std::fs::read_to_string(self.token(agent)).unwrap();
        text.trim().to_owned()
    }

    /// Returns a command that an agent runs on the other machine.
    fn command(&self, agent: &str, line: &str) -> Command {
        let mut command = self.elsewhere.command(line);
        command
            .env(
                "TEAMLOG_REMOTE",
                format!("https://{}:{}", self.host, self.port),
            )
            .env("TEAMLOG_REMOTE_CA", self.elsewhere.outside().join("ca.pem"))
            .env("TEAMLOG_TOKEN_FILE", self.token(agent));
        command
    }

    fn run(&self, agent: &str, line: &str) -> Ran {
        Ran::of(&mut self.command(agent, line))
    }

    #[track_caller]
    fn ok(&self, agent: &str, line: &str) -> String {
        let ran = self.run(agent, line);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
        ran.stdout
    }

    /// Returns the exit code and the error code of a command that is refused.
    fn refused(&self, agent: &str, line: &str) -> (Option<i32>, String) {
        refused(self.run(agent, &format!("{line} --json")))
    }

    fn events(&self) -> Vec<Value> {
        let text = self.cli.run("export demo").stdout;
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }
}

/// Starts a process that follows the log, and waits for its first line. Returns the process and a
/// reader of its further output.
fn following(mut command: Command) -> (Child, BufReader<ChildStdout>) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    (child, lines)
}

fn refused(ran: Ran) -> (Option<i32>, String) {
    let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_default();
    (
        ran.code,
        error["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    )
}
