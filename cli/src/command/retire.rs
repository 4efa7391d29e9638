//! `retire-agent`: removes an agent from the team for good.

use crate::command::prelude::*;
use teamlog_team::ownership::retire::RetireAgent;

subcommands! {
    operation::<RetireAgent>("retire-agent", render::retire::retired)
        .details("The agent can no longer act, and messages to it are refused. Its open tasks become pending without an owner, its \
            claims end, and its tokens are revoked. Its unread mail is listed. What it did stays in the log. To bring it back, add it \
            as a member again: teamlog init TEAM --members AGENT.")
        .examples("\
  teamlog retire-agent qa --dry-run
  teamlog retire-agent qa --as lead")
}
