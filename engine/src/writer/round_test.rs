//! Tests of a round of several groups in which a later group fails.

use super::{CommitError, Durability, State};
use crate::json::Json;
use crate::layout::LOCK_FILE;
use crate::log::{Log, NewLog};
use crate::options::LogOptions;
use crate::prelude::*;
use crate::storage::Memory;

/// Removes the lock file once a group is durable.
struct LockRemover(Arc<dyn Storage>);

impl State for LockRemover {
    fn apply(&mut self, _: &[Event<'static>]) -> Result<()> {
        Ok(())
    }
    fn committed(&mut self, _: &Head, _: &[Event<'static>], _: &[Place], _: &[u32]) {
        let lock = Path::new("demo").join(LOCK_FILE);
        self.0.remove_file(&lock).unwrap();
    }
    fn allow_retract(&mut self) {}
    fn retract(&mut self) {}
}

fn noted(day: &str) -> NewEvent {
    let mut event = NewEvent::new("note_said", "lead", Json::parse("{}").unwrap());
    event.created_at = Some(Timestamp::parse(&format!("{day}T10:00:00Z")).unwrap());
    event
}

#[test]
fn what_an_earlier_group_of_the_round_holds_is_acknowledged() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::new());
    let new = NewLog {
        name: "demo".into(),
        format: Format::Jsonl,
        origin: "init".into(),
    };
    let log = Log::create(
        storage.clone(),
        Path::new("demo"),
        new,
        LogOptions::default(),
    );
    let exclusive = log.unwrap().lock().unwrap();
    let writer = Arc::new(exclusive.into_writer(LockRemover(storage)));
    let (leading, followed) = (Arc::clone(&writer), Arc::clone(&writer));
    let first = writer.commit(Durability::Synced, move |_, _| {
        // Another job queues while this job is decided. Its event belongs to another day, so to another group.
        let follower = std::thread::spawn(move || {
            leading.commit(Durability::Synced, |_, _| {
                Ok::<_, Error>(((), vec![noted("2030-01-02")]))
            })
        });
        while followed.queue().waiting.is_empty() {
            std::thread::yield_now();
        }
        Ok::<_, Error>((follower, vec![noted("2030-01-01")]))
    });
    let first = first.unwrap();
    assert_eq!(first.events.len(), 1);
    assert_eq!(writer.head().last_seq, 1);
    match first.answer.join().unwrap() {
        Err(CommitError::Failed(Error::LockLost { written: false, .. })) => {}
        other => panic!("{:?}", other.map(|done| done.events)),
    }
}
