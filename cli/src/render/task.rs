//! Renders tasks, as rows or in full with the history.

use crate::render::attributes;
use crate::render::prelude::*;
use crate::render::thread;
use crate::render::timeline;
use teamlog_team::engine::Json;
use teamlog_team::projections::Task;
use teamlog_team::projections::task::Status;
use teamlog_team::projections::worker::ApprovalShown;
use teamlog_team::projections::worker::supervision::ApprovalStatus;
use teamlog_team::task::approval;
use teamlog_team::task::history::TaskHistoryAnswer;
use teamlog_team::task::list::TasksAnswer;
use teamlog_team::task::listed::Listed;
use teamlog_team::task::report;
use teamlog_team::task::show::TaskShowAnswer;

pub fn page(answer: &TasksAnswer, view: &View) -> Vec<String> {
    let mut shown = lines(
        answer.tasks.iter().map(|task| reviewed(task, answer, view)),
        0,
        view,
    );
    if shown.is_empty() {
        shown.push("no tasks".to_owned());
    }
    if let Some(cursor) = &answer.next_cursor {
        shown.push(String::new());
        shown.push(format!(
            "{} shown; more: --cursor {}",
            time::count(answer.count as u64),
            visible(cursor)
        ));
    }
    shown
}

/// Formats a row of `id  status  owner  when  subject`.
pub fn row(task: &Listed, view: &View) -> Vec<Cell> {
    vec![
        styled(Style::Bold, &task.task_id),
        status(task.status),
        plain(task.owner.as_deref().unwrap_or("-")),
        styled(Style::Dim, view.ago(task.updated_at)).optional(),
        subject(task),
        free_text(Style::Dim, reported(task)),
    ]
}

/// Returns the subject of the task. Adds a mark if the lease expired and no event records this yet.
pub fn subject(task: &Listed) -> Cell {
    let mark = match task.lease_expired() {
        true => "(lease expired)",
        false => "",
    };
    free_text(Style::Plain, task.subject.as_deref().unwrap_or("")).marked(mark)
}

/// Formats the last report on a claimed task: `reported blocked, 40%: waits for the schema (by dev)`.
fn reported(task: &Task) -> String {
    let words = report::words(task);
    match (words.is_empty(), &task.reported.by) {
        (true, _) => String::new(),
        (false, Some(by)) => format!("reported {words} (by {by})"),
        (false, None) => format!("reported {words}"),
    }
}

pub fn card(answer: &TaskShowAnswer, view: &View) -> Vec<String> {
    let task = &answer.task;
    let subject = match &task.subject {
        Some(subject) => format!("  {subject}"),
        None => String::new(),
    };
    let mut shown = vec![heading(view, &task.task_id, &subject)];
    let claimed = claim(answer, view);
    shown.extend(named(fields(answer, view).into_iter().chain(claimed), view));
    if let Some(comments) = &answer.comments {
        push_below(&mut shown, thread::comments(comments, view));
    }
    if let Some(history) = &answer.history {
        shown.push(String::new());
        shown.extend(timeline::lines(history, view));
        shown.extend(more("older ones", &answer.next_cursor));
    }
    shown
}

/// Returns the fields of a task that its new holder reads first.
pub fn about(answer: &TaskShowAnswer, view: &View) -> Vec<String> {
    const NAMES: [&str; 7] = [
        "priority",
        "writes",
        "details",
        "assigned by",
        "reported",
        "approval",
        "trace",
    ];
    let wanted = fields(answer, view)
        .into_iter()
        .filter(|(name, _)| NAMES.contains(name));
    named(wanted, view)
}

