//! Which scope of mode states a command means.

use crate::context::Context;
use crate::exit::CommandError;

// The session or the root. (A doc comment would become the text of every command that takes these.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Meant {
    /// The session [default: $RCS_SESSION_ID, $CODEX_SESSION_ID or $SESSION_ID; else the root]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The root, whatever session the environment names
    #[arg(long, conflicts_with = "session")]
    root: bool,
}

impl Meant {
    /// The session that is meant; `None` is the root.
    ///
    /// # Errors
    /// What the environment names cannot be a session.
    pub fn session(self, context: &Context) -> Result<Option<String>, CommandError> {
        match (self.session, self.root) {
            (Some(session), _) => Ok(Some(session)),
            (None, true) => Ok(None),
            (None, false) => context.session(),
        }
    }
}
