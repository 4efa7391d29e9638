//! `serve`: the daemon of a data root, and what is asked of one that runs.

use crate::command::prelude::*;
use crate::exit;
use crate::file::{check_private, open};
use crate::forward::{Resident, control};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use teamlog_server::{Daemon, Running, ServeOptions, StartError, TlsFiles, running, stream};
use teamlog_team::RootOptions;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Serve the teams of the data root over HTTP, and carry out what the command line records in them\n\nOne \
        daemon a data root. It listens on the loopback and on a Unix socket, keeps the locks of its teams, and writes \
        teams/TEAM/runtime.json, for you alone: where it is, and the token of that team. The first line says that it is \
        ready. It stops at SIGTERM or at --stop, once what runs has ended.\n\nWith a certificate it also serves agents on other \
        machines, at the address of --listen: over TLS, each with a token of its own (teamlog token add). SIGHUP loads a \
        renewed certificate; so does a look at its files once a minute. Without a certificate SIGHUP stops it.",
    after_help = "\
Examples:
  teamlog serve
  teamlog serve --team demo --listen 127.0.0.1:0 --json
  teamlog serve --listen 0.0.0.0:7443 --tls-cert server.pem --tls-key server.key
  teamlog serve --status
  teamlog serve --stop"
)]
pub struct Args {
    /// Serve this team; may be repeated [default: all teams, also those to come]
    #[arg(long = "team", value_name = "TEAM")]
    teams: Vec<String>,
    /// Where to listen for HTTP: an address of the loopback, or any with --tls-cert; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    listen: SocketAddr,
    /// The certificate for agents on other machines, and those that vouch for it, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with_all = ["status", "stop"])]
    tls_cert: Option<PathBuf>,
    /// The secret key of the certificate, as PEM, in a file that only you may read
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Where to put the Unix socket, in a directory that only you may enter [default: beneath the data root]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Leave the session of the terminal, as a daemon that another command starts
    #[arg(long, hide = true, conflicts_with_all = ["status", "stop"])]
    detached: bool,
    /// Say whether a daemon runs, and how its teams are
    #[arg(long, conflicts_with_all = ["teams", "socket", "stop"])]
    status: bool,
    /// Stop the daemon that runs, and wait until it has ended
    #[arg(long, conflicts_with_all = ["teams", "socket"])]
    stop: bool,
}

/// The first line: the daemon is ready.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Where it listens for HTTP
    url: String,
    /// Where it listens for agents on other machines, if it does
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_url: Option<String>,
    /// Its process
    pid: u32,
    /// Its Unix socket
    socket: String,
    /// The teams that it serves now
    teams: Vec<String>,
    /// Its version
    version: String,
    /// Of `runtime.json`
    schema_version: &'static str,
}

/// What `--status` and `--stop` answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Served {
    /// `running`, `stopping`, `stopped` or `not_running`
    status: &'static str,
    /// Where it listens for HTTP
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Where it listens for agents on other machines, if it does
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_url: Option<String>,
    /// Its process
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Its Unix socket
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    /// Its version
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Since when it runs
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    /// Why the certificate could not be loaded again; the one that was loaded before is in use
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_failure: Option<String>,
    /// Its teams, sorted
    #[serde(skip_serializing_if = "Vec::is_empty")]
    teams: Vec<TeamServed>,
}

/// A team of the daemon.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TeamServed {
    /// Its name
    team: String,
    #[serde(flatten)]
    condition: Condition,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Condition {
    /// `starting`, `sound` or `unready`
    condition: String,
    /// The stable word for why it is not
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The long form
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// What the daemon says of itself on its socket.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DaemonState {
    stopping: bool,
    #[serde(default)]
    certificate_failure: Option<String>,
    teams: BTreeMap<String, Condition>,
}

