//! The journals that this user knows: `journals.toml`, which names each and says how to get in.
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
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use teamlog_journal_postgres::{Config, ConfigError, KIND, PostgresJournals, TlsFiles};
use teamlog_team::engine::journal::{Journal, Journals, LogState};
use teamlog_team::engine::{Error, Identity, JournalFault, JournalIdentity};

/// More than a file of journals needs.
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
    /// Which journal it must be; needed where several are named.
    id: Option<String>,
    /// What this machine calls itself there.
    host: Option<String>,
    sslrootcert: Option<PathBuf>,
    sslcert: Option<PathBuf>,
    sslkey: Option<PathBuf>,
}

/// The journals of `journals.toml`. Opened when a log needs one, and kept.
#[derive(Debug)]
pub struct KnownJournals {
    /// `None` where nothing says where the user's configuration is.
    file: Option<PathBuf>,
    open: Mutex<BTreeMap<String, PostgresJournals>>,
}

impl KnownJournals {
    /// Those of `TEAMLOG_JOURNALS`, else of the user's configuration. Nothing is read yet.
    pub fn of(env: &ProcessEnv) -> KnownJournals {
        let config = || {
            let xdg = env.var_set("XDG_CONFIG_HOME").map(PathBuf::from);
            xdg.or_else(|| Some(PathBuf::from(env.var_set("HOME")?).join(".config")))
        };
        let given = env.var_set("TEAMLOG_JOURNALS").map(PathBuf::from);
        KnownJournals {
            file: given.or_else(|| Some(config()?.join("teamlog/journals.toml"))),
            open: Mutex::default(),
        }
    }

    /// The configuration of a journal by its name.
    ///
    /// # Errors
    /// `journal_not_configured`, `key_exposed`, `secret_in_url`, `invalid_input`.
    pub fn named(&self, name: &str) -> Result<Config, CommandError> {
        let mut stored = self.read()?;
        let Some(entry) = stored.journals.remove(name) else {
            let known = stored.journals.keys().cloned().collect::<Vec<_>>();
            let file = self.shown();
            let message = match known.is_empty() {
                true => format!("no journal {name} is named in {file}"),
                false => format!(
                    "no journal {name} is named in {file}; these are: {}",
                    known.join(", ")
                ),
            };
            return Err(not_configured(message));
        };
        entry.config(name)
    }

    /// The journal of that name, which is asked for its id.
    ///
    /// # Errors
    /// As [`KnownJournals::named`]; `journal_unreachable`, `journal_of_another`.
    pub fn found(&self, name: &str) -> Result<(String, PostgresJournals), CommandError> {
        let config = self.named(name)?;
        let id = PostgresJournals::look(&config)?.journal;
        Ok((id.clone(), self.kept(config, &id)))
    }

    /// The journal of that id, by what the file says.
    fn of_id(&self, id: &str) -> Result<PostgresJournals, CommandError> {
        if let Some(open) = self.open().get(id) {
            return Ok(open.clone());
        }
        let mut entries = self.read()?.journals;
        // An entry without an id is meant where there is no other.
        let only = entries.len() == 1;
        entries.retain(|_, entry| entry.id.as_deref().map_or(only, |own| own == id));
        match entries.pop_first() {
            Some((name, entry)) => Ok(self.kept(entry.config(&name)?, id)),
            None => Err(not_configured(format!(
                "journal {id} is not named in {}: of several, each has to have its id",
                self.shown()
            ))),
        }
    }

    fn kept(&self, config: Config, id: &str) -> PostgresJournals {
        let mut open = self.open();
        let open = open.entry(id.to_owned());
        open.or_insert_with(|| PostgresJournals::new(config, id.to_owned()))
            .clone()
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, PostgresJournals>> {
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
            .map_err(|error| error.or_hint(|| format!("chmod 600 {shown}")))?;
        let mut text = String::new();
        file.take(FILE_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(failed)?;
        toml::from_str(&text).map_err(|error| {
            let message =
                format!("journals must be TOML with [journals.NAME], but {shown}: {error}");
            CommandError::invalid("journals", message.trim_end())
        })
    }
}

impl Entry {
    fn config(self, name: &str) -> Result<Config, CommandError> {
        for (field, file) in [("passfile", &self.passfile), ("sslkey", &self.sslkey)] {
            let Some(path) = file else { continue };
            let file = File::open(path).map_err(|error| {
                CommandError::io("open", &format!("{field} {}", path.display()), &error)
            })?;
            check_private(field, path, &file)
                .map_err(|error| error.or_hint(|| format!("chmod 600 {}", path.display())))?;
        }
        let config = Config {
            tls: TlsFiles {
                sslrootcert: self.sslrootcert,
                sslcert: self.sslcert,
                sslkey: self.sslkey,
            },
            url: self.url,
            passfile: self.passfile,
            host: self.host.unwrap_or_else(host_name),
        };
        match PostgresJournals::check(&config) {
            Ok(()) => Ok(config),
            Err(error @ ConfigError::SecretInUrl) => {
                let message = format!("journal {name}: {error}");
                Err(CommandError::new(Exit::Refused, "secret_in_url", message).about("url"))
            }
            Err(error) => Err(CommandError::invalid(
                "url",
                format!("journal {name}: {error}"),
            )),
        }
    }
}

impl Journals for KnownJournals {
    fn open(&self, journal: &JournalIdentity) -> Result<Box<dyn Journal>, Error> {
        Ok(self.of_log(journal)?.journal())
    }

    fn enroll(&self, identity: &Identity, state: LogState) -> Result<(), Error> {
        match &identity.journal {
            Some(journal) => self.of_log(journal)?.enroll(identity, state),
            None => Ok(()),
        }
    }
}

impl KnownJournals {
    /// The journal that a log names.
    ///
    /// # Errors
    /// `Journal`: it is not known here.
    pub fn of_log(&self, journal: &JournalIdentity) -> Result<PostgresJournals, Error> {
        let unconfigured = |why: String| Error::Journal {
            fault: JournalFault::Unconfigured,
            why,
        };
        if journal.kind != KIND {
            let why = format!(
                "its kind is {}, and this teamlog knows {KIND}",
                journal.kind
            );
            return Err(unconfigured(why));
        }
        self.of_id(&journal.id)
            .map_err(|error| unconfigured(error.message().to_owned()))
    }
}

fn not_configured(message: String) -> CommandError {
    CommandError::new(Exit::Unsafe, "journal_not_configured", message)
        .or_hint(|| "name it there: teamlog journal create --help shows how".to_owned())
}

fn host_name() -> String {
    let name = fs::read_to_string(Path::new("/proc/sys/kernel/hostname"));
    name.map_or_else(|_| "unnamed".into(), |name| name.trim().to_owned())
}
