//! Scope of a mode state: the root, shared by all, or one session.

use crate::event::*;

/// Maximum number of characters of a session id.
const SESSION_ID_MAX: usize = 64;

/// A scope of mode states. In JSON, a scope is the optional field `session_id`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub enum Scope {
    /// The scope that all sessions share.
    Root,
    /// The scope of a session, whose id satisfies [`is_session_id`].
    Session(String),
}

impl Scope {
    /// Returns the scope of a session; the root if there is none.
    pub fn for_session(session: Option<&str>) -> Scope {
        match session {
            None => Scope::Root,
            Some(session) => Scope::Session(session.to_owned()),
        }
    }
    /// Returns the session id, if the scope is a session.
    pub fn session(&self) -> Option<&str> {
        match self {
            Scope::Root => None,
            Scope::Session(session) => Some(session),
        }
    }
    /// Returns `root` or `session`.
    pub fn name(&self) -> &'static str {
        match self {
            Scope::Root => "root",
            Scope::Session(_) => "session",
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

impl From<Scope> for Stored {
    fn from(scope: Scope) -> Stored {
        let session_id = match scope {
            Scope::Root => None,
            Scope::Session(session) => Some(session),
        };
        Stored { session_id }
    }
}

impl TryFrom<Stored> for Scope {
    type Error = String;
    fn try_from(stored: Stored) -> Result<Scope, String> {
        let Some(session) = stored.session_id else {
            return Ok(Scope::Root);
        };
        check_session(&session)?;
        Ok(Scope::Session(session))
    }
}

/// Checks a session id. Session ids become parts of paths, so ids from every source are checked.
pub(crate) fn check_session(session: &str) -> Result<(), String> {
    match is_session_id(session) {
        true => Ok(()),
        false => Err(format!(
            "session_id must match ^[A-Za-z0-9_-]{{1,64}}$, but is {session:?}"
        )),
    }
}

/// Returns true if a text is a session id: `^[A-Za-z0-9_-]{1,64}$`.
pub fn is_session_id(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=SESSION_ID_MAX).contains(&text.len()) && text.bytes().all(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_is_short_and_plain() {
        for good in ["a", "-", "S_1-x", &"x".repeat(64)] {
            assert!(is_session_id(good), "{good}");
        }
        for bad in ["", ".", "a.b", "a/b", "a b", "é", "a\n", &"x".repeat(65)] {
            assert!(!is_session_id(bad), "{bad}");
        }
    }
}
