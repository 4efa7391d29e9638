//! Exit codes and error reports. Only this module maps failures to exit codes.

mod explanation;
mod journal;
mod meaning;
mod panics;
mod usage;

pub use panics::{caught, install_panic_hook, install_resident_panic_hook};

use crate::env::ProcessEnv;
use crate::render::escape::{visible, visible_json, visible_lines};
use crate::render::pretty;
use crate::render::style::{Paint, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use teamlog_team::engine::{Error as EngineError, JournalFault};
use teamlog_team::failure::{code_of, code_of_io, details_of};
use teamlog_team::projections::Error as ProjectionError;
use teamlog_team::{Code, Failure, Refusal};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    Done,
    Refused,
    Usage,
    Damaged,
    Unavailable,
    Bug,
    Io,
    Locked,
    NotPermitted,
    Unsafe,
    Unfenced,
    /// Exit code of a command that `guard exec` ran.
    Of(u8),
}

impl Exit {
    /// Exit code of `doctor` if something is unhealthy.
    pub const UNHEALTHY: Exit = Exit::Usage;

    /// Returns `Done` if `done` is true, else this code.
    pub fn unless(self, done: bool) -> Exit {
        if done { Exit::Done } else { self }
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> u8 {
        match exit {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Damaged => 65,
            Exit::Unavailable => 69,
            Exit::Bug => 70,
            Exit::Io => 74,
            Exit::Locked => 75,
            Exit::NotPermitted => 77,
            Exit::Unsafe | Exit::Unfenced => 78,
            Exit::Of(code) => code,
        }
    }
}

/// Result of a command: an exit code or an error.
pub type Outcome = Result<Exit, CommandError>;

/// An error that can be reported to the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandError {
    exit: Exit,
    // Boxed, so that results in this crate stay small.
    body: Box<Body>,
}

/// An error as a line of JSON: `{error}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorLine<'a> {
    /// The error
    error: &'a Body,
}

/// Content of an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Error")]
struct Body {
    /// A stable word in snake_case
    code: String,
    /// Message for people: names field, value and rule
    message: String,
    /// The faulty field of the input, if any
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// Next steps, one per line
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Further values, by name
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    details: Map<String, Value>,
    /// True if standard output could not be written.
    #[serde(skip)]
    unwritten: bool,
}

impl CommandError {
    /// Makes an error that originates in the command line.
    pub fn new(exit: Exit, code: &str, message: impl Into<String>) -> CommandError {
        let body = Box::new(Body {
            code: code.to_owned(),
            message: message.into(),
            field: None,
            hint: None,
            details: Map::new(),
            unwritten: false,
        });
        CommandError { exit, body }
    }

