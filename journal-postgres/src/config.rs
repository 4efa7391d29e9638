//! Which server the journal is, and how to get in.

use std::fmt;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// What names a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `postgres://user@host,host/database?options`, without a password.
    pub url: String,
    /// A file of passwords, in the form of PostgreSQL's `~/.pgpass`.
    pub passfile: Option<PathBuf>,
    /// What this host calls itself in the journal.
    pub host: String,
}

/// What is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// The URL holds a password, which others could read.
    SecretInUrl,
    /// Something else, in words.
    Invalid(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::SecretInUrl => f.write_str(
                "url must hold no password, but has one: put it into a passfile that only you may read",
            ),
            ConfigError::Invalid(why) => f.write_str(why),
        }
    }
}

impl Config {
    /// What the client connects by, for each server: each is given its own time to answer.
    ///
    /// # Errors
    /// The URL is none, holds a password, or leads over a network without saying so; the passfile cannot be read.
    pub(crate) fn clients(&self) -> Result<Vec<tokio_postgres::Config>, ConfigError> {
        let parsed = tokio_postgres::Config::from_str(&self.url);
        let config = parsed.map_err(|error| {
            ConfigError::Invalid(format!("url must name a PostgreSQL server: {error}"))
        })?;
        if config.get_password().is_some() {
            return Err(ConfigError::SecretInUrl);
        }
        if config.get_user().is_none() || config.get_dbname().is_none() {
            let rule = "url must name a user and a database: postgres://USER@HOST/DATABASE";
            return Err(ConfigError::Invalid(rule.into()));
        }
        check_unencrypted(&config)?;
        let password = self.password(&config)?;
        let hosts = config.get_hosts().iter().enumerate();
        let client = |(at, host): (usize, &Host)| {
            let mut one = tokio_postgres::Config::new();
            one.user(config.get_user().unwrap_or_default())
                .dbname(config.get_dbname().unwrap_or_default())
                .application_name("teamlog")
                .ssl_mode(SslMode::Disable)
                .target_session_attrs(TargetSessionAttrs::ReadWrite);
            match host {
                Host::Tcp(name) => one.host(name),
                Host::Unix(path) => one.host_path(path),
            };
            let ports = config.get_ports();
            if let Some(port) = ports.get(at).or(ports.first()) {
                one.port(*port);
            }
            if let Some(options) = config.get_options() {
                one.options(options);
            }
            if let Some(password) = &password {
                one.password(password);
            }
            one
        };
        let clients: Vec<_> = hosts.map(client).collect();
        match clients.is_empty() {
            true => Err(ConfigError::Invalid("url must name a host".into())),
            false => Ok(clients),
        }
    }

    fn password(&self, config: &tokio_postgres::Config) -> Result<Option<String>, ConfigError> {
        let Some(path) = &self.passfile else {
            return Ok(None);
        };
        let text = fs::read_to_string(path).map_err(|error| {
            ConfigError::Invalid(format!(
                "passfile {} cannot be read: {error}",
                path.display()
            ))
        })?;
        let hosts: Vec<String> = config.get_hosts().iter().map(host_name).collect();
        let (user, database) = (config.get_user(), config.get_dbname());
        let line = text.lines().find_map(|line| {
            let fields = fields(line);
            let [host, _, of, by, password] = &fields[..] else {
                return None;
            };
            let fits = |field: &str, value: Option<&str>| field == "*" || Some(field) == value;
            let host_fits = host == "*" || hosts.iter().any(|one| one == host);
            (host_fits && fits(of, database) && fits(by, user)).then(|| password.clone())
        });
        Ok(line)
    }
}

/// The fields of a line of a passfile; `\` takes the meaning from what follows it.
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

/// Nothing here encrypts: beyond this machine that has to be wanted.
fn check_unencrypted(config: &tokio_postgres::Config) -> Result<(), ConfigError> {
    let is_local = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            let address = IpAddr::from_str(name);
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
    };
    let wanted = config.get_ssl_mode() == SslMode::Disable;
    let required = config.get_ssl_mode() == SslMode::Require;
    match config.get_hosts().iter().find(|host| !is_local(host)) {
        _ if required => Err(ConfigError::Invalid(
            "sslmode must be disable, since connections are not encrypted here, but is require"
                .into(),
        )),
        Some(host) if !wanted => Err(ConfigError::Invalid(format!(
            "host {} is not this machine, and connections are not encrypted: use a tunnel, or say sslmode=disable in a network that you trust",
            host_name(host)
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str) -> Result<tokio_postgres::Config, ConfigError> {
        let url = url.to_owned();
        let config = Config {
            url,
            ..Config::default()
        };
        config.clients().map(|mut clients| clients.remove(0))
    }

    #[test]
    fn a_secret_in_the_url_is_refused() {
        for url in [
            "postgres://ada:secret@localhost/teamlog",
            "host=localhost user=ada password=secret dbname=teamlog",
        ] {
            assert_eq!(config(url).unwrap_err(), ConfigError::SecretInUrl);
        }
        config("postgres://ada@localhost/teamlog").unwrap();
        let second = Config {
            url: "postgres://ada@127.0.0.1:5433,localhost:5434/teamlog".into(),
            ..Config::default()
        };
        let clients = second.clients().unwrap();
        let ports: Vec<_> = clients.iter().map(|one| one.get_ports()).collect();
        assert_eq!(ports, [[5433], [5434]]);
    }

    #[test]
    fn what_is_no_url_and_what_is_not_encrypted_is_refused() {
        for (url, why) in [
            ("http://localhost", "url must"),
            ("postgres://localhost/teamlog", "url must name a user"),
            ("postgres://ada@localhost", "url must name a user"),
            ("postgres://ada@db1/teamlog", "host db1 is not this machine"),
            (
                "postgres://ada@localhost/teamlog?sslmode=require",
                "sslmode must be disable",
            ),
        ] {
            let said = config(url).unwrap_err().to_string();
            assert!(said.starts_with(why), "{url}: {said}");
        }
        config("postgres://ada@db1/teamlog?sslmode=disable").unwrap();
    }

    #[test]
    fn the_password_is_the_first_that_fits() {
        let dir = tempfile::tempdir().unwrap();
        let passfile = dir.path().join("passfile");
        fs::write(
            &passfile,
            "# none\ndb9:*:*:ada:no\n*:*:teamlog:bob:no\nlocalhost:*:teamlog:ada:a\\:b\\\\c:d\n*:*:*:*:last\n",
        )
        .unwrap();
        let config = Config {
            url: "postgres://ada@localhost/teamlog".into(),
            passfile: Some(passfile),
            ..Config::default()
        };
        let clients = config.clients().unwrap();
        assert_eq!(clients[0].get_password(), Some(&b"a:b\\c:d"[..]));
    }
}
