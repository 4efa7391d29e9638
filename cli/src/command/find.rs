//! `find`: searches tasks, messages, threads and posts.

use crate::command::prelude::*;
use crate::render::find;
use teamlog_team::search::{SEARCH_MAX, Search, query};

#[derive(Debug, clap::Args)]
#[group(skip)]
struct All {
    /// Show more than a screen: up to 200 matches
    #[arg(long)]
    all: bool,
}

subcommands! {
    operation::<Search>("find", find::page)
        .at()
        .with(|search, All { all }, context| {
            if let Err(refusal) = query::check(&search.query) {
                return Err(CommandError::usage(refusal.message));
            }
            context.show_whole(all || search.limit.is_some());
            if all || !context.out.is_json() {
                search.limit = search.limit.or(Some(SEARCH_MAX));
            }
            Ok(())
        })
        .details("All terms must match. Words find whole words in any case; wor* finds words that begin so, and \"two words\" finds \
            them in this order. A minus before a term excludes its matches.\n\n\
            kind:task, message, report, thread, post, comment or event; by:AGENT wrote it or created the task; to:AGENT received it or owns \
            the task; task:ID; status:STATUS and label:LABEL find tasks; tag:NAME=VALUE finds events of other programs; after:1d and before:2026-11-20 bound the time.\n\n\
            The texts are the subject, description, result and error of a task as they are now, the texts of messages and posts, and \
            the titles of threads: the first 500 words of each, and the first 40 characters of each word.")
        .examples("\
  teamlog find 'login after:1d \"exact words\"'
  teamlog find 'kind:task label:api -status:completed' --json")
}
