//! `dead-letter list|requeue`: lists and resends messages that were not acknowledged in time.

use crate::command::prelude::*;
use crate::render::delivery;
use teamlog_team::message::dead_letter::{DeadLetterList, DeadLetterRequeue};

subcommands! {
    @examples "\
  teamlog dead-letter list demo
  teamlog dead-letter requeue demo --message-id msg_1";
    LIST = operation::<DeadLetterList>("list", delivery::dead)
        .at()
        .examples("\
  teamlog dead-letter list demo
  teamlog dead-letter list demo --agent dev --limit 20 --json");
    REQUEUE = operation::<DeadLetterRequeue>("requeue", delivery::requeued)
        .repeatable()
        .about("Deliver the message of a dead letter again")
        .examples("\
  teamlog dead-letter requeue demo --message-id msg_1
  teamlog dead-letter requeue demo --message-id msg_1 --max-retries 5");
}
