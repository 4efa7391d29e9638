//! Checks of a value by its text.

use super::*;
use crate::shell::query;

/// A check of a value.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::shell) enum Check {
    /// A setting `key=value` of `git` that runs nothing.
    GitSetting,
    /// A path on another machine.
    Remote,
    /// A use of `ssh` with only a host and a user.
    SshCommand,
    /// A variable that does not change the effect of programs.
    Variable,
    /// An address on another machine.
    Web,
    /// A database query that only reads.
    SqlQuery,
    /// A field of a GraphQL request that only reads.
    GraphqlQuery,
    /// A script of `sed` that neither writes nor runs anything.
    SedScript,
    /// A program of `awk` that neither writes nor runs anything.
    AwkProgram,
    /// A value that is in this list of the table, or whose key is in the list.
    Listed(String),
    /// A value that consists only of these letters.
    Letters(String),
}

impl Check {
    pub fn named(name: &str) -> Option<Check> {
        match name.strip_prefix("letters:") {
            Some(letters) => Some(Check::Letters(letters.to_owned())),
            None if name.starts_with('@') => Some(Check::Listed(name.to_owned())),
            None => named(name),
        }
    }

    pub fn holds(&self, text: &str) -> bool {
        match self {
            Check::GitSetting => {
                let (key, value) = text.split_once('=').unwrap_or((text, "true"));
                is_harmless(key, Some(value))
            }
            // A path with a colon before its first slash is on another machine.
            Check::Remote => text
                .split('/')
                .next()
                .is_some_and(|host| host.contains(':')),
            Check::SshCommand => is_plain_ssh(text),
            Check::Variable => !variables::changes(text, None),
            Check::Web => {
                let text = text.to_lowercase();
                let schemes = ["http://", "https://", "ftp://", "ftps://", "sftp://"];
                schemes.iter().any(|scheme| text.starts_with(scheme))
            }
            Check::SqlQuery => query::only_reads(text),
            Check::GraphqlQuery => query::only_queries(text),
            Check::SedScript => sed::only_edits(text),
            Check::AwkProgram => awk::only_prints(text),
            Check::Listed(list) => {
                let key = text.split(['=', ' ']).next().unwrap_or_default();
                table::lists(list, &key.to_lowercase())
            }
            Check::Letters(letters) => text.chars().all(|letter| letters.contains(letter)),
        }
    }
}

/// Returns true if a setting of `git` with this value runs nothing.
pub(super) fn is_harmless(key: &str, value: Option<&str>) -> bool {
    let key = key.to_lowercase();
    if table::lists("@git-setting", &key) {
        return true;
    }
    let with = |value: &str| {
        let idles = variables::idles(value) || table::lists("@git-off", value);
        (idles && table::lists("@git-setting-idle", &key))
            || table::lists("@git-setting", &format!("{key}={value}"))
    };
    value.is_some_and(with)
}

fn is_plain_ssh(command: &str) -> bool {
    let mut words = command.split_whitespace();
    if words.next() != Some("ssh") {
        return false;
    }
    while let Some(word) = words.next() {
        match word {
            "-p" | "-i" | "-l" => {
                words.next();
            }
            "-q" | "-4" | "-6" | "-C" | "-T" | "-x" => {}
            _ => return false,
        }
    }
    true
}