/// Renders fields that are not empty, with their names before them. A value that does not fit the terminal is wrapped below itself.
fn named(fields: impl Iterator<Item = (&'static str, Cell)>, view: &View) -> Vec<String> {
    let fields: Vec<_> = fields.filter(|(_, cell)| !cell.is_empty()).collect();
    let width = fields.iter().map(|(name, _)| name.len()).max();
    let indent = 2 + width.unwrap_or_default() + 2;
    let room = view.width.map(|width| width.saturating_sub(indent));
    let rows = fields.into_iter().flat_map(|(name, cell)| {
        let parts = match room {
            Some(room) => cell.wrapped(room),
            None => vec![cell],
        };
        let names = [name].into_iter().chain(std::iter::repeat(""));
        let rows = names
            .zip(parts)
            .map(|(name, part)| vec![styled(Style::Dim, name), part]);
        rows.collect::<Vec<_>>()
    });
    lines(rows, 2, view)
}

pub fn history(answer: &TaskHistoryAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "event");
    let rest = format!(" in {}: {count}", answer.team);
    let mut shown = vec![heading(view, &answer.task_id, &rest), String::new()];
    shown.extend(timeline::lines(&answer.events, view));
    shown.extend(more_below("older ones", &answer.next_cursor));
    shown
}

/// Formats the paths of a task: `src/io, docs  (shared)`.
fn writes(task: &Task) -> String {
    let mut text = task.governed.resources.join(", ");
    match task.governed.shared {
        Some(true) if !text.is_empty() => text.push_str("  (shared)"),
        Some(false) if !text.is_empty() => text.push_str("  (exclusive)"),
        _ => {}
    }
    text
}

/// Formats the due time of a task. Adds a mark if the task is overdue.
fn due(task: &Task, view: &View) -> Cell {
    let Some(due) = task.governed.plan.due_at else {
        return plain("");
    };
    let is_overdue = !task.status.is_final() && due <= view.now;
    let (style, mark) = match is_overdue {
        true => (Style::Warn, "  overdue"),
        false => (Style::Plain, ""),
    };
    styled(style, format!("{}{mark}", moment(due, view)))
}

/// Formats the parts of a task, such as `2 of 3 completed, 1 open`.
fn parts(task: &Task) -> String {
    let children = task.governed.plan.children;
    match children.total {
        0 => String::new(),
        total => format!(
            "{} of {total} completed, {} open",
            children.completed, children.open
        ),
    }
}

/// Returns the fields of a task that people need, most important first. The JSON answer has more fields.
fn fields(answer: &TaskShowAnswer, view: &View) -> Vec<(&'static str, Cell)> {
    let (task, failed) = (&answer.task, &answer.failed_dependencies);
    let plan = &task.governed.plan;
    let text = |field: &Option<String>| plain(shortened(field.as_deref().unwrap_or(""), view));
    let json = |field: &Option<Json>| {
        let text = field.as_ref().map(unquoted).unwrap_or_default();
        plain(shortened(&text, view))
    };
    let when = |at: Timestamp| moment(at, view);
    vec![
        ("status", stage(task, answer.approval.as_ref())),
        ("blocked", plain(if task.blocked { "yes" } else { "" })),
        ("owner", text(&task.owner)),
        ("assigned by", text(&task.assigned_by)),
        ("priority", plain(task.priority.name())),
        ("labels", plain(plan.labels.join(", "))),
        ("due", due(task, view)),
        (
            "deferred to",
            plain(plan.defer_until.map(when).unwrap_or_default()),
        ),
        ("part of", text(&plan.parent)),
        ("parts", plain(parts(task))),
        ("writes", plain(writes(task))),
        ("details", text(&task.details)),
        ("progress", json(&task.progress)),
        ("eta", json(&task.eta)),
        ("note", text(&task.note)),
        ("reported", plain(report::words(task))),
        ("reported by", text(&task.reported.by)),
        (
            "reported at",
            plain(task.reported.at.map(when).unwrap_or_default()),
        ),
        ("waits for", plain(task.deps.join(", "))),
        ("in vain for", styled(Style::Warn, failed.join(", "))),
        (
            "no such task",
            styled(Style::Warn, answer.unknown_dependencies.join(", ")),
        ),
        ("approval", approval(answer)),
        ("trace", text(&task.trace_id)),
        ("created", plain(when(task.created_at))),
        ("updated", plain(when(task.updated_at))),
        ("last from", text(&task.last_update_from)),
        ("last message", plain(&task.last_message_id)),
    ]
}

