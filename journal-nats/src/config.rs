//! Which servers the journal is on, and how to get in.

use async_nats::ConnectOptions;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use teamlog_engine::journal::ConfigError;

/// How long a server may take to let a connection in; then the next one is tried.
const CONNECT: Duration = Duration::from_millis(1_500);
/// How often a server has to show that it is there.
const PING: Duration = Duration::from_secs(2);
const SECRET: ConfigError = ConfigError::SecretInUrl(
    "url must hold no user, password or token, but has one: put it into a file of creds that only you may read",
);

/// What names a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// `nats://host,host` or `tls://host,host`, each with a port or without, and no user, password or token.
    pub url: String,
    /// A file of credentials, as NATS hands them out.
    pub creds: Option<PathBuf>,
    /// Where each server tells its settings: `http://host:port`.
    pub monitors: Vec<String>,
    /// What this host calls itself.
    pub host: String,
    /// Who may vouch for the servers; else whoever the system trusts.
    pub sslrootcert: Option<PathBuf>,
    /// The certificate by which this host shows who it is.
    pub sslcert: Option<PathBuf>,
    /// Its secret key.
    pub sslkey: Option<PathBuf>,
}

/// How servers are reached, and which.
pub(crate) struct Servers {
    pub options: ConnectOptions,
    pub addresses: Vec<String>,
}

impl Config {
    /// The servers of the URL. An error where that is none, or holds a secret; where a monitor has another form, or a file cannot
    /// be used.
    pub(crate) fn servers(&self) -> Result<Servers, ConfigError> {
        let (hosts, encrypts) = hosts(&self.url)?;
        for monitor in &self.monitors {
            if monitor_address(monitor).is_none() {
                return Err(invalid(format!(
                    "monitors must be like http://HOST:PORT, but one is {monitor:?}"
                )));
            }
        }
        let mut options = ConnectOptions::new()
            .name(format!("teamlog {}", self.host))
            .connection_timeout(CONNECT)
            .ping_interval(PING)
            .ignore_discovered_servers()
            .require_tls(encrypts);
        if let Some(file) = &self.sslrootcert {
            readable("sslrootcert", file)?;
            options = options.add_root_certificates(file.clone());
        }
        options = match (&self.sslcert, &self.sslkey) {
            (None, None) => options,
            (Some(certificate), Some(key)) => {
                readable("sslcert", certificate)?;
                readable("sslkey", key)?;
                options.add_client_certificate(certificate.clone(), key.clone())
            }
            (Some(_), None) => return Err(invalid("sslkey must be given, for sslcert is")),
            (None, Some(_)) => return Err(invalid("sslcert must be given, for sslkey is")),
        };
        if let Some(file) = &self.creds {
            let text = readable("creds", file)?;
            let with_creds = options.credentials(&text);
            // What the client says of it could show a part.
            options = with_creds.map_err(|_| {
                let shown = file.display();
                invalid(format!(
                    "creds must hold a user's JWT and seed, but {shown} does not"
                ))
            })?;
        }
        let scheme = if encrypts { "tls" } else { "nats" };
        let addresses = hosts.iter().map(|host| format!("{scheme}://{host}"));
        Ok(Servers {
            options,
            addresses: addresses.collect(),
        })
    }
}

fn invalid(why: impl Into<String>) -> ConfigError {
    ConfigError::Invalid(why.into())
}

fn readable(field: &str, file: &PathBuf) -> Result<String, ConfigError> {
    fs::read_to_string(file).map_err(|error| {
        invalid(format!(
            "{field} {} cannot be read: {error}",
            file.display()
        ))
    })
}

