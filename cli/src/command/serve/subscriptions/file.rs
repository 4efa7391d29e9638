//! Reads `subscriptions.toml`. Each error names the line, the field, the value and the rule.

use super::post::Receiving;
use super::url::PostUrl;
use super::{Entry, FILE, Target};
use crate::env::ProcessEnv;
use crate::exit::{CommandError, Exit};
use crate::file::{check_private, open};
use crate::forward::trust::{certificates, client_config};
use ring::hmac;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use teamlog_team::subscription::manage::Subscribe;
use toml::Spanned;

/// Maximum size of the file in bytes.
const BYTES_MAX: u64 = 1 << 20;
/// Maximum number of subscriptions in the file. Each has a thread.
const ENTRIES_MAX: usize = 32;
/// Bounds of the length of a secret, in bytes.
const SECRET_MIN: usize = 16;
const SECRET_MAX: usize = 1024;
/// Time limit of a request, in seconds.
const POST_SECONDS: u64 = 30;
/// Longest time limit, in seconds.
const SECONDS_MAX: u64 = 24 * 60 * 60;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default)]
    subscription: Vec<Spanned<StoredEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredEntry {
    team: String,
    name: String,
    kind: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    task: Option<String>,
    about: Option<String>,
    trace: Option<String>,
    by: Option<String>,
    #[serde(rename = "type")]
    message_type: Option<String>,
    not: Option<String>,
    from: Option<String>,
    window: Option<Spanned<usize>>,
    max_attempts: Option<Spanned<u32>>,
    exec: Option<Spanned<Vec<String>>>,
    post: Option<Spanned<String>>,
    secret: Option<Spanned<String>>,
    secret_file: Option<Spanned<PathBuf>>,
    ca_file: Option<Spanned<PathBuf>>,
    timeout_seconds: Option<Spanned<u64>>,
}

/// The text of the file, for errors.
struct Source<'a> {
    env: &'a ProcessEnv,
    path: &'a Path,
    text: &'a str,
}

/// Reads the file. A missing file has no subscriptions.
///
/// # Errors
/// `key_exposed` if others have access to the file, `not_permitted` if it belongs to another user, `invalid_input`; I/O.
pub fn read(env: &ProcessEnv, root: &Path) -> Result<Vec<Entry>, CommandError> {
    let path = root.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = private_text(env, FILE, &path)?;
    let source = Source {
        env,
        path: &path,
        text: &text,
    };
    let stored: Stored = toml::from_str(&text).map_err(|error| source.malformed(&error))?;
    let entries = stored.subscription;
    if entries.len() > ENTRIES_MAX {
        let count = entries.len();
        let rule = format!("at most {ENTRIES_MAX} subscriptions, but the file has {count}");
        return Err(source.unreadable(&rule));
    }
    let mut names = BTreeSet::new();
    let mut checked = Vec::new();
    for entry in entries {
        let line = entry.span().start;
        let entry = entry.into_inner();
        if !names.insert((entry.team.clone(), entry.name.clone())) {
            let rule = format!("is twice in the file for team {}", entry.team);
            return Err(source.invalid(line, ("name", &entry.name), &rule));
        }
        checked.push(source.checked(line, entry)?);
    }
    Ok(checked)
}

/// Reads a file of the daemon's user that no other user can read.
fn private_text(env: &ProcessEnv, name: &str, path: &Path) -> Result<String, CommandError> {
    let file = open(env, name, path)?;
    check_private(name, path, &file)?;
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| CommandError::io("read", &shown, &error);
    check_owner(&file, &shown)?;
    let mut text = String::new();
    file.take(BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(failed)?;
    Ok(text)
}

fn check_owner(file: &File, shown: &str) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| CommandError::io("read", shown, &error);
    let owner = file.metadata().map_err(failed)?.uid();
    if owner == rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let message = format!("{shown} belongs to user {owner}, not to the user of the daemon");
    Err(CommandError::new(
        Exit::NotPermitted,
        "not_permitted",
        message,
    ))
}

