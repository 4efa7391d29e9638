//! `can-write`: checks if an agent may write a path.

use crate::command::prelude::*;
use teamlog_team::api::Op;
use teamlog_team::resource::can_write::CanWrite;

subcommands! {
    operation::<CanWrite>(CanWrite::NAME, render::paths::verdict)
        .agent("agent", |can_write| &mut can_write.agent)
        .exit(|verdict| Exit::Refused.unless(verdict.allow))
        .details("An agent may write a path while it holds a lease on a task that declares the path. Exit code 0 if it may, 1 if not.")
        .examples("\
  teamlog can-write demo src/io/file.rs --agent dev
  teamlog can-write demo /home/me/app/src/io --agent dev --json")
}
