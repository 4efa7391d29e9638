//! The phases of forge, and further checks of forge's states. Only forge's phases are enforced.

use crate::mode::prelude::*;
use crate::mode::rules::reading::filled;
use crate::mode::rules::seed::ITERATIONS_MAX;
use crate::shapes::as_text;

pub const FORGE: [&str; 8] = [
    "starting",
    "executing",
    "verifying",
    "fixing",
    "blocked_on_user",
    "complete",
    "failed",
    "cancelled",
];

/// Phases in which forge has ended.
const FORGE_TERMINAL: [&str; 4] = ["blocked_on_user", "complete", "failed", "cancelled"];

/// Phases of running modes.
const RUNNING: [&str; 22] = [
    "starting",
    "executing",
    "running",
    "verifying",
    "fixing",
    "planning",
    "draft",
    "architect-review",
    "critic-review",
    "blueprint",
    "forge",
    "code-review",
    "team-plan",
    "team-prd",
    "team-exec",
    "team-verify",
    "team-fix",
    "qa",
    "diagnose",
    "fix",
    "intent-first",
    "completing",
];

/// Other spellings of forge's phases.
const FORGE_SPELLINGS: [(&str, &str); 13] = [
    ("start", "starting"),
    ("started", "starting"),
    ("execution", "executing"),
    ("execute", "executing"),
    ("verify", "verifying"),
    ("verification", "verifying"),
    ("fix", "fixing"),
    ("blocked", "blocked_on_user"),
    ("blocked-on-user", "blocked_on_user"),
    ("completed", "complete"),
    ("fail", "failed"),
    ("error", "failed"),
    ("cancel", "cancelled"),
];

/// Field that keeps the phase as the caller spelled it.
const NORMALIZED_FROM: &str = "forge_phase_normalized_from";
/// Fields that must hold times.
const TIMES: [&str; 4] = ["started_at", "updated_at", "completed_at", "last_turn_at"];

/// Phase of a mode that a command starts.
pub const STARTING: &str = "starting";

/// Returns the outcome that the phase of an inactive state implies; `None` for a running phase.
pub fn of_ended(phase: &str, asked: bool) -> Result<Option<Lifecycle>, Refusal> {
    let word = phase.trim().to_lowercase();
    if let Some(outcome) = outcome::of_phase(&word, asked) {
        return Ok(Some(outcome));
    }
    // The phase `cleared` means that the user ended the mode.
    if word == "cleared" {
        return Ok(Some(Lifecycle::UserInterlude));
    }
    match word.split_once(':') {
        Some((stage, "failed")) if RUNNING.contains(&stage) => return Ok(Some(Lifecycle::Failed)),
        Some((stage, "skipped")) if RUNNING.contains(&stage) => return Ok(None),
        _ => {}
    }
    let spelled = FORGE_SPELLINGS.iter().any(|(other, _)| *other == word);
    if RUNNING.contains(&&*word) || spelled {
        return Ok(None);
    }
    let message = format!(
        "current_phase must be one of: {}; or a running phase: {}; but is {}",
        outcome::words().join(", "),
        RUNNING.join(", "),
        shown(phase)
    );
    let endings = Lifecycle::ALL.map(Lifecycle::name).join(", ");
    Err(Refusal::new(Code::InvalidInput, message)
        .field("current_phase")
        .hint(format!(
            "to give an outcome, set lifecycle_outcome: {endings}"
        )))
}

/// Returns a phase of forge in its present spelling.
pub fn forge(phase: &str) -> Result<&'static str, Refusal> {
    let word = phase.trim().to_lowercase();
    let known = FORGE.iter().find(|known| **known == word);
    let spelled = || FORGE_SPELLINGS.iter().find(|(other, _)| *other == word);
    let known = known.or_else(|| spelled().map(|(_, phase)| phase));
    known.copied().ok_or_else(|| {
        let rule = format!("must be one of: {}", FORGE.join(", "));
        Refusal::invalid("forge.current_phase", phase, rule)
    })
}

/// Checks a state of forge. If the state is active, fills in missing required fields. If `resumed` is true, the call itself sets `active`,
/// so an ending phase is refused. Otherwise an ending phase ends the mode.
pub fn check_forge(
    state: &mut Map<String, Value>,
    resumed: bool,
    now: Timestamp,
) -> Result<(), Refusal> {
    let given = filled(state, "current_phase")?.map(str::to_owned);
    let mut phase = given.as_deref().map(forge).transpose()?;
    check_fields(state)?;
    let active = state.get("active").and_then(Value::as_bool) == Some(true);
    if active {
        phase = phase.or(Some(STARTING));
        fill(state, "iteration", || 0.into());
        fill(state, "max_iterations", || ITERATIONS_MAX.into());
        fill(state, "started_at", || now.to_string().into());
    }
    let Some(phase) = phase else {
        return Ok(());
    };
    state.insert("current_phase".to_owned(), phase.into());
    if let Some(original) = given.filter(|given| given != phase) {
        state.insert(NORMALIZED_FROM.to_owned(), original.into());
    }
    if FORGE_TERMINAL.contains(&phase) {
        if active && resumed {
            let phase = shown(phase);
            let message = format!(
                "terminal Forge phases require active=false, but active is true in phase {phase}"
            );
            return Err(Refusal::new(Code::InvalidInput, message).field("active"));
        }
        state.insert("active".to_owned(), false.into());
        fill(state, "completed_at", || now.to_string().into());
    }
    Ok(())
}

