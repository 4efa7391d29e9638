//! Renders answers for an agent at work: tasks to claim, new events, and the briefing.

use crate::render::event;
use crate::render::prelude::*;
use crate::render::task::subject;
use teamlog_team::log::sync_views::{SyncViewsAnswer, SyncViewsStatus};
use teamlog_team::message::lead::{BlockedTask, Decision, FinishedTask, HeldTask, TeamBrief};
use teamlog_team::message::notices::Notice;
use teamlog_team::message::prime::{Brief, Dependency, Few, Mail, PrimeAnswer};
use teamlog_team::message::wait::WaitAnswer;
use teamlog_team::projections::Priority;
use teamlog_team::task::listed::Listed;
use teamlog_team::task::ready::ReadyAnswer;

/// Renders rows of `id  priority  owner  age  subject`, most urgent first.
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
        subject(task),
    ]
}

/// Renders one line per new event.
pub fn arrived(answer: &WaitAnswer, view: &View) -> Vec<String> {
    if answer.events.is_empty() {
        return vec![format!(
            "nothing new for {} up to event {}",
            visible(&answer.agent),
            answer.last_seq
        )];
    }
    let events = answer.events.iter().map(|recorded| &recorded.event);
    events.map(|event| event::line(event, view)).collect()
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
    if let Some(lead) = &answer.lead {
        team(&mut shown, lead);
    }
    list(&mut shown, "in progress", &answer.in_progress, brief);
    list(&mut shown, "blocked", &answer.blocked, brief);
    list(&mut shown, "ready", &answer.ready, brief);
    list(
        &mut shown,
        "completed, then rejected",
        &answer.rejected,
        brief,
    );
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
    shown.extend(commands.flat_map(|command| wrap::command(&visible(command), 2, view)));
    shown
}

/// Splits the unread messages into mail and nudges.
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
    text.push_str(&waits_for(&task.waits_for, task.waits_for_more));
    if task.lease_expired {
        text.push_str("  (lease expired)");
    }
    if !task.approval.is_empty() {
        text.push_str(&format!("  approval: {}", task.approval));
    }
    if !task.note.is_empty() {
        text.push_str(&format!("  note: {}", task.note));
    }
    if !task.reported.is_empty() {
        let by = task.reported_by.as_ref();
        let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
        text.push_str(&format!("  reported{by}: {}", task.reported));
    }
    text
}

/// Formats ` waits for T-1 (in_progress), 2 more`. Returns an empty text for a task without open dependencies.
fn waits_for(open: &[Dependency], more: usize) -> String {
    let mut names: Vec<String> = open
        .iter()
        .map(|dep| format!("{} ({})", dep.task_id, dep.status))
        .collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.is_empty() {
        true => String::new(),
        false => format!("  waits for {}", names.join(", ")),
    }
}

/// Renders the state of the whole team for its leader.
fn team(shown: &mut Vec<String>, lead: &TeamBrief) {
    list(shown, "team: to decide", &lead.decisions, decision);
    list(shown, "team: blocked", &lead.blocked, blocked);
    list(shown, "team: in flight", &lead.held, held);
    let since = match lead.last_command_seq {
        0 => "team: finished".to_owned(),
        seq => format!("team: finished since your last command (event {seq})"),
    };
    list(shown, &since, &lead.finished, finished);
}

fn decision(decision: &Decision) -> String {
    let age = decision.age_minutes.map(|age| format!("  ({})", ago(age)));
    format!("  {}{}", decision.text, age.unwrap_or_default())
}

fn blocked(task: &BlockedTask) -> String {
    let owner = task.owner.as_deref().unwrap_or("-");
    let waits = waits_for(&task.waits_for, task.waits_for_more);
    let text = format!("  {}  {owner}  {}{waits}", task.task_id, task.status);
    with_note(text, &task.note)
}

fn held(task: &HeldTask) -> String {
    let HeldTask {
        task_id,
        owner,
        status,
        subject,
        ..
    } = task;
    let (since, heard) = (minutes(task.held_minutes), ago(task.heard_minutes));
    let expired = match task.lease_expired {
        true => ", lease expired",
        false => "",
    };
    let text =
        format!("  {task_id}  {owner}  {status} for {since}, heard {heard}{expired}  {subject}");
    with_note(text, &task.note)
}

fn finished(task: &FinishedTask) -> String {
    let owner = task.owner.as_deref().unwrap_or("-");
    let age = ago(task.age_minutes);
    let text = format!("  {}  {owner}  {} {age}", task.task_id, task.status);
    with_note(text, &task.note)
}

fn with_note(text: String, note: &str) -> String {
    match note.is_empty() {
        true => text,
        false => format!("{text}  note: {note}"),
    }
}

fn minutes(minutes: u64) -> String {
    if minutes == 0 {
        return "under 1m".to_owned();
    }
    time::about(micros(minutes))
}

fn ago(minutes: u64) -> String {
    time::ago(micros(minutes), 0)
}

fn micros(minutes: u64) -> i64 {
    let micros = minutes.saturating_mul(60_000_000);
    i64::try_from(micros).unwrap_or(i64::MAX)
}

fn mail(mail: &Mail) -> String {
    let task = mail.task_id.as_deref().unwrap_or_default();
    let (id, kind, from, text) = (&mail.message_id, mail.kind, &mail.from, &mail.text);
    format!("  {id}  {kind} from {from}  {task}  {text}")
}

/// Formats a notice, such as ` msg-… thread-0001 T-4 from dev text`. News consist of a sentence only.
fn notice(notice: &Notice) -> String {
    let Some(thread) = &notice.thread_id else {
        return format!("  {}", notice.text);
    };
    let (id, from, text) = (&notice.id, &notice.from, &notice.text);
    let task = notice.task_id.as_deref().unwrap_or_default();
    format!("  {id}  {thread} from {from}  {task}  {text}")
}

/// Renders the state of the view files.
pub fn synced(answer: &SyncViewsAnswer, _: &View) -> Vec<String> {
    let SyncViewsAnswer { team, status, seq } = answer;
    vec![match status {
        SyncViewsStatus::Synced => {
            format!("view files of {team} hold everything up to event {seq}")
        }
        SyncViewsStatus::None => format!("{team} has no view files"),
        SyncViewsStatus::Timeout => {
            format!("view files of {team} do not hold event {seq} yet; doctor check says why")
        }
    }]
}
