//! The plan of a task as callers give it: labels, times and the parent.

use crate::projections::task::{Plan, PlanChange};
use crate::task::prelude::*;
use crate::time::{DayEdge, point};

/// Maximum number of labels of a task.
pub const LABELS_MAX: usize = 64;
/// Text that clears a time or a parent.
const NONE: &str = "none";

/// The fields of an input that plan a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanInput<'a> {
    pub labels: Option<&'a [String]>,
    pub due_at: Option<&'a str>,
    pub defer_until: Option<&'a str>,
    pub parent: Option<&'a str>,
}

impl PlanInput<'_> {
    /// Returns the change of a plan at `now`.
    pub fn change(self, plan: &Plan, now: Timestamp) -> Result<PlanChange, Refusal> {
        let labels = self.labels.map(|labels| relabeled(&plan.labels, labels));
        let time = |field: &'static str, text: Option<&str>, edge| {
            let time = text.map(|text| match text.trim() {
                NONE => Ok(None),
                text => point(text, now, edge).map(Some),
            });
            time.transpose()
                .map_err(|why| Refusal::new(Code::InvalidInput, why).field(field))
        };
        let parent = self.parent.map(|parent| match parent {
            NONE => Ok(None),
            id => names::check_known("parent", id).map(|()| Some(id.to_owned())),
        });
        Ok(PlanChange {
            labels: labels.transpose()?,
            due_at: time("due_at", self.due_at, DayEdge::End)?,
            defer_until: time("defer_until", self.defer_until, DayEdge::Start)?,
            parent: parent.transpose()?,
        })
    }
}

/// Returns the labels after a change: `+ui` adds a label, `-ui` removes a label, and labels without a sign replace all other
/// labels.
fn relabeled(before: &[String], wanted: &[String]) -> Result<Vec<String>, Refusal> {
    let is_change = |label: &String| label.starts_with(['+', '-']);
    let mut labels = match !wanted.is_empty() && wanted.iter().all(is_change) {
        true => before.to_vec(),
        false => Vec::new(),
    };
    for label in wanted {
        let name = label.strip_prefix(['+', '-']).unwrap_or(label);
        check_label(name)?;
        labels.retain(|known| known != name);
        if !label.starts_with('-') {
            labels.push(name.to_owned());
        }
    }
    if labels.len() > LABELS_MAX {
        let message = format!("a task must have at most {LABELS_MAX} labels");
        return Err(Refusal::new(Code::TooLarge, message).field("labels"));
    }
    Ok(labels)
}

fn check_label(label: &str) -> Result<(), Refusal> {
    names::check_free("labels", label)?;
    let is_plain = !label.starts_with(['+', '-']) && !label.contains([' ', ',']);
    match is_plain {
        true => Ok(()),
        false => Err(Refusal::invalid(
            "labels",
            label,
            "must have no space or comma, and one sign at most",
        )),
    }
}

/// Refuses a parent that does not exist, is a part of the task itself, or has to be completed before the task.
pub(crate) fn check_parent(live: &Live, id: &str, parent: &str, deps: &[String]) -> Result<()> {
    if parent != id && live.task(parent)?.is_none() {
        return Err(holding::not_found(parent).field("parent").into());
    }
    let ancestors = live.ancestors(id, parent)?;
    let refused = |message: String, cycle: Vec<String>| {
        let refusal = Refusal::new(Code::DependencyCycle, message).field("parent");
        Err(refusal.detail("cycle", cycle).into())
    };
    if ancestors.last().is_some_and(|last| last == id) {
        let way = [vec![id.to_owned()], ancestors].concat();
        let message = format!("parent of task {id} makes a cycle: {}", way.join(" -> "));
        return refused(message, way);
    }
    for ancestor in &ancestors {
        let waits = deps.contains(ancestor).then(|| vec![ancestor.clone()]);
        let waits = match waits {
            Some(way) => Some(way),
            None => live.dependency_cycle(ancestor, deps)?,
        };
        if let Some(way) = waits {
            let message =
                format!("task {id} is a part of task {ancestor} and must not wait for it");
            return refused(message, way);
        }
    }
    Ok(())
}
