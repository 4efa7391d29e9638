//! Errors of decoding events and of reading the state.

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log or the derived store failed.
    #[error(transparent)]
    Engine(#[from] teamlog_engine::Error),
    /// The payload of a reserved kind does not have the format of that kind. A fold stops here and never skips the
    /// event.
    #[error("event {seq} ({kind}) cannot be read: {why}")]
    Undecodable {
        /// Seq of the event.
        seq: u64,
        /// Kind of the event.
        kind: String,
        /// Description of the fault.
        why: String,
    },
}

impl Error {
    /// Returns true if a derived file caused the error. Then [`Live::repair`](crate::Live::repair) and a retry help.
    pub fn is_derived(&self) -> bool {
        matches!(self, Error::Engine(teamlog_engine::Error::Derived { .. }))
    }
}

impl From<Error> for teamlog_engine::Error {
    /// Converts an error for callbacks of the engine. An undecodable event becomes `Invalid`.
    fn from(error: Error) -> Self {
        match error {
            Error::Engine(error) => error,
            Error::Undecodable { seq, kind, why } => teamlog_engine::Error::Invalid {
                field: "payload".into(),
                value: format!("event {seq} ({kind})"),
                rule: format!("must have the format of its kind: {why}"),
            },
        }
    }
}
