//! Reads from a state if its mode has ended, and with which outcome. The first present field in this order decides:
//!
//! | field | outcome |
//! |---|---|
//! | `lifecycle_outcome`, else `terminal_outcome` | its value |
//! | `run_outcome`, if it ends a run | `finish` finished, `failed` failed, `cancelled` userinterlude, `blocked_on_user` askuserQuestion with a pending question, else blocked |
//! | `current_phase`, if it is one of the words of [`crate::mode::rules::outcome`] | its value |
//! | a pending question | askuserQuestion |
//! | `active` | none, the mode runs |
//! | `error` | failed |
//! | `completed_at`, or `active` is false | finished |
//!
//! An unknown word is refused, and later fields are not read. An unknown phase is refused only in an inactive state, because
//! a running mode may use any phase.

use crate::mode::prelude::*;
use crate::mode::rules::outcome::{lifecycle, of_phase, run};

words! {
    /// Field of a state that determined the outcome.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Evidence {
        /// `lifecycle_outcome`.
        LifecycleOutcome = "lifecycle_outcome",
        /// `terminal_outcome`.
        TerminalOutcome = "terminal_outcome",
        /// `run_outcome`.
        RunOutcome = "run_outcome",
        /// `current_phase`.
        CurrentPhase = "current_phase",
        /// A pending question.
        QuestionEnforcement = "question_enforcement",
        /// `active`.
        Active = "active",
        /// `error`.
        Error = "error",
        /// `completed_at`.
        CompletedAt = "completed_at",
        /// No field determined the outcome.
        None = "nothing",
    }
}

/// Outcome that was read from a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// Outcome; `null` if the mode runs or if no field determines it
    pub lifecycle_outcome: Option<Lifecycle>,
    /// Outcome in the older words; `null` if no field determines it
    pub run_outcome: Option<RunOutcome>,
    /// True if the mode ended
    pub terminal: bool,
    /// Field that determined the outcome
    pub evidence: Evidence,
    /// Warnings about outdated spellings
    pub warnings: Vec<String>,
}

/// Reads the outcome of a state.
pub fn read(state: &Map<String, Value>) -> Result<Reading, Refusal> {
    let mut warnings = Vec::new();
    let asked = is_asked(state);
    let mut going = None;
    if let Some((field, evidence, text)) = canonical(state)? {
        let (outcome, remark) = lifecycle(field, text, asked)?;
        warnings.extend(remark);
        return Ok(ended(outcome, outcome.run(), evidence, warnings));
    }
    if let Some(text) = filled(state, "run_outcome")? {
        let (outcome, remark) = run(text)?;
        warnings.extend(remark);
        match outcome.lifecycle(asked) {
            Some(lifecycle) => {
                return Ok(ended(lifecycle, outcome, Evidence::RunOutcome, warnings));
            }
            None => going = Some(outcome),
        }
    }
    let active = check_types(state)?;
    if !active
        && let Some(phase) = filled(state, "current_phase")?
        && let Some(lifecycle) = phase::of_ended(phase, asked)?
    {
        let evidence = Evidence::CurrentPhase;
        return Ok(ended(lifecycle, lifecycle.run(), evidence, warnings));
    }
    let (lifecycle, evidence) = inferred(state, asked);
    if let Some(lifecycle) = lifecycle {
        return Ok(ended(lifecycle, lifecycle.run(), evidence, warnings));
    }
    if evidence == Evidence::Active {
        going = going.or(Some(RunOutcome::Continue));
    }
    Ok(Reading {
        lifecycle_outcome: None,
        run_outcome: going,
        terminal: false,
        evidence,
        warnings,
    })
}

/// Checks the types of the fields after the outcomes. Returns true if the state is active.
fn check_types(state: &Map<String, Value>) -> Result<bool, Refusal> {
    filled(state, "completed_at")?;
    Ok(said_active(state)?.unwrap_or_default())
}

