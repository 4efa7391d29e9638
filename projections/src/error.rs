//! What can go wrong between an event and the state it should move.

/// The result of the projections.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of the projections.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log or the derived store failed.
    #[error(transparent)]
    Engine(#[from] teamlog_engine::Error),
    /// An event of a reserved kind does not have the shape of that kind. A fold stops here; it never skips.
    #[error("event {seq} ({kind}) cannot be read: {why}")]
    Undecodable {
        /// The event's seq.
        seq: u64,
        /// Its kind.
        kind: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Error {
    /// Whether a derived file is to blame, so that [`Live::repair`](crate::Live::repair) and a second try help.
    pub fn is_derived(&self) -> bool {
        matches!(self, Error::Engine(teamlog_engine::Error::Derived { .. }))
    }
}

impl From<Error> for teamlog_engine::Error {
    /// For the places where the engine calls back: an undecodable event becomes `Invalid`.
    fn from(error: Error) -> Self {
        match error {
            Error::Engine(error) => error,
            Error::Undecodable { seq, kind, why } => teamlog_engine::Error::Invalid {
                field: "payload".into(),
                value: format!("event {seq} ({kind})"),
                rule: format!("must have the shape of its kind: {why}"),
            },
        }
    }
}
