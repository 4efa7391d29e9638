//! Which scope of mode states a command means.

use crate::context::Context;
use crate::exit::CommandError;
use crate::given;
use serde_json::{Map, Value};

// The session or the root. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct SessionScope {
    /// The session [default: $RCS_SESSION_ID, $CODEX_SESSION_ID or $SESSION_ID; else the root]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The root, whatever session the environment names
    #[arg(long, conflicts_with = "session")]
    root: bool,
}

impl SessionScope {
    /// Returns whether the command line says which scope is meant.
    pub fn is_given(&self) -> bool {
        self.session.is_some() || self.root
    }

    /// The session that is meant; `None` is the root.
    pub fn session(self, context: &Context) -> Result<Option<String>, CommandError> {
        match (self.session, self.root) {
            (Some(session), _) => Ok(Some(session)),
            (None, true) => Ok(None),
            (None, false) => context.session(),
        }
    }

    /// The same, unless all are meant.
    pub fn session_unless(
        self,
        all: bool,
        context: &Context,
    ) -> Result<Option<String>, CommandError> {
        if all { Ok(None) } else { self.session(context) }
    }

    /// The session that is meant, where another one is named beside these words, which count for more.
    pub fn session_or(
        self,
        named: Option<String>,
        context: &Context,
    ) -> Result<Option<String>, CommandError> {
        match named.filter(|_| self.session.is_none() && !self.root) {
            Some(session) => Ok(Some(session)),
            None => self.session(context),
        }
    }

    /// Puts the session into an input, which may name it itself: `null` is the root.
    pub fn put_into(
        self,
        input: &mut Map<String, Value>,
        context: &Context,
    ) -> Result<(), CommandError> {
        let named = input.get("session_id");
        if self.root && named.is_some_and(|named| !named.is_null()) {
            let message = "session_id must not be given beside --root";
            return Err(CommandError::invalid("session_id", message));
        }
        if self.session.is_none() && named.is_some() {
            return Ok(());
        }
        given::named(input, "session_id", self.session(context)?)
    }
}
