//! The names in one directory in memory: as programs see them, as a power loss would leave them, and the changes in between.
//!
//! Unsynced changes reach the disk in order, up to any point. A rename between two directories is a change in each of them, with
//! the same number. Both changes reach the disk or neither does, as every journalling file system promises.

use super::Node;
use std::collections::BTreeMap;

/// A change of a directory: removes a name, adds a name, or (for a rename) does both at once.
#[derive(Debug, Clone)]
pub(super) struct NameChange {
    pub(super) removes: Option<String>,
    pub(super) adds: Option<(String, Node)>,
    /// Number of the rename, if its other half is in another directory.
    pub(super) pair: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    now: BTreeMap<String, Node>,
    durable: BTreeMap<String, Node>,
    unsynced: Vec<NameChange>,
}

impl Names {
    /// Creates a directory with exactly the given names, durably.
    pub(super) fn settled(names: BTreeMap<String, Node>) -> Names {
        Names {
            now: names.clone(),
            durable: names,
            unsynced: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> &BTreeMap<String, Node> {
        &self.now
    }

    pub(super) fn change(&mut self, change: NameChange) {
        apply(&mut self.now, &change);
        self.unsynced.push(change);
    }

    pub(super) fn add(&mut self, name: &str, node: Node) {
        self.change(NameChange {
            removes: None,
            adds: Some((name.to_owned(), node)),
            pair: None,
        });
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.change(NameChange {
            removes: Some(name.to_owned()),
            adds: None,
            pair: None,
        });
    }

    pub(super) fn unsynced(&self) -> &[NameChange] {
        &self.unsynced
    }

    /// Makes the first `count` unsynced changes durable.
    pub(super) fn sync(&mut self, count: usize) -> Vec<NameChange> {
        let synced: Vec<NameChange> = self
            .unsynced
            .drain(..count.min(self.unsynced.len()))
            .collect();
        for change in &synced {
            apply(&mut self.durable, change);
        }
        synced
    }

    /// Returns the names after a power loss with the first `count` unsynced changes.
    pub(super) fn landed(&self, count: usize) -> BTreeMap<String, Node> {
        let mut names = self.durable.clone();
        for change in self.unsynced.iter().take(count) {
            apply(&mut names, change);
        }
        names
    }

    /// Returns every node that this directory names, named at the last sync, or may name after a crash. The order is fixed, and a
    /// node may occur more than once.
    pub(super) fn nodes(&self) -> Vec<Node> {
        let coming = self
            .unsynced
            .iter()
            .filter_map(|change| change.adds.as_ref());
        let coming = coming.map(|(_, node)| node);
        self.durable
            .values()
            .chain(self.now.values())
            .chain(coming)
            .cloned()
            .collect()
    }

    /// Returns a copy with every node replaced by `copy`.
    pub(super) fn map(&self, copy: &mut dyn FnMut(&Node) -> Node) -> Names {
        let mut all = |names: &BTreeMap<String, Node>| -> BTreeMap<String, Node> {
            names
                .iter()
                .map(|(name, node)| (name.clone(), copy(node)))
                .collect()
        };
        let (now, durable) = (all(&self.now), all(&self.durable));
        let unsynced = self.unsynced.iter().map(|change| NameChange {
            adds: change
                .adds
                .as_ref()
                .map(|(name, node)| (name.clone(), copy(node))),
            ..change.clone()
        });
        Names {
            now,
            durable,
            unsynced: unsynced.collect(),
        }
    }
}

fn apply(names: &mut BTreeMap<String, Node>, change: &NameChange) {
    if let Some(name) = &change.removes {
        names.remove(name);
    }
    if let Some((name, node)) = &change.adds {
        names.insert(name.clone(), node.clone());
    }
}
