//! The contestants, and the measurements in which each takes part.

use crate::draft::{self, Draft};
use crate::stores::{bare, commitlog, fjall, okaywal, raft_engine, redb, sqlite, teamlog, umadb};
use std::path::Path;
use teamlog_benches::events::Line;
use teamlog_engine::Format;

/// A store or loop in the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    Engine(Format),
    Indexed(Format),
    Team(Format),
    Okaywal,
    RaftEngine,
    Fjall,
    Redb,
    Sqlite,
    Umadb,
    UmadbWriter,
    Commitlog,
    Growing,
    Prewritten,
    GroupGrowing,
    GroupPrewritten,
    Written,
}

/// The role of a contestant in a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Ours,
    Peer,
    Floor,
}

use Contestant::*;

const JSONL: Format = Format::Jsonl;
const BINARY: Format = Format::Binary;

/// Contestants whose appends are durable when answered.
pub const DURABLE: &[Contestant] = &[
    Engine(JSONL),
    Engine(BINARY),
    Indexed(JSONL),
    Indexed(BINARY),
    Team(JSONL),
    Team(BINARY),
    Okaywal,
    RaftEngine,
    Fjall,
    Redb,
    Sqlite,
    Umadb,
    UmadbWriter,
    Growing,
    Prewritten,
    GroupGrowing,
    GroupPrewritten,
];

/// Contestants whose appends do not wait for the disk.
pub const BUFFERED: &[Contestant] = &[
    Engine(JSONL),
    Engine(BINARY),
    RaftEngine,
    Fjall,
    Redb,
    Sqlite,
    Commitlog,
    Written,
];

/// Contestants that keep and read a long history. The first three contestants of one format share a directory.
pub const LONG: &[Contestant] = &[
    Indexed(JSONL),
    Indexed(BINARY),
    Team(JSONL),
    Team(BINARY),
    Okaywal,
    RaftEngine,
    Fjall,
    Redb,
    Sqlite,
    Umadb,
    Commitlog,
    Written,
];

/// Function that appends events for one thread.
pub type Appender<'a> = Box<dyn FnMut(Draft) + 'a>;

/// A place to append events, by any number of threads.
pub trait Sink: Sync {
    /// Returns an appender for one thread.
    fn appender(&self) -> Appender<'_>;
    /// Makes remaining events durable, after the measurement.
    fn settle(&self) {}
}

/// Depth of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Returns every record. For teamlog, this checks the checksum and reads the envelope.
    Records,
    /// Reads every field. For teamlog, this also checks order and groups.
    Fields,
    /// Reads every field, and the payload into its type.
    Typed,
}

/// A long history, open for reading.
pub trait History {
    /// Reads the whole history with `threads` threads, and returns the number of events; `None` if the contestant cannot share
    /// the history between threads.
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64>;
    /// Reads the events of a trace, and returns their number; `None` if the contestant has no index.
    fn trace(&self, _: &str) -> Option<usize> {
        None
    }
}

impl Contestant {
    pub fn name(self) -> String {
        let of = |format: Format, how: &str| format!("teamlog {}{how}", format.name());
        match self {
            Engine(format) => of(format, ""),
            Indexed(format) => of(format, ", index"),
            Team(format) => of(format, ", team"),
            Okaywal => "okaywal".into(),
            RaftEngine => "raft-engine".into(),
            Fjall => "fjall".into(),
            Redb => "redb".into(),
            Sqlite => "SQLite".into(),
            Umadb => "UmaDB".into(),
            UmadbWriter => "UmaDB, writer thread".into(),
            Commitlog => "commitlog".into(),
            Growing => "bare, growing".into(),
            Prewritten => "bare, pre-written".into(),
            GroupGrowing => "hand group, growing".into(),
            GroupPrewritten => "hand group, pre-written".into(),
            Written => "bare, with CRC".into(),
        }
    }

    /// Returns the contestant with that name.
    pub fn of_name(name: &str) -> Option<Contestant> {
        let all = [DURABLE, BUFFERED, LONG].concat();
        all.into_iter().find(|one| one.name() == name)
    }

    pub fn side(self) -> Side {
        match self {
            Engine(_) | Indexed(_) | Team(_) => Side::Ours,
            Okaywal | RaftEngine | Fjall | Redb | Sqlite | Umadb | UmadbWriter | Commitlog => {
                Side::Peer
            }
            Growing | Prewritten | GroupGrowing | GroupPrewritten | Written => Side::Floor,
        }
    }

