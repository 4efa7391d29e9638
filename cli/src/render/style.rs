//! Colours for output to a terminal and for the board: the only table of colours, and of what each colour marks.

use std::fmt::{self, Display};
use teamlog_team::attention::AttentionSeverity;
use teamlog_team::projections::Status;

/// Style of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    Plain,
    /// A name or a heading.
    Bold,
    /// Unimportant detail.
    Dim,
    /// Success.
    Good,
    /// Warning.
    Warn,
    /// Failure.
    Bad,
    /// A name that can be used in another command.
    Name,
}

impl Style {
    /// Returns the number in the escape sequence of the style. Colours are 30 and more.
    pub fn code(self) -> Option<u8> {
        Some(match self {
            Style::Plain => return None,
            Style::Bold => 1,
            Style::Dim => 2,
            Style::Good => 32,
            Style::Warn => 33,
            Style::Bad => 31,
            Style::Name => 36,
        })
    }

    /// Returns the style of a task's status.
    pub fn of_status(status: Status) -> Style {
        match status {
            Status::Completed => Style::Good,
            Status::Blocked => Style::Warn,
            Status::Failed => Style::Bad,
            Status::Canceled => Style::Dim,
            Status::Pending | Status::Assigned | Status::InProgress => Style::Plain,
        }
    }

    /// Returns the style of an item that needs attention.
    pub fn of_severity(severity: AttentionSeverity) -> Style {
        match severity {
            AttentionSeverity::Error => Style::Bad,
            AttentionSeverity::Warning => Style::Warn,
        }
    }

    /// Returns the style for sentences about events of the kind `kind`.
    pub fn of_kind(kind: &str, is_foreign: bool) -> Style {
        match kind {
            _ if is_foreign => Style::Dim,
            "task_completed" | "mode_completed" | "approval_recorded" => Style::Good,
            "task_failed" | "mode_failed" | "write_refused" | "delivery_dead_letter" => Style::Bad,
            "task_lease_expired" | "task_blocked" | "delivery_retry" | "ack_rejected" => {
                Style::Warn
            }
            "response_stored" | "mode_session_seen" | "worker_heartbeat_updated" => Style::Dim,
            _ => Style::Plain,
        }
    }
}

/// Turns colours on or off for one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    pub fn new(on: bool) -> Paint {
        Paint { on }
    }

    pub fn is_on(self) -> bool {
        self.on
    }

    /// Returns the text in a style. The caller must pad the text before this call, because colour escapes would count
    /// as characters although they have no width.
    pub fn show(self, style: Style, text: impl Display) -> impl Display {
        let style = if self.on { style } else { Style::Plain };
        Painted { style, text }
    }
}

struct Painted<T> {
    style: Style,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(code) = self.style.code() else {
            return self.text.fmt(f);
        };
        write!(f, "\x1b[{code}m{}\x1b[0m", self.text)
    }
}
