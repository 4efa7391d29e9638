//! Tasks that demand delegation. The result of such a task must contain evidence of the delegation.

use crate::operation::prelude::*;

const SPAWNED: &str = "subagent spawn evidence:";
const SKIPPED: &str = "subagent skip reason:";

/// Checks that the result of a task contains the evidence of delegation that its creator demanded.
pub(crate) fn check(task: &Task, result: Option<&str>) -> Result<(), Refusal> {
    let Some(delegation) = demanded(task) else {
        return Ok(());
    };
    let may_skip = delegation.get("skip_allowed_reason_required") == Some(&Value::Bool(true));
    let lines = result.unwrap_or_default().lines();
    let complies = |line: &str| {
        said(line, SPAWNED).is_some_and(|text| !text.starts_with("none") && !text.starts_with('0'))
            || may_skip && said(line, SKIPPED).is_some()
    };
    if lines.map(str::to_lowercase).any(|line| complies(&line)) {
        return Ok(());
    }
    let skip = match may_skip {
        true => ", or `Subagent skip reason: …`",
        false => "",
    };
    let message = format!(
        "result must contain a line `Subagent spawn evidence: …`{skip}, because task {} demands delegation",
        task.task_id
    );
    Err(Refusal::new(Code::MissingEvidence, message).field("result"))
}

/// Returns the field `delegation` of a task if that field demands evidence.
fn demanded(task: &Task) -> Option<Map<String, Value>> {
    let extra = task.governed.extra.as_ref()?;
    let extra: Map<String, Value> = serde_json::from_str(extra.as_str()).ok()?;
    let delegation = extra.get("delegation")?.as_object()?;
    let mode = delegation.get("mode").and_then(Value::as_str);
    let probe = delegation.get("required_parallel_probe") == Some(&Value::Bool(true));
    (probe || matches!(mode, Some("auto" | "required"))).then(|| delegation.clone())
}

/// Returns the text after `words` at the beginning of a line; `None` if the text is empty. The line is in lower case.
fn said<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let text = line
        .trim_start_matches([' ', '\t', '-', '*'])
        .strip_prefix(words)?
        .trim();
    (!text.is_empty()).then_some(text)
}
