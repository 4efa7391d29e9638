//! Runs random operations on every surface in one process: as typed calls, in the envelope of `api`, over HTTP and as
//! MCP tools. Each surface has a separate team with equal times and ids, so that answers, refusals and logs can be
//! compared byte by byte.
//!
//! `TEAMLOG_SURFACE_ROUNDS` sets the number of rounds, `TEAMLOG_SURFACE_SEED` the first seed.

mod surface;

use crate::drawing::{Draw, Known};
use crate::prelude::*;
use crate::scenario::{Given, scenario};
use std::thread;
use surface::{Asked, Envelope, Http, Mcp, Outcome, Surface, Typed, World};
use teamlog_team::api::{self, OPERATIONS, Operation};

/// Default number of rounds.
const ROUNDS: u64 = 3;
const FIRST_SEED: u64 = 1;
/// Number of random steps in a round. Each round also runs every operation once.
const STEPS: usize = 60;

/// Operations that are not compared, with the reason.
const NOT_DRAWN: [(&str, &str); 2] = [
    (
        "verify-start",
        "works on a thread of its own, so its answer depends on how far that came",
    ),
    (
        "doctor-start",
        "works on a thread of its own, so its answer depends on how far that came",
    ),
];

/// Kinds of events that a refused call may record: deadlines that passed before the call, and violations of a bootstrap run.
const FACTS: [&str; 6] = [
    "task_lease_expired",
    "task_blocked",
    "bootstrap_breached",
    "bootstrap_blocked",
    "bootstrap_handshake_timed_out",
    "response_stored",
];

/// Prints the command that repeats a failed round. Field 0 is the seed of the round.
struct Replay(u64);

impl Drop for Replay {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!(
                "repeat with TEAMLOG_SURFACE_SEED={} TEAMLOG_SURFACE_ROUNDS=1",
                self.0
            );
        }
    }
}

/// A round: a team per surface, and the operations that were run.
struct Round {
    surfaces: Vec<Box<dyn Surface>>,
    known: Known,
    draw: Draw,
    carried_out: BTreeSet<&'static str>,
    faults: Vec<String>,
}

impl Round {
    fn new(seed: u64) -> Round {
        Round {
            surfaces: vec![
                Box::new(Envelope(World::new(seed))),
                Box::new(Typed(World::new(seed))),
                Box::new(Http::new(World::new(seed))),
                Box::new(Mcp::new(World::new(seed))),
            ],
            known: Known::default(),
            draw: Draw(seed),
            carried_out: BTreeSet::new(),
            faults: Vec::new(),
        }
    }

    /// Runs the scenario, in which every operation succeeds, and random operations. In odd rounds the random operations
    /// follow the scenario, in even rounds they are between its steps. Ends the team last.
    fn run(&mut self, seed: u64) {
        self.dead_letter();
        let ends = |operation: &Operation| operation.name.ends_with("cleanup");
        let drawable = OPERATIONS.iter().filter(|operation| !is_excused(operation));
        let (last, mut drawn): (Vec<_>, Vec<_>) = drawable.partition(|operation| ends(operation));
        let more = (0..STEPS).map(|_| self.draw.of(&drawn)).collect::<Vec<_>>();
        drawn.extend(more);
        let mut scripted = scenario()
            .into_iter()
            .map(|(name, input)| (api::find(name).unwrap(), input));
        let mut given = Given::default();
        while !drawn.is_empty() {
            let next = match self.draw.one_in(2) || seed % 2 == 1 {
                true => scripted.next(),
                false => None,
            };
            match next {
                Some((operation, _)) if ends(operation) || is_excused(operation) => {}
                Some((operation, input)) => {
                    let outcome = self.step(Asked::scripted(operation, given.fill(input)));
                    if let Ok(data) = outcome.answer {
                        given.learn(&data);
                    }
                }
                None => {
                    if self.draw.one_in(6) {
                        let micros = self.draw.of(&[1_000, 1_500_000, 2_000_000_000]);
                        self.later(micros);
                    }
                    let operation = drawn.swap_remove(self.draw.next(drawn.len()));
                    let asked = Asked::draw(operation, &self.known, &mut self.draw);
                    self.step(asked);
                }
            }
        }
        for operation in last {
            let asked = Asked::draw(operation, &self.known, &mut self.draw);
            self.step(asked);
        }
        let digests: Vec<String> = self
            .surfaces
            .iter()
            .map(|own| own.world().digest())
            .collect();
        assert!(
            digests.iter().all(|digest| *digest == digests[0]),
            "{digests:?}"
        );
    }

