//! Refs of a team's log: ids of the things that an event is about.

use teamlog_engine::{Ref, words};

words! {
    /// The refs, named by their fields, in the order in which a log stores them. A log that declares no refs has these refs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum RefKind {
        /// Trace id.
        Trace = "trace_id",
        /// Task id.
        Task = "task_id",
        /// Agent (for a message: its recipient).
        Agent = "agent",
        /// Message id.
        Message = "message_id",
        /// Thread id.
        Thread = "thread_id",
        /// Session id.
        Session = "session_id",
        /// Idempotency key of the command.
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
