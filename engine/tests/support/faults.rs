//! Failing at every call in turn, and what a crash leaves.

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
    /// The number of the call.
    pub call: usize,
    /// What was called, of which path.
    pub name: &'static str,
    pub path: PathBuf,
    /// The storage as the run left it.
    pub memory: Memory,
    /// What the run came to.
    pub done: T,
}

/// Runs `act` on copies of `start`, failing at each call in turn, and shows every such run. Gives what comes of it where
/// nothing fails.
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
    /// What a failed sync leaves: what it should have made durable reads well, and no later sync makes it so.
    pub fn forget_unsynced(&self) {
        if ["sync_data", "sync_all"].contains(&self.name) {
            let _ = self.memory.forget_unsynced(&self.path);
        }
    }

    /// The states that a crash can leave now: each with a name, for messages.
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

/// The process died and the machine did not; power was lost, with all or nothing unsynced landing, or any part of it.
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

/// Every file below a directory with its bytes.
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

/// The states that were checked before. Most calls change no file, and most crashes lose nothing or all: a check that
/// depends on the files alone need not be done on the same files again.
#[derive(Default)]
pub struct Checked {
    seen: HashSet<u64>,
    /// States that were met, those that were checked before included.
    pub met: usize,
}

impl Checked {
    /// Whether these files were not met before together with whatever else the check depends on.
    pub fn is_new(&mut self, memory: &Memory, beside: impl Hash) -> bool {
        self.met += 1;
        let mut hasher = DefaultHasher::new();
        (tree(memory, Path::new("")), beside).hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }
}
