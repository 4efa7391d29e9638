//! `traces`: lists the traces of the newest events.

use crate::command::prelude::*;
use teamlog_team::log::traces::Traces;

subcommands! {
    operation::<Traces>("traces", render::teams::traces)
        .at()
        .details("For each trace: its title, the number of its events, its duration, and its actors. A trace is running if a task is in progress and its last event is at most a day old; it is open if a task is unfinished otherwise. Only the newest 10,000 events are read.")
        .examples("\
  teamlog traces demo
  teamlog traces demo --limit 5 --at 3")
}
