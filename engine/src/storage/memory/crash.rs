//! Copies of a memory: exact copies, and states after a power loss.

use super::content::Content;
use super::names::Names;
use super::{DirNode, FileNode, Memory, Node, guard};
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

impl Memory {
    /// Returns an independent copy, including unsynced changes. No file in the copy is locked or open.
    pub fn snapshot(&self) -> Memory {
        let _world = self.exclusive();
        let mut copied = HashMap::new();
        let root = Copier {
            copied: &mut copied,
        }
        .dir(&self.shared.root);
        Memory::with(root, self.shared.next.load(Relaxed))
    }

    /// Returns the state after a power loss; this memory stays unchanged. `choose(n)` is called for every unsynced change and
    /// answers 0..n: 0 means that nothing of the change reached the disk, n - 1 means that all of it did. A larger answer counts
    /// as n - 1. The first calls are for the directories, each with its number of changes. Then come the remaining files: for
    /// each change one call for the length (if it changed), then one call for each sector.
    pub fn crash(&self, choose: &mut dyn FnMut(usize) -> usize) -> Memory {
        let _world = self.exclusive();
        let mut landed = HashMap::new();
        for dir in self.dirs() {
            let unsynced = guard(&dir.names).unsynced().len();
            if unsynced > 0 {
                landed.insert(dir.inode, choose(unsynced + 1).min(unsynced));
            }
        }
        self.part_no_rename(&mut landed);
        let root = CrashCopy {
            landed: &landed,
            choose,
        }
        .dir(&self.shared.root);
        Memory::with(root, self.shared.next.load(Relaxed))
    }

    /// Returns the state after a power loss that removed everything unsynced.
    pub fn lose_unsynced(&self) -> Memory {
        self.crash(&mut |_| 0)
    }

    /// Returns the state after a power loss that removed nothing.
    pub fn keep_unsynced(&self) -> Memory {
        self.crash(&mut |choices| choices - 1)
    }

    /// Returns every state that a power loss could leave. A state may occur more than once. The number of states doubles with
    /// every unsynced sector.
    pub fn crashes(&self) -> Crashes {
        Crashes {
            memory: self.snapshot(),
            next: Some(Vec::new()),
        }
    }

    /// Reduces the changes until each rename between two directories is in both directories or in none.
    fn part_no_rename(&self, landed: &mut HashMap<u64, usize>) {
        let halves: Vec<(u64, usize, u64)> = self
            .dirs()
            .iter()
            .flat_map(|dir| {
                let names = guard(&dir.names);
                let pairs = names
                    .unsynced()
                    .iter()
                    .enumerate()
                    .filter_map(|(at, change)| Some((dir.inode, at, change.pair?)));
                pairs.collect::<Vec<_>>()
            })
            .collect();
        loop {
            let mut held_back = false;
            for (dir, at, pair) in &halves {
                let lands = landed.get(dir).is_some_and(|count| at < count);
                let whole = halves
                    .iter()
                    .filter(|(_, _, other)| other == pair)
                    .all(|(dir, at, _)| landed.get(dir).is_some_and(|count| at < count));
                if lands && !whole {
                    landed.insert(*dir, *at);
                    held_back = true;
                }
            }
            if !held_back {
                return;
            }
        }
    }
}

/// Copies nodes, each once.
struct Copier<'a> {
    copied: &'a mut HashMap<u64, Node>,
}

impl Copier<'_> {
    fn dir(&mut self, dir: &DirNode) -> Arc<DirNode> {
        let copy = Arc::new(DirNode {
            inode: dir.inode,
            names: Mutex::default(),
        });
        self.copied.insert(dir.inode, Node::Dir(copy.clone()));
        let names = guard(&dir.names).clone();
        *guard(&copy.names) = names.map(&mut |node| self.node(node));
        copy
    }

    fn node(&mut self, node: &Node) -> Node {
        let inode = match node {
            Node::File(file) => file.inode,
            Node::Dir(dir) => dir.inode,
        };
        if let Some(copy) = self.copied.get(&inode) {
            return copy.clone();
        }
        match node {
            Node::Dir(dir) => Node::Dir(self.dir(dir)),
            Node::File(file) => {
                let copy = file_with(file, guard(&file.content).clone());
                self.copied.insert(inode, copy.clone());
                copy
            }
        }
    }
}

fn file_with(of: &FileNode, content: Content) -> Node {
    Node::File(Arc::new(FileNode {
        inode: of.inode,
        changed: of.changed.load(Relaxed).into(),
        content: Mutex::new(content),
    }))
}

/// Builds the tree after the power loss.
struct CrashCopy<'a> {
    /// Number of changes that reached the disk, by directory.
    landed: &'a HashMap<u64, usize>,
    choose: &'a mut dyn FnMut(usize) -> usize,
}

impl CrashCopy<'_> {
    fn dir(&mut self, dir: &DirNode) -> Arc<DirNode> {
        let landed = self.landed.get(&dir.inode).copied().unwrap_or(0);
        let mut names = guard(&dir.names).landed(landed);
        for node in names.values_mut() {
            *node = match &*node {
                Node::Dir(below) => Node::Dir(self.dir(below)),
                Node::File(file) => file_with(file, guard(&file.content).crash(self.choose)),
            };
        }
        Arc::new(DirNode {
            inode: dir.inode,
            names: Mutex::new(Names::settled(names)),
        })
    }
}

/// Iterates over every crash of a memory, in the order of an odometer; see [`Memory::crashes`].
#[derive(Debug)]
pub struct Crashes {
    memory: Memory,
    /// The first answers of the next crash; all further answers are 0. `None` at the end.
    next: Option<Vec<usize>>,
}

impl Iterator for Crashes {
    type Item = Memory;

    fn next(&mut self) -> Option<Memory> {
        let given = self.next.take()?;
        let mut asked: Vec<(usize, usize)> = Vec::new();
        let crashed = self.memory.crash(&mut |choices| {
            let answer = given.get(asked.len()).copied().unwrap_or(0);
            asked.push((answer, choices));
            answer
        });
        while let Some((answer, choices)) = asked.pop() {
            if answer + 1 < choices {
                let mut next: Vec<usize> = asked.iter().map(|(answer, _)| *answer).collect();
                next.push(answer + 1);
                self.next = Some(next);
                break;
            }
        }
        Some(crashed)
    }
}