    /// Makes a usage error.
    pub fn usage(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Usage, "usage", message)
    }

    /// Makes the error for a bug in teamlog.
    pub fn bug(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Bug, "bug", message)
    }

    /// Makes the error for a reply that does not come from a teamlog daemon.
    pub fn unreachable(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Unavailable, "daemon_unreachable", message)
    }

    /// Makes the error for an invalid input field.
    pub fn invalid(field: &str, message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Refused, "invalid_input", message).about(field)
    }

    /// Makes the error for a failure of standard input, standard output or a file that the user named.
    pub fn io(doing: &str, what: &str, source: &io::Error) -> CommandError {
        let code = code_of_io(source);
        let exit = match code {
            "not_permitted" => Exit::NotPermitted,
            _ => Exit::Io,
        };
        CommandError::new(exit, code, format!("cannot {doing} {what}: {source}"))
    }

    /// Makes the error for a failure of standard output after the command was carried out.
    pub fn unwritten(source: &io::Error) -> CommandError {
        let mut error = CommandError::io("write", "standard output", source);
        error.body.unwritten = true;
        error.hinting("if the command records events, they are recorded; only its answer could not be written")
    }

    /// Adds a hint if the error has no hint yet.
    #[must_use]
    pub fn or_hint(mut self, hint: impl Into<String>) -> CommandError {
        self.body.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// Replaces the hint.
    #[must_use]
    pub fn hinting(mut self, hint: impl Into<String>) -> CommandError {
        self.body.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn without_hint(mut self) -> CommandError {
        self.body.hint = None;
        self
    }

    /// Appends the hint if it is `Some`.
    #[must_use]
    pub fn beside(self, hint: Option<String>) -> CommandError {
        match hint {
            Some(hint) => self.and_hint(&hint),
            None => self,
        }
    }

    /// Appends a hint.
    #[must_use]
    pub fn and_hint(mut self, hint: &str) -> CommandError {
        let hints = self.body.hint.get_or_insert_default();
        if !hints.is_empty() {
            hints.push('\n');
        }
        hints.push_str(hint);
        self
    }

    /// Appends a text to the message.
    #[must_use]
    pub fn adding(mut self, text: &str) -> CommandError {
        self.body.message.push_str(text);
        self
    }

    /// Replaces the message.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> CommandError {
        self.body.message = message.into();
        self
    }

    /// Sets the field that is at fault.
    #[must_use]
    pub fn about(mut self, field: &str) -> CommandError {
        self.body.field = Some(field.to_owned());
        self
    }

    /// Sets the exit code, for a command with its own exit codes.
    #[must_use]
    pub fn ending(mut self, exit: Exit) -> CommandError {
        self.exit = exit;
        self
    }

    /// Adds a detail.
    #[must_use]
    pub fn detailing(mut self, name: &str, value: &str) -> CommandError {
        self.body.details.insert(name.to_owned(), value.into());
        self
    }

    pub fn detail(&self, name: &str) -> Option<&str> {
        self.body.details.get(name).and_then(Value::as_str)
    }

    /// Replaces the placeholder `word` in the hint by `name`.
    #[must_use]
    pub fn filling(mut self, word: &str, name: &str) -> CommandError {
        if let Some(hint) = &mut self.body.hint {
            let words = hint.split(' ');
            let filled: Vec<&str> = words
                .map(|one| if one == word { name } else { one })
                .collect();
            *hint = filled.join(" ");
        }
        self
    }

    pub fn details(&self) -> &Map<String, Value> {
        &self.body.details
    }

    /// Returns true if the detail `name` is a list with items.
    pub fn has(&self, name: &str) -> bool {
        let list = self.body.details.get(name).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.body.details.get(name).and_then(Value::as_u64)
    }

    pub fn says(&self, name: &str) -> bool {
        self.body.details.get(name) == Some(&Value::Bool(true))
    }

    pub fn exit(&self) -> Exit {
        self.exit
    }

    pub fn message(&self) -> &str {
        &self.body.message
    }

    /// Returns code, field, hint and details as one object.
    pub fn into_details(self) -> Map<String, Value> {
        let body = *self.body;
        let mut details = body.details;
        let named = [
            ("code", Some(body.code)),
            ("field", body.field),
            ("hint", body.hint),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                details.insert(name.to_owned(), value.into());
            }
        }
        details
    }

    #[must_use]
    pub fn with_details(mut self, details: Map<String, Value>) -> CommandError {
        self.body.details.extend(details);
        self
    }

    /// Returns true if standard output could not be written.
    pub fn is_unwritten(&self) -> bool {
        self.body.unwritten
    }

    pub fn code(&self) -> &str {
        &self.body.code
    }

    pub fn field(&self) -> Option<&str> {
        self.body.field.as_deref()
    }

    pub fn hint(&self) -> Option<&str> {
        self.body.hint.as_deref()
    }

    /// Prints the error to standard error and returns its exit code.
    pub fn report(&self, json: bool, env: &ProcessEnv) -> Exit {
        let text = match json {
            true => env.json_line(&ErrorLine { error: &self.body }),
            false => self.human(env.paint_err()),
        };
        env.say(&format!("{text}\n"));
        self.exit
    }

    /// Prints the error to standard error in the form of `rcs state`: `{error, code, …}`, where `error` is the message.
    pub fn report_payload(&self, json: bool, env: &ProcessEnv) -> Exit {
        let body = &self.body;
        let mut payload = Map::new();
        payload.insert("error".to_owned(), body.message.as_str().into());
        payload.insert("code".to_owned(), body.code.as_str().into());
        for (name, value) in [("field", &body.field), ("hint", &body.hint)] {
            if let Some(value) = value {
                payload.insert(name.to_owned(), value.as_str().into());
            }
        }
        if !body.details.is_empty() {
            payload.insert("details".to_owned(), body.details.clone().into());
        }
        let line = Value::Object(payload).to_string();
        let line = visible_json(&line);
        let text = match json {
            true => line.into_owned(),
            false => pretty::indented(&line),
        };
        env.say(&format!("{text}\n"));
        self.exit
    }

    fn human(&self, paint: Paint) -> String {
        let mut text = format!(
            "{} {}",
            paint.show(Style::Bad, "error:"),
            visible(&self.body.message)
        );
        if let Some(hint) = &self.body.hint {
            let head = paint.show(Style::Warn, "hint:");
            for line in visible_lines(hint).lines() {
                text.push_str(&format!("\n{head} {line}"));
            }
        }
        text
    }
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> CommandError {
        let exit = match refusal.code {
            Code::UnsafeFileSystem => Exit::Unsafe,
            Code::SyncFailed => Exit::Io,
            Code::PartlyAppended => Exit::Locked,
            Code::RolledBack
            | Code::CutBelowReceipt
            | Code::ChangedSinceReceipt
            | Code::ReceiptOfAnotherLog => Exit::Damaged,
            Code::PastBusy => Exit::Locked,
            _ => Exit::Refused,
        };
        let mut error = CommandError::new(exit, refusal.code.as_str(), refusal.message);
        error.body.field = refusal.field;
        error.body.hint = refusal.hint;
        error.body.details = refusal.details;
        error
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> CommandError {
        let code = code_of(&error);
        let exit = match code {
            "not_permitted" => Exit::NotPermitted,
            "locked"
            | "lock_lost"
            | "journal_busy"
            | "journal_unreachable"
            | "adoption_unfinished"
            | "clock_skew"
            | "newer_host" => Exit::Locked,
            "damaged" | "rolled_back" | "foreign_file" | "newer_log" | "journal_behind"
            | "journal_forked" => Exit::Damaged,
            "journal_not_durable"
            | "journal_of_another"
            | "journal_not_configured"
            | "journal_moved"
            | "journal_denied" => Exit::Unsafe,
            "unsupported_format" | "team_not_found" | "team_exists" | "too_large"
            | "invalid_input" | "journal_team" | "journal_refused" | "journal_left"
            | "journal_trimmed" => Exit::Refused,
            _ => Exit::Io,
        };
        let mut reported = CommandError::new(exit, code, error.to_string());
        reported.body.hint = explanation::explain(&error);
        reported.body.details = details_of(&error);
        if let EngineError::Journal {
            fault: JournalFault::UnknownKind,
            ..
        } = &error
        {
            reported
                .body
                .details
                .insert("unknown_kind".to_owned(), true.into());
        }
        if let EngineError::Invalid { field, .. } = &error {
            reported.body.field = Some(field.clone().into_owned());
        }
        reported
    }
}

