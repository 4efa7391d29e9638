//! Comparisons of the lists and rows of a state with its tasks.

use crate::support::*;
use teamlog_engine::Timestamp;
use teamlog_projections::{Status, Task, TaskFilter};

/// Compares the lists of ready tasks and of waiting tasks with all tasks.
pub fn check_at_hand(live: &Live, agents: &[&str]) {
    let all = live
        .tasks(&TaskFilter::default(), None, usize::MAX)
        .unwrap();
    let is_ready = |task: &Task| {
        let free = match task.claim_governed {
            true => matches!(task.status, Status::Pending | Status::Blocked),
            false => matches!(task.status, Status::Pending | Status::Assigned) && !task.blocked,
        };
        let plan = &task.governed.plan;
        free && plan.children.open == 0 && live.ready(task).unwrap()
    };
    // Returns the agent that a ready task is for; `None` for any agent.
    let taker = |task: &Task| match (task.claim_governed, task.status) {
        (false, Status::Pending) => None,
        _ => task.owner.clone(),
    };
    let (mut ready, mut deferred): (Vec<&Task>, Vec<&Task>) = all
        .tasks
        .iter()
        .filter(|task| is_ready(task))
        .partition(|task| task.governed.plan.defer_until.is_none());
    deferred.sort_by_key(|task| task.governed.plan.defer_until);
    for minute in 0..12 {
        let over = |task: &&&Task| task.governed.plan.defer_until <= Some(at(minute));
        let found = live.undeferred_tasks(None, at(minute)).unwrap();
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            deferred.iter().filter(over).copied().collect::<Vec<_>>()
        );
    }
    check_plans(live, &all.tasks);
    // The sort is stable, so tasks with equal keys stay in natural order.
    ready.sort_by_key(|task| (std::cmp::Reverse(task.priority), task.created_at));
    let ids = |tasks: &[&Task]| -> Vec<String> {
        tasks.iter().map(|task| task.task_id.clone()).collect()
    };
    check_pages(live, None, &ids(&ready));
    for agent in agents {
        let own = |task: &&&Task| taker(task).is_none_or(|owner| owner == **agent);
        let takes: Vec<&Task> = ready.iter().filter(own).copied().collect();
        check_pages(live, Some(agent), &ids(&takes));
        let owned: Vec<&Task> = all
            .tasks
            .iter()
            .filter(|task| task.owner.as_deref() == Some(*agent))
            .collect();
        let held_up = |task: &&&Task| {
            let reported = task.blocked || task.status == Status::Blocked;
            !task.status.is_final()
                && (reported && !task.claim_governed || !live.ready(task).unwrap())
        };
        let waiting: Vec<&Task> = owned.iter().filter(held_up).copied().collect();
        let page = live.waiting_tasks(agent, None, usize::MAX).unwrap();
        assert_eq!(ids(&page.tasks.iter().collect::<Vec<_>>()), ids(&waiting));
        assert_eq!(live.waiting_count(agent).unwrap(), waiting.len() as u64);
        let counts = live.owned_counts(agent).unwrap();
        for status in Status::ALL {
            let found = owned.iter().filter(|task| task.status == status).count();
            assert_eq!(counts.by_status[status as usize], found as u64);
        }
    }
}

/// Compares the progress of parents, and the lists by label, parent and due time, with all tasks.
fn check_plans(live: &Live, all: &[Task]) {
    let ids =
        |tasks: &[Task]| -> Vec<String> { tasks.iter().map(|task| task.task_id.clone()).collect() };
    let listed = |filter: TaskFilter| {
        let page = live.tasks(&filter, None, usize::MAX).unwrap();
        let passing: Vec<Task> = all
            .iter()
            .filter(|task| filter.passes(task))
            .cloned()
            .collect();
        assert_eq!(ids(&page.tasks), ids(&passing), "{filter:?}");
        passing
    };
    for label in ["l0", "l1", "l2", "none"] {
        listed(given!(TaskFilter, label: label, ..TaskFilter::default()));
        let open = Some(Status::Pending);
        listed(given!(TaskFilter, label: label, status: open, ..TaskFilter::default()));
    }
    for task in all {
        let parent = Some(task.task_id.clone());
        let mut children = listed(given!(TaskFilter, parent: parent, ..TaskFilter::default()));
        children.retain(|child| child.task_id != task.task_id);
        let counted = task.governed.plan.children;
        let count = |wanted: fn(&Task) -> bool| {
            children.iter().filter(|child| wanted(child)).count() as u64
        };
        let completed = count(|child| child.status == Status::Completed);
        let open = count(|child| !child.status.is_final());
        let total = children.len() as u64;
        assert_eq!(
            (counted.total, counted.open, counted.completed),
            (total, open, completed),
            "{}",
            task.task_id
        );
    }
    let mut due: Vec<(Timestamp, String)> = all
        .iter()
        .filter(|task| !task.status.is_final())
        .filter_map(|task| Some((task.governed.plan.due_at?, task.task_id.clone())))
        .collect();
    due.sort();
    for minute in 0..12 {
        let over = due.iter().filter(|(at_time, _)| *at_time <= at(minute));
        let over: Vec<String> = over.map(|(_, id)| id.clone()).collect();
        let found = live.overdue_tasks(at(minute), usize::MAX).unwrap();
        assert_eq!(ids(&found), over);
    }
}

