//! Measures an append under a condition, and the same append without one: no event may have the tag of the new event. Each event has a
//! name of its own as its tag.

use crate::figures::{head, number, row};
use crate::options::Options;
use crate::stores::umadb::Umadb;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;
use teamlog_benches::past::TEAM;
use teamlog_benches::rounds::{median, turns};
use teamlog_engine::Format;
use teamlog_team::lifecycle::init::Init;
use teamlog_team::log::append::Append;
use teamlog_team::log::append_batch::AppendBatch;
use teamlog_team::log::filter::EventFilter;
use teamlog_team::{Root, RootOptions, Team};
use umadb_dcb::{DcbAppendCondition, DcbEvent, DcbEventStoreSync, DcbQuery, DcbQueryItem};

const KIND: &str = "name_taken";
/// Number of events before the measured appends.
const EVENTS: u64 = 100_000;
const BATCH: u64 = 10_000;

/// A store with events, into which one thread appends.
trait Store {
    fn append(&mut self, name: &str, has_condition: bool);
}

struct InTeam(Team);

impl InTeam {
    fn create(dir: &Path, format: Format) -> InTeam {
        let root = Root::create(dir, RootOptions::default())
            .unwrap()
            .resident();
        let init = Init {
            format: Some(format),
            ..Init::for_team(TEAM)
        };
        root.init(init).unwrap();
        let mut team = root.team(TEAM).unwrap();
        let mut lines = String::new();
        for number in 0..EVENTS {
            writeln!(lines, r#"{{"kind":"{KIND}","tags":["name=n{number}"]}}"#).unwrap();
        }
        team.append_batch(AppendBatch::default(), &mut lines.as_bytes())
            .unwrap();
        InTeam(team)
    }
}

impl Store for InTeam {
    fn append(&mut self, name: &str, has_condition: bool) {
        let tags = vec![format!("name={name}")];
        let filter = || EventFilter {
            kinds: vec![KIND.into()],
            tags: tags.clone(),
            ..EventFilter::default()
        };
        let append = Append {
            kind: KIND.into(),
            if_none: has_condition.then(|| vec![filter()]),
            tags: Some(tags.clone()),
            ..Append::default()
        };
        self.0.append(append).unwrap();
    }
}

fn event(name: &str) -> DcbEvent {
    DcbEvent::new()
        .event_type(KIND)
        .data("{}")
        .tags([format!("name={name}")])
}

fn umadb(dir: &Path) -> Umadb {
    let umadb = Umadb::open(dir);
    for first in (0..EVENTS).step_by(BATCH as usize) {
        let events = (first..first + BATCH).map(|number| event(&format!("n{number}")));
        umadb.store().append(events.collect(), None, None).unwrap();
    }
    umadb
}

impl Store for Umadb {
    fn append(&mut self, name: &str, has_condition: bool) {
        let item = DcbQueryItem::new()
            .types([KIND])
            .tags([format!("name={name}")]);
        let condition = has_condition.then(|| DcbAppendCondition::new(DcbQuery::new().item(item)));
        self.store()
            .append(vec![event(name)], condition, None)
            .unwrap();
    }
}

/// Measures all stores in turns, each with and without a condition.
pub fn section(options: &Options) {
    if !options.begins("Append under a condition") {
        return;
    }
    let mut stores: Vec<(&str, Box<dyn Store>)> = vec![
        (
            "teamlog jsonl, team",
            Box::new(InTeam::create(&options.fresh(), Format::Jsonl)),
        ),
        (
            "teamlog binary, team",
            Box::new(InTeam::create(&options.fresh(), Format::Binary)),
        ),
        ("UmaDB", Box::new(umadb(&options.fresh()))),
    ];
    let each = if options.quick { 50 } else { 200 };
    let mut number_of_name = 0;
    // The median call of each round, for each store, without and with a condition.
    let mut rounds = vec![[Vec::new(), Vec::new()]; stores.len()];
    turns(options.rounds(), stores.len() * 2, |round, at| {
        let (store, has_condition) = (&mut stores[at / 2].1, at % 2 == 1);
        let mut calls = Vec::with_capacity(each);
        for _ in 0..each {
            number_of_name += 1;
            let name = format!("new{number_of_name}");
            let called = Instant::now();
            store.append(&name, has_condition);
            calls.push(called.elapsed().as_secs_f64() * 1e6);
        }
        if round > 0 {
            rounds[at / 2][at % 2].push(median(calls));
        }
    });
    head(&[
        "contestant",
        "without a condition p50 us",
        "with a condition p50 us",
        "with / without",
        "with a condition: x UmaDB",
    ]);
    let ratio = |one: &[f64], other: &[f64]| {
        median(
            one.iter()
                .zip(other)
                .map(|(one, other)| one / other)
                .collect(),
        )
    };
    let peer = rounds.last().unwrap()[1].clone();
    for ((name, _), [without, with]) in stores.iter().zip(&rounds) {
        row([
            (*name).to_owned(),
            number(median(without.clone())),
            number(median(with.clone())),
            format!("{:.2} x", ratio(with, without)),
            format!("{:.2} x", ratio(&peer, with)),
        ]);
    }
}
