//! The audit log of an agent harness. Each tool call is recorded once, under the id of the call, and can be found by session:
//! `cargo run -p teamlog-engine --example audit_log -- DIRECTORY`
#![allow(clippy::print_stdout, reason = "the output of a program")]

use serde_json::json;
use std::{collections::HashSet, convert::Infallible, env, error::Error, path::Path, sync::Arc};
use teamlog_engine::storage::Files;
use teamlog_engine::{
    Durability, Event, Head, Json, Log, LogOptions, NewEvent, NewLog, Place, Ref, RefNames, State,
};

const SESSION: Ref = Ref::new(0);
#[derive(Default)]
struct Calls(HashSet<String>); // The ids of the recorded calls.

impl State for Calls {
    fn apply(&mut self, events: &[Event<'static>]) -> teamlog_engine::Result<()> {
        let ids = events.iter().filter_map(|event| event.refs.get(Ref::KEY));
        self.0.extend(ids.map(str::to_owned));
        Ok(())
    }
    fn committed(&mut self, _: &Head, _: &[Event<'static>], _: &[Place], _: &[u32]) {}
    fn allow_retract(&mut self) {} // Only a log with a journal takes events back.
    fn retract(&mut self) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = env::args().nth(1).ok_or("name a directory")?;
    println!("{}", audited(Path::new(&dir))?.join("\n"));
    Ok(())
}

/// Records a call and its retry in a new log, and returns the calls of the session.
pub fn audited(dir: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let options = LogOptions::default().with_refs(RefNames::new(["session_id"])?);
    let (storage, at) = (Arc::new(Files::create(dir)?), Path::new("audit"));
    let log = Log::create(storage, at, NewLog::new("audit"), options)?;
    let writer = log.lock()?.into_writer(Calls::default());
    for _attempt in 0..2 {
        let command = Json::from_value(&json!({"command": "ls"}))?;
        let call = NewEvent::new("tool_called", "agent-1", command)
            .with_ref(SESSION, "s-1")
            .with_ref(Ref::KEY, "call-17");
        let once = move |calls: &Calls, _now| match calls.0.contains("call-17") {
            true => Ok::<_, Infallible>(((), vec![])),
            false => Ok(((), vec![call])),
        };
        writer.commit(Durability::Synced, once)?;
    }
    writer.close()?; // From here on the power may fail.
    let mut calls = Vec::new();
    for event in log.reader()?.events(None) {
        let event = event?.2;
        if event.refs.get(SESSION) == Some("s-1") {
            calls.push(event.payload.into_owned());
        }
    }
    Ok(calls)
}