/// Reads the field `active`; `None` if absent.
pub(super) fn said_active(state: &Map<String, Value>) -> Result<Option<bool>, Refusal> {
    match state.get("active") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(active)) => Ok(Some(*active)),
        Some(other) => Err(Refusal::invalid("active", other, "must be true or false")),
    }
}

fn ended(
    lifecycle: Lifecycle,
    run: RunOutcome,
    evidence: Evidence,
    warnings: Vec<String>,
) -> Reading {
    Reading {
        lifecycle_outcome: Some(lifecycle),
        run_outcome: Some(run),
        terminal: true,
        evidence,
        warnings,
    }
}

type Canonical<'a> = (&'static str, Evidence, &'a str);

/// Returns the outcome field of a state with its text.
pub(super) fn canonical(state: &Map<String, Value>) -> Result<Option<Canonical<'_>>, Refusal> {
    for (field, evidence) in [
        ("lifecycle_outcome", Evidence::LifecycleOutcome),
        ("terminal_outcome", Evidence::TerminalOutcome),
    ] {
        if let Some(text) = filled(state, field)? {
            return Ok(Some((field, evidence, text)));
        }
    }
    Ok(None)
}

/// Returns the outcome from the phase, the question, `active`, `error` and `completed_at`, and the field that decided.
pub(super) fn inferred(state: &Map<String, Value>, asked: bool) -> (Option<Lifecycle>, Evidence) {
    let phase = state.get("current_phase").and_then(Value::as_str);
    if let Some(outcome) = phase.and_then(|phase| of_phase(phase, asked)) {
        return (Some(outcome), Evidence::CurrentPhase);
    }
    if asked {
        let outcome = Some(Lifecycle::AskUserQuestion);
        return (outcome, Evidence::QuestionEnforcement);
    }
    let active = state.get("active").and_then(Value::as_bool);
    if active == Some(true) {
        return (None, Evidence::Active);
    }
    if is_filled(state.get("error")) {
        return (Some(Lifecycle::Failed), Evidence::Error);
    }
    if is_filled(state.get("completed_at")) {
        return (Some(Lifecycle::Finished), Evidence::CompletedAt);
    }
    match active {
        Some(false) => (Some(Lifecycle::Finished), Evidence::Active),
        _ => (None, Evidence::None),
    }
}

/// Returns true if a question to the user is pending.
pub fn is_asked(state: &Map<String, Value>) -> bool {
    let question = state.get("question_enforcement");
    let part = |name: &str| question?.get(name)?.as_str();
    part("status") == Some("pending")
        && part("obligation_id").is_some_and(|id| !id.trim().is_empty())
}

/// Returns the text of a field; `None` if it is absent, null or blank.
pub(super) fn filled<'a>(
    state: &'a Map<String, Value>,
    field: &'static str,
) -> Result<Option<&'a str>, Refusal> {
    match state.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(&**text).filter(|text| !text.trim().is_empty())),
        Some(other) => Err(Refusal::invalid(field, other, "must be a string")),
    }
}

