//! The configuration of a journal: its servers, and the credentials.

use crate::host::HostName;
use crate::tls::{Tls, TlsFiles};
use std::fmt;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use teamlog_engine::Result;
use teamlog_engine::journal::{ConfigError, Durability};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// Configuration of a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `postgres://user@host,host/database?options`, without a password.
    pub url: String,
    /// A file of passwords, in the form of PostgreSQL's `~/.pgpass`.
    pub passfile: Option<PathBuf>,
    /// Name of this host in the journal.
    pub host: String,
    /// File with this host's id in the journal, created at the first connection. Without a file, the name is the id.
    pub host_id_file: Option<PathBuf>,
    /// Time limit for connecting to a server, before the next server is tried; default 1.5 s.
    pub connect_timeout: Option<Duration>,
    /// The layer that keeps the copies.
    pub durability: Durability,
    /// Certificates for TLS.
    pub tls: TlsFiles,
}

/// A server and its connection settings.
pub(crate) struct Server {
    pub client: tokio_postgres::Config,
    /// TLS settings; absent if the connection is not encrypted.
    pub tls: Option<Tls>,
    /// Like [`Config::connect_timeout`].
    pub connect_timeout: Duration,
}

/// Default value of [`Config::connect_timeout`].
const CONNECT: Duration = Duration::from_millis(1_500);

impl Server {
    /// Returns connection settings that accept a server that takes writes, and also a standby. The first query shows the role
    /// of the server.
    pub fn client_of_any(&self) -> tokio_postgres::Config {
        let mut client = self.client.clone();
        client.target_session_attrs(TargetSessionAttrs::Any);
        client
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for host in self.client.get_hosts() {
            f.write_str(&host_name(host))?;
        }
        for port in self.client.get_ports() {
            write!(f, ":{port}")?;
        }
        Ok(())
    }
}

/// Default port.
const PORT: u16 = 5432;
const SECRET: ConfigError = ConfigError::SecretInUrl(
    "url must hold no password, but has one: put it into a passfile that only you may read",
);

fn invalid(why: impl Into<String>) -> ConfigError {
    ConfigError::Invalid(why.into())
}

impl Config {
    /// Returns the servers of the URL, each with its own time limit. Fails if the URL is invalid or holds a password, if
    /// `sslmode` is unknown, or if the passfile or a file of certificates cannot be used.
    pub(crate) fn servers(&self) -> Result<Vec<Server>, ConfigError> {
        let (url, sslmodes) = without_sslmode(&self.url);
        check_options(&url)?;
        let parsed = tokio_postgres::Config::from_str(&url);
        let config = parsed
            .map_err(|error| invalid(format!("url must name a PostgreSQL server: {error}")))?;
        if config.get_password().is_some() {
            return Err(SECRET);
        }
        let (Some(user), Some(database)) = (config.get_user(), config.get_dbname()) else {
            let rule = "url must name a user and a database: postgres://USER@HOST/DATABASE";
            return Err(invalid(rule));
        };
        // The client reports `Prefer` if `sslmode` is missing. Any other value was given in a form that this code does not know.
        if config.get_ssl_mode() != SslMode::Prefer {
            return Err(unknown_spelling());
        }
        if config != what_is_used(&config, user, database) {
            let rule = "url must have no options but sslmode, options and target_session_attrs: the others would be ignored";
            return Err(invalid(rule));
        }
        let encrypts = encrypts(&sslmodes)?;
        let passwords = self.passwords()?;
        let hosts = config.get_hosts().iter().enumerate();
        let server = |(at, host): (usize, &Host)| {
            let tls = match encrypts.unwrap_or(!is_local(host)) {
                true => Some(self.tls(host)?),
                false => None,
            };
            let mut one = common(&config, user, database);
            one.application_name("teamlog")
                .ssl_mode(match tls {
                    Some(_) => SslMode::Require,
                    None => SslMode::Disable,
                })
                .target_session_attrs(TargetSessionAttrs::ReadWrite);
            add_host(&mut one, host);
            let ports = config.get_ports();
            let port = ports.get(at).or(ports.first()).copied();
            if let Some(port) = port {
                one.port(port);
            }
            let port = port.unwrap_or(PORT).to_string();
            if let Some(password) = password(&passwords, [&host_name(host), &port, database, user])
            {
                one.password(password);
            }
            Ok(Server {
                client: one,
                tls,
                connect_timeout: self.connect_timeout.unwrap_or(CONNECT),
            })
        };
        let servers = hosts.map(server).collect::<Result<Vec<_>, _>>()?;
        match servers.is_empty() {
            true => Err(invalid("url must name a host")),
            false => Ok(servers),
        }
    }

