//! Tests of the listed state machines: every step that the rules take is listed. For bootstrap runs, other tests check the steps:
//! the tests that report events.

use crate::mode_calls::{cancel, complete, show, start};
use crate::prelude::*;
use teamlog_team::mode::clear::ModeClear;
use teamlog_team::mode::end::ModeFail;

/// Returns true if a machine lists a step with this source, trigger and target.
pub fn is_drawn(team: &Team, machine: &str, (from, by, to): (&str, &str, &str)) -> bool {
    let machines = team.machines().machines;
    let machine = machines.iter().find(|one| one.name == machine).unwrap();
    let mut steps = machine.steps.iter();
    steps.any(|step| (&*step.from, &*step.by, &*step.to) == (from, by, to))
}

fn fail(team: &mut Team, mode: Mode) {
    team.mode_fail(given!(ModeFail, mode: mode.name(), error: "no"))
        .unwrap();
}

#[test]
fn each_mode_ends_where_its_machine_says() {
    for mode in Mode::ALL {
        let (_world, mut team) = team_of(None, Format::Jsonl);
        let phase = |team: &mut Team| {
            show(team, mode, "")["current_phase"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        for by in ["mode_completed", "mode_failed", "mode_canceled"] {
            start(&mut team, mode, "").unwrap();
            assert!(is_drawn(
                &team,
                mode.name(),
                ("inactive", "mode_started", "active")
            ));
            match by {
                "mode_completed" => drop(complete(&mut team, mode, "").unwrap()),
                "mode_failed" => fail(&mut team, mode),
                _ => drop(cancel(&mut team, mode, "").unwrap()),
            }
            let end = phase(&mut team);
            assert!(
                is_drawn(&team, mode.name(), ("active", by, &end)),
                "{mode:?} {by} {end}"
            );
            assert!(is_drawn(
                &team,
                mode.name(),
                (&end, "mode_started", "active")
            ));
        }
        team.mode_clear(given!(ModeClear, mode: mode.name()))
            .unwrap();
    }
}
