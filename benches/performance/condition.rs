//! Measures an append under a condition, beside the same append without one.

use crate::options::Options;
use std::fmt::Write;
use teamlog_benches::past::TEAM;
use teamlog_benches::rounds::{Contestant, run, timed};
use teamlog_benches::table::Target;
use teamlog_engine::Format;
use teamlog_team::lifecycle::init::Init;
use teamlog_team::log::append::Append;
use teamlog_team::log::append_batch::AppendBatch;
use teamlog_team::log::filter::EventFilter;
use teamlog_team::{Root, RootOptions, Team};

/// Events of the log before the appends.
const EVENTS: u64 = 100_000;
const APPENDS: u64 = 16;

/// Prints the rows about conditions.
pub fn rows(options: &Options) {
    options.both(
        "append under a condition, behind 100,000 events",
        |name, format| {
            conditional(name, format, options);
        },
    );
}

fn conditional(name: &str, format: Format, options: &Options) {
    let root = Root::create(&options.fresh(), RootOptions::default())
        .unwrap()
        .resident();
    let init = Init {
        format: Some(format),
        ..Init::for_team(TEAM)
    };
    root.init(init).unwrap();
    let mut lines = String::new();
    for n in 0..EVENTS {
        writeln!(lines, r#"{{"kind":"name_taken","tags":["name=n{n}"]}}"#).unwrap();
    }
    let mut team = root.team(TEAM).unwrap();
    team.append_batch(AppendBatch::default(), &mut lines.as_bytes())
        .unwrap();
    let mut number = 0;
    let mut append = |team: &mut Team, has_condition: bool| {
        number += 1;
        let tag = format!("name=new{number}");
        let filter = EventFilter {
            kinds: vec!["name_taken".into()],
            tags: vec![tag.clone()],
            ..EventFilter::default()
        };
        let append = Append {
            kind: "name_taken".into(),
            tags: Some(vec![tag]),
            if_none: has_condition.then(|| vec![filter]),
            ..Append::default()
        };
        team.append(append).unwrap();
    };
    let (append, team) = (
        std::cell::RefCell::new(&mut append),
        std::cell::RefCell::new(team),
    );
    let contestants = [false, true].map(|has_condition| -> Contestant<'_> {
        let (append, team) = (&append, &team);
        Box::new(move || {
            timed(|| {
                for _ in 0..APPENDS {
                    append.borrow_mut()(&mut team.borrow_mut(), has_condition);
                }
            })
        })
    });
    let times = run(options.rounds(101), contestants.into());
    times.row(name, Target::AtMost(1.1), APPENDS as u32, " an append");
}
