//! Identity of a host in a journal: an id that the host created once, and a name. Several hosts may have the same name.

use std::cell::OnceCell;
use std::fs;
use std::io::{ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};
use teamlog_engine::IdSource;
use teamlog_engine::{Error, JournalFault, RandomIds, Result};

/// Number of digits of an id.
const ID_DIGITS: usize = 32;

/// A host of a journal.
#[derive(Debug)]
pub struct HostName {
    /// Name, for people.
    pub name: String,
    file: Option<PathBuf>,
    known: OnceCell<String>,
}

impl HostName {
    /// Creates a host with this name, and with a file for its id.
    ///
    /// # Errors
    /// `Journal`: the file holds no id, or cannot be read.
    pub fn new(name: &str, file: Option<&Path>) -> Result<HostName> {
        let host = HostName {
            name: name.to_owned(),
            file: file.map(Path::to_owned),
            known: OnceCell::new(),
        };
        let why = match file.map(read) {
            Some(Ok(Some(id))) if !is_id(&id) => {
                format!("{ID_DIGITS} hexadecimal digits; remove it to create a new one")
            }
            Some(Err(error)) => error.to_string(),
            _ => return Ok(host),
        };
        let file = file.unwrap_or(Path::new("")).display();
        let why = format!("the file {file} must hold the id of this host: {why}");
        Err(Error::journal(JournalFault::Unconfigured, why))
    }

    /// Returns the id in the host's file; creates the file if it is missing. Returns the name while the file cannot be created:
    /// a team's directory is created after the first request to the journal.
    pub fn id(&self) -> &str {
        if self.known.get().is_none()
            && let Some(file) = &self.file
        {
            let id = read(file).ok().flatten().or_else(|| make(file));
            if let Some(id) = id.filter(|id| is_id(id)) {
                let _ = self.known.set(id);
            }
        }
        self.known.get().unwrap_or(&self.name)
    }
}

fn is_id(id: &str) -> bool {
    id.len() == ID_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read(file: &Path) -> IoResult<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.trim_end().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates an id. If several processes create an id at once, one id wins, because the file is renamed into place.
fn make(file: &Path) -> Option<String> {
    let random = || RandomIds.random().ok();
    let id = format!("{:016x}{:016x}", random()?, random()?);
    let aside = PathBuf::from(format!("{}.{id}", file.display()));
    fs::write(&aside, format!("{id}\n")).ok()?;
    let linked = fs::hard_link(&aside, file);
    let _ = fs::remove_file(&aside);
    match linked {
        Ok(()) => Some(id),
        Err(_) => read(file).ok().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        let file = inner.join("id");
        let first = HostName::new("ada", Some(&file)).unwrap();
        assert_eq!(first.id(), "ada", "there is no directory yet");
        fs::create_dir(&inner).unwrap();
        assert!(is_id(first.id()), "{first:?}");
        let again = HostName::new("eve", Some(&file)).unwrap();
        assert_eq!((again.id(), again.name.as_str()), (first.id(), "eve"));
        assert_eq!(HostName::new("ada", None).unwrap().id(), "ada");
        assert_eq!(fs::read_dir(&inner).unwrap().count(), 1);
        fs::write(&file, "elsewhere").unwrap();
        assert!(HostName::new("ada", Some(&file)).is_err());
    }
}