impl From<ProjectionError> for CommandError {
    fn from(error: ProjectionError) -> CommandError {
        match error {
            ProjectionError::Engine(error) => error.into(),
            // Every undecodable event means that the log is damaged.
            other => CommandError::new(Exit::Damaged, "undecodable", other.to_string()),
        }
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> CommandError {
        match failure {
            Failure::Refused(refusal) => refusal.into(),
            Failure::Failed(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn of_journal(fault: JournalFault) -> EngineError {
        EngineError::Journal {
            fault,
            why: "w".into(),
        }
    }

    #[test]
    fn every_engine_error_has_its_code() {
        let io = |kind: io::ErrorKind| EngineError::Io {
            doing: "write",
            path: PathBuf::from("teams/x/head"),
            source: io::Error::from(kind).into(),
        };
        let path = PathBuf::from("teams/x/events/2026-11-21.jsonl");
        let corrupt = EngineError::Corrupt {
            path: path.clone(),
            offset: 7,
            seq: Some(3),
            why: "bad crc".into(),
        };
        let locked = EngineError::Locked {
            path: path.clone(),
            holder: "pid 1".into(),
            waited_ms: 5,
        };
        for (error, exit, code) in [
            (io(io::ErrorKind::Other), 74, "io"),
            (io(io::ErrorKind::StorageFull), 74, "no_space"),
            (io(io::ErrorKind::QuotaExceeded), 74, "no_space"),
            (io(io::ErrorKind::FileTooLarge), 74, "no_space"),
            (io(io::ErrorKind::PermissionDenied), 77, "not_permitted"),
            (io(io::ErrorKind::ReadOnlyFilesystem), 77, "not_permitted"),
            (EngineError::Poisoned("x".into()), 74, "poisoned"),
            (corrupt, 65, "damaged"),
            (locked, 75, "locked"),
            (
                EngineError::NoLog { path: path.clone() },
                1,
                "team_not_found",
            ),
            (
                EngineError::UnsupportedFormat {
                    path,
                    found: 9,
                    known: 1,
                },
                1,
                "unsupported_format",
            ),
            (
                EngineError::Newer {
                    seq: 2,
                    kind: "team_renamed".into(),
                    why: "w".into(),
                },
                65,
                "newer_log",
            ),
            (of_journal(JournalFault::Conflict), 75, "journal_busy"),
            (
                of_journal(JournalFault::Unreachable),
                75,
                "journal_unreachable",
            ),
            (of_journal(JournalFault::Unknown), 74, "journal_unknown"),
            (of_journal(JournalFault::Behind), 65, "journal_behind"),
            (of_journal(JournalFault::Forked), 65, "journal_forked"),
            (
                of_journal(JournalFault::NotDurable),
                78,
                "journal_not_durable",
            ),
            (
                of_journal(JournalFault::OtherJournal),
                78,
                "journal_of_another",
            ),
            (
                of_journal(JournalFault::Unconfigured),
                78,
                "journal_not_configured",
            ),
            (
                of_journal(JournalFault::UnknownKind),
                78,
                "journal_not_configured",
            ),
            (of_journal(JournalFault::Moved), 78, "journal_moved"),
            (of_journal(JournalFault::Denied), 78, "journal_denied"),
            (of_journal(JournalFault::Refused), 1, "journal_refused"),
            (of_journal(JournalFault::Shared), 1, "journal_team"),
            (of_journal(JournalFault::Loading), 75, "adoption_unfinished"),
            (of_journal(JournalFault::Trimmed), 1, "journal_trimmed"),
            (of_journal(JournalFault::ClockSkew), 75, "clock_skew"),
            (of_journal(JournalFault::NewerHost), 75, "newer_host"),
            (of_journal(JournalFault::Left), 1, "journal_left"),
        ] {
            let reported = CommandError::from(error);
            assert_eq!((u8::from(reported.exit), reported.code()), (exit, code));
        }
        let unsafe_root = Refusal::new(Code::UnsafeFileSystem, "x");
        assert_eq!(u8::from(CommandError::from(unsafe_root).exit), 78);
        let refused = Refusal::new(Code::InvalidInput, "x");
        assert_eq!(u8::from(CommandError::from(refused).exit), 1);
    }

    #[test]
    fn an_error_cannot_drive_the_terminal() {
        let error = CommandError::invalid("kind", "kind is \x1b[2J\nerror: forged");
        assert_eq!(
            error.human(Paint::new(false)),
            "error: kind is \\u{1b}[2J\\nerror: forged"
        );
    }
}
