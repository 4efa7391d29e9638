//! `tasks`: lists the tasks of a team.

use crate::command::prelude::*;
use teamlog_team::task::list::ReadTasks;

subcommands! {
    operation::<ReadTasks>("tasks", render::task::page)
        .at()
        .examples("\
  teamlog tasks demo
  teamlog tasks demo --owner dev --status assigned
  teamlog tasks demo --limit 20 --cursor T-1 --json
  teamlog tasks demo --sort updated --since 3 --limit 20    what changed last
  teamlog tasks demo --at 3                                 as they were then")
}
