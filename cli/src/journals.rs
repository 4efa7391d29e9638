//! The journals that this user can connect to. The file `journals.toml` lists them with their URLs and credentials.
//!
//! ```toml
//! [journals.main]
//! url = "postgres://teamlog@db1,db2/teamlog"
//! passfile = "/home/ada/.pgpass"
//! ```

use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use crate::file::check_private;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use teamlog_journal_postgres::{Config, KIND, TlsFiles};
use teamlog_team::engine::journal::{
    ConfigError, Connector, Durability, Journal, Journals, LogState, Server,
};
use teamlog_team::engine::{Error, Identity, JournalFault, JournalIdentity};
use teamlog_team::handle::root::{HOST_ID_FILE, TEAMS_DIR};

/// Maximum size of the file in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default)]
    journals: BTreeMap<String, Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    url: String,
    passfile: Option<PathBuf>,
    /// Id of the journal. Required if the file has several journals.
    id: Option<String>,
    /// Name of this machine in the journal's list of hosts.
    host: Option<String>,
    /// Time limit for connecting to a server, in seconds.
    connect_timeout: Option<f64>,
    /// The layer that keeps the copies: `standbys` (the default) or `external`.
    durability: Option<String>,
    sslrootcert: Option<PathBuf>,
    sslcert: Option<PathBuf>,
    sslkey: Option<PathBuf>,
    /// Field of earlier versions, for NATS. This field is accepted, so that the other entries of the file can be
    /// read.
    #[serde(rename = "creds")]
    _creds: Option<IgnoredAny>,
    /// Field of earlier versions, for NATS.
    #[serde(rename = "monitors")]
    _monitors: Option<IgnoredAny>,
}

/// The journals of `journals.toml`. A journal is opened when a log needs it, and stays open.
#[derive(Debug)]
pub struct KnownJournals {
    /// Path of the file; `None` if the user's configuration directory is unknown.
    file: Option<PathBuf>,
    /// File with the id of this host. Each data root counts as a host.
    host_id_file: Option<PathBuf>,
    open: Mutex<BTreeMap<String, Arc<dyn Server>>>,
}

impl KnownJournals {
    /// Uses the file that `TEAMLOG_JOURNALS` names, or else the file in the user's configuration directory. Reads nothing yet.
    pub fn from_env(env: &ProcessEnv, data_root: Option<&Path>) -> KnownJournals {
        let config = || {
            let xdg = env.var_set("XDG_CONFIG_HOME").map(PathBuf::from);
            xdg.or_else(|| Some(PathBuf::from(env.var_set("HOME")?).join(".config")))
        };
        let given = env.var_set("TEAMLOG_JOURNALS").map(PathBuf::from);
        KnownJournals {
            file: given.or_else(|| Some(config()?.join("teamlog/journals.toml"))),
            host_id_file: data_root.map(|root| root.join(TEAMS_DIR).join(HOST_ID_FILE)),
            open: Mutex::default(),
        }
    }

    /// Returns the connector of the journal called `name`.
    ///
    /// # Errors
    /// `journal_not_configured`, `key_exposed`, `secret_in_url`, `invalid_input`.
    pub fn named(&self, name: &str) -> Result<Box<dyn Connector>, CommandError> {
        let mut stored = self.read()?;
        let Some(entry) = stored.journals.remove(name) else {
            let known = stored.journals.keys().cloned().collect::<Vec<_>>();
            let file = self.shown();
            let message = match known.is_empty() {
                true => format!("no journal {name} in {file}"),
                false => format!(
                    "no journal {name} in {file} (journals: {})",
                    known.join(", ")
                ),
            };
            return Err(not_configured(message));
        };
        entry.way(name, self.host_id_file.as_ref())
    }

    /// Connects to the journal called `name`. Returns the journal's id and its server.
    ///
    /// # Errors
    /// The errors of [`KnownJournals::named`]; `journal_unreachable`, `journal_of_another`.
    pub fn found(&self, name: &str) -> Result<(String, Arc<dyn Server>), CommandError> {
        let way = self.named(name)?;
        let id = way.inspect()?.journal;
        Ok((id.clone(), self.kept(way.as_ref(), &id)))
    }

    /// Returns the server of the journal with this id.
    fn of_id(&self, id: &str) -> Result<Arc<dyn Server>, CommandError> {
        if let Some(open) = self.open().get(id) {
            return Ok(open.clone());
        }
        let (_, way) = self.way_of(id)?;
        Ok(self.kept(way.as_ref(), id))
    }

    /// Returns the name that the file gives to the journal with this id, and its connector.
    ///
    /// # Errors
    /// The errors of [`KnownJournals::named`].
    pub fn way_of(&self, id: &str) -> Result<(String, Box<dyn Connector>), CommandError> {
        let mut entries = self.read()?.journals;
        // If the file has a single entry, the entry needs no id.
        let only = entries.len() == 1;
        entries.retain(|_, entry| entry.id.as_deref().map_or(only, |own| own == id));
        match entries.pop_first() {
            Some((name, entry)) => {
                let way = entry.way(&name, self.host_id_file.as_ref())?;
                Ok((name, way))
            }
            None => Err(not_configured(format!(
                "no journal {id} in {}: with several journals, each needs its id",
                self.shown()
            ))),
        }
    }

    fn kept(&self, way: &dyn Connector, id: &str) -> Arc<dyn Server> {
        let mut open = self.open();
        let open = open.entry(id.to_owned());
        open.or_insert_with(|| way.open(id)).clone()
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<dyn Server>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shown(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None => "journals.toml (neither TEAMLOG_JOURNALS nor HOME is set)".into(),
        }
    }

