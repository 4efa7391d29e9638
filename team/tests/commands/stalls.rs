//! Tests of `read-stall-state`: which workers are alive.

use crate::claims::{claim, complete, new};
use crate::prelude::*;

#[test]
fn a_holder_of_a_live_lease_is_not_dead() {
    let (world, mut team) = demo();
    team.task_create(new("Build")).unwrap();
    let stall = |team: &mut Team| team.stall_state(ReadStall {}).unwrap();
    assert!(stall(&mut team).dead_workers.contains(&"dev".to_owned()));
    let claimed = team.task_claim(claim("1", "dev")).unwrap();
    let found = stall(&mut team);
    assert!(!found.dead_workers.contains(&"dev".to_owned()), "{found:?}");
    assert!(found.live_workers.contains(&"dev".to_owned()));
    world.later(16 * MINUTE);
    assert!(
        stall(&mut team).dead_workers.contains(&"dev".to_owned()),
        "its lease ran out"
    );
    team.send(message("lead", "dev")).unwrap();
    refused(team.task_finish(complete(&claimed)), Code::LeaseExpired);
}