    /// Records the dead letter that the scenario names.
    fn dead_letter(&mut self) {
        let send = json!({"from": "lead", "to": "dev", "type": "decision_required", "message_id": "m-dead",
            "delivery": {"ack_timeout_seconds": 1, "max_retries": 0}});
        for (name, input) in [("send", send), ("tick", json!({}))] {
            let Value::Object(input) = input else {
                unreachable!()
            };
            let outcome = self.step(Asked::scripted(api::find(name).unwrap(), input));
            assert!(outcome.answer.is_ok(), "{name}: {outcome:?}");
            self.later(2_000_000);
        }
    }

    fn later(&self, micros: i64) {
        for surface in &self.surfaces {
            surface.world().clock.advance(micros);
        }
    }

    fn step(&mut self, asked: Asked) -> Outcome {
        let before = self.surfaces[0].world().head().seq;
        let first = self.everywhere(&asked);
        let after = self.surfaces[0].world().head().seq;
        let recorded = match after == before {
            true => Vec::new(),
            false => self.surfaces[0].world().kinds().split_off(before as usize),
        };
        let Ok(data) = &first.answer else {
            let facts = recorded.iter().all(|kind| FACTS.contains(&&**kind));
            assert!(facts, "{asked:?}: {first:?} left {recorded:?}");
            return first;
        };
        self.known.learn(data);
        self.carried_out.insert(asked.operation.name);
        let reads = recorded.is_empty() || asked.operation.mutates();
        assert!(reads, "{asked:?} records {recorded:?}");
        // A call that recorded nothing, such as a dry run, has no stored answer.
        if asked.key.is_some() && !recorded.is_empty() {
            let again = self.everywhere(&asked);
            if again.answer != first.answer || again.replayed != Some(true) {
                let fault = format!("{again:?} once more after {first:?}: {asked:?}");
                self.faults.push(fault);
            }
            assert_eq!(self.surfaces[0].world().head().seq, after, "{asked:?}");
        }
        first
    }

    /// Makes a call on every surface, compares the outcomes, and returns the first outcome.
    fn everywhere(&mut self, asked: &Asked) -> Outcome {
        let outcomes = self.surfaces.iter_mut().map(|surface| {
            let outcome = surface.call(asked);
            (surface.name(), outcome, surface.world().head())
        });
        let mut outcomes = outcomes.collect::<Vec<_>>().into_iter();
        let (_, first, head) = outcomes.next().unwrap();
        for (name, outcome, other) in outcomes {
            let (told, wanted) = (comparable(&outcome.answer), comparable(&first.answer));
            if told != wanted {
                let fault = format!("{name} answers {told:?}, but {wanted:?} is due: {asked:?}");
                self.faults.push(fault);
            }
            if outcome.replayed.is_some() && outcome.replayed != first.replayed {
                self.faults.push(format!(
                    "{name} says replayed: {:?}: {asked:?}",
                    outcome.replayed
                ));
            }
            assert_eq!(other, head, "{name}: {asked:?}: {:?}", self.faults);
        }
        first
    }
}

/// Removes from an answer the fields that may differ: warnings, which the typed answer does not have, and sizes of derived
/// files, which a daemon writes later.
fn comparable(answer: &Result<Value, String>) -> Result<Value, String> {
    let mut answer = answer.clone();
    if let Ok(Value::Object(fields)) = &mut answer {
        fields.remove("warning");
        fields.remove("derived_bytes");
    }
    answer
}

fn variable(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |given| given.parse().unwrap())
}

fn is_excused(operation: &Operation) -> bool {
    NOT_DRAWN.iter().any(|(name, _)| *name == operation.name)
}

#[test]
fn every_operation_answers_the_same_on_every_surface() {
    for (name, why) in NOT_DRAWN {
        assert!(api::find(name).is_some(), "there is no {name} that {why}");
    }
    let mut carried_out = BTreeSet::new();
    let seed = variable("TEAMLOG_SURFACE_SEED", FIRST_SEED);
    let rounds = variable("TEAMLOG_SURFACE_ROUNDS", ROUNDS);
    for seed in seed..seed + rounds {
        let _replay = Replay(seed);
        let mut round = Round::new(seed);
        round.run(seed);
        assert!(round.faults.is_empty(), "{}", round.faults.join("\n"));
        carried_out.append(&mut round.carried_out);
    }
    let due = OPERATIONS.iter().filter(|operation| !is_excused(operation));
    let missed: Vec<&str> = due
        .map(|operation| operation.name)
        .filter(|name| !carried_out.contains(name))
        .collect();
    assert!(missed.is_empty(), "never carried out: {missed:?}");
}