/// The hosts of a URL, and whether connections to them are encrypted: beyond this machine they are, unless the URL says
/// otherwise.
fn hosts(url: &str) -> Result<(Vec<&str>, bool), ConfigError> {
    if url.contains('@') {
        return Err(SECRET);
    }
    let form = || {
        invalid("url must be like nats://HOST,HOST or tls://HOST,HOST, each with :PORT or without")
    };
    let (scheme, rest) = url.split_once("://").ok_or_else(form)?;
    let (hosts, option) = match rest.split_once('?') {
        Some((hosts, option)) => (hosts, Some(option)),
        None => (rest, None),
    };
    let hosts: Vec<&str> = hosts.trim_end_matches('/').split(',').collect();
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if !["nats", "tls"].contains(&scheme)
        || hosts
            .iter()
            .any(|host| host.is_empty() || !host.chars().all(allowed))
    {
        return Err(form());
    }
    let encrypts = match (scheme, option) {
        ("tls", None) | (_, Some("sslmode=verify-full")) => true,
        ("nats", Some("sslmode=disable")) => false,
        ("nats", None) => !hosts.iter().all(|host| is_local(host)),
        _ => {
            return Err(invalid(
                "url must end with ?sslmode=verify-full, or with ?sslmode=disable for nats:// in a network that you trust, or with no option",
            ));
        }
    };
    Ok((hosts, encrypts))
}

fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address = IpAddr::from_str(name);
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Host and port of a monitor.
pub(crate) fn monitor_address(url: &str) -> Option<&str> {
    let address = url.strip_prefix("http://")?.trim_end_matches('/');
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let (host, port) = address.rsplit_once(':')?;
    let is_one = !host.is_empty() && port.parse::<u16>().is_ok() && address.chars().all(allowed);
    is_one.then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_the_url_is_refused() {
        for url in [
            "nats://ada:secret@localhost",
            "nats://token@n1,n2",
            "tls://n1,a:b@n2",
        ] {
            assert_eq!(hosts(url).unwrap_err(), SECRET, "{url}");
        }
    }

    #[test]
    fn beyond_this_machine_all_is_encrypted_unless_the_url_says_otherwise() {
        for (url, encrypts) in [
            ("nats://localhost", false),
            ("nats://127.0.0.1:4222,[::1]:4223", false),
            ("nats://127.0.0.1,n2", true),
            ("nats://n1,n2/", true),
            ("tls://localhost", true),
            ("nats://n1,n2?sslmode=disable", false),
            ("nats://localhost?sslmode=verify-full", true),
        ] {
            assert_eq!(hosts(url).unwrap().1, encrypts, "{url}");
        }
        assert_eq!(hosts("nats://n1,n2:1").unwrap().0, ["n1", "n2:1"]);
        for url in [
            "http://localhost",
            "nats://",
            "nats://n1,,n2",
            "nats://n1/x",
            "localhost",
            "tls://n1?sslmode=disable",
            "nats://n1?sslmode=require",
            "nats://n1?creds=/a",
        ] {
            let error = hosts(url).unwrap_err().to_string();
            assert!(error.starts_with("url must"), "{url}: {error}");
        }
    }

    #[test]
    fn files_that_cannot_be_used_are_said_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let empty = dir.path().join("empty");
        fs::write(&empty, "SUsecret").unwrap();
        let said = |change: &dyn Fn(&mut Config)| {
            let mut config = Config {
                url: "nats://n1".into(),
                ..Config::default()
            };
            change(&mut config);
            config.servers().err().unwrap().to_string()
        };
        let missing = said(&|config| config.sslrootcert = Some("/no/such.pem".into()));
        assert!(
            missing.starts_with("sslrootcert /no/such.pem cannot"),
            "{missing}"
        );
        let creds = said(&|config| config.creds = Some(empty.clone()));
        assert!(
            creds.starts_with("creds must hold") && !creds.contains("SUsecret"),
            "{creds}"
        );
        let alone = said(&|config| config.sslcert = Some(empty.clone()));
        assert!(alone.starts_with("sslkey must"), "{alone}");
        let alone = said(&|config| config.sslkey = Some(empty.clone()));
        assert!(alone.starts_with("sslcert must"), "{alone}");
        let monitor = said(&|config| config.monitors = vec!["https://n1".into()]);
        assert!(monitor.starts_with("monitors must"), "{monitor}");
    }
}