impl Source<'_> {
    fn unreadable(&self, why: &str) -> CommandError {
        CommandError::invalid(FILE, format!("{}: {why}", self.path.display()))
    }

    /// Makes the error for text that is no TOML, or has an unknown or missing field.
    fn malformed(&self, error: &toml::de::Error) -> CommandError {
        let at = error.span().map_or(0, |span| span.start);
        let (line, why) = (self.line(at), error.message());
        self.unreadable(&format!("line {line}: {}", why.replace('\n', "; ")))
    }

    fn line(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        1 + before.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Makes the error for a field. `at` is an offset in the file.
    fn invalid(&self, at: usize, (field, value): (&str, &str), rule: &str) -> CommandError {
        let line = self.line(at);
        let shown = match value {
            "" => String::new(),
            value => format!(" {value:?}"),
        };
        let place = self.path.display();
        CommandError::invalid(
            field,
            format!("{place}, line {line}: {field}{shown} {rule}"),
        )
    }

    fn checked(&self, line: usize, entry: StoredEntry) -> Result<Entry, CommandError> {
        let target = self.target(line, &entry)?;
        let timeout = entry.timeout_seconds.as_ref();
        let seconds = self.within(("timeout_seconds", timeout), 1..=SECONDS_MAX)?;
        let window = self.within(("window", entry.window.as_ref()), 1..=256)?;
        let attempts = entry.max_attempts.as_ref();
        let max_attempts = self.within(("max_attempts", attempts), 1..=100)?;
        let target = match target {
            Some(receiving) => {
                let timeout = Duration::from_secs(seconds.unwrap_or(POST_SECONDS));
                Target::Post(Arc::new(Receiving {
                    timeout,
                    ..receiving
                }))
            }
            None => Target::Exec {
                words: entry.exec.map(Spanned::into_inner).unwrap_or_default(),
                timeout: seconds.map(Duration::from_secs),
            },
        };
        Ok(Entry {
            team: entry.team,
            subscribe: Subscribe {
                name: entry.name,
                kind: entry.kind,
                tag: Some(entry.tags).filter(|tags| !tags.is_empty()),
                task_id: entry.task,
                agent: entry.about,
                trace_id: entry.trace,
                actor: entry.by,
                message_type: entry.message_type,
                not: entry.not,
                from: entry.from,
                window,
                max_attempts,
            },
            target,
        })
    }

    fn within<T: Copy + PartialOrd + std::fmt::Display>(
        &self,
        (field, value): (&str, Option<&Spanned<T>>),
        range: std::ops::RangeInclusive<T>,
    ) -> Result<Option<T>, CommandError> {
        let Some(value) = value else { return Ok(None) };
        let number = *value.get_ref();
        if range.contains(&number) {
            return Ok(Some(number));
        }
        let rule = format!("must be {} to {}", range.start(), range.end());
        Err(self.invalid(value.span().start, (field, &number.to_string()), &rule))
    }

    /// Checks that the entry has a program or a receiver. Returns the receiver.
    fn target(&self, line: usize, entry: &StoredEntry) -> Result<Option<Receiving>, CommandError> {
        let name = &entry.name;
        match (&entry.exec, &entry.post) {
            (Some(exec), None) => {
                if exec.get_ref().first().is_none_or(String::is_empty) {
                    let rule = "must have a program, such as [\"/usr/bin/notify\"]";
                    return Err(self.invalid(exec.span().start, ("exec", ""), rule));
                }
                for (field, at) in [
                    ("secret", entry.secret.as_ref().map(|one| one.span().start)),
                    (
                        "secret_file",
                        entry.secret_file.as_ref().map(|one| one.span().start),
                    ),
                    (
                        "ca_file",
                        entry.ca_file.as_ref().map(|one| one.span().start),
                    ),
                ] {
                    if let Some(at) = at {
                        let rule = "is only for post, but the subscription has exec";
                        return Err(self.invalid(at, (field, ""), rule));
                    }
                }
                Ok(None)
            }
            (None, Some(post)) => self.receiving(post, entry).map(Some),
            (Some(_), Some(post)) => {
                let rule = format!("and exec exclude each other in {name}; remove one");
                Err(self.invalid(post.span().start, ("post", ""), &rule))
            }
            (None, None) => {
                let rule = "needs exec (a program) or post (a URL)";
                Err(self.invalid(line, ("subscription", name), rule))
            }
        }
    }

    fn receiving(
        &self,
        post: &Spanned<String>,
        entry: &StoredEntry,
    ) -> Result<Receiving, CommandError> {
        let at = post.span().start;
        // An error does not print the URL, because its path or query can be a secret.
        let url =
            PostUrl::parse(post.get_ref()).map_err(|rule| self.invalid(at, ("post", ""), &rule))?;
        let origin = url.origin();
        if !url.is_tls {
            url.addresses().map_err(|rule| {
                self.invalid(at, ("post", &origin), &format!("is refused: {rule}"))
            })?;
        }
        Ok(Receiving {
            key: self.key(at, entry)?,
            tls: self.tls(&url, entry)?,
            url,
            timeout: Duration::ZERO,
        })
    }

    fn key(&self, at: usize, entry: &StoredEntry) -> Result<hmac::Key, CommandError> {
        let (at, field, secret) = match (&entry.secret, &entry.secret_file) {
            (Some(secret), None) => (secret.span().start, "secret", secret.get_ref().clone()),
            (None, Some(file)) => {
                let text = private_text(self.env, "secret_file", file.get_ref())?;
                let text = text.trim_end_matches(['\r', '\n']).to_owned();
                (file.span().start, "secret_file", text)
            }
            (Some(_), Some(file)) => {
                let rule = "and secret exclude each other; remove one";
                return Err(self.invalid(file.span().start, ("secret_file", ""), rule));
            }
            (None, None) => {
                let rule = "needs secret or secret_file, with which the requests are signed";
                return Err(self.invalid(at, ("post", ""), rule));
            }
        };
        let length = secret.len();
        if (SECRET_MIN..=SECRET_MAX).contains(&length) {
            return Ok(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
        }
        let rule =
            format!("must have {SECRET_MIN} to {SECRET_MAX} bytes, but the secret has {length}");
        Err(self.invalid(at, (field, ""), &rule))
    }

    fn tls(
        &self,
        url: &PostUrl,
        entry: &StoredEntry,
    ) -> Result<Option<Arc<rustls::ClientConfig>>, CommandError> {
        let trusted = match &entry.ca_file {
            Some(file) if !url.is_tls => {
                let rule = "is only for https, but post has http";
                return Err(self.invalid(file.span().start, ("ca_file", ""), rule));
            }
            Some(file) => certificates("ca_file", file.get_ref())?,
            None if !url.is_tls => return Ok(None),
            None => rustls_native_certs::load_native_certs().certs,
        };
        let config = client_config(trusted).map_err(|error| self.unreadable(&error.to_string()))?;
        Ok(Some(Arc::new(config)))
    }
}
