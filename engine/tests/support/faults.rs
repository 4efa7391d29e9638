//! Runs operations with a fault at every call in turn, and creates states after a crash.

use super::{arc, dir};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use teamlog_engine::SeededIds;
use teamlog_engine::internals::storage::{Fault, Faulty};
use teamlog_engine::storage::{Memory, Storage};

/// A run in which one call failed.
pub struct Failed<T> {
    /// Number of the call.
    pub call: usize,
    /// Name of the call; `path` is its path.
    pub name: &'static str,
    pub path: PathBuf,
    /// The storage after the run.
    pub memory: Memory,
    /// Result of the run.
    pub done: T,
}

/// Runs `act` on copies of `start`, and fails another call in each run. Passes each failed run to the callback. Returns the result of a run
/// without faults.
pub fn at_every_call<T>(
    start: &Memory,
    fault: Fault,
    act: impl Fn(&Arc<dyn Storage>) -> T,
    mut see: impl FnMut(Failed<T>),
) -> T {
    for call in 0.. {
        let memory = start.snapshot();
        let faulty = Faulty::new(arc(&memory));
        faulty.arm(call, fault);
        let storage: Arc<dyn Storage> = Arc::new(faulty.clone());
        let done = act(&storage);
        let Some((name, path)) = faulty.calls().get(call).cloned() else {
            return done;
        };
        see(Failed {
            call,
            name,
            path,
            memory,
            done,
        });
    }
    unreachable!("a run has an end")
}

impl<T> Failed<T> {
    /// Simulates a failed sync: the bytes can be read, but no later sync makes them durable.
    pub fn forget_unsynced(&self) {
        if ["sync_data", "sync_all"].contains(&self.name) {
            let _ = self.memory.forget_unsynced(&self.path);
        }
    }

    /// Returns the states that a crash can leave now, each with a name for messages.
    pub fn crashes(&self, random: usize) -> Vec<(String, Memory)> {
        let Failed {
            call, name, path, ..
        } = self;
        let mut states = crashes(&self.memory, *call as u64, random);
        for (how, _) in &mut states {
            *how = format!("call {call} ({name} {}), {how}", path.display());
        }
        states
    }
}

/// Returns the states after the process died (but not the machine), and after a power loss that keeps all, none or any part of
/// the unsynced changes.
pub fn crashes(memory: &Memory, seed: u64, random: usize) -> Vec<(String, Memory)> {
    let mut states = vec![
        ("all lost".to_owned(), memory.lose_unsynced()),
        ("all kept".to_owned(), memory.keep_unsynced()),
        ("killed".to_owned(), memory.snapshot()),
    ];
    states.extend((0..random).map(|round| {
        let bits = SeededIds(AtomicU64::new(seed.wrapping_mul(1_000_003) + round as u64));
        let left = memory.crash(&mut |n| (bits.random() % n as u64) as usize);
        (format!("random {round}"), left)
    }));
    states
}

/// Returns every file below a directory with its bytes.
pub fn tree(storage: &dyn Storage, dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir_now) = open.pop() {
        for name in storage.list(&dir_now).unwrap_or_default() {
            let path = dir_now.join(name);
            match storage.stat(&path).unwrap() {
                Some(stat) if stat.is_dir => open.push(path),
                Some(_) => {
                    let bytes = storage.read(&path, 1 << 24).unwrap();
                    found.insert(path.strip_prefix(dir).unwrap().to_path_buf(), bytes);
                }
                None => {}
            }
        }
    }
    found
}

/// States that were checked before. Most calls change no file, and most crashes lose nothing or everything. So a check that
/// depends on the files alone runs once for equal files.
#[derive(Default)]
pub struct Checked {
    seen: HashSet<u64>,
    /// Number of states seen, including states that were checked before.
    pub met: usize,
}

impl Checked {
    /// Returns true if these files were not checked before together with `beside`, the other input of the check.
    pub fn is_new(&mut self, memory: &Memory, beside: impl Hash) -> bool {
        self.met += 1;
        let mut hasher = DefaultHasher::new();
        (tree(memory, Path::new("")), beside).hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }
}
