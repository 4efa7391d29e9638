//! `thread`: talks between agents, perhaps about a task.

use crate::command::prelude::*;
use crate::render::thread;
use teamlog_team::thread::link::ThreadLink;
use teamlog_team::thread::list::ThreadList;
use teamlog_team::thread::list::ThreadListAnswer;
use teamlog_team::thread::post::ThreadPost;
use teamlog_team::thread::post::ThreadPostAnswer;
use teamlog_team::thread::search::ThreadSearch;
use teamlog_team::thread::search::ThreadSearchAnswer;
use teamlog_team::thread::start::ThreadAnswer;
use teamlog_team::thread::start::ThreadStart;
use teamlog_team::thread::tail::ThreadTail;
use teamlog_team::thread::tail::ThreadTailAnswer;

actions! {
    Start = "start", recorded::<ThreadAnswer>;
    List = "list", read::<ThreadListAnswer>;
    Post = "post", recorded::<ThreadPostAnswer>;
    Tail = "tail", read::<ThreadTailAnswer>;
    Search = "search", read::<ThreadSearchAnswer>;
    Link = "link", recorded::<ThreadAnswer>;
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

impl Start {
    fn run(self, context: &mut Context) -> Outcome {
        let input = ThreadStart {
            title: self.title,
            participants: Some(self.participants).filter(|agents| !agents.is_empty()),
            task_id: self.task_id,
            worker: self.agent.or_else(|| context.actor()),
        };
        self.stamp
            .carry_out(context, &self.team, input, thread::card)
    }
}

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

impl List {
    fn run(self, context: &mut Context) -> Outcome {
        let list = ThreadList {
            limit: self.limit,
            cursor: self.cursor,
        };
        context.ask_at(&self.team, self.at, &question::THREADS, list)
    }
}

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

impl Post {
    fn run(self, context: &mut Context) -> Outcome {
        let body = match &*self.body {
            "-" => given::stdin(context.env(), "TEXT")?,
            _ => self.body,
        };
        let input = ThreadPost {
            thread_id: self.thread,
            body,
            worker: self.agent.or_else(|| context.actor()),
            to: Some(self.to).filter(|agents| !agents.is_empty()),
        };
        self.stamp
            .carry_out(context, &self.team, input, thread::posted)
    }
}

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

impl Tail {
    fn run(self, context: &mut Context) -> Outcome {
        let tail = ThreadTail {
            thread_id: self.thread,
            limit: self.limit,
            cursor: self.cursor,
        };
        context.ask_at(&self.team, self.at, &question::THREAD_TAIL, tail)
    }
}

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

impl Search {
    fn run(self, context: &mut Context) -> Outcome {
        let search = ThreadSearch {
            query: self.query,
            limit: self.limit,
            cursor: self.cursor,
        };
        context.ask_at(&self.team, self.at, &question::THREAD_SEARCH, search)
    }
}

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

impl Link {
    fn run(self, context: &mut Context) -> Outcome {
        let input = ThreadLink {
            thread_id: self.thread,
            task_id: self.task,
            worker: self.agent.or_else(|| context.actor()),
        };
        self.stamp
            .carry_out(context, &self.team, input, thread::card)
    }
}
