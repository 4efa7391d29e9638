//! `views`: manages the view files of a team.

use crate::command::prelude::*;
use teamlog_team::log::sync_views::{SyncViews, SyncViewsStatus};

subcommands! {
    @examples "\
  teamlog views sync demo
  teamlog views sync demo --timeout-ms 1000 --json";
    SYNC = operation::<SyncViews>("sync", render::hand::synced)
        .exit(|answer| Exit::Refused.unless(answer.status != SyncViewsStatus::Timeout))
        .about("Wait until the view files show all recorded events")
        .details("A daemon writes the view files after its answers, at most 250 ms later, unless the setting views.when is \
            before_answer. Without a daemon this command updates them. Exit code 1 after the timeout.")
        .examples("\
  teamlog views sync demo
  teamlog views sync demo --timeout-ms 1000 --json");
}
