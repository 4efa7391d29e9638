//! A projection of one's own: counts the calls of each tool, and keeps the counts beside the log.
//! `cargo run -p teamlog-engine --example counter -- DIRECTORY TOOL...`
#![allow(clippy::print_stdout, reason = "the output of a program")]

use std::{env, error::Error, path::Path, sync::Arc};
use teamlog_engine::projection::{
    Projection, ProjectionError, ProjectionOptions, Projections, RowChanges,
};
use teamlog_engine::storage::{Files, Storage};
use teamlog_engine::{Durability, Event, Json, Log, LogOptions, NewEvent, NewLog};

/// Rows: the tool's name, and the number of its calls.
struct Counter;

impl Projection for Counter {
    fn name(&self) -> &str {
        "calls"
    }
    fn version(&self) -> u64 {
        1
    }
    fn wants(&self, event: &Event<'_>) -> bool {
        event.kind == "tool_called"
    }
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        rows.add(event.payload.as_bytes(), 1)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = env::args().nth(1).ok_or("name a directory")?;
    let tools: Vec<String> = env::args().skip(2).collect();
    println!("{}", counted(Path::new(&dir), &tools)?.join("\n"));
    Ok(())
}

/// Records a call of each tool, and returns the counts of all calls so far.
pub fn counted(dir: &Path, tools: &[String]) -> Result<Vec<String>, Box<dyn Error>> {
    let storage: Arc<dyn Storage> = Arc::new(Files::create(dir)?);
    let (at, options) = (Path::new("calls"), LogOptions::default());
    let log = match Log::open(storage.clone(), at, options.clone()) {
        Err(teamlog_engine::Error::NoLog { .. }) => {
            Log::create(storage, at, NewLog::new("calls"), options)?
        }
        opened => opened?,
    };
    let writer = log.lock()?.into_writer(());
    for tool in tools {
        let call = NewEvent::new("tool_called", "agent-1", Json::from_value(tool)?);
        writer.append(vec![call], Durability::Synced)?;
    }
    writer.close()?;
    let options = ProjectionOptions::default();
    let mut counts = Projections::open(&log, "counts", vec![Arc::new(Counter)], options)?;
    counts.catch_up()?; // Folds the new events alone; the older counts are on disk.
    counts.flush()?;
    let mut lines = Vec::new();
    for row in counts.scan("calls", .., false)? {
        let (tool, _) = row?;
        let count = counts.number("calls", &tool)?.unwrap_or_default();
        lines.push(format!("{} {count}", String::from_utf8_lossy(&tool)));
    }
    Ok(lines)
}