/// Of `runtime.json`.
const SCHEMA_VERSION: &str = "1.0.0";
/// How long a daemon may take to end: what it gives to what runs, and a little.
const STOP_DEADLINE: Duration = Duration::from_secs(20);
/// How long a daemon may take between having the lock and saying so, and the other way round.
const BETWEEN_DEADLINE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        match (self.status, self.stop) {
            (true, _) => status(context),
            (_, true) => stop(context),
            _ => self.serve(context),
        }
    }

    fn serve(self, context: &mut Context) -> Outcome {
        context.env().return_memory();
        if self.detached {
            // Whoever leads a session already has no terminal to lose.
            let _ = rustix::process::setsid();
        }
        // Better said as every command does.
        context.data()?;
        context.check_serves_own()?;
        let root = context.data_root()?.to_owned();
        let failed =
            |error: std::io::Error| CommandError::io("find", &root.display().to_string(), &error);
        let resident = Resident::new(&root).map_err(failed)?;
        let mut options = ServeOptions::new(root.clone(), stream::answering());
        let program = program(&root);
        options.root_options = RootOptions {
            restart: Some(format!("{program} serve --stop\n{program} serve")),
            ..context.options()
        };
        options.teams = self.teams;
        match self.tls_cert.zip(self.tls_key) {
            None => options.listen = self.listen,
            Some((certificate, key)) => {
                check_private("tls_key", &key, &open(context.env(), "tls_key", &key)?)?;
                options.remote = Some((self.listen, TlsFiles { certificate, key }));
            }
        }
        options.socket = self.socket;
        options.runtime_dir = context.env().var_set("XDG_RUNTIME_DIR").map(PathBuf::from);
        options.forward = Some(Arc::new(resident));
        options.signals = true;
        options.confined = true;
        exit::install_resident_panic_hook();
        let daemon = teamlog_server::serve(options).map_err(refused)?;
        ready(context, &daemon)?;
        if daemon.wait() {
            return Ok(Exit::Done);
        }
        let message = "the daemon stopped before all that ran had come to its end";
        Err(CommandError::new(Exit::Io, "io", message))
    }
}

/// An address as it is typed: of the first one that a name stands for.
fn address(text: &str) -> Result<SocketAddr, String> {
    let mut addresses = text.to_socket_addrs().map_err(|error| error.to_string())?;
    let first = addresses.next();
    first.ok_or_else(|| "must be HOST:PORT, but no address has that name".to_owned())
}

/// How commands for this data root begin, wherever they are typed.
fn program(root: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let root = root.display().to_string();
    format!("teamlog --data-root {}", quoted(&root))
}

fn ready(context: &mut Context, daemon: &Daemon) -> Result<(), CommandError> {
    let running = daemon.running();
    let ready = Ready {
        url: running.url.clone(),
        remote_url: running.remote_url.clone(),
        pid: running.pid,
        socket: running.socket.display().to_string(),
        teams: daemon.served().names(),
        version: running.version.clone(),
        schema_version: SCHEMA_VERSION,
    };
    context.answer(&ready, |ready, view| {
        let url = view.paint.show(Style::Bold, &ready.url);
        let teams = names_or("no teams yet", &ready.teams);
        let mut lines = vec![format!("serving at {url}  {}", visible(&teams))];
        let remote = ready.remote_url.iter();
        lines.extend(remote.map(|url| format!("  for other machines at {url}")));
        let socket = visible(&ready.socket);
        lines.push(format!("  socket {socket}  pid {}", ready.pid));
        lines
    })?;
    context.out.flush()
}

pub fn refused(error: StartError) -> CommandError {
    let message = error.to_string();
    let hint = error.hint().map(str::to_owned);
    let (exit, code) = match (error.code(), error) {
        (_, StartError::Team(failure)) => return failure.into(),
        (code @ "already_served", _) => (Exit::Locked, code),
        (code @ "not_permitted", _) => (Exit::NotPermitted, code),
        (code @ ("io" | "no_space"), _) => (Exit::Io, code),
        (code, _) => (Exit::Refused, code),
    };
    let error = CommandError::new(exit, code, message);
    match hint {
        Some(hint) => error.or_hint(hint),
        None => error,
    }
}

/// The daemon of a root. One that is just starting, or about to be gone, is waited for.
pub fn found(root: &Path) -> Result<Option<Running>, CommandError> {
    let until = Instant::now() + BETWEEN_DEADLINE;
    loop {
        match running(root) {
            Err(StartError::AlreadyServed(None)) if Instant::now() < until => thread::sleep(LOOK),
            found => return found.map_err(refused),
        }
    }
}

