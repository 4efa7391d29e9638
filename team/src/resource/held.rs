//! Paths that a task declares, and conflicts with paths that other agents hold.
//!
//! Two agents never hold overlapping paths at the same time. There are two exceptions, in which the overlap is only reported:
//! both tasks are shared, or the team's policy is advisory.

use super::pattern::Pattern;
use crate::operation::prelude::*;
use crate::projections::task::{Governed, HeldResources};
use crate::projections::team::settings::ADVISORY;
use std::cell::OnceCell;

/// Maximum number of resources per task.
pub const RESOURCES_MAX: usize = 32;

/// Resource that covers the whole repository. A task that declares only this resource is shared by default.
const ALL: &str = ".";

/// An overlap of a task's path with a path of another agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overlap {
    /// Resource of the task
    pub resource: String,
    /// Resource of the other task
    pub held: String,
    /// Id of the other task
    pub task_id: String,
    /// Holder of the other task
    pub holder: String,
    /// End of the other holder's lease
    #[schemars(with = "Timestamp")]
    pub leased_until: String,
}

/// Paths that agents other than the worker hold. The paths are read when the first task with resources is checked.
pub(crate) struct PathLocks<'a> {
    live: &'a Live,
    worker: &'a str,
    now: Timestamp,
    held: OnceCell<HeldPaths>,
}

/// Resources that the other agents hold, and a flag that is true if the team's policy is advisory.
type HeldPaths = (Vec<HeldResources>, bool);

impl PathLocks<'_> {
    /// Creates the path locks for a worker that wants to claim tasks.
    pub fn new<'a>(live: &'a Live, worker: &'a str, now: Timestamp) -> PathLocks<'a> {
        PathLocks {
            live,
            worker,
            now: live.leases_over_by(now),
            held: OnceCell::new(),
        }
    }

    fn held(&self) -> Result<&HeldPaths> {
        if let Some(held) = self.held.get() {
            return Ok(held);
        }
        let mut resources = self.live.held_resources()?;
        resources.retain(|held| held.holder != self.worker && held.leased_until > self.now);
        let advisory = match resources.is_empty() {
            true => false,
            false => self.live.setting(Setting::ResourcesPolicy)?.0.text() == ADVISORY,
        };
        Ok(self.held.get_or_init(|| (resources, advisory)))
    }

    /// Returns the permitted overlaps of a task. Refuses the task if any overlap is forbidden.
    pub fn grant(&self, task: &Task) -> Result<Vec<Overlap>> {
        let Governed {
            resources, shared, ..
        } = &task.governed;
        if resources.is_empty() {
            return Ok(Vec::new());
        }
        let (held, advisory) = self.held()?;
        let both = |held: &&HeldResources| {
            is_shared(resources, *shared) && is_shared(&held.resources, held.shared)
        };
        let against = held.iter().filter(|held| !both(held));
        let overlaps: Vec<Overlap> = against
            .filter_map(|held| overlap(resources, held))
            .collect();
        match overlaps.first() {
            Some(first) if !advisory => Err(conflict(task, first, &overlaps).into()),
            _ => Ok(overlaps),
        }
    }
}

fn is_shared(resources: &[String], shared: Option<bool>) -> bool {
    shared.unwrap_or_else(|| resources == [ALL])
}

/// Returns the first overlap. For safety, an unreadable resource counts as overlapping with every path.
fn overlap(resources: &[String], held: &HeldResources) -> Option<Overlap> {
    let meet = |one: &str, two: &str| match (Pattern::parse(one), Pattern::parse(two)) {
        (Ok(one), Ok(two)) => one.overlaps(&two),
        _ => true,
    };
    let theirs = |mine: &String| {
        let found = held.resources.iter().find(|theirs| meet(mine, theirs))?;
        Some((mine.clone(), found.clone()))
    };
    let (resource, other) = resources.iter().find_map(theirs)?;
    Some(Overlap {
        resource,
        held: other,
        task_id: held.task_id.clone(),
        holder: held.holder.clone(),
        leased_until: held.leased_until.to_string(),
    })
}

fn conflict(task: &Task, first: &Overlap, all: &[Overlap]) -> Refusal {
    let message = format!(
        "resource {} of task {} overlaps {}, which {} holds for task {} until {}",
        first.resource, task.task_id, first.held, first.holder, first.task_id, first.leased_until
    );
    Refusal::new(Code::ResourceConflict, message)
        .details(json!({
            "task_id": task.task_id, "holder": first.holder, "held_by_task": first.task_id,
            "leased_until": first.leased_until, "conflicts": all,
        }))
        .hint(format!(
            "wait until task {} ends, or make both tasks shared with the operation set-task-resources",
            first.task_id
        ))
}

/// Normalizes declared resources and removes duplicates.
pub(crate) fn declared(wanted: &[String]) -> Result<Vec<String>, Refusal> {
    let mut resources: Vec<String> = Vec::new();
    for text in wanted {
        let pattern =
            Pattern::parse(text).map_err(|rule| Refusal::invalid("resources", text, rule))?;
        let resource = pattern.to_string();
        if !resources.contains(&resource) {
            resources.push(resource);
        }
        if resources.len() > RESOURCES_MAX {
            let message = format!("resources must have at most {RESOURCES_MAX} entries");
            return Err(Refusal::new(Code::TooLarge, message).field("resources"));
        }
    }
    Ok(resources)
}
