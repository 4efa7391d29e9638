//! Merges a write into the state of a mode. The steps:
//!
//! 1. The fields of the call replace the old fields; the old outcome is dropped.
//! 2. The phase of forge is checked ([`crate::mode::rules::phase`]).
//! 3. The outcome comes from the call, else from other fields of the state ([`crate::mode::rules::reading`]). If no field
//!    tells an outcome, the mode runs.
//! 4. If the mode has ended, the state is inactive and gets a `completed_at`; else the state is active and has none.
//!
//! If the call has no outcome, phase or `active`, an ended state keeps its outcome. If the call makes an ended state active
//! without a phase, the mode starts again.
//!
//! A call that sets `active` and also ends the mode is refused. If `active` comes only from the old state, an ending phase
//! or outcome ends the mode.

use crate::mode::prelude::*;
use crate::mode::rules::phase::{check_forge, fill};
use crate::mode::rules::reading::{canonical, filled, inferred, said_active};

/// Fields that a new state never takes over from the old state.
const OUTCOMES: [&str; 3] = ["run_outcome", "lifecycle_outcome", "terminal_outcome"];
/// Fields about the end and the rounds of a previous run.
const ENDINGS: [&str; 8] = [
    "started_at",
    "iteration",
    "error",
    "stop_reason",
    "completion_note",
    "auto_completed_reason",
    "transition_source",
    "transition_target_mode",
];
/// Name of a nested object in a call. The fields in this object take precedence over the fields outside it.
const STATE: &str = "state";

#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub state: Map<String, Value>,
    /// Outcome of the mode; `None` while the mode runs.
    pub lifecycle: Option<Lifecycle>,
    /// The outcome in the words of `run_outcome`.
    pub run: RunOutcome,
    /// Warnings about outdated spellings.
    pub warnings: Vec<String>,
}

impl Written {
    pub fn is_active(&self) -> bool {
        !self.run.is_terminal()
    }
}

/// Returns the fields of a call in one object. Fields inside `state` take precedence over the fields outside it.
pub fn flattened(mut fields: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    match fields.remove(STATE) {
        None | Some(Value::Null) => Ok(fields),
        Some(Value::Object(state)) => {
            fields.extend(state);
            Ok(fields)
        }
        Some(other) => Err(Refusal::invalid(STATE, other, "must be an object")),
    }
}

/// Returns the state after a write. `given` are the call's fields from [`flattened`].
pub fn write(
    mode: Mode,
    before: Option<&Map<String, Value>>,
    given: &Map<String, Value>,
    now: Timestamp,
) -> Result<Written, Refusal> {
    let said = said_active(given)?;
    let mut state = merged(before, given);
    if let Some(before) = before.filter(|before| is_over(before))
        && said == Some(true)
        && !says(given, "current_phase")
        && !only_waits(before)
    {
        begin_again(&mut state, given);
    }
    state.insert("mode".to_owned(), mode.name().into());
    if mode == Mode::Forge {
        check_forge(&mut state, said == Some(true), now)?;
    }
    let (mut written, said_run) = settled(state)?;
    if written.run.is_terminal() && said == Some(true) {
        let run = written.run.name();
        let message = format!("terminal run outcome {run:?} requires active=false");
        return Err(Refusal::new(Code::InvalidInput, message).field("active"));
    }
    if said == Some(false) && said_run && !written.run.is_terminal() {
        let run = written.run.name();
        let message = format!("run outcome {run:?} requires active=true, but active is false");
        return Err(Refusal::new(Code::InvalidInput, message).field("active"));
    }
    stamp(&mut written, now);
    Ok(written)
}

fn merged(before: Option<&Map<String, Value>>, given: &Map<String, Value>) -> Map<String, Value> {
    let mut state = before.cloned().unwrap_or_default();
    // If the call has no outcome, phase or `active`, an ended state keeps its outcome.
    let told = OUTCOMES.iter().chain(&["active", "current_phase"]);
    let asked = is_asked(given);
    if asked || !is_over(&state) || told.into_iter().any(|field| says(given, field)) {
        for field in OUTCOMES {
            state.remove(field);
        }
    }
    for (field, value) in given {
        // `null` counts as absent.
        if field == "active" && value.is_null() {
            continue;
        }
        state.insert(field.clone(), value.clone());
    }
    state
}

fn says(given: &Map<String, Value>, field: &str) -> bool {
    given.get(field).is_some_and(|value| !value.is_null())
}

fn is_over(state: &Map<String, Value>) -> bool {
    state.get("active") == Some(&Value::Bool(false))
}

/// Returns true if a state waits for its user in a running phase. The mode will continue in that phase.
fn only_waits(before: &Map<String, Value>) -> bool {
    let text = |field: &str| before.get(field).and_then(Value::as_str);
    let phase = text("current_phase");
    let midst = phase.is_some_and(|phase| outcome::of_phase(phase, false).is_none());
    midst && text("run_outcome") == Some(RunOutcome::BlockedOnUser.name())
}