/// Formats the last decision on the task: `rejected by lead: the tests are missing (required)`.
fn approval(answer: &TaskShowAnswer) -> Cell {
    let is_gated = answer.task.requires_approval();
    let Some(last) = &answer.approval else {
        let text = if is_gated {
            "required, no decision yet"
        } else {
            ""
        };
        return styled(Style::Warn, text);
    };
    let style = match last.status {
        ApprovalStatus::Approved => Style::Good,
        ApprovalStatus::Rejected if last.required => Style::Bad,
        _ => Style::Warn,
    };
    let required = if is_gated { "  (required)" } else { "" };
    styled(style, format!("{}{required}", approval::words(last)))
}

/// Returns the holder with the end of the lease, and the result of the task.
fn claim(answer: &TaskShowAnswer, view: &View) -> Vec<(&'static str, Cell)> {
    let (task, governed) = (&answer.task, &answer.task.governed);
    let text = |field: &Option<String>| plain(shortened(field.as_deref().unwrap_or(""), view));
    let when = |at: Option<Timestamp>| plain(at.map(|at| moment(at, view)).unwrap_or_default());
    let lease = match task.claim() {
        None => plain(""),
        Some(claim) if answer.lease_expired => {
            let ended = moment(claim.leased_until, view);
            styled(Style::Warn, format!("expired {ended}"))
        }
        Some(claim) => plain(format!("ends {}", moment(claim.leased_until, view))),
    };
    let epoch = match governed.epoch {
        0 => String::new(),
        epoch => epoch.to_string(),
    };
    let extra = shortened(governed.extra.as_ref().map_or("", Json::as_str), view);
    let mut rows = vec![
        ("lease", lease),
        ("epoch", plain(epoch)),
        ("started", when(governed.started_at)),
        ("finished", when(governed.completed_at)),
        ("result", text(&governed.result)),
        ("error", text(&governed.error)),
    ];
    let attributes = attributes::texts(&governed.attributes).into_iter();
    rows.extend(attributes.map(|(name, text)| (name, plain(text))));
    rows.push(("extra", plain(extra)));
    rows
}

/// Formats a time, such as `3m ago  (2026-11-28T14:55:01Z)`.
fn moment(at: Timestamp, view: &View) -> String {
    format!("{}  ({at})", view.ago(at))
}

/// Formats a JSON value. A string has no quotes.
fn unquoted(json: &Json) -> String {
    serde_json::from_str::<String>(json.as_str()).unwrap_or_else(|_| json.as_str().to_owned())
}

/// Formats the row of a task. If the task waits for an approval, its status is shown as `review`.
fn reviewed(task: &Listed, answer: &TasksAnswer, view: &View) -> Vec<Cell> {
    let mut cells = row(task, view);
    if let Some(cell) = cells.get_mut(1) {
        *cell = stage(task, answer.approvals.get(&task.task_id));
    }
    cells
}

/// Returns true if a task is in progress and waits for an approval. `approval` is the last decision on the task.
pub fn is_in_review(task: &Task, approval: Option<&ApprovalShown>) -> bool {
    let is_approved = approval.is_some_and(|last| last.status == ApprovalStatus::Approved);
    task.status == Status::InProgress && task.requires_approval() && !is_approved
}

/// Formats the status of a task. A task in progress that waits for a required approval has the status `review`.
fn stage(task: &Task, approval: Option<&ApprovalShown>) -> Cell {
    match is_in_review(task, approval) {
        true => styled(Style::Warn, "review"),
        false => status(task.status),
    }
}

fn status(status: Status) -> Cell {
    styled(Style::of_status(status), status.name())
}
