//! Check `malformed_jsonl`: lines of view files that are not JSON objects. The check `segments` examines the log's own lines.

use super::*;

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    if let Some(sampled) = &seen.sampled {
        let inboxes = sampled.inboxes;
        let summary = format!("the last lines of {inboxes} inboxes are as the state says");
        return Ok(Check::healthy(summary).details(json!({"lines": inboxes})));
    }
    let views = ViewsSource::new(borrowed(&seen.log)?);
    let (listed, lines, bad) = views.malformed(LISTED_MAX).map_err(error_text)?;
    let check = match listed.first() {
        None => Check::healthy(format!("{lines} lines of view files are JSON")),
        Some(first) => Check::unhealthy(format!(
            "{bad} of {lines} lines are not JSON: {} line {}: {}",
            first.file, first.line, first.why
        ))
        .recommend(seen.rehydrate()),
    };
    let listed: Vec<_> = listed
        .iter()
        .map(|line| json!({"file": line.file, "line": line.line, "why": line.why}))
        .collect();
    Ok(check.details(json!({"total": bad, "lines": lines, "files": listed})))
}
