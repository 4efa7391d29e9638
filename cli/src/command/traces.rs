//! `traces`: lists the traces of the newest events.

use crate::command::prelude::*;
use teamlog_team::log::traces::Traces;

subcommands! {
    operation::<Traces>("traces", render::teams::traces)
        .details("For each trace: the number of its events, its duration, and its actors. Only the newest 10,000 events are read.")
        .examples("\
  teamlog traces demo
  teamlog traces demo --limit 5 --json")
}
