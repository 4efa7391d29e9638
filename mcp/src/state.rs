//! The tools that read and write states of modes, each the call of the same name: `rcs state …`.
//!
//! Without a `session_id` they act in the session of the server, as the call does in that of its environment; `null` is
//! the root.

use crate::query::{Ask, Fault, Query, row};
use crate::server::Session;
use serde_json::{Map, Value};
use teamlog_team::mode::clear::ModeClear;
use teamlog_team::mode::state::{
    ActiveModes, StateCleared, StateGetStatus, StateListActive, StateRead, StateShown,
    StateStatuses, StateWritten,
};
use teamlog_team::mode::write::ModeWrite;
use teamlog_team::{Failure, Team};

/// Every tool of states.
pub static STATES: &[Query] = &[
    row::<StateRead>(
        "state_read",
        "The state of a mode: that of the session, else that of the root",
    ),
    row::<ModeWrite>(
        "state_write",
        "Write fields of the state of a mode, which may start it, hand over to it or end it",
    ),
    row::<ModeClear>(
        "state_clear",
        "Take the state of a mode away, so that others may start",
    ),
    row::<StateListActive>("state_list_active", "The modes that are active"),
    row::<StateGetStatus>(
        "state_get_status",
        "How a mode stands, or every one that has a state",
    ),
];

/// Whether a tool is one of these.
pub(crate) fn is_one(query: &Query) -> bool {
    STATES.iter().any(|tool| tool.name == query.name)
}

/// Puts the session into arguments that name none; with `all_sessions` nothing is added.
///
/// # Errors
/// What was meant to be the session cannot be one.
pub(crate) fn put_session(
    arguments: &mut Map<String, Value>,
    session: &Session,
) -> Result<(), Fault> {
    let everywhere = arguments.get("all_sessions") == Some(&Value::Bool(true));
    if everywhere || arguments.contains_key("session_id") {
        return Ok(());
    }
    if let Some(session) = session.clone()? {
        arguments.insert("session_id".to_owned(), session.into());
    }
    Ok(())
}

/// Where a caller stands means nothing to a log.
const PASSED_BY: &[&str] = &["workingDirectory"];

/// What has a state: the modes, and `skill-active`.
const STATEFUL: &[&str] = &[
    "autopilot",
    "autoresearch",
    "team",
    "forge",
    "ultrawork",
    "ultraqa",
    "blueprint",
    "deep-interview",
    "skill-active",
];

/// What has a state is not only modes.
const NAMED: Named = &[(
    "mode",
    "The mode; or `skill-active`, the list of active skills, of which only what is said beside the list can be written or \
     cleared",
    STATEFUL,
)];

type Named = &'static [(&'static str, &'static str, &'static [&'static str])];

macro_rules! asks {
    ($($asked:ty => $answer:ty, $run:path, $mutates:literal, $names:expr;)*) => {
        $(impl Ask for $asked {
            type Answer = $answer;
            const MUTATES: bool = $mutates;
            const PASSED_BY: &'static [&'static str] = PASSED_BY;
            const NAMES: Named = $names;
            fn ask(self, team: &mut Team) -> Result<$answer, Failure> {
                $run(team, self)
            }
        })*
    };
}

asks! {
    StateRead => StateShown, Team::state_read, false, NAMED;
    ModeWrite => StateWritten, Team::state_write, true, NAMED;
    ModeClear => StateCleared, Team::state_clear, true, NAMED;
    StateListActive => ActiveModes, Team::state_list_active, false, &[];
    StateGetStatus => StateStatuses, Team::state_get_status, false, NAMED;
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_team::projections::mode::Mode;

    #[test]
    fn every_tool_says_what_it_takes_and_two_of_them_change_something() {
        for tool in STATES {
            let schema = tool.schema();
            for field in ["team", "session_id"] {
                assert!(schema["properties"][field].is_object(), "{}", tool.name);
            }
            if let Some(mode) = schema["properties"].get("mode") {
                assert_eq!(mode["type"], "string", "{}", tool.name);
                let modes = Mode::ALL.map(Mode::name).into_iter();
                let names: Vec<&str> = modes.chain(["skill-active"]).collect();
                assert_eq!(mode["enum"], serde_json::json!(names), "{}", tool.name);
                assert!(mode["description"].is_string(), "{}", tool.name);
                assert!(!schema.contains_key("$defs"), "{}", tool.name);
            }
        }
        let writing: Vec<&str> = STATES
            .iter()
            .filter(|tool| tool.mutates)
            .map(|tool| tool.name)
            .collect();
        assert_eq!(writing, ["state_write", "state_clear"]);
    }
}
