//! Options for the scope of mode states: a session or the root.

use crate::context::Context;
use crate::exit::CommandError;
use crate::given;
use serde_json::{Map, Value};

// The session or the root. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct SessionScope {
    /// The session [default: $RCS_SESSION_ID, $CODEX_SESSION_ID or $SESSION_ID; else the root]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The root scope, even if the environment names a session
    #[arg(long, conflicts_with = "session")]
    root: bool,
}

impl SessionScope {
    /// Returns true if the command line names a scope.
    pub fn is_given(&self) -> bool {
        self.session.is_some() || self.root
    }

    /// Returns the session; `None` means the root.
    pub fn session(self, context: &Context) -> Result<Option<String>, CommandError> {
        match (self.session, self.root) {
            (Some(session), _) => Ok(Some(session)),
            (None, true) => Ok(None),
            (None, false) => context.session(),
        }
    }

    /// Returns the session of these options. Returns `None` if `all` is true, because the command then covers all scopes.
    pub fn session_unless(
        self,
        all: bool,
        context: &Context,
    ) -> Result<Option<String>, CommandError> {
        if all { Ok(None) } else { self.session(context) }
    }

    /// Returns the session of these options, or `named` if these options name no session.
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

    /// Puts the session into an input unless the input has a session already. `null` means the root.
    pub fn put_into(
        self,
        input: &mut Map<String, Value>,
        context: &Context,
    ) -> Result<(), CommandError> {
        let named = input.get("session_id");
        if self.root && named.is_some_and(|named| !named.is_null()) {
            let message = "give either --session or --root, not both";
            return Err(CommandError::invalid("session_id", message));
        }
        if self.session.is_none() && named.is_some() {
            return Ok(());
        }
        given::named(input, "session_id", self.session(context)?)
    }
}
