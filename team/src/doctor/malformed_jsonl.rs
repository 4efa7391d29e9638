//! Lines of the view files that are no JSON objects. (The log's own lines are the business of `segments`.)

use super::scene::Scene;
use super::{Check, Health};
use crate::projections::views::ViewsSource;
use serde_json::json;

const NAME: &str = "malformed_jsonl";
/// No more lines than this are listed.
const LISTED_MAX: usize = 20;

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let log = match &scene.log {
        Ok(log) => log,
        Err(why) => return Check::not_made(NAME, why),
    };
    let (listed, lines, bad) = match ViewsSource::new(log).malformed(LISTED_MAX) {
        Ok(found) => found,
        Err(error) => return Check::not_made(NAME, &error.to_string()),
    };
    let check = match listed.first() {
        None => Check::healthy(NAME, format!("{lines} lines of view files are JSON")),
        Some(first) => Check::new(
            NAME,
            Health::Unhealthy,
            format!(
                "{bad} of {lines} lines are no JSON: {} line {}: {}",
                first.file, first.line, first.why
            ),
        )
        .recommend(scene.rehydrate()),
    };
    let listed: Vec<_> = listed
        .iter()
        .map(|line| json!({"file": line.file, "line": line.line, "why": line.why}))
        .collect();
    check
        .detail("total", bad)
        .detail("lines", lines)
        .detail("files", listed)
}
