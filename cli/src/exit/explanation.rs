//! Hints that explain errors of the engine. They contain no commands, because commands come from [`crate::hint`].

use teamlog_team::engine::Error as EngineError;

/// Returns the hint for an error, if there is one.
pub fn explain(error: &EngineError) -> Option<String> {
    let hint = match error {
        EngineError::Newer { seq, .. } => {
            let before = match seq.checked_sub(1).filter(|seq| *seq > 0) {
                None => String::new(),
                Some(seq) => format!("; queries read the events before it with --at {seq}"),
            };
            let hint = "use the newer teamlog that wrote it; replay and verify work";
            return Some(format!("{hint}{before}"));
        }
        // The hint depends on the process that holds the lock.
        EngineError::Locked { .. } => return None,
        EngineError::LockLost { written: false, .. } => {
            "try again; only the end of the process releases its lock, deleting the file does not"
        }
        // The hint depends on the command.
        EngineError::LockLost { written: true, .. } => return None,
        EngineError::Random(_) => "try again; the system has to provide getrandom(2)",
        EngineError::RolledBack { .. } => {
            "restore the newest state of the team's directory, or a backup"
        }
        EngineError::UnsupportedFormat { .. } => "use the newer teamlog that wrote it",
        EngineError::Journal { fault, .. } => return super::journal::hint(*fault),
        _ => return None,
    };
    Some(hint.to_owned())
}
