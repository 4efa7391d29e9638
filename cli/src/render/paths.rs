//! Renders verdicts on writes of a path, and overlapping claims.

use crate::render::prelude::*;
use std::borrow::Cow;
use teamlog_team::resource::Overlap;
use teamlog_team::resource::can_write::{WriteReason, WriteVerdict};

/// Formats a line such as `yes  src/io/a  dev holds src/io for task 1 until …`.
pub fn verdict(verdict: &WriteVerdict, view: &View) -> Vec<String> {
    let (style, word) = match verdict.allow {
        true => (Style::Good, "yes"),
        false => (Style::Bad, "no"),
    };
    vec![format!(
        "{}  {}  {}",
        view.paint.show(style, word),
        visible(&verdict.path),
        why(verdict, view)
    )]
}

/// Reason why no path may be written while the journal does not answer.
pub const STALE: &str =
    "recent events of other hosts are unknown, because the journal does not answer";

/// Returns the reason for a verdict as a part of a sentence.
fn why(verdict: &WriteVerdict, view: &View) -> String {
    match verdict.reason {
        WriteReason::NoActiveLeaseForPath => "no claimed task declares it".to_owned(),
        WriteReason::PathTraversalDenied => "it leads out of the repository".to_owned(),
        WriteReason::InvalidPath => {
            "it is not a valid path, or absolute while resources.root is not set".to_owned()
        }
        WriteReason::Stale => STALE.to_owned(),
        WriteReason::LeaseActiveForResource | WriteReason::ResourceHeldByOther => held(
            &text(&verdict.holder),
            &text(&verdict.resource),
            &text(&verdict.task_id),
            verdict.until.as_deref().unwrap_or_default(),
            view,
        ),
    }
}

fn text(field: &Option<String>) -> Cow<'_, str> {
    visible(field.as_deref().unwrap_or("-"))
}

/// Renders one line for each claim that overlaps.
pub fn overlaps(overlaps: &[Overlap], view: &View) -> Vec<String> {
    let warn = |overlap: &Overlap| {
        let held = held(
            &visible(&overlap.holder),
            &visible(&overlap.held),
            &visible(&overlap.task_id),
            &overlap.leased_until,
            view,
        );
        let resource = visible(&overlap.resource);
        let warning = view.paint.show(Style::Warn, "overlap");
        format!("  {warning}: {resource} is yours, and {held}")
    };
    overlaps.iter().map(warn).collect()
}

fn held(holder: &str, resource: &str, task: &str, until: &str, view: &View) -> String {
    let ends = Timestamp::parse(until).map(|until| format!("  ({})", view.ago(until)));
    let (until, ends) = (visible(until), ends.unwrap_or_default());
    format!("{holder} holds {resource} for task {task} until {until}{ends}")
}
