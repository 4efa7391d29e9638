//! Tests for the locks of every storage.

use super::{LockError, Storage};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const NOW: Duration = Duration::ZERO;
/// Deadline for a lock that is free. If another test starts a child process, the child holds copies of this process's locks
/// until the child runs its own program.
const SOON: Duration = Duration::from_secs(5);

fn busy(storage: &dyn Storage, deadline: Duration) -> String {
    match storage.lock(Path::new("lock"), deadline) {
        Err(LockError::Busy(holder)) => holder,
        other => panic!("busy was expected, not {other:?}"),
    }
}

/// Runs all the checks on an empty storage.
pub(super) fn testing_locks(storage: Arc<dyn Storage>) {
    excludes_and_releases(&*storage);
    waits_as_long_as_told(&*storage);
    passes_to_a_waiter(&storage);
    an_abandoned_waiter_leaves_nothing_locked(&storage);
    a_release_at_the_deadline_loses_nothing(&storage);
    only_one_holds_at_a_time(&storage);
}

fn excludes_and_releases(storage: &dyn Storage) {
    let held = storage.lock(Path::new("lock"), SOON).unwrap();
    assert_eq!(
        held.identity(),
        storage.stat(Path::new("lock")).unwrap().unwrap().identity
    );
    let me = format!("pid {}", std::process::id());
    assert!(busy(storage, NOW).starts_with(&me));
    storage.lock(Path::new("another"), SOON).unwrap();
    drop(held);
    storage.lock(Path::new("lock"), SOON).unwrap();
    assert!(storage.stat(Path::new("lock")).unwrap().is_some());
}

fn waits_as_long_as_told(storage: &dyn Storage) {
    let _held = storage.lock(Path::new("lock"), SOON).unwrap();
    let start = Instant::now();
    busy(storage, Duration::from_millis(60));
    let waited = start.elapsed();
    assert!(
        waited >= Duration::from_millis(60) && waited < Duration::from_secs(5),
        "{waited:?}"
    );
}

fn passes_to_a_waiter(storage: &Arc<dyn Storage>) {
    let held = storage.lock(Path::new("lock"), SOON).unwrap();
    let waiter = {
        let storage = storage.clone();
        thread::spawn(move || {
            storage
                .lock(Path::new("lock"), Duration::from_secs(20))
                .is_ok()
        })
    };
    thread::sleep(Duration::from_millis(30));
    assert!(!waiter.is_finished());
    drop(held);
    assert!(waiter.join().unwrap());
}

/// After the holder releases the lock, the lock must be free soon, even if other threads waited for the lock and gave up.
fn an_abandoned_waiter_leaves_nothing_locked(storage: &Arc<dyn Storage>) {
    let held = storage.lock(Path::new("lock"), SOON).unwrap();
    for _ in 0..5 {
        busy(&**storage, Duration::from_millis(2));
    }
    drop(held);
    drop(storage.lock(Path::new("lock"), SOON).unwrap());
    // All five threads have taken and released the lock, so it stays free from now on.
    thread::sleep(Duration::from_millis(50));
    for _ in 0..20 {
        drop(storage.lock(Path::new("lock"), SOON).unwrap());
    }
}

fn a_release_at_the_deadline_loses_nothing(storage: &Arc<dyn Storage>) {
    for round in 0..200 {
        let held = storage.lock(Path::new("lock"), SOON).unwrap();
        let holder = thread::spawn(move || {
            thread::sleep(Duration::from_micros(900 + round));
            drop(held);
        });
        // The call may get the lock or not. But no lock may be left without a holder.
        let answer = storage.lock(Path::new("lock"), Duration::from_millis(1));
        drop(answer);
        holder.join().unwrap();
    }
    drop(storage.lock(Path::new("lock"), SOON).unwrap());
}

fn only_one_holds_at_a_time(storage: &Arc<dyn Storage>) {
    let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (storage, inside) = (storage.clone(), inside.clone());
            thread::spawn(move || {
                for _ in 0..50 {
                    let held = storage
                        .lock(Path::new("lock"), Duration::from_secs(20))
                        .unwrap();
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    thread::yield_now();
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    drop(held);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
