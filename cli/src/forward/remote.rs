//! A daemon on another machine: its address (`TEAMLOG_REMOTE`), the trusted certificates (`TEAMLOG_REMOTE_CA`), and the
//! agent's token (`TEAMLOG_TOKEN_FILE`). Requests use the protocol of the socket over TLS.

use super::client::{Deadlines, Exchange, Peer, VERSION, exchanged};
use super::connection::Connection;
use super::trust::{certificates, client_config, handshake_failure};
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use crate::file::{check_private, open};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::fmt;
use std::io::{self, Read};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use teamlog_server::{agent_token, keep_alive};

/// Variable with the address of the daemon.
pub const REMOTE: &str = "TEAMLOG_REMOTE";
/// Variable with the path of the token file.
const TOKEN_FILE: &str = "TEAMLOG_TOKEN_FILE";
/// Variable with the path of a file of trusted certificates. If unset, the system's trusted certificates are used.
const REMOTE_CA: &str = "TEAMLOG_REMOTE_CA";
/// All variables that a command needs for a daemon on another machine.
pub const REMOTE_VARIABLES: [&str; 3] = [REMOTE, TOKEN_FILE, REMOTE_CA];
/// Time limit for connecting to one address of the daemon.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);
/// Default port.
const PORT: u16 = 443;
/// Maximum size of a token file in bytes.
const TOKEN_BYTES_MAX: u64 = 4 << 10;
/// A daemon on another machine, as the environment describes it.
#[derive(Clone)]
pub struct Remote {
    host: String,
    port: u16,
    token: String,
    team: String,
    agent: String,
    authorities: Option<PathBuf>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The output leaves out the token.
        write!(f, "Remote({}:{}, {})", self.host, self.port, self.agent)
    }
}

impl Remote {
    pub fn is_named(env: &ProcessEnv) -> bool {
        env.var_set(REMOTE).is_some()
    }

    /// Reads the daemon's address and token from the environment.
    ///
    /// # Errors
    /// A variable is malformed; the token's file cannot be read, other users can read it, or it holds no token.
    pub fn from_env(env: &ProcessEnv) -> Result<Remote, CommandError> {
        let url = env.var_set(REMOTE).unwrap_or_default();
        let url = url.to_string_lossy();
        let (host, port) = place(&url).ok_or_else(|| {
            // Do not print an address with `@`, because it may contain a password.
            let shown = match url.contains('@') {
                true => "names a user".to_owned(),
                false => format!("is {url:?}"),
            };
            let message = format!("{REMOTE} must be https://HOST:PORT, but {shown}");
            CommandError::invalid(REMOTE, message)
        })?;
        let token = token(env)?;
        let Some(named) = agent_token::named(&token) else {
            let message = format!("the file that {TOKEN_FILE} names holds no agent token");
            return Err(CommandError::invalid(TOKEN_FILE, message));
        };
        Ok(Remote {
            host: host.to_owned(),
            port,
            team: named.team.to_owned(),
            agent: named.agent.to_owned(),
            authorities: env.var_set(REMOTE_CA).map(PathBuf::from),
            token,
        })
    }

