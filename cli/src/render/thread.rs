//! Renders threads: a thread, its posts, the list, and search results.

use crate::render::doubts;
use crate::render::escape::visible_lines;
use crate::render::inbox::by;
use crate::render::prelude::*;
use crate::render::wrap;
use teamlog_team::projections::thread::{PostShown, ThreadShown};
use teamlog_team::thread::comment::{CommentAnswer, Comments};
use teamlog_team::thread::list::{ThreadListAnswer, ThreadListed};
use teamlog_team::thread::post::ThreadPostAnswer;
use teamlog_team::thread::search::ThreadSearchAnswer;
use teamlog_team::thread::start::ThreadAnswer;
use teamlog_team::thread::tail::ThreadTailAnswer;

/// Renders a thread in two lines.
pub fn card(answer: &ThreadAnswer, view: &View) -> Vec<String> {
    let mut shown = head(&answer.thread, view);
    shown.extend(doubts::of_recipients(&answer.doubts));
    shown
}

fn head(thread: &ThreadShown, view: &View) -> Vec<String> {
    let mut about = names_or("no participants", &thread.participants);
    if let Some(task) = &thread.task_id {
        about.push_str(&format!("; about task {task}"));
    }
    vec![
        heading(view, &thread.id, &format!("  {}", thread.title)),
        format!("  {}", visible(&about)),
    ]
}

/// Formats a line such as `comment 3 on task 1  qa -> dev, lead  (event 12)`.
pub fn commented(answer: &CommentAnswer, view: &View) -> Vec<String> {
    let post = &answer.message;
    let comment = view.paint.show(Style::Good, "comment");
    let line = format!(
        "{comment} {} on task {}  {}{} -> {}  (event {})",
        answer.comments,
        visible(&answer.task_id),
        visible(&post.from),
        by(post.actor.as_deref()),
        visible(&names_or("nobody", &post.to)),
        post.seq
    );
    let mut shown = vec![line];
    shown.extend(doubts::of_recipients(&answer.doubts));
    shown
}

/// Renders the newest comments on a task, wrapped, and the command that prints the other comments.
pub fn comments(comments: &Comments, view: &View) -> Vec<String> {
    let count = time::plural(comments.count, "comment");
    let mut shown = vec![view.paint.show(Style::Dim, count).to_string()];
    shown.extend(posts(&comments.newest, view));
    if comments.count > comments.newest.len() as u64 {
        let thread = visible(&comments.thread_id);
        shown.push(format!("older ones: teamlog thread tail {thread}"));
    }
    shown
}

/// Formats a line such as `said msg-…  dev -> qa, lead  (event 12)`.
pub fn posted(answer: &ThreadPostAnswer, view: &View) -> Vec<String> {
    let post = &answer.message;
    let said = view.paint.show(Style::Good, "said");
    let line = format!(
        "{said} {}  {}{} -> {}  (event {})",
        visible(&post.id),
        visible(&post.from),
        by(post.actor.as_deref()),
        visible(&names_or("nobody", &post.to)),
        post.seq
    );
    let mut shown = vec![line];
    shown.extend(doubts::of_recipients(&answer.doubts));
    shown
}

pub fn talk(answer: &ThreadTailAnswer, view: &View) -> Vec<String> {
    let mut shown = head(&answer.thread, view);
    shown.extend(posts(&answer.messages, view));
    shown.extend(more("older", &answer.next_cursor));
    shown
}

fn posts(posts: &[PostShown], view: &View) -> Vec<String> {
    let mut shown = Vec::new();
    for post in posts {
        shown.push(format!(
            "{}{}  {}",
            view.paint.show(Style::Bold, visible(&post.from)),
            by(post.actor.as_deref()),
            view.paint.show(Style::Dim, view.ago_of(&post.ts))
        ));
        for line in visible_lines(&shortened(&post.body, view)).lines() {
            shown.extend(wrap::lines(line, 2, view));
        }
    }
    shown
}

pub fn found(answer: &ThreadSearchAnswer, view: &View) -> Vec<String> {
    let rows = answer.threads.iter().map(|one| row(one, view));
    page(rows, "no threads", ("more", &answer.next_cursor), view)
}

fn row(thread: &ThreadShown, view: &View) -> Vec<Cell> {
    vec![
        styled(Style::Bold, &*thread.id),
        free_text(Style::Plain, &*thread.title),
        plain(time::plural(thread.messages, "message")),
        styled(Style::Dim, view.ago_of(&thread.updated_at)),
    ]
}

/// Renders a page of threads, each with its last post.
pub fn list(answer: &ThreadListAnswer, view: &View) -> Vec<String> {
    let rows = answer.threads.iter().map(|one| listed(one, view));
    page(rows, "no threads", ("older", &answer.next_cursor), view)
}

fn listed(thread: &ThreadListed, view: &View) -> Vec<Cell> {
    let said = match (&thread.last_by, &thread.last_text) {
        (Some(by), Some(text)) => format!("{by}: {text}"),
        _ => String::new(),
    };
    vec![
        styled(Style::Bold, &*thread.id),
        free_text(Style::Plain, &*thread.title),
        plain(time::plural(thread.messages, "message")),
        styled(Style::Dim, view.ago_of(&thread.last_at)),
        free_text(Style::Plain, said),
    ]
}
