//! Calls of the commands on modes, for tests.

use crate::prelude::*;
use teamlog_team::Result;
use teamlog_team::mode::end::ModeCancel;
use teamlog_team::mode::rules::shown::ModeAnswer;

pub fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

pub fn session(session: &str) -> Option<String> {
    (!session.is_empty()).then(|| session.to_owned())
}

/// Starts a mode in a session; an empty `at` means the root.
pub fn start(team: &mut Team, mode: Mode, at: &str) -> Result<ModeAnswer> {
    team.mode_start(given!(ModeStart, mode: mode.name(), session_id: session(at)))
}

pub fn write(team: &mut Team, mode: Mode, at: &str, state: Value) -> Result<ModeAnswer> {
    team.mode_write(
        given!(ModeWrite, mode: mode.name(), session_id: session(at), state: fields(state)),
    )
}

pub fn update(team: &mut Team, mode: Mode, at: &str, set: Value) -> Result<ModeAnswer> {
    team.mode_update(
        given!(ModeUpdate, mode: mode.name(), session_id: session(at), set: fields(set)),
    )
}

pub fn complete(team: &mut Team, mode: Mode, at: &str) -> Result<ModeAnswer> {
    team.mode_complete(given!(ModeComplete, mode: mode.name(), session_id: session(at)))
}

pub fn cancel(team: &mut Team, mode: Mode, at: &str) -> Result<ModeAnswer> {
    team.mode_cancel(given!(ModeCancel, mode: mode.name(), session_id: session(at)))
}

pub fn cancel_or_complete(team: &mut Team, mode: Mode, at: &str, done: bool) -> Result<ModeAnswer> {
    match done {
        true => complete(team, mode, at),
        false => cancel(team, mode, at),
    }
}

pub fn clear(team: &mut Team, mode: Mode, at: &str) -> Value {
    let clear = given!(ModeClear, mode: mode.name(), session_id: session(at), all_sessions: false);
    json(&team.mode_clear(clear).unwrap())
}

pub fn show(team: &mut Team, mode: Mode, at: &str) -> Value {
    let show = given!(ModeShow, mode: mode.name(), session_id: session(at));
    json(&team.mode_show(show).unwrap())["mode"].clone()
}

pub fn active(team: &mut Team, at: &str) -> Vec<Mode> {
    let list = given!(ModeList, session_id: session(at));
    team.mode_list(list).unwrap().active_modes
}

pub fn recorded(team: &mut Team, command: impl FnOnce(&mut Team)) -> Vec<Value> {
    let before = events(team).len();
    command(team);
    events(team).split_off(before)
}

pub fn kinds_of(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect()
}

/// Starts a set of modes that may be active together.
pub fn build(team: &mut Team, set: &[Mode], at: &str) {
    for mode in set {
        start(team, *mode, at).unwrap();
    }
}
