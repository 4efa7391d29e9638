//! `config list|get|set|unset`: the settings of a team.

use crate::command::prelude::*;
use crate::render::config;
use teamlog_team::lifecycle::config::{ConfigGet, ConfigList, ConfigSet, ConfigUnset};

subcommands! {
    @examples "\
  teamlog config list demo
  teamlog config set demo members.open true";
    LIST = operation::<ConfigList>("list", config::page)
        .at()
        .about("List all settings with their values")
        .examples("\
  teamlog config list demo
  teamlog config list demo --at 3 --json");
    GET = operation::<ConfigGet>("get", config::one)
        .at()
        .about("Show a setting")
        .examples("\
  teamlog config get demo nudge.idle_seconds
  teamlog config get demo delivery.decision_required.max_retries --json");
    SET = operation::<ConfigSet>("set", config::changed)
        .repeatable()
        .about("Change a setting")
        .examples("\
  teamlog config set demo delivery.default.ack_timeout_seconds 120
  teamlog config set demo members.open true
  teamlog config set demo resources.root /home/me/app");
    UNSET = operation::<ConfigUnset>("unset", config::changed)
        .repeatable()
        .about("Reset a setting to its default")
        .examples("\
  teamlog config unset demo nudge.idle_seconds
  teamlog config unset demo members.open --json");
}