    /// Returns the name of this host, and its id.
    pub(crate) fn host_name(&self) -> Result<HostName> {
        HostName::new(&self.host, self.host_id_file.as_deref())
    }

    fn tls(&self, host: &Host) -> Result<Tls, ConfigError> {
        if let Host::Unix(path) = host {
            let path = path.display();
            let rule = "which is a socket of this machine";
            return Err(invalid(format!(
                "sslmode must be disable for {path}, {rule}"
            )));
        }
        Tls::with(&self.tls).map_err(ConfigError::Invalid)
    }

    /// Reads the lines of the passfile; returns an empty text if there is no passfile.
    fn passwords(&self) -> Result<String, ConfigError> {
        let Some(path) = &self.passfile else {
            return Ok(String::new());
        };
        fs::read_to_string(path).map_err(|error| {
            let path = path.display();
            invalid(format!("passfile {path} cannot be read: {error}"))
        })
    }
}

/// Returns the password of the first line that matches host, port, database and user, by the rules of libpq.
fn password(passwords: &str, server: [&str; 4]) -> Option<String> {
    passwords.lines().find_map(|line| {
        let fields = fields(line);
        let (password, wanted) = fields.split_last()?;
        let fits = wanted.len() == server.len()
            && wanted
                .iter()
                .zip(server)
                .all(|(field, value)| field == "*" || field == value);
        fits.then(|| password.clone())
    })
}

/// Splits a line of a passfile into fields; `\` escapes the next character.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while !line.starts_with('#')
        && let Some(letter) = letters.next()
    {
        let field = match letter {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => letters.next(),
            other => Some(other),
        };
        if let (Some(last), Some(letter)) = (fields.last_mut(), field) {
            last.push(letter);
        }
    }
    fields
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address = IpAddr::from_str(name);
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
    }
}

/// Splits a URL into the part before the options, the options, and their separator. A text `name=value name=value` has only
/// options.
fn options(url: &str) -> (&str, &str, char) {
    match url.split_once('?') {
        Some((start, options)) => (start, options, '&'),
        None if url.contains("://") => (url, "", '&'),
        None => ("", url, ' '),
    }
}

/// Removes every `sslmode` from a URL, or from a text `name=value name=value`, because the client knows other values.
fn without_sslmode(url: &str) -> (String, Vec<String>) {
    let (start, options, parted_by) = options(url);
    let (mut modes, mut others) = (Vec::new(), Vec::new());
    for option in options.split(parted_by) {
        match option.strip_prefix("sslmode=") {
            Some(mode) => modes.push(mode.to_owned()),
            None => others.push(option),
        }
    }
    let rest = others.join(&parted_by.to_string());
    match parted_by == '&' && !rest.is_empty() {
        true => (format!("{start}?{rest}"), modes),
        false => (format!("{start}{rest}"), modes),
    }
}

/// Returns true if connections are encrypted; `None` if `sslmode` is missing. Then only connections to other machines are encrypted.
fn encrypts(sslmodes: &[String]) -> Result<Option<bool>, ConfigError> {
    let [mode] = sslmodes else {
        return match sslmodes.len() {
            0 => Ok(None),
            // Refuse an unknown value. If the value were ignored, the connection could be less secure than intended.
            _ => Err(invalid(format!(
                "sslmode must be given once, but is given as {}",
                sslmodes.join(" and ")
            ))),
        };
    };
    match mode.as_str() {
        "verify-full" => Ok(Some(true)),
        "disable" => Ok(Some(false)),
        other => Err(invalid(format!(
            "sslmode must be verify-full, or disable in a network that you trust, but is {other:?}: without a check of the server's name, any computer can pose as the server"
        ))),
    }
}

/// Refuses files in the URL. Files belong in the configuration, where their permissions are checked. The client also refuses
/// them, or ignores other spellings of `sslmode`, but does not name the option.
fn check_options(url: &str) -> Result<(), ConfigError> {
    let (_, options, _) = options(url);
    if options.contains("sslmode") {
        return Err(unknown_spelling());
    }
    let fields = ["sslrootcert", "sslcert", "sslkey"];
    match fields.iter().find(|field| options.contains(**field)) {
        Some(field) => Err(invalid(format!(
            "{field} must be a field of its own beside url, but is part of url"
        ))),
        None => Ok(()),
    }
}

