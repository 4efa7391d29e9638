//! `thread`: talks between agents, perhaps about a task.

use crate::command::prelude::*;
use crate::render::thread;
use teamlog_team::thread::{link, list, post, search, start, tail};

actions! {
    Start = "start", of::<start::ThreadStart>;
    List = "list", of::<list::ThreadList>;
    Post = "post", of::<post::ThreadPost>;
    Tail = "tail", of::<tail::ThreadTail>;
    Search = "search", of::<search::ThreadSearch>;
    Link = "link", of::<link::ThreadLink>;
}

/// Start a thread between agents, perhaps about a task
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread start demo --title 'Who mends the login?' --participants lead,dev
  teamlog thread start demo --participants dev --task-id 7 --agent lead --json")]
struct Start {
    /// The team
    team: String,
    /// What it is about [default: Thread]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Who takes part, separated by commas; whoever starts it does
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    participants: Vec<String>,
    /// The task that it belongs to
    #[arg(long, value_name = "TASK")]
    task_id: Option<String>,
    /// Who starts it [default: who is acting, if anybody]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Start, thread::card, |args, context| start::ThreadStart {
    title: args.title,
    participants: Some(args.participants).filter(|agents| !agents.is_empty()),
    task_id: args.task_id,
    worker: args.agent.or_else(|| context.actor()),
});

/// List threads with what was said last in each, the newest thread first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread list demo
  teamlog thread list demo --limit 20 --json")]
struct List {
    /// The team
    team: String,
    /// Most threads, at most 200 [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Where the page before says that it goes on
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(
    List,
    at,
    render::thread::list,
    list::ThreadList(limit, cursor)
);

/// Say something in a thread; whoever takes part is told
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread post demo thread-0001 'I take it' --agent dev
  git diff | teamlog thread post demo thread-0001 - --to qa --key diff-1")]
struct Post {
    /// The team
    team: String,
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// What is said; - is standard input
    #[arg(value_name = "TEXT|-")]
    body: String,
    /// Who says it [default: who is acting, else system]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Who is told, separated by commas [default: whoever takes part]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    to: Vec<String>,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Post, thread::posted, |args, context| post::ThreadPost {
    thread_id: args.thread,
    body: match &*args.body {
        "-" => given::stdin(context.env(), "TEXT")?,
        _ => args.body,
    },
    worker: args.agent.or_else(|| context.actor()),
    to: Some(args.to).filter(|agents| !agents.is_empty()),
});

/// Show the newest messages of a thread, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread tail demo thread-0001
  teamlog thread tail demo thread-0001 --limit 200 --json")]
struct Tail {
    /// The team
    team: String,
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// Most messages, at most 200 [default: 20]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Where the page before says that older ones go on
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(Tail, at, render::thread::talk, |args, context| {
    tail::ThreadTail {
        thread_id: args.thread,
        limit: args.limit,
        cursor: args.cursor,
    }
});

/// Find threads by their titles, messages, participants or task, the newest first; without a text, list them
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Find threads by their titles, messages, participants or task, the newest first; without a text, list \
        them\n\nOne call examines a bounded part of what was said. While there is more to examine the answer has a cursor, \
        even where it has no thread.",
    after_help = "\
Examples:
  teamlog thread search demo
  teamlog thread search demo 'the login' --json"
)]
struct Search {
    /// The team
    team: String,
    /// The text, in any case
    #[arg(value_name = "TEXT")]
    query: Option<String>,
    /// Most threads, at most 200 [default: 50]
    #[arg(long, value_name = "N", value_parser = super::whole::<usize>)]
    limit: Option<usize>,
    /// Where the page before says that it goes on
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    #[command(flatten)]
    at: Past,
}

reads!(
    Search,
    at,
    render::thread::found,
    search::ThreadSearch(query, limit, cursor)
);

/// Make a thread belong to a task, in the place of the one that it belonged to
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  teamlog thread link demo thread-0001 7")]
struct Link {
    /// The team
    team: String,
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// The task
    #[arg(value_name = "TASK")]
    task: String,
    /// Who does it [default: who is acting, if anybody]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    stamp: Stamp,
}

records!(Link, thread::card, |args, context| link::ThreadLink {
    thread_id: args.thread,
    task_id: args.task,
    worker: args.agent.or_else(|| context.actor()),
});