/// Compares the indexes of claims with all tasks.
pub fn check_claims(live: &Live) {
    let all = live
        .tasks(&TaskFilter::default(), None, usize::MAX)
        .unwrap()
        .tasks;
    let ids =
        |tasks: Vec<Task>| -> Vec<String> { tasks.into_iter().map(|task| task.task_id).collect() };
    let mut leases: Vec<(Timestamp, String)> = all
        .iter()
        .filter_map(|task| Some((task.claim()?.leased_until, task.task_id.clone())))
        .collect();
    leases.sort();
    assert_eq!(
        live.next_lease().unwrap(),
        leases.first().map(|(until, _)| *until)
    );
    for minute in 0..12 {
        let out = leases.iter().filter(|(until, _)| *until <= at(minute));
        let out: Vec<String> = out.map(|(_, id)| id.clone()).collect();
        assert_eq!(
            ids(live.expired_tasks(at(minute), usize::MAX).unwrap()),
            out
        );
    }
    let holds = |task: &&Task| task.claim().is_some() && !task.governed.resources.is_empty();
    let mut held: Vec<(String, String, Timestamp, Vec<String>)> = Vec::new();
    for task in all.iter().filter(holds) {
        let claim = task.claim().unwrap();
        let resources = task.governed.resources.clone();
        let (owner, until) = (claim.owner.clone(), claim.leased_until);
        held.push((owner, task.task_id.clone(), until, resources));
    }
    held.sort();
    let found = live.held_resources().unwrap();
    let mut by: Vec<_> = found.iter().map(|held| held.holder.clone()).collect();
    by.dedup();
    let each: Vec<_> = by
        .iter()
        .flat_map(|holder| live.held_by(holder).unwrap())
        .collect();
    assert_eq!(each, found);
    let found = found.into_iter();
    let found: Vec<_> = found
        .map(|held| (held.holder, held.task_id, held.leased_until, held.resources))
        .collect();
    assert_eq!(found, held);
    let freed = all.iter().filter(|task| {
        task.claim_governed && task.status == Status::Blocked && live.ready(task).unwrap()
    });
    let freed: Vec<String> = freed.map(|task| task.task_id.clone()).collect();
    assert_eq!(ids(live.freed_tasks(None, usize::MAX).unwrap()), freed);
    let numbers = all
        .iter()
        .filter_map(|task| task.task_id.parse::<u64>().ok());
    let next = numbers.max().map_or(1, |largest| largest + 1);
    assert_eq!(live.next_task_number().unwrap(), next);
    for task in &all {
        let waits = |other: &&Task| other.deps.contains(&task.task_id);
        let mut waiting: Vec<String> = all
            .iter()
            .filter(waits)
            .map(|task| task.task_id.clone())
            .collect();
        let found: Result<_, _> = live.dependents(&task.task_id).collect();
        let mut found = ids(found.unwrap());
        waiting.sort();
        found.sort();
        assert_eq!(found, waiting);
    }
}

/// Compares the list, read in pages of two, with the wanted tasks.
fn check_pages(live: &Live, agent: Option<&str>, wanted: &[String]) {
    let mut found = Vec::new();
    let mut after: Option<Task> = None;
    loop {
        let page = live.ready_tasks(agent, after.as_ref(), 2).unwrap();
        found.extend(page.tasks.iter().map(|task| task.task_id.clone()));
        after = page.tasks.into_iter().next_back();
        if !page.more {
            break;
        }
    }
    assert_eq!(found, wanted, "ready for {agent:?}");
    assert_eq!(live.ready_count(agent).unwrap(), wanted.len() as u64);
}
