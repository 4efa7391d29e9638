//! The refs of a team's log: the things that an event points at.

use teamlog_engine::{Ref, words};

words! {
    /// The refs, by the names of their fields, in the order in which a log stores them. They are the refs of a log that declares
    /// none.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum RefKind {
        /// The story that the event belongs to.
        Trace = "trace_id",
        /// The task concerned.
        Task = "task_id",
        /// The agent concerned (for a message: its recipient).
        Agent = "agent",
        /// The message concerned.
        Message = "message_id",
        /// The thread concerned.
        Thread = "thread_id",
        /// The session concerned.
        Session = "session_id",
        /// The idempotency key of the command.
        Key = "key",
    }
}

impl From<RefKind> for Ref {
    fn from(kind: RefKind) -> Ref {
        Ref::ALL[kind as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_engine::RefNames;

    #[test]
    fn they_are_the_refs_of_a_log_that_declares_none() {
        let names = RefNames::default();
        for kind in RefKind::ALL {
            assert_eq!(names.find(kind.name()), Some(kind.into()));
        }
        assert_eq!(names.names().count() + 1, RefKind::ALL.len());
    }
}