/// Returns the part of a configuration that the journal uses. Sets the option that refuses servers that take no writes, even if
/// the configuration lacks that option.
fn what_is_used(
    config: &tokio_postgres::Config,
    user: &str,
    database: &str,
) -> tokio_postgres::Config {
    let mut used = common(config, user, database);
    if config.get_target_session_attrs() == TargetSessionAttrs::ReadWrite {
        used.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    for host in config.get_hosts() {
        add_host(&mut used, host);
    }
    for port in config.get_ports() {
        used.port(*port);
    }
    used
}

/// Returns the settings for all servers.
fn common(config: &tokio_postgres::Config, user: &str, database: &str) -> tokio_postgres::Config {
    let mut common = tokio_postgres::Config::new();
    common.user(user).dbname(database);
    if let Some(options) = config.get_options() {
        common.options(options);
    }
    common
}

fn add_host(config: &mut tokio_postgres::Config, host: &Host) {
    match host {
        Host::Tcp(name) => config.host(name),
        Host::Unix(path) => config.host_path(path),
    };
}

fn unknown_spelling() -> ConfigError {
    let rule = "sslmode must be written as sslmode=verify-full or sslmode=disable, without blanks, tabs or % in it";
    invalid(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn config(url: &str) -> Result<tokio_postgres::Config, ConfigError> {
        let url = url.to_owned();
        let config = Config {
            url,
            ..Config::default()
        };
        config.servers().map(|mut servers| servers.remove(0).client)
    }

    #[test]
    fn an_option_that_would_be_passed_over_is_refused() {
        let with = |option: &str| {
            config(&format!(
                "postgres://ada@localhost,other:5433/teamlog?{option}"
            ))
        };
        for option in [
            "channel_binding=require",
            "connect_timeout=5",
            "keepalives=0",
            "load_balance_hosts=random",
            "target_session_attrs=read-only",
            "hostaddr=127.0.0.1",
        ] {
            let error = with(option).unwrap_err().to_string();
            assert!(error.contains("would be ignored"), "{option}: {error}");
        }
        for option in [
            "sslmode=disable",
            "options=-c%20search_path%3Dlogs",
            "target_session_attrs=read-write",
        ] {
            with(option).unwrap();
        }
    }

    #[test]
    fn a_secret_in_the_url_is_refused() {
        for url in [
            "postgres://ada:secret@localhost/teamlog",
            "host=localhost user=ada password=secret dbname=teamlog",
        ] {
            assert_eq!(config(url).unwrap_err(), SECRET);
        }
        config("postgres://ada@localhost/teamlog").unwrap();
        let second = Config {
            url: "postgres://ada@127.0.0.1:5433,localhost:5434/teamlog".into(),
            ..Config::default()
        };
        let servers = second.servers().unwrap();
        let ports: Vec<_> = servers.iter().map(|one| one.client.get_ports()).collect();
        assert_eq!(ports, [[5433], [5434]]);
    }

    #[test]
    fn what_is_no_url_is_refused_and_beyond_this_machine_all_is_encrypted() {
        for (url, why) in [
            ("http://localhost", "url must"),
            ("postgres://localhost/teamlog", "url must name a user"),
            ("postgres://ada@localhost", "url must name a user"),
            (
                "postgres://ada@localhost/teamlog?sslmode=require",
                "sslmode must be verify-full, or disable",
            ),
            (
                "host=db1 user=ada sslmode=prefer dbname=teamlog",
                "sslmode must be verify-full, or disable",
            ),
            (
                "postgres://ada@db1/teamlog?sslmode=",
                "sslmode must be verify-full, or disable in a network that you trust, but is \"\"",
            ),
            (
                "postgres://ada@%2Frun%2Fpostgresql/teamlog?sslmode=verify-full",
                "sslmode must be disable for /run/postgresql",
            ),
        ] {
            let said = config(url).unwrap_err().to_string();
            assert!(said.starts_with(why), "{url}: {said}");
        }
        for (url, encrypts) in [
            ("postgres://ada@localhost/teamlog", false),
            ("postgres://ada@[::1]/teamlog", false),
            ("postgres://ada@%2Frun%2Fpostgresql/teamlog", false),
            ("postgres://ada@db1/teamlog", true),
            (
                "postgres://ada@db1/teamlog?sslmode=disable&target_session_attrs=read-write",
                false,
            ),
            (
                "postgres://ada@localhost/teamlog?target_session_attrs=read-write&sslmode=verify-full",
                true,
            ),
            (
                "host=localhost user=ada sslmode=verify-full dbname=teamlog",
                true,
            ),
            ("host=db1 user=ada dbname=teamlog", true),
        ] {
            let mode = config(url).unwrap().get_ssl_mode();
            assert_eq!(mode == SslMode::Require, encrypts, "{url}");
        }
    }

    #[test]
    fn an_sslmode_that_would_be_passed_over_is_refused() {
        let (once, spelling) = ("sslmode must be given once", "sslmode must be written as");
        for (url, why) in [
            (
                "postgres://ada@db1/t?sslmode=disable&sslmode=verify-full",
                once,
            ),
            (
                "postgres://ada@db1/t?sslmode=verify-full&sslmode=disable",
                once,
            ),
            ("postgres://ada@db1/t?sslmode=disable&sslmode=disable", once),
            (
                "host=db1 user=ada sslmode=disable dbname=t sslmode=verify-full",
                once,
            ),
            (
                "host=localhost user=ada sslmode = require dbname=t",
                spelling,
            ),
            (
                "host=localhost\tsslmode=require user=ada dbname=t",
                spelling,
            ),
            ("postgres://ada@localhost/t?ssl%6Dode=require", spelling),
            (
                "postgres://ada@db1/t?sslmode=disable&ssl%6Dode=require",
                spelling,
            ),
        ] {
            let said = config(url).unwrap_err().to_string();
            assert!(said.starts_with(why), "{url}: {said}");
        }
    }

    #[test]
    fn files_in_the_url_are_refused_by_name() {
        for field in ["sslrootcert", "sslcert", "sslkey"] {
            for url in [
                format!("postgres://ada@db1/t?sslmode=verify-full&{field}=/a.pem"),
                format!("host=db1 user=ada {field}=/a.pem dbname=t"),
            ] {
                let said = config(&url).unwrap_err().to_string();
                assert!(
                    said.starts_with(&format!("{field} must be a field of its own beside url")),
                    "{url}: {said}"
                );
            }
        }
        config("postgres://sslkey@sslcert/sslmode?sslmode=disable").unwrap();
    }

    #[test]
    fn files_of_certificates_that_cannot_be_used_are_said_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let empty = dir.path().join("empty.pem");
        fs::write(&empty, "").unwrap();
        let some = |path: &Path| Some(path.to_owned());
        let said = |sslrootcert, sslcert, sslkey| {
            let config = Config {
                url: "postgres://ada@db1/teamlog".into(),
                tls: TlsFiles {
                    sslrootcert,
                    sslcert,
                    sslkey,
                },
                ..Config::default()
            };
            config.servers().err().map(|error| error.to_string())
        };
        let missing = said(some(Path::new("/no/such.pem")), None, None).unwrap();
        assert!(
            missing.starts_with("sslrootcert /no/such.pem cannot be used"),
            "{missing}"
        );
        let none = said(some(&empty), None, None).unwrap();
        assert!(
            none.starts_with("sslrootcert must hold certificates"),
            "{none}"
        );
        let alone = said(None, some(&empty), None).unwrap();
        assert!(alone.starts_with("sslkey must be given"), "{alone}");
        let alone = said(None, None, some(&empty)).unwrap();
        assert!(alone.starts_with("sslcert must be given"), "{alone}");
    }

    #[test]
    fn the_password_is_the_first_that_fits() {
        let dir = tempfile::tempdir().unwrap();
        let passfile = dir.path().join("passfile");
        fs::write(
            &passfile,
            "# none\ndb9:*:*:ada:no\n*:*:teamlog:bob:no\nlocalhost:5433:*:ada:other port\n\
             localhost:5432:teamlog:ada:a\\:b\\\\c:d\n*:*:*:*:last\n",
        )
        .unwrap();
        let config = Config {
            url: "postgres://ada@localhost,localhost:5433,db1/teamlog".into(),
            passfile: Some(passfile),
            ..Config::default()
        };
        let servers = config.servers().unwrap();
        for (server, password) in servers.iter().zip(["a:b\\c:d", "other port", "last"]) {
            assert_eq!(server.client.get_password(), Some(password.as_bytes()));
        }
    }
}
