//! `read`: prints a page of an inbox, newest messages first.

use crate::command::prelude::*;
use teamlog_team::message::read::Read;

subcommands! {
    operation::<Read>("read", render::inbox::page)
        .at()
        .agent("agent", |read| &mut read.agent)
        .with(WholeTexts::apply)
        .examples("\
  teamlog read demo --agent dev --unread
  teamlog read demo --agent dev --limit 10 --json
  TEAMLOG_AGENT=dev teamlog read demo")
}