fn status(context: &mut Context) -> Outcome {
    context.data()?;
    let root = context.data_root()?;
    let Some(running) = found(root)? else {
        let message = format!("no daemon serves {}", root.display());
        return Err(CommandError::new(
            Exit::Unavailable,
            "daemon_not_running",
            message,
        ));
    };
    let (code, body) = control::ask(&running.socket, "GET", "/control/status")?;
    let told: DaemonState = match (code, serde_json::from_slice(&body)) {
        (200, Ok(told)) => told,
        _ => return Err(strange(code, &body)),
    };
    let status = if told.stopping { "stopping" } else { "running" };
    let teams = told.teams.into_iter();
    let served = Served {
        teams: teams
            .map(|(team, condition)| TeamServed { team, condition })
            .collect(),
        certificate_failure: told.certificate_failure,
        ..Served::of(status, Some(running))
    };
    context.end(Exit::Done, &served, |served, view| {
        let mut lines = vec![said(served)];
        if let Some(failure) = &served.certificate_failure {
            lines.push(format!("  certificate not reloaded: {}", visible(failure)));
        }
        for team in &served.teams {
            let name = view.paint.show(Style::Bold, visible(&team.team));
            let Condition { condition, why, .. } = &team.condition;
            let why = why.as_deref().map(|why| format!("  {}", visible(why)));
            lines.push(format!("  {name}  {condition}{}", why.unwrap_or_default()));
        }
        lines
    })
}

fn stop(context: &mut Context) -> Outcome {
    context.data()?;
    let root = context.data_root()?.to_owned();
    let Some(running) = found(&root)? else {
        let served = Served::of("not_running", None);
        return context.end(Exit::Done, &served, |_, _| {
            vec!["no daemon runs".to_owned()]
        });
    };
    let (code, body) = control::ask(&running.socket, "POST", "/control/stop")?;
    if code != 202 {
        return Err(strange(code, &body));
    }
    let until = Instant::now() + STOP_DEADLINE;
    while found(&root)?.is_some_and(|still| still.pid == running.pid) {
        if Instant::now() >= until {
            let message = format!(
                "the daemon (pid {}) must end within {}, but has not",
                running.pid,
                time::plural(STOP_DEADLINE.as_secs(), "second")
            );
            return Err(CommandError::unreachable(message));
        }
        thread::sleep(LOOK);
    }
    let served = Served::of("stopped", Some(running));
    context.end(Exit::Done, &served, |served, _| vec![said(served)])
}

/// The daemon's own words, where it refuses; else that it is strange.
pub fn strange(status: u16, body: &[u8]) -> CommandError {
    let told: Option<Value> = serde_json::from_slice(body).ok();
    let text = |name: &str| {
        let error = told.as_ref()?.get("error")?;
        error.get(name)?.as_str().map(str::to_owned)
    };
    match (text("code"), text("message")) {
        (Some(code), Some(message)) if status < 500 => {
            CommandError::new(Exit::Refused, &code, message)
        }
        (_, message) => CommandError::unreachable(
            message.unwrap_or_else(|| format!("the daemon answers with {status}")),
        ),
    }
}

impl Served {
    fn of(status: &'static str, running: Option<Running>) -> Served {
        let of = |field: fn(&Running) -> String| running.as_ref().map(field);
        Served {
            status,
            url: of(|running| running.url.clone()),
            remote_url: running
                .as_ref()
                .and_then(|running| running.remote_url.clone()),
            pid: running.as_ref().map(|running| running.pid),
            socket: of(|running| running.socket.display().to_string()),
            version: of(|running| running.version.clone()),
            started_at: of(|running| running.started_at.clone()),
            certificate_failure: None,
            teams: Vec::new(),
        }
    }
}

/// `running at URL  pid 7  version 0.1.0  since …`.
fn said(served: &Served) -> String {
    let mut line = served.status.to_owned();
    let pid = served.pid.map(|pid| pid.to_string());
    for (word, value) in [
        (" at", &served.url),
        ("  for other machines at", &served.remote_url),
        ("  pid", &pid),
        ("  version", &served.version),
        ("  since", &served.started_at),
    ] {
        if let Some(value) = value {
            line.push_str(&format!("{word} {}", visible(value)));
        }
    }
    line
}
