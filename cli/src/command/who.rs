//! `who`: shows the work of each agent.

use crate::command::prelude::*;
use teamlog_team::worker::who::Who;

subcommands! {
    operation::<Who>("who", render::who::who)
        .at()
        .details("For each agent: its tasks, the remaining time of its leases, its last event, its last report, and what its other \
            tasks wait for.")
        .examples("\
  teamlog who demo
  teamlog who demo --json")
}
