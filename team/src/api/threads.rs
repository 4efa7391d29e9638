//! Operations on threads, and an agent's feed.

use super::operation::Op;
use super::rules::Rules;
use crate::failure::Result;
use crate::handle::team::Team;
use crate::message::inbox_feed::{InboxFeed, InboxFeedAnswer};
use crate::thread::link::ThreadLink;
use crate::thread::post::{ThreadPost, ThreadPostAnswer};
use crate::thread::search::{ThreadSearch, ThreadSearchAnswer};
use crate::thread::start::{ThreadAnswer, ThreadStart};
use crate::thread::tail::{ThreadTail, ThreadTailAnswer};

/// As callers of the HTTP contract name the fields.
const RULES: Rules = Rules {
    aliases: &[
        ("threadId", "thread_id"),
        ("taskId", "task_id"),
        ("agentId", "worker"),
        ("message", "body"),
        ("q", "query"),
    ],
    ..Rules::COMMON
};

impl Op for ThreadStart {
    type Data = ThreadAnswer;
    const NAME: &'static str = "thread-start";
    const DOC: &'static str = "Start a thread between agents, perhaps about a task";
    const MUTATES: bool = true;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<ThreadAnswer> {
        team.thread_start(self)
    }
}

impl Op for ThreadPost {
    type Data = ThreadPostAnswer;
    const NAME: &'static str = "thread-post";
    const DOC: &'static str = "Say something in a thread; whoever takes part is told";
    const MUTATES: bool = true;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<ThreadPostAnswer> {
        team.thread_post(self)
    }
}

impl Op for ThreadTail {
    type Data = ThreadTailAnswer;
    const NAME: &'static str = "thread-tail";
    const DOC: &'static str = "Read the newest messages of a thread, oldest first";
    const MUTATES: bool = false;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<ThreadTailAnswer> {
        team.thread_tail(&self)
    }
}

impl Op for ThreadSearch {
    type Data = ThreadSearchAnswer;
    const NAME: &'static str = "thread-search";
    const DOC: &'static str = "Find threads by what they hold, the newest thread first";
    const MUTATES: bool = false;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<ThreadSearchAnswer> {
        team.thread_search(&self)
    }
}

impl Op for ThreadLink {
    type Data = ThreadAnswer;
    const NAME: &'static str = "thread-link";
    const DOC: &'static str = "Make a thread belong to a task";
    const MUTATES: bool = true;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<ThreadAnswer> {
        team.thread_link(self)
    }
}

impl Op for InboxFeed {
    type Data = InboxFeedAnswer;
    const NAME: &'static str = "inbox-feed";
    const DOC: &'static str = "Read what an agent is to be told, behind its cursor";
    const MUTATES: bool = false;
    const RULES: Rules = RULES;

    fn run(self, team: &mut Team) -> Result<InboxFeedAnswer> {
        team.inbox_feed(&self)
    }
}