/// Returns true if a field has a value. Blank text, null and false do not count as a value.
pub(super) fn is_filled(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Code;

    fn reading(text: &str) -> Reading {
        let Value::Object(state) = serde_json::from_str(text).unwrap() else {
            panic!("{text} is no object");
        };
        read(&state).unwrap()
    }

    fn refused(text: &str) -> Refusal {
        read(
            serde_json::from_str::<Value>(text)
                .unwrap()
                .as_object()
                .unwrap(),
        )
        .unwrap_err()
    }

    const QUESTION: &str = r#""question_enforcement":{"obligation_id":"q-1","status":"pending"}"#;

    #[test]
    fn each_row_decides_before_those_below_it() {
        let question = QUESTION;
        for (state, told, old, evidence) in [
            (
                r#"{"lifecycle_outcome":"failed","terminal_outcome":"finished","run_outcome":"finish","current_phase":"complete","active":true}"#.to_owned(),
                "failed", "failed", "lifecycle_outcome",
            ),
            (
                r#"{"lifecycle_outcome":" ","terminal_outcome":"done","run_outcome":"failed"}"#.to_owned(),
                "finished", "finish", "terminal_outcome",
            ),
            (
                r#"{"run_outcome":"cancelled","current_phase":"complete","completed_at":"2026-11-21T12:00:00Z"}"#.to_owned(),
                "userinterlude", "cancelled", "run_outcome",
            ),
            (r#"{"run_outcome":"finish","current_phase":"failed"}"#.to_owned(), "finished", "finish", "run_outcome"),
            (r#"{"run_outcome":"failed","active":true}"#.to_owned(), "failed", "failed", "run_outcome"),
            (r#"{"run_outcome":"blocked_on_user"}"#.to_owned(), "blocked", "blocked_on_user", "run_outcome"),
            (format!(r#"{{"run_outcome":"blocked_on_user",{question}}}"#), "askuserQuestion", "blocked_on_user", "run_outcome"),
            // A running `run_outcome` decides nothing.
            (r#"{"run_outcome":"continue","current_phase":"failed"}"#.to_owned(), "failed", "failed", "current_phase"),
            (r#"{"run_outcome":"progress","active":true}"#.to_owned(), "", "progress", "active"),
            (r#"{"run_outcome":"continue","active":false}"#.to_owned(), "finished", "finish", "active"),
            (r#"{"run_outcome":"continue"}"#.to_owned(), "", "continue", "none"),
            (r#"{"current_phase":"complete","active":true}"#.to_owned(), "finished", "finish", "current_phase"),
            (format!(r#"{{"current_phase":"cancelled",{question}}}"#), "userinterlude", "cancelled", "current_phase"),
            (format!(r#"{{"current_phase":"blocked_on_user",{question}}}"#), "askuserQuestion", "blocked_on_user", "current_phase"),
            (format!(r#"{{"current_phase":"executing","active":true,{question}}}"#), "askuserQuestion", "blocked_on_user", "question_enforcement"),
            (r#"{"active":true,"error":"boom","completed_at":"2026-11-21T12:00:00Z"}"#.to_owned(), "", "continue", "active"),
            (r#"{"active":false,"error":"boom","completed_at":"2026-11-21T12:00:00Z"}"#.to_owned(), "failed", "failed", "error"),
            (r#"{"error":"boom"}"#.to_owned(), "failed", "failed", "error"),
            (r#"{"error":" ","active":false}"#.to_owned(), "finished", "finish", "active"),
            (r#"{"completed_at":"2026-11-21T12:00:00Z"}"#.to_owned(), "finished", "finish", "completed_at"),
            (r#"{"active":false}"#.to_owned(), "finished", "finish", "active"),
            // No field determines the outcome.
            (r#"{"current_phase":"executing"}"#.to_owned(), "", "", "none"),
            (r#"{"completed_at":""}"#.to_owned(), "", "", "none"),
            ("{}".to_owned(), "", "", "none"),
        ] {
            let reading = reading(&state);
            assert_eq!(reading.lifecycle_outcome.map_or("", Lifecycle::name), told, "{state}");
            assert_eq!(reading.run_outcome.map_or("", RunOutcome::name), old, "{state}");
            assert_eq!(serde_json::to_value(reading.evidence).unwrap(), evidence, "{state}");
            assert_eq!(reading.terminal, !told.is_empty(), "{state}");
        }
    }

    #[test]
    fn a_question_is_pending_only_with_an_obligation() {
        for (question, asked) in [
            (r#"{"obligation_id":"q","status":"pending"}"#, true),
            (r#"{"obligation_id":" ","status":"pending"}"#, false),
            (r#"{"status":"pending"}"#, false),
            (r#"{"obligation_id":"q","status":"cleared"}"#, false),
            (r#""pending""#, false),
        ] {
            let state = format!(r#"{{"question_enforcement":{question}}}"#);
            let told = reading(&state).lifecycle_outcome;
            assert_eq!(told.is_some(), asked, "{state}");
        }
    }

    #[test]
    fn a_word_that_is_none_is_refused_by_the_list() {
        assert_eq!(
            refused(r#"{"terminal_outcome":"continue"}"#).message,
            "lifecycle_outcome must be one of: finished, blocked, failed, userinterlude, askuserQuestion, but is \"continue\""
        );
        assert_eq!(
            refused(r#"{"run_outcome":"userinterlude"}"#).message,
            "run_outcome must be one of: progress, continue, finish, blocked_on_user, failed, cancelled, but is \"userinterlude\""
        );
        assert_eq!(
            refused(r#"{"run_outcome":7}"#).message,
            "run_outcome must be a string, but is \"7\""
        );
    }

    #[test]
    fn a_word_that_nobody_knows_is_not_passed_by() {
        let ends = "finish, finished, complete, completed, done, blocked,";
        for (state, begins, names) in cases![
            (r#"{"lifecycle_outcome":"paused","run_outcome":"finish","current_phase":"complete"}"# =>
                "lifecycle_outcome must be one of: ", "askuserQuestion, but is \"paused\""),
            (r#"{"terminal_outcome":"paused","active":false}"# =>
                "lifecycle_outcome must be one of: ", "askuserQuestion, but is \"paused\""),
            (r#"{"run_outcome":"paused","current_phase":"failed","active":false}"# =>
                "run_outcome must be one of: ", "cancelled, but is \"paused\""),
            (r#"{"current_phase":"exploded","active":false}"# => "current_phase must be one of: ",
                ends),
            (r#"{"current_phase":"exploded","error":"boom","completed_at":"2026-11-21T12:00:00Z"}"# =>
                "current_phase must be one of: ", ends),
            (r#"{"run_outcome":"continue","current_phase":"exploded","active":false}"# =>
                "current_phase must be one of: ", ends),
            (r#"{"current_phase":"exploded"}"# => "current_phase must be one of: ", "exploded"),
            (r#"{"current_phase":7,"active":false}"# => "current_phase must be a string", "7"),
            (r#"{"active":"yes","completed_at":"2026-11-21T12:00:00Z"}"# =>
                "active must be true or false", "yes"),
            (r#"{"completed_at":7}"# => "completed_at must be a string", "7"),
        ] {
            let refusal = refused(state);
            assert!(refusal.message.starts_with(begins), "{state}: {refusal}");
            assert!(refusal.message.contains(names), "{state}: {refusal}");
            assert_eq!(refusal.code, Code::InvalidInput);
            let field = refusal.field.unwrap();
            assert!(state.contains(&format!("{field:?}:")), "{state}: {field}");
        }
    }

    #[test]
    fn a_phase_that_says_how_its_stage_ended_says_how_it_ended() {
        for (phase, told) in [
            ("forge:failed", "failed"),
            (" Code-Review:FAILED", "failed"),
            ("cleared", "userinterlude"),
        ] {
            let reading = reading(&format!(r#"{{"current_phase":{phase:?},"active":false}}"#));
            assert_eq!(reading.lifecycle_outcome.map_or("", Lifecycle::name), told);
            assert_eq!(reading.evidence, Evidence::CurrentPhase);
        }
        // A skipped stage is no end, because another stage follows.
        for phase in ["forge:skipped", "planning", "team-exec", "code-review"] {
            let state = format!(r#"{{"current_phase":{phase:?},"active":false}}"#);
            assert_eq!(reading(&state).evidence, Evidence::Active, "{state}");
        }
        // A running mode may use any phase.
        let running = reading(r#"{"current_phase":"third chapter","active":true}"#);
        assert_eq!(
            (running.terminal, running.evidence),
            (false, Evidence::Active)
        );
    }

    #[test]
    fn spellings_of_old_are_told() {
        assert_eq!(
            reading(r#"{"lifecycle_outcome":"Done"}"#).warnings,
            [r#"lifecycle_outcome "Done" is read as finished"#]
        );
        assert_eq!(
            reading(r#"{"lifecycle_outcome":"askuserQuestion"}"#).warnings,
            [""; 0]
        );
    }
}
