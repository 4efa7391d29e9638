//! Measures the fold of an embedder's projection beside a team's own fold of the same log.

use crate::history::imported;
use crate::options::Options;
use std::sync::Arc;
use teamlog_benches::past::TEAM;
use teamlog_benches::rounds::{Contestant, run, timed};
use teamlog_benches::table::Target;
use teamlog_benches::workspace::FORMATS;
use teamlog_engine::Event;
use teamlog_engine::projection::{
    Projection, ProjectionError, ProjectionOptions, Projections, RowChanges,
};
use teamlog_team::projections::Live;
use teamlog_team::projections::live::DERIVED_DIR;
use teamlog_team::{Root, RootOptions};

const EVENTS: u64 = 100_000;

/// Counts events per actor and keeps the last payload of each kind and actor: three reads and four changes an event.
struct Activity;

impl Projection for Activity {
    fn name(&self) -> &str {
        "activity"
    }
    fn version(&self) -> u64 {
        1
    }
    fn apply(&self, rows: &mut RowChanges<'_>, event: &Event<'_>) -> Result<(), ProjectionError> {
        rows.add(b"all", 1)?;
        rows.add(format!("actor {}", event.actor).as_bytes(), 1)?;
        let key = format!("kind {} {}", event.kind, event.actor);
        rows.add(key.as_bytes(), 1)?;
        let last = format!("last {}", event.id);
        rows.put(last.as_bytes(), event.payload.as_bytes())
    }
}

/// Prints the rows about folds.
pub fn rows(options: &Options) {
    for format in FORMATS {
        let name = format!("embedder's fold beside the team's, {}", format.name());
        if !options.wants(&name) {
            continue;
        }
        let dir = imported(format, EVENTS, options);
        let root = Root::open(&dir, RootOptions::default()).unwrap();
        let team = root.team(TEAM).unwrap();
        let log = team.log();
        let head = log.reader().unwrap().head().last_seq;
        let set: Vec<Arc<dyn Projection>> = vec![Arc::new(Activity)];
        let mut rows = Projections::open(log, "bench", set, ProjectionOptions::default()).unwrap();
        let own: Contestant<'_> = Box::new(|| {
            let derived = log.dir().join(DERIVED_DIR);
            let _ = log.storage().remove_dir_all(&derived);
            let reader = log.reader().unwrap();
            timed(|| assert_eq!(Live::load(log, &reader).unwrap().seq(), head))
        });
        let embedder: Contestant<'_> =
            Box::new(|| timed(|| assert_eq!(rows.rebuild().unwrap(), head)));
        let times = run(options.rounds(7), vec![own, embedder]);
        times.row(&name, Target::AtLeast(1.0), head as u32, " an event");
    }
}
