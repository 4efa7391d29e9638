//! Where the state of a mode lies: at the root, for everybody, or in a session.

/// Most characters of a session id.
const SESSION_ID_MAX: usize = 64;

/// A scope of mode states.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// For everybody.
    Root,
    /// For the session of that id, which [`is_session_id`].
    Session(String),
}

impl Scope {
    /// The scope of an optional session.
    pub fn of(session: Option<&str>) -> Scope {
        match session {
            None => Scope::Root,
            Some(session) => Scope::Session(session.to_owned()),
        }
    }
    /// The session, if it is one.
    pub fn session(&self) -> Option<&str> {
        match self {
            Scope::Root => None,
            Scope::Session(session) => Some(session),
        }
    }
    /// `root`, `session`.
    pub fn name(&self) -> &'static str {
        match self {
            Scope::Root => "root",
            Scope::Session(_) => "session",
        }
    }
}

/// Whether a text is a session id: `^[A-Za-z0-9_-]{1,64}$`.
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
