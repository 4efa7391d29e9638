//! `ready`: lists tasks that agents can claim now.

use crate::command::prelude::*;
use teamlog_team::task::ready::Ready;

subcommands! {
    operation::<Ready>("ready", render::hand::ready)
        .at()
        .agent_if_known("agent", |ready| &mut ready.agent)
        .examples("\
  teamlog ready demo
  teamlog ready demo --agent dev --limit 5")
}
