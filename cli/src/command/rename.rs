//! `rename-agent`: gives an agent a new name.

use crate::command::prelude::*;
use teamlog_team::ownership::rename::RenameAgent;

subcommands! {
    operation::<RenameAgent>("rename-agent", render::retire::retired)
        .details("The old name is retired, and history keeps it. The open tasks are for the new name; claims end, so that the agent \
            claims these tasks again. The inbox of the new name has the mail to the old name, also later mail. Tokens of the old name are revoked: add new ones with `teamlog token add`.")
        .examples("\
  teamlog rename-agent qa tester --dry-run
  teamlog rename-agent qa tester --as lead")
}
