//! `subscription list|show|replay|delete`: manages durable subscriptions.

use crate::command::prelude::*;
use crate::render::subscription as shown;
use teamlog_team::subscription::manage::{
    DeleteSubscription, ReplaySubscription, ShowSubscription, SubscriptionList,
};

subcommands! {
    @examples "\
  teamlog subscription list demo
  teamlog subscription replay demo alerts";
    LIST = operation::<SubscriptionList>("list", shown::list)
        .about("List the subscriptions: position, events behind, parked events, consumer")
        .examples("\
  teamlog subscription list demo
  teamlog subscription list demo --json");
    SHOW = operation::<ShowSubscription>("show", shown::one)
        .examples("\
  teamlog subscription show demo alerts
  teamlog subscription show demo alerts --json");
    REPLAY = operation::<ReplaySubscription>("replay", shown::replayed)
        .details("The consumer of the subscription gets the events one at a time, before later events of their tasks. An event that fails \
            again is parked again.")
        .examples("\
  teamlog subscription replay demo alerts
  teamlog subscription replay demo alerts --json");
    DELETE = operation::<DeleteSubscription>("delete", shown::deleted)
        .details("A running consumer ends with an error.")
        .examples("\
  teamlog subscription delete demo alerts
  teamlog subscription delete demo alerts --json");
}