    fn read(&self) -> Result<Stored, CommandError> {
        let Some(path) = &self.file else {
            return Ok(Stored::default());
        };
        let shown = path.display().to_string();
        let failed = |error| CommandError::io("read", &shown, &error);
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Stored::default()),
            Err(error) => return Err(failed(error)),
        };
        check_private("journals", path, &file)
            .map_err(|error| error.or_hint(format!("chmod 600 {shown}")))?;
        let mut text = String::new();
        file.take(FILE_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(failed)?;
        toml::from_str(&text).map_err(|error: toml::de::Error| {
            let begin = error.span().map_or(0, |span| span.start);
            let line = text
                .bytes()
                .take(begin)
                .filter(|byte| *byte == b'\n')
                .count()
                + 1;
            let why = error.message().replace('\n', ", ");
            CommandError::invalid(
                "journals",
                format!("cannot read {shown}, line {line}: {why}"),
            )
        })
    }
}

impl Entry {
    /// Returns the connector for an entry. The scheme of the URL selects the kind of journal.
    fn way(
        self,
        name: &str,
        host_id_file: Option<&PathBuf>,
    ) -> Result<Box<dyn Connector>, CommandError> {
        if self.url.starts_with("nats://") || self.url.starts_with("tls://") {
            let message = format!("journal {name} is on NATS, which teamlog no longer supports");
            return Err(
                CommandError::new(Exit::Unsafe, "journal_not_configured", message)
                    .or_hint("use a journal on PostgreSQL"),
            );
        }
        let secrets = [("passfile", &self.passfile), ("sslkey", &self.sslkey)];
        for (field, file) in secrets {
            let Some(path) = file else { continue };
            let file = File::open(path).map_err(|error| {
                CommandError::io("open", &format!("{field} {}", path.display()), &error)
            })?;
            check_private(field, path, &file)
                .map_err(|error| error.or_hint(format!("chmod 600 {}", path.display())))?;
        }
        let connect_timeout = self.connect_timeout.map(|seconds| {
            let fits = (0.1..=60.0).contains(&seconds);
            let message = format!(
                "journal {name}: connect_timeout must be 0.1 to 60 seconds, but is {seconds}"
            );
            match fits {
                true => Ok(Duration::from_secs_f64(seconds)),
                false => Err(CommandError::invalid("connect_timeout", message)),
            }
        });
        let durability = self.durability.as_deref().map(|word| {
            let message = format!(
                "journal {name}: durability must be \"standbys\" or \"external\", but is {word:?}"
            );
            Durability::from_name(word).ok_or_else(|| CommandError::invalid("durability", message))
        });
        let way = Config {
            connect_timeout: connect_timeout.transpose()?,
            durability: durability.transpose()?.unwrap_or_default(),
            tls: TlsFiles {
                sslrootcert: self.sslrootcert,
                sslcert: self.sslcert,
                sslkey: self.sslkey,
            },
            url: self.url,
            passfile: self.passfile,
            host: self.host.unwrap_or_else(host_name),
            host_id_file: host_id_file.cloned(),
        };
        checked(name, way)
    }
}

/// Checks the URL and the files of a connector.
fn checked(name: &str, way: impl Connector + 'static) -> Result<Box<dyn Connector>, CommandError> {
    let Err(error) = way.check() else {
        return Ok(Box::new(way));
    };
    let message = format!("journal {name}: {error}");
    Err(match error {
        ConfigError::SecretInUrl(_) => {
            CommandError::new(Exit::Refused, "secret_in_url", message).about("url")
        }
        ConfigError::Invalid(_) => CommandError::invalid("url", message),
    })
}

impl Journals for KnownJournals {
    fn open(&self, journal: &JournalIdentity) -> Result<Box<dyn Journal>, Error> {
        self.of_log(journal)?.open(journal)
    }

    fn enroll(&self, identity: &Identity, state: LogState) -> Result<(), Error> {
        match &identity.journal {
            Some(journal) => self.of_log(journal)?.enroll(identity, state),
            None => Ok(()),
        }
    }

    fn server(&self, journal: &JournalIdentity) -> Result<Option<Arc<dyn Server>>, Error> {
        self.of_log(journal).map(Some)
    }

    fn readmit(&self, identity: &Identity) -> Result<Option<Vec<u8>>, Error> {
        match &identity.journal {
            Some(journal) => self.of_log(journal)?.readmit(identity),
            None => Ok(None),
        }
    }
}

impl KnownJournals {
    /// Returns the server of the journal that orders a log.
    pub fn of_log(&self, journal: &JournalIdentity) -> Result<Arc<dyn Server>, Error> {
        let unconfigured = |why: String| Error::Journal {
            fault: JournalFault::Unconfigured,
            why,
        };
        if !is_known(journal) {
            let why = format!("the kind is {}; this version supports {KIND}", journal.kind);
            return Err(Error::journal(JournalFault::UnknownKind, why));
        }
        let found = self.of_id(&journal.id);
        let found = found.map_err(|error| unconfigured(error.message().to_owned()))?;
        match found.kind() == journal.kind {
            true => Ok(found),
            false => Err(unconfigured(format!(
                "the log needs a journal of kind {}, but {} names one of kind {}",
                journal.kind,
                self.shown(),
                found.kind()
            ))),
        }
    }
}

/// Returns true if this program supports journals of this kind.
pub fn is_known(journal: &JournalIdentity) -> bool {
    journal.kind == KIND
}

fn not_configured(message: String) -> CommandError {
    CommandError::new(Exit::Unsafe, "journal_not_configured", message)
        .or_hint("add the journal (or its id) to journals.toml")
}

fn host_name() -> String {
    let name = fs::read_to_string(Path::new("/proc/sys/kernel/hostname"));
    name.map_or_else(|_| "unnamed".into(), |name| name.trim().to_owned())
}
