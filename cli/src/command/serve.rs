//! `serve`: runs the daemon of a data root. `--status` and `--stop` contact the running daemon.

mod subscriptions;

use crate::command::prelude::*;
use crate::exit;
use crate::file::{check_private, open};
use crate::forward::{RequestRunner, control};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use subscriptions::Runners;
use teamlog_server::{Daemon, Running, ServeOptions, StartError, TlsFiles, running, stream};
use teamlog_team::RootOptions;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Run the daemon: serves the teams of the data root over HTTP, and records for the command \
        line\n\nThere is one daemon per data root. It listens on the loopback and on a Unix socket, holds the locks \
        of its teams, and writes teams/TEAM/runtime.json, readable by you only: its address and that team's token. \
        Its first line says that it is ready. SIGTERM or --stop ends it after running requests have \
        finished.\n\nWith a certificate it also serves agents on other machines at the address of --listen: over \
        TLS, each with a token of its own (teamlog token add). It reloads a renewed certificate on SIGHUP and within \
        a minute. Without a certificate, SIGHUP stops the daemon.",
    after_help = "\
Examples:
  teamlog serve
  teamlog serve --team demo --listen 127.0.0.1:0 --json
  teamlog serve --listen 0.0.0.0:7443 --tls-cert server.pem --tls-key server.key
  teamlog serve --status
  teamlog serve --stop"
)]
pub struct Args {
    /// Serve this team; repeatable [default: all teams, including later ones]
    #[arg(long = "team", short = 't', value_name = "TEAM")]
    teams: Vec<String>,
    /// HTTP address: a loopback address, or any address with --tls-cert; port 0 takes a free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    listen: SocketAddr,
    /// TLS certificate for agents on other machines, with its chain, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key", conflicts_with_all = ["status", "stop"])]
    tls_cert: Option<PathBuf>,
    /// Secret key of the certificate, as PEM, in a file that only you can read
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Path of the Unix socket, in a directory that only you can enter [default: inside the data root]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Leave the terminal's session, as for a daemon that another command starts
    #[arg(long, hide = true, conflicts_with_all = ["status", "stop"])]
    detached: bool,
    /// Show the running daemon and the state of its teams
    #[arg(long, conflicts_with_all = ["teams", "socket", "stop"])]
    status: bool,
    /// Stop the running daemon and wait until it has ended
    #[arg(long, conflicts_with_all = ["teams", "socket"])]
    stop: bool,
}

/// First line of output, printed when the daemon is ready.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// HTTP address
    url: String,
    /// HTTPS address for agents on other machines, if the daemon listens for them
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_url: Option<String>,
    /// Process id
    pid: u32,
    /// Path of the Unix socket
    socket: String,
    /// Teams that the daemon serves now
    teams: Vec<String>,
    /// Version of the daemon
    version: String,
    /// Version of `runtime.json`'s format
    schema_version: &'static str,
}

/// Answer of `serve --status` and `serve --stop`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Served {
    /// `running`, `stopping`, `stopped` or `not_running`
    status: &'static str,
    /// HTTP address
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// HTTPS address for agents on other machines, if the daemon listens for them
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_url: Option<String>,
    /// Process id of the daemon
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Path of the Unix socket
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<String>,
    /// Version of the daemon
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Start time
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
    /// Reason why the certificate could not be reloaded; the daemon still uses the previous certificate
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_failure: Option<String>,
    /// Teams of the daemon, sorted
    #[serde(skip_serializing_if = "Vec::is_empty")]
    teams: Vec<TeamServed>,
}

/// A team of the daemon.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TeamServed {
    /// Name of the team
    team: String,
    #[serde(flatten)]
    condition: Condition,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Condition {
    /// `starting`, `sound` or `unready`
    condition: String,
    /// Stable code of the reason if the team is not sound
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// Message of the reason
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The JSON that the daemon returns on its socket.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DaemonState {
    stopping: bool,
    #[serde(default)]
    certificate_failure: Option<String>,
    teams: BTreeMap<String, Condition>,
}

/// Version of `runtime.json`'s format.
const SCHEMA_VERSION: &str = "1.0.0";
/// Time limit for the daemon to stop: its own limit for running requests, plus a reserve.
const STOP_DEADLINE: Duration = Duration::from_secs(20);
/// Time limit for two gaps: a starting daemon holds the lock but has no address yet, and an ending daemon holds the lock
/// but has no address any more.
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
            // `setsid` fails for a session leader, which has no terminal to lose.
            let _ = rustix::process::setsid();
        }
        // Report a bad data root like every other command.
        context.data()?;
        context.check_serves_own()?;
        let root = context.data_root()?.to_owned();
        let failed =
            |error: std::io::Error| CommandError::io("find", &root.display().to_string(), &error);
        let resident = RequestRunner::new(&root).map_err(failed)?;
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
        let subscriptions = subscriptions::read(context.env(), &root)?;
        exit::install_resident_panic_hook();
        let daemon = teamlog_server::serve(options).map_err(refused)?;
        let runners = Runners::start(subscriptions, daemon.served(), context.env())?;
        ready(context, &daemon)?;
        let done = daemon.wait();
        runners.join();
        if done {
            return Ok(Exit::Done);
        }
        let message = "the daemon stopped before all running commands ended";
        Err(CommandError::new(Exit::Io, "io", message))
    }
}

/// Parses an address. For a host name, returns its first address.
fn address(text: &str) -> Result<SocketAddr, String> {
    let mut addresses = text.to_socket_addrs().map_err(|error| error.to_string())?;
    let first = addresses.next();
    first.ok_or_else(|| "must be HOST:PORT, but no address has that name".to_owned())
}

/// Returns the program name and options with which printed commands begin, valid in every working directory.
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

/// Returns the running daemon of a data root. Waits while a daemon is starting or stopping.
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
        ..Served::new(status, Some(running))
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
        let served = Served::new("not_running", None);
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
                "the daemon (pid {}) did not stop within {}",
                running.pid,
                time::plural(STOP_DEADLINE.as_secs(), "second")
            );
            return Err(CommandError::unreachable(message));
        }
        thread::sleep(LOOK);
    }
    let served = Served::new("stopped", Some(running));
    context.end(Exit::Done, &served, |served, _| vec![said(served)])
}

/// Converts a failed reply into an error: the daemon's own refusal, or else an error about an unexpected reply.
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
    fn new(status: &'static str, running: Option<Running>) -> Served {
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

/// Renders a line such as `running at URL pid 7 version 0.1.0 since …`.
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
