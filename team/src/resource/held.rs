//! Which paths a task declares, and what stands against taking it.
//!
//! Two agents never hold overlapping paths at the same time, unless both tasks are shared, or the team's policy only
//! advises: then it is said, and nothing more.

use super::pattern::Pattern;
use crate::operation::prelude::*;
use crate::projections::task::{Governed, HeldResources};
use crate::projections::team::settings::ADVISORY;
use std::cell::OnceCell;

/// Most resources of one task.
pub const RESOURCES_MAX: usize = 32;

/// Everything. Who declares that alone does not mean to keep others out, unless it says so.
const ALL: &str = ".";

/// The same path in the hands of two agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overlap {
    /// What the task declares
    pub resource: String,
    /// What overlaps it
    pub held: String,
    /// The task that declares that
    pub task_id: String,
    /// Who holds it
    pub holder: String,
    /// Until when, unless the lease is renewed
    #[schemars(with = "Timestamp")]
    pub leased_until: String,
}

/// The paths that agents other than a worker hold at a time; read for the first task that declares paths.
pub(crate) struct PathLocks<'a> {
    live: &'a Live,
    worker: &'a str,
    now: Timestamp,
    held: OnceCell<Held>,
}

/// What they hold, and whether the team only advises.
type Held = (Vec<HeldResources>, bool);

impl PathLocks<'_> {
    /// For a worker that is to take a task.
    pub fn of<'a>(live: &'a Live, worker: &'a str, now: Timestamp) -> PathLocks<'a> {
        PathLocks {
            live,
            worker,
            now: live.leases_over_by(now),
            held: OnceCell::new(),
        }
    }

    fn held(&self) -> Result<&Held> {
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

    /// What is held twice once the task is taken, where that is allowed with a warning; else a refusal.
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

/// The first two that overlap. What cannot be read overlaps everything: that cannot come from our own writing.
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
        "resource {} of task {} must not overlap what another agent holds, but {} holds {} for task {} until {}",
        first.resource, task.task_id, first.holder, first.held, first.task_id, first.leased_until
    );
    Refusal::new(Code::ResourceConflict, message)
        .details(json!({
            "task_id": task.task_id, "holder": first.holder, "held_by_task": first.task_id,
            "leased_until": first.leased_until, "conflicts": all,
        }))
        .hint(format!(
            "wait for task {}, or declare both tasks shared with: set-task-resources",
            first.task_id
        ))
}

/// What a task declares, in one form and each once.
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
            let message = format!("resources must be at most {RESOURCES_MAX}");
            return Err(Refusal::new(Code::TooLarge, message).field("resources"));
        }
    }
    Ok(resources)
}