/// Checks that certain fields, if present, are numbers or times.
fn check_fields(state: &Map<String, Value>) -> Result<(), Refusal> {
    let counts = |value: &Value, least| value.as_u64().is_some_and(|number| number >= least);
    let is_time = |text: &str| Timestamp::parse(text).is_ok();
    for field in ["iteration", "max_iterations"].into_iter().chain(TIMES) {
        let Some(value) = state.get(field).filter(|value| !value.is_null()) else {
            continue;
        };
        let (fits, rule) = match field {
            "iteration" => (counts(value, 0), "must be an integer of at least 0"),
            "max_iterations" => (counts(value, 1), "must be an integer greater than 0"),
            _ => (
                value.as_str().is_some_and(is_time),
                "must be an RFC 3339 time",
            ),
        };
        if !fits {
            let field = format!("forge.{field}");
            return Err(Refusal::invalid(field, as_text(value), rule));
        }
    }
    Ok(())
}

/// Sets a field that is missing or null.
pub(super) fn fill(state: &mut Map<String, Value>, field: &str, value: impl FnOnce() -> Value) {
    let missing = match state.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    };
    if missing {
        state.insert(field.to_owned(), value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn noon() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
    }

    fn checked(state: Value, resumed: bool) -> Result<Value, String> {
        let Value::Object(mut state) = state else {
            panic!("no object");
        };
        let done = check_forge(&mut state, resumed, noon());
        done.map(|()| state.into())
            .map_err(|refusal| refusal.message)
    }

    #[test]
    fn every_phase_and_every_spelling_is_read_and_no_other() {
        for phase in FORGE {
            assert_eq!(forge(&format!(" {} ", phase.to_uppercase())), Ok(phase));
        }
        for (spelling, phase) in FORGE_SPELLINGS {
            assert_eq!(forge(spelling), Ok(phase));
            assert!(FORGE.contains(&phase));
        }
        for other in ["canceled", "done", "finished", "planning", "", "start ing"] {
            let refusal = forge(other).unwrap_err();
            assert!(
                refusal.message.starts_with(
                    "forge.current_phase must be one of: starting, executing, verifying, fixing, blocked_on_user, complete, failed, cancelled, but is "
                ),
                "{refusal}"
            );
        }
    }

    #[test]
    fn an_active_forge_gets_what_it_has_to_say() {
        assert_eq!(
            checked(json!({"active": true}), true).unwrap(),
            json!({
                "active": true, "current_phase": "starting", "iteration": 0, "max_iterations": 50,
                "started_at": "2026-11-21T12:00:00.000000Z"
            })
        );
        let own = json!({
            "active": true, "current_phase": "verify", "iteration": 3, "max_iterations": 4,
            "started_at": "2026-11-20T12:00:00Z"
        });
        let mut kept = own.clone();
        kept["current_phase"] = "verifying".into();
        kept["forge_phase_normalized_from"] = "verify".into();
        assert_eq!(checked(own, true).unwrap(), kept);
        assert_eq!(
            checked(json!({"active": false}), false).unwrap(),
            json!({"active": false})
        );
    }

    #[test]
    fn an_ending_phase_ends_it_unless_the_call_says_that_it_is_active() {
        for phase in FORGE {
            let state = json!({"active": true, "current_phase": phase});
            let last = ["blocked_on_user", "complete", "failed", "cancelled"];
            let ends = last.contains(&phase);
            let said = checked(state.clone(), true);
            assert_eq!(said.is_err(), ends, "{phase}");
            if let Err(message) = said {
                assert!(message.starts_with("terminal Forge phases require active=false"));
            }
            let left = checked(state, false).unwrap();
            assert_eq!(left["active"], !ends, "{phase}");
            assert_eq!(left.get("completed_at").is_some(), ends, "{phase}");
        }
        let kept = json!({"active": false, "current_phase": "complete", "completed_at": "2026-11-20T12:00:00Z"});
        assert_eq!(checked(kept.clone(), false).unwrap(), kept);
    }

    #[test]
    fn numbers_and_times_are_what_they_are_called() {
        for (field, good, bad) in cases![
            ("iteration" => json!(0), json!(-1)),
            ("iteration" => json!(7), json!(1.5)),
            ("iteration" => json!(null), json!("1")),
            ("max_iterations" => json!(1), json!(0)),
            ("started_at" => json!("2026-11-20T12:00:00Z"), json!("yesterday")),
            ("completed_at" => json!(null), json!(7)),
            ("updated_at" => json!("2026-11-20T12:00:00+01:00"), json!("")),
            ("last_turn_at" => json!("2026-11-20T12:00:00Z"), json!(true)),
        ] {
            checked(json!({field: good}), false).unwrap();
            let message = checked(json!({field: bad}), false).unwrap_err();
            assert!(
                message.starts_with(&format!("forge.{field} must be ")),
                "{message}"
            );
        }
    }
}
