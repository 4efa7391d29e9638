//! Renders `status`: members with unread messages, and tasks with their obstacles.

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
            answer.format.name()
        ),
    )];
    if let Some(closed) = &answer.closed_at {
        let ago = view.ago_of(closed);
        shown.push(format!("closed at {}  ({ago})", visible(closed)));
    }
    let tasks = |tasks: &[Listed]| lines(tasks.iter().map(|task| task_row(task, view)), 2, view);
    let stale = answer.stale_messages.iter().map(stale_message);
    let modes = answer.active_modes.iter().map(|mode| active(mode, view));
    let runs = answer.bootstrap_runs.iter().map(|run| bootstrap(run, view));
    let mut sections = Sections::new([
        ("waits in vain", in_vain(answer, view)),
        ("stale tasks", tasks(&answer.stale_tasks)),
        ("stale messages", lines(stale, 2, view)),
        ("blocked", tasks(&answer.blocked_tasks)),
        ("unread", members(answer, view)),
        ("unread posts", posts(answer, view)),
        ("tasks", statuses(answer, view)),
        ("active modes", lines(modes, 2, view)),
        ("bootstrap runs", lines(runs, 2, view)),
    ]);
    let digest = answer.state_digest.as_ref();
    let digest = digest.map(|digest| format!("state digest {digest}"));
    if !view.whole {
        let others = shown.len() + digest.as_ref().map_or(0, |_| 2);
        sections.fit(SCREEN_LINES.saturating_sub(others));
    }
    sections.show(&mut shown);
    let mut longer = sections.cut();
    let more = answer.truncated.iter();
    longer.extend(more.map(|name| name.replace('_', " ")));
    longer.dedup();
    if !longer.is_empty() {
        shown.push(String::new());
        shown.push(format!("more of {}: --all", longer.join(", ")));
    }
    if let Some(digest) = digest {
        shown.push(String::new());
        shown.push(digest);
    }
    shown
}

/// Number of lines that fit on a screen with the first line visible. The shell prompt takes one line.
const SCREEN_LINES: usize = 23;

/// A list in the answer.
struct Section {
    name: &'static str,
    rows: Vec<String>,
    total: usize,
}

/// The lists of the answer that are not empty.
struct Sections {
    all: Vec<Section>,
    /// True to put an empty line before each list.
    spaced: bool,
}

impl Sections {
    fn new<const N: usize>(lists: [(&'static str, Vec<String>); N]) -> Sections {
        let filled = lists.into_iter().filter(|(_, rows)| !rows.is_empty());
        let all = filled.map(|(name, rows)| Section {
            name,
            total: rows.len(),
            rows,
        });
        Sections {
            all: all.collect(),
            spaced: true,
        }
    }

    fn line_count(&self) -> usize {
        let rows: usize = self.all.iter().map(|section| section.rows.len()).sum();
        let before = if self.spaced { 2 } else { 1 };
        rows + self.all.len() * before
    }

    /// Cuts the longest lists until all lines fit into `most` lines, including the line that names the cut lists.
    fn fit(&mut self, most: usize) {
        if self.line_count() <= most {
            return;
        }
        let most = most.saturating_sub(2);
        // Use empty lines only if each list can still have some rows.
        self.spaced = most >= self.all.len() * 4;
        while self.line_count() > most {
            let longest = self.all.iter_mut().max_by_key(|section| section.rows.len());
            match longest {
                Some(section) if section.rows.len() > 1 => section.rows.pop(),
                _ => return,
            };
        }
    }

    /// Returns the names of the lists that were cut.
    fn cut(&self) -> Vec<String> {
        let cut = self.all.iter();
        let cut = cut.filter(|section| section.rows.len() < section.total);
        cut.map(|section| section.name.to_owned()).collect()
    }

    fn show(&self, shown: &mut Vec<String>) {
        for section in &self.all {
            if self.spaced {
                shown.push(String::new());
            }
            let few = section.rows.len();
            shown.push(match few < section.total {
                true => format!("{} ({few} of {})", section.name, section.total),
                false => section.name.to_owned(),
            });
            shown.extend(section.rows.iter().cloned());
        }
    }
}

/// Formats rows such as `T-3  for T-1, T-2`: a task, and the failed tasks on which it waits.
fn in_vain(answer: &StatusAnswer, view: &View) -> Vec<String> {
    let row = |(task, failed): (&String, &Vec<String>)| {
        let failed = format!("for {}", failed.join(", "));
        vec![styled(Style::Bold, task), styled(Style::Warn, failed)]
    };
    lines(answer.failed_dependencies.iter().map(row), 2, view)
}

/// Renders the number of unread messages per agent. Agents without unread messages share a line.
fn members(answer: &StatusAnswer, view: &View) -> Vec<String> {
    let (none, some): (Vec<_>, Vec<_>) = answer
        .unread_counts
        .iter()
        .partition(|(_, unread)| **unread == 0);
    let name = match (&*none, some.is_empty()) {
        ([], _) => None,
        ([(agent, _)], _) => Some(visible(agent).into_owned()),
        (many, true) => Some(format!("all {}", time::plural(many.len() as u64, "agent"))),
        (many, false) => Some(format!("{} others", time::count(many.len() as u64))),
    };
    let some = some.into_iter().map(|(agent, unread)| {
        vec![
            plain(visible(agent)),
            number_styled(Style::Bold, time::count(*unread)),
        ]
    });
    let none = name.map(|name| vec![plain(name), number_styled(Style::Dim, "0")]);
    lines(some.chain(none), 2, view)
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

/// Formats a row such as `forge  executing  3m ago  in session s-1`.
fn active(mode: &ActiveMode, view: &View) -> Vec<Cell> {
    vec![
        styled(Style::Bold, mode.mode.name()),
        plain(mode.phase.as_deref().unwrap_or("-")),
        styled(Style::Dim, view.ago(mode.updated_at)),
        plain(place(&mode.session_id)),
    ]
}

/// Formats a row such as `1  RUNNING  3m ago  with alpha: physics, music  2 violations`.
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
        plain(message.kind.name()),
        plain(message.task_id.as_deref().unwrap_or("")),
    ]
}