    /// Returns event `seq` in the contestant's form.
    pub fn draft(self, seq: u64) -> Draft {
        match self {
            Engine(_) | Indexed(_) => Draft::Event(draft::event(seq)),
            Team(_) => Draft::Input(draft::input(seq)),
            _ => Draft::Record(draft::record(seq)),
        }
    }

    /// Creates a new sink in an empty directory.
    pub fn sink(self, dir: &Path, durable: bool) -> Box<dyn Sink> {
        match self {
            Engine(format) => Box::new(teamlog::Engine::create(dir, format, durable)),
            Indexed(format) => Box::new(teamlog::Indexed::create(dir, format)),
            Team(format) => Box::new(teamlog::InTeam::create(dir, format)),
            Okaywal => Box::new(okaywal::Okaywal::create(dir)),
            RaftEngine => Box::new(raft_engine::RaftEngine::open(dir, durable)),
            Fjall => Box::new(fjall::Fjall::open(dir, durable)),
            Redb => Box::new(redb::Redb::open(dir, durable)),
            Sqlite => Box::new(sqlite::Sqlite::open(dir, durable)),
            Umadb => Box::new(umadb::Umadb::open(dir)),
            UmadbWriter => Box::new(umadb::UmadbWriter::open(dir)),
            Commitlog => Box::new(commitlog::Commitlog::open(dir)),
            Growing => Box::new(bare::Loop::growing(dir)),
            Prewritten => Box::new(bare::Loop::prewritten(dir)),
            GroupGrowing => Box::new(bare::Group::growing(dir)),
            GroupPrewritten => Box::new(bare::Group::prewritten(dir)),
            Written => Box::new(bare::Written::create(dir)),
        }
    }

    /// Fills an empty directory with a history of `count` events.
    pub fn load(self, dir: &Path, count: u64) {
        match self {
            Engine(format) | Indexed(format) | Team(format) => teamlog::load(dir, format, count),
            Okaywal => okaywal::load(dir, count),
            RaftEngine => raft_engine::load(dir, count),
            Fjall => fjall::load(dir, count),
            Redb => redb::load(dir, count),
            Sqlite => sqlite::load(dir, count),
            Umadb => umadb::load(dir, count),
            Commitlog => commitlog::load(dir, count),
            _ => bare::load(dir, count),
        }
    }

    /// Opens a history that [`Contestant::load`] created.
    pub fn open(self, dir: &Path, count: u64) -> Box<dyn History> {
        match self {
            Engine(_) | Indexed(_) => Box::new(teamlog::Opened::open(dir)),
            Team(_) => Box::new(teamlog::OpenTeam::open(dir)),
            Okaywal => Box::new(okaywal::Okaywal::open(dir)),
            RaftEngine => Box::new(raft_engine::RaftEngine::open(dir, true)),
            Fjall => Box::new(fjall::Fjall::open(dir, true)),
            Redb => Box::new(redb::Redb::open(dir, true)),
            Sqlite => Box::new(sqlite::History::open(dir, count)),
            Umadb => Box::new(umadb::Umadb::open(dir)),
            Commitlog => Box::new(commitlog::Commitlog::open(dir)),
            _ => Box::new(bare::Lines::open(dir)),
        }
    }
}

/// Reads the bytes of one event.
pub fn take(line: &[u8], depth: Depth) {
    use std::hint::black_box;
    match depth {
        Depth::Records => {
            black_box(line);
        }
        Depth::Fields => {
            black_box(serde_json::from_slice::<Fields<'_>>(line).unwrap());
        }
        Depth::Typed => {
            black_box(serde_json::from_slice::<Line>(line).unwrap());
        }
    }
}

/// The fields of a line, without needless copies, and the raw payload.
#[derive(serde::Deserialize)]
#[allow(dead_code)]
struct Fields<'a> {
    seq: u64,
    #[serde(borrow)]
    id: &'a str,
    created_at: &'a str,
    kind: &'a str,
    actor: &'a str,
    trace_id: Option<&'a str>,
    task_id: Option<&'a str>,
    agent: Option<&'a str>,
    message_id: Option<&'a str>,
    schema_version: u32,
    payload: &'a serde_json::value::RawValue,
    crc: &'a str,
}

/// Lets each of `threads` threads read its part of `0..count`; returns the sum of their counts.
pub fn parts(count: u64, threads: u64, read: impl Fn(std::ops::Range<u64>) -> u64 + Sync) -> u64 {
    let share = count.div_ceil(threads);
    std::thread::scope(|scope| {
        let read = &read;
        let spawn = |part: u64| {
            let (from, to) = (part * share, ((part + 1) * share).min(count));
            scope.spawn(move || read(from..to))
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        let seen = handles.into_iter().map(|thread| thread.join().unwrap());
        seen.sum()
    })
}
