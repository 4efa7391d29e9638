//! A projection beside a team's state: the tasks that each agent completed, by day. The team's other programs, such as the daemon, neither
//! know nor fold it: `cargo run -p teamlog-team --example completed -- ROOT TEAM`
#![allow(clippy::print_stdout, reason = "the output of a program")]

use std::{env, error::Error, path::Path, sync::Arc};
use teamlog_team::engine::Event;
use teamlog_team::engine::projection::{
    Projection, ProjectionError, ProjectionOptions, Projections, RowChanges,
};
use teamlog_team::{Root, RootOptions, Team};

/// Rows: `AGENT DAY`, and the number of tasks that the agent completed on that day.
struct Completed;

impl Projection for Completed {
    fn name(&self) -> &str {
        "completed"
    }
    fn version(&self) -> u64 {
        1
    }
    fn wants(&self, event: &Event<'_>) -> bool {
        event.kind == "task_completed"
    }
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        let time = event.created_at.to_string();
        let day = time.get(..10).unwrap_or_default();
        rows.add(format!("{} {day}", event.actor).as_bytes(), 1)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (root, team) = (env::args().nth(1), env::args().nth(2));
    let (root, team) = root.zip(team).ok_or("name a data root and a team")?;
    let root = Root::open(Path::new(&root), RootOptions::default())?;
    for (agent_and_day, tasks) in completed(&root.team(&team)?)? {
        println!("{agent_and_day} {tasks}");
    }
    Ok(())
}

/// Opens the projection of a team.
pub fn opened(team: &Team) -> Result<Projections, Box<dyn Error>> {
    let set = vec![Arc::new(Completed) as Arc<dyn Projection>];
    Ok(team.open_projections("completed", set, ProjectionOptions::default())?)
}

/// Returns the number of completed tasks of each agent and day.
pub fn completed(team: &Team) -> Result<Vec<(String, i64)>, Box<dyn Error>> {
    let mut rows = opened(team)?;
    rows.catch_up()?;
    rows.flush()?; // The next call folds only later events.
    let mut counts = Vec::new();
    for row in rows.scan("completed", .., false)? {
        let (key, _) = row?;
        let count = rows.number("completed", &key)?.unwrap_or_default();
        counts.push((String::from_utf8(key)?, count));
    }
    Ok(counts)
}
