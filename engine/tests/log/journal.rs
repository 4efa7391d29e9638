//! Tests of a log on several hosts. Each acknowledged job is recorded once, in the order of the answers, and decided on the
//! newest state. Every host has the same bytes.

mod world;

use crate::support::*;
use std::collections::BTreeMap;
use teamlog_engine::internals::layout::{EVENTS_DIR, QUARANTINED};
use world::{CameTo, Claims, Death, Done, Plan, World};

fn plan(seed: u64, format: Format) -> Plan {
    Plan {
        seed,
        format,
        steps: 60,
        death: None,
    }
}

/// Runs a world, and returns the first broken rule.
fn checked(plan: Plan) -> Result<Arc<World>, String> {
    let world = World::new(plan);
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.run();
        let logs = world.logs();
        agree(&world, &logs)?;
        let first = logs.first().map(|(log, _)| events(log)).unwrap_or_default();
        in_order(
            &first.iter().map(|event| text(event)).collect::<Vec<_>>(),
            &world.done.lock().unwrap(),
        )
    }));
    match ran {
        Ok(Ok(())) => Ok(world),
        Ok(Err(why)) => Err(why),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text
                .or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default())
        }
    }
}

/// Checks that all hosts have the same files, with exactly the journal's groups.
fn agree(world: &World, logs: &[(Log, Memory)]) -> Result<(), String> {
    let mut files: Option<BTreeMap<PathBuf, Vec<u8>>> = None;
    for (host, (log, memory)) in logs.iter().enumerate() {
        let report = log.verify(None).map_err(|error| error.to_string())?;
        if !report.ok {
            return Err(format!("host {host}: {report:?}"));
        }
        if events(log).iter().any(|event| event.kind == QUARANTINED) {
            return Err(format!("host {host} recorded by itself"));
        }
        let own = tree(memory, &dir().join(EVENTS_DIR));
        if files.get_or_insert_with(|| own.clone()) != &own {
            return Err(format!("host {host} has other segments than the first"));
        }
    }
    let Some((log, memory)) = logs.first() else {
        return Ok(());
    };
    let groups = world.journal.groups(log.identity().log).into_iter();
    let journal: Vec<u8> = groups.flat_map(|group| group.bytes).collect();
    match journal == groups_of(memory, log.identity().format) {
        true => Ok(()),
        false => Err("the segments are not the journal".to_owned()),
    }
}

/// Returns the bytes of all segments after their headers.
fn groups_of(memory: &Memory, format: Format) -> Vec<u8> {
    let segments = tree(memory, &dir().join(EVENTS_DIR)).into_values();
    let behind = |bytes: Vec<u8>| {
        let (_, at) = SegmentHeader::decode(format, &bytes).unwrap();
        bytes[at..].to_vec()
    };
    segments.flat_map(behind).collect()
}

/// Compares the order of the log with the start and end times of the callers' jobs.
fn in_order(log: &[String], done: &[Done]) -> Result<(), String> {
    let mut claims = Claims::default();
    for (place, text) in log.iter().enumerate() {
        let words: Vec<&str> = text.split(' ').collect();
        let (epoch, host) = (
            words[1].parse::<usize>().unwrap(),
            words[2].parse::<usize>().unwrap(),
        );
        let fits = match words[0] {
            "claim" => claims.holder().is_none() && epoch == claims.epoch() + 1,
            _ => claims.holder() == Some(host) && epoch == claims.epoch(),
        };
        if !fits {
            return Err(format!(
                "event {}, {text}, was decided on another state",
                place + 1
            ));
        }
        claims.texts.push(text.clone());
    }
    for one in done {
        let count = log.iter().filter(|text| **text == one.text).count();
        let as_told = match one.came_to {
            CameTo::Acked(seq) => log.get(seq as usize - 1) == Some(&one.text) && count == 1,
            CameTo::Nothing | CameTo::Refused(_) => one.text.is_empty() || count == 0,
            CameTo::Unknown => count <= 1,
        };
        if !as_told {
            return Err(format!("{one:?} stands there {count} times"));
        }
    }
    let said = log
        .iter()
        .all(|text| done.iter().any(|one| one.text == *text));
    if !said {
        return Err("an event was asked for by nobody".to_owned());
    }
    for before in done {
        let CameTo::Acked(earlier) = before.came_to else {
            continue;
        };
        for behind in done.iter().filter(|behind| behind.asked > before.answered) {
            let late = match behind.came_to {
                CameTo::Acked(seq) => seq < earlier,
                CameTo::Refused(seen) => seen < earlier,
                _ => false,
            };
            if late {
                return Err(format!("{behind:?} did not see {before:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn three_hosts_have_one_log_whatever_dies_is_lost_or_comes_late() {
    let (mut acked, mut refused, mut unknown) = (0, 0, 0);
    for seed in 0..250 {
        for format in FORMATS {
            let world = checked(plan(seed, format))
                .unwrap_or_else(|why| panic!("seed {seed}, {format:?}: {why}"));
            for one in world.done.lock().unwrap().iter() {
                match one.came_to {
                    CameTo::Acked(_) => acked += 1,
                    CameTo::Refused(_) => refused += 1,
                    CameTo::Unknown => unknown += 1,
                    CameTo::Nothing => {}
                }
            }
        }
    }
    assert!(
        acked > 3_000 && refused > 600 && unknown > 200,
        "{acked} {refused} {unknown}"
    );
}

#[test]
fn a_host_may_die_at_every_call() {
    for (seed, format) in [(7, Format::Jsonl), (8, Format::Binary)] {
        let deaths: [fn(usize) -> Death; 3] =
            [Death::Storage, Death::BeforeJournal, Death::BehindJournal];
        for death in deaths {
            for call in 0..150 {
                let plan = Plan {
                    death: Some(death(call)),
                    steps: 40,
                    ..plan(seed, format)
                };
                if let Err(why) = checked(plan) {
                    panic!("seed {seed}, {:?}: {why}", death(call));
                }
            }
        }
    }
}
