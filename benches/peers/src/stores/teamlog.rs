//! teamlog in three forms: its engine alone, its engine with the state and the index of a team, and a team as in a daemon.

use crate::contestant::{Appender, Depth, History, Sink};
use crate::draft;
use std::path::Path;
use std::sync::{Arc, Mutex};
use teamlog_benches::past::{TEAM, fill};
use teamlog_benches::{past, scan, workspace};
use teamlog_engine::storage::Files;
use teamlog_engine::{Durability, Format, Log, LogOptions, Reader, Writer};
use teamlog_projections::RefKind;
use teamlog_projections::live::Live;
use teamlog_team::story::trace::Trace;
use teamlog_team::{Root, RootOptions, Team};

/// Number of events of a trace that are read.
const STORY: usize = 20;

pub struct Engine(Writer<()>, Durability);

impl Engine {
    pub fn create(dir: &Path, format: Format, durable: bool) -> Engine {
        let log = workspace::log(dir, format);
        let durability = match durable {
            true => Durability::Synced,
            false => Durability::Buffered,
        };
        Engine(log.lock().unwrap().into_writer(()), durability)
    }
}

impl Sink for Engine {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| {
            self.0.append(vec![draft.event()], self.1).unwrap();
        })
    }

    fn settle(&self) {
        self.0.sync().unwrap();
    }
}

pub struct Indexed(Writer<Live>);

impl Indexed {
    pub fn create(dir: &Path, format: Format) -> Indexed {
        let log = workspace::log(dir, format);
        let live = Live::load(&log, &log.reader().unwrap()).unwrap();
        Indexed(log.lock().unwrap().into_writer(live))
    }
}

impl Sink for Indexed {
    fn appender(&self) -> Appender<'_> {
        Box::new(|draft| {
            let events = vec![draft.event()];
            self.0.append(events, Durability::Synced).unwrap();
            // If runs are due, the next caller writes them.
            self.0.try_state(|live| {
                if live.needs_maintenance() {
                    live.flush().unwrap();
                }
            });
        })
    }
}

pub struct InTeam(Root);

impl InTeam {
    pub fn create(dir: &Path, format: Format) -> InTeam {
        InTeam(past::create(dir, format).resident())
    }
}

impl Sink for InTeam {
    fn appender(&self) -> Appender<'_> {
        let mut team = self.0.team(TEAM).unwrap();
        Box::new(move |draft| {
            team.append(draft.input()).unwrap();
        })
    }
}

pub fn load(dir: &Path, format: Format, count: u64) {
    let mut team = past::create(dir, format).team(TEAM).unwrap();
    fill(&mut team, count, draft::story);
    team.finish().unwrap();
}

/// The log and the index of a team, opened without the team.
pub struct Opened {
    reader: Reader,
    live: Live,
}

impl Opened {
    pub fn open(dir: &Path) -> Opened {
        let storage = Arc::new(Files::open(dir).unwrap());
        let dir = Path::new("teams").join(TEAM);
        let log = Log::open(storage, &dir, LogOptions::default()).unwrap();
        let reader = log.reader().unwrap();
        let live = Live::load(&log, &reader).unwrap();
        Opened { reader, live }
    }
}

impl History for Opened {
    fn scan(&self, depth: Depth, threads: u64) -> Option<u64> {
        Some(match (depth, threads) {
            (Depth::Records, 1) => scan::envelopes(&self.reader),
            (Depth::Fields, 1) => scan::full(&self.reader),
            (Depth::Typed, 1) => scan::full_typed(&self.reader),
            (_, threads) => {
                scan::workers(&self.reader, threads as usize);
                self.reader.head().last_seq
            }
        })
    }

    fn trace(&self, id: &str) -> Option<usize> {
        let page = self.live.with_ref(RefKind::Trace, id, None, STORY);
        let seqs = page.unwrap().seqs.into_iter();
        let events = seqs.map(|seq| self.live.event(&self.reader, seq).unwrap().unwrap());
        Some(events.map(std::hint::black_box).count())
    }
}

/// A team that stays open.
pub struct OpenTeam(Mutex<Team>);

impl OpenTeam {
    pub fn open(dir: &Path) -> OpenTeam {
        let root = Root::open(dir, RootOptions::default()).unwrap().resident();
        OpenTeam(Mutex::new(root.team(TEAM).unwrap()))
    }
}

impl History for OpenTeam {
    fn scan(&self, _: Depth, _: u64) -> Option<u64> {
        None
    }

    fn trace(&self, id: &str) -> Option<usize> {
        let trace = Trace {
            trace_id: id.into(),
            limit: Some(STORY),
            ..Trace::default()
        };
        Some(self.0.lock().unwrap().trace(trace).unwrap().count)
    }
}
