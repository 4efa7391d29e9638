//! Test: a failing worker ends the fold, even if an order for its table follows.

use super::{Bulk, fold_all};
use crate::event::team::TeamCreated;
use crate::live::derived_dir;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use teamlog_engine::internals::derived::Store;
use teamlog_engine::storage::{Memory, Storage};
use teamlog_engine::{Durability, Error, Format, Log, LogOptions, NewLog};

#[test]
fn a_failure_behind_which_a_cut_waits_is_told() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::new());
    let new = NewLog {
        name: "demo".into(),
        format: Format::Jsonl,
        origin: "init".into(),
    };
    let dir = Path::new("teams/demo");
    let log = Log::create(storage.clone(), dir, new, LogOptions::default()).unwrap();
    let created = TeamCreated {
        leader: None,
        members: vec!["dev".into()],
        open: false,
        views: true,
    };
    let writer = log.lock().unwrap().into_writer(());
    let event = created.event("lead", None);
    writer.append(vec![event], Durability::Synced).unwrap();
    drop(writer);
    let reader = log.reader().unwrap();
    let store = Store::aside(storage, &derived_dir(dir), Duration::ZERO).unwrap();
    // The order for the table was sent long before the failure.
    let sink: super::BatchReceiver<'_> = Box::new(|_| {
        std::thread::sleep(Duration::from_millis(100));
        Err(Error::Poisoned("the sink".into()).into())
    });
    let bulk = Bulk {
        alone_max: 0,
        ..Bulk::new(1)
    };
    let folded = fold_all(&reader, store, bulk, Some(sink), &mut |_| {});
    assert!(folded.err().unwrap().to_string().contains("the sink"));
}
