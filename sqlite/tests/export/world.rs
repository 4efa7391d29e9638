//! A data root in memory with its own clock, and calls of operations by name.

use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use teamlog_sqlite::{Export, Mode, Progress};
use teamlog_team::api::{self, Fault};
use teamlog_team::command::Control;
use teamlog_team::engine::storage::Memory;
use teamlog_team::engine::{ManualClock, SeededIds, Timestamp};
use teamlog_team::lifecycle::init::Init;
use teamlog_team::{Root, RootOptions, Team};

pub struct World {
    pub root: Root,
    pub clock: Arc<ManualClock>,
    pub memory: Arc<Memory>,
}

impl World {
    /// Creates a world with the closed team `demo`.
    pub fn new() -> World {
        World::with_seed(7)
    }

    /// Like [`World::new`], with another source of ids.
    pub fn with_seed(seed: u64) -> World {
        let world = World::on(Memory::new(), seed);
        let members = ["lead", "dev", "qa"].map(str::to_owned).to_vec();
        let init = Init {
            members,
            ..Init::for_team("demo")
        };
        world.root.init(init).unwrap();
        world
    }

    fn on(memory: Memory, seed: u64) -> World {
        let memory = Arc::new(memory);
        let now = Timestamp::parse("2026-11-21T12:00:00Z").unwrap();
        let clock = Arc::new(ManualClock::new(now));
        let options = RootOptions {
            clock: clock.clone(),
            ids: Arc::new(SeededIds(seed.into())),
            ..RootOptions::default()
        };
        World {
            root: Root::on(memory.clone(), options),
            clock,
            memory,
        }
    }

    /// Returns an independent copy with another source of ids.
    pub fn copy(&self) -> World {
        let copy = World::on(self.memory.keep_unsynced(), 8);
        copy.clock.advance(
            self.root.options().clock.now().micros() - copy.root.options().clock.now().micros(),
        );
        copy
    }

    pub fn team(&self) -> Team {
        self.root.team("demo").unwrap()
    }

    pub fn call(&self, name: &str, input: Value) -> Result<Value, Fault> {
        let Value::Object(mut input) = input else {
            panic!("{name}: {input}");
        };
        input.insert("team_name".to_owned(), "demo".into());
        self.call_with(name, input)
    }

    pub fn call_with(&self, name: &str, input: Map<String, Value>) -> Result<Value, Fault> {
        let answered = api::call(
            &self.root,
            api::find(name).unwrap(),
            input,
            Control::default(),
        )?;
        if let Some(mut team) = answered.team {
            team.finish().unwrap();
        }
        Ok(serde_json::from_str(answered.data.get()).unwrap())
    }

    pub fn later(&self, seconds: i64) {
        self.clock.advance(seconds * 1_000_000);
    }

    /// Continues the export in a file.
    pub fn export(&self, file: &Path) -> Result<Progress, teamlog_sqlite::Error> {
        self.export_in(file, Mode::Continue)
    }

    pub fn export_in(&self, file: &Path, mode: Mode) -> Result<Progress, teamlog_sqlite::Error> {
        let mut export = Export::open(file, mode)?;
        export.catch_up(&mut self.team(), &AtomicBool::new(false))
    }
}
