//! A team at a glance: members and what they have not read, tasks and what holds them up.

use crate::render::mode::place;
use crate::render::prelude::*;
use crate::render::task::row as task_row;
use teamlog_team::lifecycle::status::{ActiveMode, BootstrapRun, StaleMessage, StatusAnswer};
use teamlog_team::task::listed::Listed;

pub fn overview(answer: &StatusAnswer, view: &View) -> Vec<String> {
    let mut shown = vec![heading(
        view,
        &answer.team,
        &format!(
            ": {}, {}, {} ({})",
            time::plural(answer.task_count, "task"),
            time::plural(answer.message_count, "message"),
            time::plural(answer.events, "event"),
            answer.format
        ),
    )];
    if let Some(closed) = &answer.closed_at {
        shown.push(format!("closed at {}", visible(closed)));
    }
    section(&mut shown, "unread", members(answer, view));
    section(&mut shown, "unread posts", posts(answer, view));
    section(&mut shown, "tasks", statuses(answer, view));
    let tasks = |tasks: &[Listed]| lines(tasks.iter().map(|task| task_row(task, view)), 2, view);
    section(&mut shown, "blocked", tasks(&answer.blocked_tasks));
    section(&mut shown, "waits in vain", in_vain(answer, view));
    section(&mut shown, "stale tasks", tasks(&answer.stale_tasks));
    let stale = lines(answer.stale_messages.iter().map(stale_message), 2, view);
    section(&mut shown, "stale messages", stale);
    let modes = answer.active_modes.iter().map(|mode| active(mode, view));
    section(&mut shown, "active modes", lines(modes, 2, view));
    let runs = answer.bootstrap_runs.iter().map(|run| bootstrap(run, view));
    section(&mut shown, "bootstrap runs", lines(runs, 2, view));
    if !answer.truncated.is_empty() {
        shown.push(String::new());
        let names = answer.truncated.join(", ");
        shown.push(format!("there is more of: {names} (--limit 0 shows all)"));
    }
    if let Some(digest) = &answer.state_digest {
        shown.push(String::new());
        shown.push(format!("state digest {digest}"));
    }
    shown
}

/// `task  for those that failed`.
fn in_vain(answer: &StatusAnswer, view: &View) -> Vec<String> {
    let row = |(task, failed): (&String, &Vec<String>)| {
        let failed = format!("for {}", failed.join(", "));
        vec![styled(Style::Bold, task), styled(Style::Warn, failed)]
    };
    lines(answer.failed_dependencies.iter().map(row), 2, view)
}

fn section(shown: &mut Vec<String>, name: &str, content: Vec<String>) {
    if !content.is_empty() {
        shown.push(String::new());
        shown.push(name.to_owned());
        shown.extend(content);
    }
}

fn members(answer: &StatusAnswer, view: &View) -> Vec<String> {
    let rows = answer.unread_counts.iter().map(|(agent, unread)| {
        let style = if *unread > 0 { Style::Bold } else { Style::Dim };
        vec![
            plain(visible(agent)),
            number_styled(style, time::count(*unread)),
        ]
    });
    lines(rows, 2, view)
}

fn posts(answer: &StatusAnswer, view: &View) -> Vec<String> {
    let rows = answer.unread_posts.iter().map(|(agent, posts)| {
        vec![
            plain(visible(agent)),
            number_styled(Style::Bold, time::count(*posts)),
        ]
    });
    lines(rows, 2, view)
}

fn statuses(answer: &StatusAnswer, view: &View) -> Vec<String> {
    let rows = answer
        .tasks_by_status
        .iter()
        .filter(|(_, tasks)| **tasks > 0)
        .map(|(status, tasks)| vec![plain(status), number(time::count(*tasks))]);
    lines(rows, 2, view)
}

/// `forge  executing  3m ago  in session s-1`.
fn active(mode: &ActiveMode, view: &View) -> Vec<Cell> {
    vec![
        styled(Style::Bold, mode.mode.name()),
        plain(mode.phase.as_deref().unwrap_or("-")),
        styled(Style::Dim, view.ago_of(&mode.updated_at)),
        plain(place(&mode.session_id)),
    ]
}

/// `1  RUNNING  3m ago  with alpha: physics, music  2 violations`.
fn bootstrap(run: &BootstrapRun, view: &View) -> Vec<Cell> {
    let style = match run.breaches {
        0 => Style::Plain,
        _ => Style::Warn,
    };
    let team = run.team_name.as_deref();
    let team = team.map(|team| format!("with {team}"));
    let domains = Some(run.domains.join(", ")).filter(|domains| !domains.is_empty());
    let about: Vec<String> = team.into_iter().chain(domains).collect();
    let breaches = match run.breaches {
        0 => String::new(),
        breaches => time::plural(breaches, "violation"),
    };
    vec![
        styled(Style::Bold, &run.run),
        styled(style, run.state.name()),
        styled(Style::Dim, view.ago_of(&run.updated_at)),
        free_text(Style::Plain, about.join(": ")),
        styled(Style::Warn, breaches),
    ]
}

fn stale_message(message: &StaleMessage) -> Vec<Cell> {
    const MINUTE: i64 = 60 * time::SECOND;
    let age = i64::try_from(message.age_minutes)
        .unwrap_or(i64::MAX)
        .saturating_mul(MINUTE);
    vec![
        plain(message.message_id.as_str()),
        styled(Style::Warn, time::ago(age, 0)),
        plain(format!("to {}", message.agent)),
        plain(format!("from {}", message.from)),
        plain(message.kind),
        plain(message.task_id.as_deref().unwrap_or("")),
    ]
}