/// Restarts an ended mode: removes the fields about its end.
fn begin_again(state: &mut Map<String, Value>, given: &Map<String, Value>) {
    for field in ENDINGS {
        if !says(given, field) {
            state.remove(field);
        }
    }
    state.insert("current_phase".to_owned(), phase::STARTING.into());
}

/// Returns the outcome of a state. The flag is true if the outcome comes from `run_outcome`.
fn settled(state: Map<String, Value>) -> Result<(Written, bool), Refusal> {
    let asked = is_asked(&state);
    let mut warnings = Vec::new();
    let mut said_run = false;
    let run = match filled(&state, "run_outcome")? {
        None => None,
        Some(text) => {
            let (run, remark) = outcome::run(text)?;
            warnings.extend(remark);
            Some(run)
        }
    };
    let (lifecycle, run) = if let Some((field, _, text)) = canonical(&state)? {
        let (lifecycle, remark) = outcome::lifecycle(field, text, asked)?;
        warnings.extend(remark);
        (Some(lifecycle), lifecycle.run())
    } else if let Some(run) = run {
        said_run = true;
        (run.lifecycle(asked), run)
    } else {
        let (lifecycle, _) = inferred(&state, asked);
        let run = lifecycle.map_or(RunOutcome::Continue, Lifecycle::run);
        (lifecycle, run)
    };
    let written = Written {
        state,
        lifecycle,
        run,
        warnings,
    };
    Ok((written, said_run))
}

