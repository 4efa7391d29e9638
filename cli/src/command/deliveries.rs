//! `deliveries`: lists messages that wait for an acknowledgment.

use crate::command::prelude::*;
use teamlog_team::message::deliveries::DeliveryList;

subcommands! {
    operation::<DeliveryList>("deliveries", render::delivery::open)
        .at()
        .examples("\
  teamlog deliveries demo
  teamlog deliveries demo --limit 20 --json
  teamlog deliveries demo --at 3                            as they were then")
}
