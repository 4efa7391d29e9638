//! A log inside a program: creates a log in a new directory, appends durably, and reads the log back.
//!
//! `cargo run -p teamlog-engine --example embed -- notes`
#![allow(clippy::print_stdout, reason = "what a program is for")]

use std::{env, error::Error, path::Path, sync::Arc};
use teamlog_engine::storage::Files;
use teamlog_engine::{Durability, Format, Json, Log, LogOptions, NewEvent, NewLog};

fn main() -> Result<(), Box<dyn Error>> {
    let dir = env::args().nth(1).ok_or("name a directory")?;
    for line in noted(Path::new(&dir), "the build is green")? {
        println!("{line}");
    }
    Ok(())
}

/// Appends a note, and returns all texts of the log.
pub fn noted(dir: &Path, text: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let new = NewLog {
        name: "notes".into(),
        format: Format::Jsonl,
        origin: "embed".into(),
    };
    let storage = Arc::new(Files::create(dir)?);
    let log = Log::create(storage, Path::new("log"), new, LogOptions::default())?;
    let note = NewEvent::new("note_taken", "me", Json::from_value(&text)?);
    let writer = log.lock()?.into_writer(());
    writer.append(vec![note], Durability::Synced)?;
    // After this call the event survives a power failure.
    writer.close()?;
    let events = log.reader()?.events(None);
    let lines = events.map(|event| {
        let (_, _, event) = event?;
        Ok(format!("{} {} {}", event.seq, event.kind, &*event.payload))
    });
    lines.collect()
}
