//! How a journal knows a host: by an id that the host made once, with a name beside it. Several hosts may have one name.

use std::fs;
use std::io::{ErrorKind, Result as IoResult};
use std::path::{Path, PathBuf};
use teamlog_engine::event_id::IdSource;
use teamlog_engine::{Error, JournalFault, RandomIds, Result};

/// Digits of an id.
const ID_DIGITS: usize = 32;

/// A host of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    /// Random hexadecimal digits; the name for a host without a file for its id.
    pub id: String,
    /// For people.
    pub name: String,
}

impl HostName {
    /// Reads the id from its file, and makes one if the file is missing. In a directory that is missing or may not be written the
    /// name is the id.
    ///
    /// # Errors
    /// `Journal`: the file holds no id, or cannot be read.
    pub fn new(name: &str, file: Option<&Path>) -> Result<HostName> {
        let failed = |file: &Path, why: String| {
            let why = format!(
                "the file {} must hold the id of this host: {why}",
                file.display()
            );
            Error::journal(JournalFault::Unconfigured, why)
        };
        let id = match file {
            None => None,
            Some(file) => {
                let id = read(file).map_err(|error| failed(file, error.to_string()))?;
                let id = id.map_or_else(|| make(file), |id| Ok(Some(id)))?;
                if let Some(id) = &id
                    && !is_id(id)
                {
                    return Err(failed(
                        file,
                        format!("{ID_DIGITS} hexadecimal digits; remove it to have another made"),
                    ));
                }
                id
            }
        };
        Ok(HostName {
            id: id.unwrap_or_else(|| name.to_owned()),
            name: name.to_owned(),
        })
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

/// Makes an id. Of several processes that do so at once one wins: the file comes into its place whole.
fn make(file: &Path) -> Result<Option<String>> {
    let id = format!("{:016x}{:016x}", RandomIds.random()?, RandomIds.random()?);
    let aside = PathBuf::from(format!("{}.{id}", file.display()));
    if fs::write(&aside, format!("{id}\n")).is_err() {
        return Ok(None);
    }
    let linked = fs::hard_link(&aside, file);
    let _ = fs::remove_file(&aside);
    match linked {
        Ok(()) => Ok(Some(id)),
        Err(_) => Ok(read(file).ok().flatten()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("id");
        let first = HostName::new("ada", Some(&file)).unwrap();
        assert!(is_id(&first.id) && first.name == "ada", "{first:?}");
        let again = HostName::new("eve", Some(&file)).unwrap();
        assert_eq!((again.id, again.name.as_str()), (first.id, "eve"));
        let missing = dir.path().join("missing/id");
        assert_eq!(HostName::new("ada", Some(&missing)).unwrap().id, "ada");
        assert_eq!(HostName::new("ada", None).unwrap().id, "ada");
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(names.len(), 1);
        fs::write(&file, "elsewhere").unwrap();
        assert!(HostName::new("ada", Some(&file)).is_err());
    }
}