/// Writes the outcome into the state.
fn stamp(written: &mut Written, now: Timestamp) {
    let state = &mut written.state;
    state.remove("terminal_outcome");
    state.insert("run_outcome".to_owned(), written.run.name().into());
    match written.lifecycle {
        Some(lifecycle) => {
            state.insert("lifecycle_outcome".to_owned(), lifecycle.name().into());
            state.insert("active".to_owned(), false.into());
            fill(state, "completed_at", || now.to_string().into());
        }
        None => {
            state.remove("lifecycle_outcome");
            state.insert("active".to_owned(), true.into());
            state.remove("completed_at");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn noon() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
    }

    const NOON: &str = "2026-11-21T12:00:00.000000Z";

    fn written(mode: Mode, before: Value, given: Value) -> Result<Written, String> {
        let before = before.as_object();
        write(mode, before, &object(given), noon()).map_err(|refusal| refusal.message)
    }

    /// Writes `given` for a mode `ultrawork` without a state. Returns the new state without the field `mode`.
    fn made(given: Value) -> Value {
        let mut state = written(Mode::Ultrawork, json!(null), given).unwrap().state;
        assert_eq!(state.remove("mode"), Some("ultrawork".into()));
        state.into()
    }

    fn refused(mode: Mode, before: Value, given: Value) -> String {
        written(mode, before, given).unwrap_err()
    }

    #[test]
    fn a_write_without_any_outcome_makes_it_active() {
        for (given, state) in cases![
            ({"k": 1}, {"k": 1, "active": true, "run_outcome": "continue"}),
            ({"active": true, "completed_at": "2026-11-20T12:00:00Z"},
                {"active": true, "run_outcome": "continue"}),
        ] {
            assert_eq!(made(given), state);
        }
    }

    #[test]
    fn an_ending_is_written_whole_however_it_is_told() {
        for given in [
            json!({"lifecycle_outcome": "finished"}),
            json!({"lifecycle_outcome": "finished", "run_outcome": "continue"}),
            json!({"terminal_outcome": "done"}),
            json!({"run_outcome": "finish"}),
            json!({"active": false}),
            json!({"completed_at": NOON}),
        ] {
            assert_eq!(
                made(given),
                json!({"active": false, "run_outcome": "finish", "lifecycle_outcome": "finished", "completed_at": NOON})
            );
        }
        let mut said = json!({"current_phase": "cancelled", "active": false});
        said["completed_at"] = "2026-11-20T12:00:00Z".into();
        let mut whole = said.clone();
        whole["run_outcome"] = "cancelled".into();
        whole["lifecycle_outcome"] = "userinterlude".into();
        assert_eq!(made(said), whole);
    }

    #[test]
    fn every_outcome_is_stored_by_its_pair() {
        for outcome in Lifecycle::ALL {
            let made = made(json!({"lifecycle_outcome": outcome}));
            has!(made, {"lifecycle_outcome": outcome.name(), "active": false,
                "run_outcome": outcome.run().name()});
        }
        for outcome in RunOutcome::ALL {
            let made = made(json!({"run_outcome": outcome}));
            assert_eq!(made["run_outcome"], outcome.name());
            assert_eq!(made["active"], !outcome.is_terminal());
            let told = outcome.lifecycle(false).map(Lifecycle::name);
            assert_eq!(made.get("lifecycle_outcome").and_then(Value::as_str), told);
        }
    }

    #[test]
    fn active_and_over_at_once_is_refused_for_every_mode() {
        for mode in Mode::ALL {
            let message = refused(
                mode,
                json!(null),
                json!({"active": true, "current_phase": "complete"}),
            );
            let said = match mode {
                Mode::Forge => "terminal Forge phases require active=false",
                _ => r#"terminal run outcome "finish" requires active=false"#,
            };
            assert!(message.starts_with(said), "{mode}: {message}");
        }
        for (given, said) in cases![
            ({"active": true, "run_outcome": "failed"},
                r#"terminal run outcome "failed" requires active=false"#),
            ({"active": true, "lifecycle_outcome": "askuser"},
                r#"terminal run outcome "blocked_on_user" requires active=false"#),
            ({"active": false, "run_outcome": "continue"},
                r#"run outcome "continue" requires active=true, but active is false"#),
            ({"active": "yes"}, r#"active must be true or false, but is "\"yes\"""#),
        ] {
            assert_eq!(refused(Mode::Team, json!(null), given), said);
        }
    }

    #[test]
    fn what_was_active_ends_by_a_phase_or_an_outcome() {
        for mode in Mode::ALL {
            let before = json!({"active": true, "mode": mode, "started_at": NOON, "run_outcome": "continue"});
            let ended = written(
                mode,
                before,
                json!({"current_phase": "failed", "error": "boom"}),
            )
            .unwrap();
            assert!(!ended.is_active());
            assert_eq!(ended.run, RunOutcome::Failed);
            assert_eq!(ended.state["active"], false);
            assert_eq!(ended.state["completed_at"], NOON);
            assert_eq!(ended.state["started_at"], NOON);
        }
        let before = json!({"active": true});
        let went_on = written(Mode::Team, before, json!({"error": "a small one"})).unwrap();
        assert!(went_on.is_active());
    }

    #[test]
    fn an_outcome_of_before_is_not_kept_but_the_rest_is() {
        let before = json!({
            "active": false, "current_phase": "complete", "run_outcome": "finish",
            "lifecycle_outcome": "finished", "completed_at": NOON, "k": 1, "l": 1
        });
        let again = written(
            Mode::Ultrawork,
            before.clone(),
            json!({"active": true, "current_phase": "planning", "l": 2}),
        )
        .unwrap();
        assert_eq!(
            Value::from(again.state),
            json!({"active": true, "current_phase": "planning", "run_outcome": "continue", "k": 1, "l": 2, "mode": "ultrawork"})
        );
        let noted = written(Mode::Ultrawork, before, json!({"note": "n"})).unwrap();
        assert_eq!((noted.is_active(), noted.run), (false, RunOutcome::Finish));
    }

    #[test]
    fn a_pending_question_ends_the_turn_until_it_is_answered() {
        let question = json!({"obligation_id": "q", "status": "pending"});
        let asked = written(
            Mode::DeepInterview,
            json!({"active": true}),
            json!({"question_enforcement": question}),
        )
        .unwrap();
        assert_eq!(asked.lifecycle, Some(Lifecycle::AskUserQuestion));
        assert_eq!(asked.state["run_outcome"], "blocked_on_user");
        let answered = json!({"obligation_id": "q", "status": "satisfied"});
        let resumed = json!({"active": true, "question_enforcement": answered});
        let before = Value::Object(asked.state);
        assert!(
            written(Mode::DeepInterview, before, resumed)
                .unwrap()
                .is_active()
        );
    }

    #[test]
    fn the_inner_state_counts_for_more_and_must_be_an_object() {
        let flat = |given| flattened(object(given)).map(Value::from);
        let given = json!({"a": 1, "b": 1, "state": {"b": 2, "state": 3}});
        assert_eq!(flat(given).unwrap(), json!({"a": 1, "b": 2, "state": 3}));
        assert_eq!(flat(json!({"state": null})).unwrap(), json!({}));
        let message = flat(json!({"state": 7})).unwrap_err().message;
        assert_eq!(message, r#"state must be an object, but is "7""#);
    }

    #[test]
    fn what_is_written_reads_back_as_the_same() {
        for given in [
            json!({}),
            json!({"active": false}),
            json!({"current_phase": "blocked_on_user"}),
            json!({"lifecycle_outcome": "interrupt"}),
            json!({"run_outcome": "progress"}),
        ] {
            let written = written(Mode::Autopilot, json!(null), given).unwrap();
            let read = crate::mode::rules::reading::read(&written.state).unwrap();
            assert_eq!(read.lifecycle_outcome, written.lifecycle);
            assert_eq!(read.run_outcome, Some(written.run));
            assert_eq!(read.warnings, [""; 0]);
            let state = &written.state;
            let again = write(Mode::Autopilot, Some(state), state, noon());
            assert_eq!(again.unwrap().state, *state);
        }
    }
}