    /// Returns the variables of files whose paths are relative. A command in another directory does not find these files.
    pub fn relative_paths(env: &ProcessEnv) -> Vec<&'static str> {
        let is_relative = |name: &&str| {
            let path = env.var_set(name).map(PathBuf::from);
            path.is_some_and(|path| path.is_relative())
        };
        [TOKEN_FILE, REMOTE_CA]
            .into_iter()
            .filter(is_relative)
            .collect()
    }

    /// Returns the address of the daemon: host and port.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Returns the team for which the token is valid.
    pub fn team(&self) -> &str {
        &self.team
    }

    /// Returns the agent to whom the token belongs.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Sends a request and waits for the reply.
    ///
    /// # Errors
    /// Exit 69: the daemon cannot be reached, its certificate is not trusted, or it has another version. Exit 75: the daemon is
    /// overloaded, or the token exceeded its rate. Exit 77: the daemon refuses the token.
    pub(super) fn exchange(
        &self,
        request: &[u8],
        within: Option<Duration>,
        step_limit: Option<Duration>,
    ) -> Result<Exchange, CommandError> {
        let connect = step_limit.unwrap_or(CONNECT_DEADLINE).min(CONNECT_DEADLINE);
        let stream = self.connected(connect)?;
        let server = ServerName::try_from(self.host.clone())
            .map_err(|error| self.unreachable(&error.to_string()))?;
        let client = ClientConnection::new(Arc::new(self.config()?), server)
            .map_err(|error| self.unreachable(&error.to_string()))?;
        let mut connection = StreamOwned::new(client, stream);
        let shaken = connection.sock.within(Some(connect)).and_then(|()| {
            while connection.conn.is_handshaking() {
                connection.conn.complete_io(&mut connection.sock)?;
            }
            Ok(())
        });
        shaken.map_err(|error| self.unreachable(&handshake_failure(&error, REMOTE_CA)))?;
        exchanged(
            Box::new(connection),
            self,
            request,
            Deadlines::within(within, step_limit),
        )
    }

    fn connected(&self, within: Duration) -> Result<TcpStream, CommandError> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "no address has that name");
        let addresses = (&*self.host, self.port).to_socket_addrs();
        for address in addresses.map_err(|error| self.unreachable(&error.to_string()))? {
            match TcpStream::connect_timeout(&address, within) {
                Ok(stream) => {
                    // Ignore errors. Without these options, a lost connection is noticed later.
                    let _ = stream.set_nodelay(true);
                    let _ = keep_alive(&stream);
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(self.unreachable(&last.to_string()))
    }

    fn config(&self) -> Result<ClientConfig, CommandError> {
        let trusted = match &self.authorities {
            None => rustls_native_certs::load_native_certs().certs,
            Some(file) => certificates(REMOTE_CA, file)?,
        };
        client_config(trusted).map_err(|error| self.unreachable(&error.to_string()))
    }
}

impl Peer for Remote {
    fn host(&self) -> String {
        self.address()
    }

    fn token(&self) -> Option<&str> {
        Some(&self.token)
    }

    fn mismatch(&self) -> CommandError {
        let message = format!(
            "the daemon at {}:{} has another version than this program ({VERSION}); nothing was done",
            self.host, self.port
        );
        CommandError::new(Exit::Unavailable, "daemon_version_mismatch", message)
            .or_hint("install the same version on both machines")
    }

    fn unreachable(&self, but: &str) -> CommandError {
        let message = format!(
            "the daemon at {}:{} did not accept the command: {but}; nothing was done",
            self.host, self.port
        );
        CommandError::unreachable(message).or_hint(format!(
            "check that the daemon is running, and that {REMOTE_CA} names the certificates to trust"
        ))
    }
}

impl Connection for StreamOwned<ClientConnection, TcpStream> {
    fn within(&self, deadline: Option<Duration>) -> io::Result<()> {
        self.sock.within(deadline)
    }
}

/// Parses `https://HOST:PORT` into host and port.
fn place(url: &str) -> Option<(&str, u16)> {
    let place = url.strip_prefix("https://")?;
    let place = place.strip_suffix('/').unwrap_or(place);
    let (host, port) = match place.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(Some((host, ""))) => (host, PORT),
        Some(Some((host, port))) => (host, port.strip_prefix(':')?.parse().ok()?),
        Some(None) => return None,
        None => match place.split_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (place, PORT),
        },
    };
    let plain = |c: char| !c.is_whitespace() && !"/@?#".contains(c);
    (!host.is_empty() && host.chars().all(plain)).then_some((host, port))
}

fn token(env: &ProcessEnv) -> Result<String, CommandError> {
    let Some(path) = env.var_set(TOKEN_FILE).map(PathBuf::from) else {
        let message = format!("{TOKEN_FILE} is not set, but {REMOTE} needs it");
        return Err(CommandError::invalid(TOKEN_FILE, message).or_hint(
            "ask the operator of the daemon for a token, and name the file that holds it",
        ));
    };
    let file = open(env, TOKEN_FILE, &path)?;
    check_private(TOKEN_FILE, &path, &file)
        .map_err(|error| error.or_hint(format!("chmod 600 {}", path.display())))?;
    let mut text = String::new();
    file.take(TOKEN_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| CommandError::io("read", &path.display().to_string(), &error))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_url_is_a_host_and_a_port_and_nothing_else() {
        for (url, host, port) in [
            ("https://host:7443", "host", 7443),
            ("https://host", "host", 443),
            ("https://10.0.0.1:1/", "10.0.0.1", 1),
            ("https://[fd00::1]:7443", "fd00::1", 7443),
            ("https://[::1]", "::1", 443),
        ] {
            assert_eq!(place(url), Some((host, port)), "{url}");
        }
        for url in [
            "",
            "host:7443",
            "http://host:7443",
            "https://",
            "https://:7443",
            "https://host:",
            "https://host:65536",
            "https://ada:secret@host",
            "https://host/path",
            "https://[::1",
            "https://[::1]7443",
            "https://a b",
        ] {
            assert_eq!(place(url), None, "{url}");
        }
    }
}
