//! `thread`: reads and writes discussions between agents.

use crate::command::prelude::*;
use crate::render::thread;
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::list::ThreadList;
use teamlog_team::thread::post::ThreadPost;
use teamlog_team::thread::search::ThreadSearch;
use teamlog_team::thread::start::ThreadStart;
use teamlog_team::thread::tail::ThreadTail;

subcommands! {
    @examples "\
  teamlog thread start demo --title 'Who mends the login?' --participants lead,dev
  teamlog thread post demo thread-0001 'I take it' --agent dev";
    START = operation::<ThreadStart>("start", thread::card)
        .agent_if_known("agent", |start| &mut start.worker)
        .examples("\
  teamlog thread start demo --title 'Who mends the login?' --participants lead,dev
  teamlog thread start demo --participants dev --task-id 7 --agent lead --json");
    LIST = operation::<ThreadList>("list", thread::list)
        .at()
        .examples("\
  teamlog thread list demo
  teamlog thread list demo --limit 20 --json");
    POST = operation::<ThreadPost>("post", thread::posted)
        .agent_if_known("agent", |post| &mut post.worker)
        .with(|post, NoOptions {}, context| {
            if post.body == "-" {
                post.body = given::stdin(context.env(), "TEXT")?;
            }
            Ok(())
        })
        .examples("\
  teamlog thread post demo thread-0001 'I take it' --agent dev
  git diff | teamlog thread post demo thread-0001 - --to qa --key diff-1");
    TAIL = operation::<ThreadTail>("tail", thread::talk)
        .at()
        .examples("\
  teamlog thread tail demo thread-0001
  teamlog thread tail demo thread-0001 --limit 200 --json");
    SEARCH = operation::<ThreadSearch>("search", thread::found)
        .at()
        .details("One call examines a bounded part of the messages. While there is more to examine the answer has a cursor, even if \
            it has no thread.")
        .examples("\
  teamlog thread search demo
  teamlog thread search demo 'the login' --json");
    LINK = operation::<ThreadLink>("link", thread::card)
        .agent_if_known("agent", |link| &mut link.worker)
        .examples("\
  teamlog thread link demo thread-0001 7
  teamlog thread link demo thread-0001 7 --agent dev --json");
}
