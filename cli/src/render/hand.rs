//! Work at hand: what can be taken up, what has arrived, what an agent should know.

use crate::render::event;
use crate::render::prelude::*;
use crate::render::task::subject;
use teamlog_team::log::sync_views::{SyncViewsAnswer, SyncViewsStatus};
use teamlog_team::message::notices::Notice;
use teamlog_team::message::prime::{Brief, Few, Mail, PrimeAnswer};
use teamlog_team::message::wait::WaitAnswer;
use teamlog_team::projections::Priority;
use teamlog_team::task::listed::Listed;
use teamlog_team::task::ready::ReadyAnswer;

/// `id  priority  owner  age  subject`, the most urgent first.
pub fn ready(answer: &ReadyAnswer, view: &View) -> Vec<String> {
    let mut shown = lines(answer.tasks.iter().map(|task| row(task, view)), 0, view);
    if shown.is_empty() {
        shown.push("nothing is ready".to_owned());
    }
    if let Some(cursor) = &answer.next_cursor {
        shown.push(String::new());
        shown.push(format!(
            "{} of {} shown; more: --cursor {}",
            time::count(answer.count as u64),
            time::count(answer.total),
            visible(cursor)
        ));
    }
    shown
}

fn row(task: &Listed, view: &View) -> Vec<Cell> {
    let style = match task.priority {
        Priority::High | Priority::Critical => Style::Warn,
        _ => Style::Plain,
    };
    vec![
        styled(Style::Bold, &task.task_id),
        styled(style, task.priority.name()),
        plain(task.owner.as_deref().unwrap_or("-")),
        styled(Style::Dim, view.ago(task.created_at)),
        free_text(Style::Plain, subject(task)),
    ]
}

/// What arrived, one event a line.
pub fn arrived(answer: &WaitAnswer, view: &View) -> Vec<String> {
    if answer.events.is_empty() {
        return vec![format!(
            "nothing arrived for {} up to event {}",
            visible(&answer.agent),
            answer.last_seq
        )];
    }
    let events = answer.events.iter().map(|recorded| &recorded.event);
    events.map(|event| event::line(event, view.paint)).collect()
}

pub fn primed(answer: &PrimeAnswer, view: &View) -> Vec<String> {
    let (unread, wakeups) = parted(answer);
    let mut count = time::plural(unread.total, "unread message");
    for (more, what) in [
        (answer.posts.total, "unread post"),
        (wakeups.total, "wake-up"),
    ] {
        if more > 0 {
            count = format!("{count}, {}", time::plural(more, what));
        }
    }
    let rest = format!(" in {}, event {}: {count}", answer.team, answer.last_seq);
    let mut shown = vec![heading(view, &answer.agent, &rest)];
    let states = answer.tasks_by_status.iter();
    let states = states.map(|(status, count)| format!("{status} {}", time::count(*count)));
    let states = states.collect::<Vec<String>>().join(", ");
    if !states.is_empty() {
        shown.push(format!("own tasks: {states}"));
    }
    list(&mut shown, "in progress", &answer.in_progress, brief);
    list(&mut shown, "blocked", &answer.blocked, brief);
    list(&mut shown, "ready", &answer.ready, brief);
    list(&mut shown, "unread, newest first", &unread, mail);
    list(
        &mut shown,
        "unread posts, oldest first",
        &answer.posts,
        notice,
    );
    list(&mut shown, "news of own tasks", &answer.news, notice);
    list(&mut shown, "wake-ups", &wakeups, mail);
    shown.extend([String::new(), "next".to_owned()]);
    let commands = answer.commands.iter();
    shown.extend(commands.map(|command| format!("  {}", visible(command))));
    shown
}

/// The unread messages, and the wake-ups among them apart.
fn parted(answer: &PrimeAnswer) -> (Few<Mail>, Few<Mail>) {
    let all = answer.unread.items.iter().cloned();
    let (wakeups, mail) = all.partition(Mail::is_wakeup);
    let all = answer.unread.total;
    let unread = Few {
        total: all.saturating_sub(answer.unread_wakeups),
        items: mail,
    };
    let wakeups = Few {
        total: answer.unread_wakeups,
        items: wakeups,
    };
    (unread, wakeups)
}

fn list<T>(shown: &mut Vec<String>, name: &str, some: &Few<T>, line: fn(&T) -> String) {
    if some.total == 0 {
        return;
    }
    shown.push(String::new());
    let left_out = some.total.saturating_sub(some.items.len() as u64);
    let (few, all) = (some.items.len(), time::count(some.total));
    shown.push(match left_out {
        0 => name.to_owned(),
        _ => format!("{name} ({few} of {all})"),
    });
    let items = some.items.iter();
    shown.extend(items.map(|item| visible(&line(item)).trim_end().to_owned()));
}

fn brief(task: &Brief) -> String {
    let mut text = format!("  {}  {}  {}", task.task_id, task.priority, task.subject);
    let waits_for = task.waits_for.iter();
    let mut waits_for: Vec<String> = waits_for
        .map(|dep| format!("{} ({})", dep.task_id, dep.status))
        .collect();
    if task.waits_for_more > 0 {
        waits_for.push(format!("{} more", task.waits_for_more));
    }
    if !waits_for.is_empty() {
        text.push_str(&format!("  waits for {}", waits_for.join(", ")));
    }
    if task.lease_expired {
        text.push_str("  (lease expired)");
    }
    if !task.note.is_empty() {
        text.push_str(&format!("  note: {}", task.note));
    }
    if !task.reported.is_empty() {
        text.push_str(&format!("  reported: {}", task.reported));
    }
    text
}

fn mail(mail: &Mail) -> String {
    let task = mail.task_id.as_deref().unwrap_or_default();
    let (id, kind, from, text) = (&mail.message_id, mail.kind, &mail.from, &mail.text);
    format!("  {id}  {kind} from {from}  {task}  {text}")
}

/// `  msg-…  thread-0001  T-4  from dev  text`; of news only the sentence.
fn notice(notice: &Notice) -> String {
    let Some(thread) = &notice.thread_id else {
        return format!("  {}", notice.text);
    };
    let (id, from, text) = (&notice.id, &notice.from, &notice.text);
    let task = notice.task_id.as_deref().unwrap_or_default();
    format!("  {id}  {thread} from {from}  {task}  {text}")
}

/// How far the view files are.
pub fn synced(answer: &SyncViewsAnswer) -> String {
    let SyncViewsAnswer { team, status, seq } = answer;
    match status {
        SyncViewsStatus::Synced => {
            format!("view files of {team} hold everything up to event {seq}")
        }
        SyncViewsStatus::None => format!("{team} keeps no view files"),
        SyncViewsStatus::Timeout => {
            format!("view files of {team} do not hold event {seq} yet; doctor check says why")
        }
    }
}
