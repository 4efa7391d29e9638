//! `diff`: the changes between two points of the log.
//!
//! The cost grows with the history before the points and with the number of events between them.

use crate::handle::past::{Past, PastPoint};
use crate::operation::prelude::*;
use crate::projections::bootstrap::State;
use crate::projections::mode::{Mode, ModeState, Scope};
use crate::projections::natural;
use teamlog_engine::Point;

/// Options of `diff`.
#[derive(Debug, Clone)]
pub struct Diff {
    /// First point.
    pub from: Point,
    /// Last point; `None` means the present.
    pub to: Option<Point>,
    /// Maximum number of tasks on the page; `None` means 50, 0 means all.
    pub limit: Option<usize>,
    /// Id of the last task on the previous page.
    pub cursor: Option<String>,
}

/// Kind of change of a task between the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The task is new.
    Created,
    /// The task existed at the first point.
    Changed,
}

/// Values of a field before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldChange {
    /// Value before; `null` if it was empty.
    pub from: Value,
    /// Value after.
    pub to: Value,
}

/// A task that differs between the points.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TaskChange {
    /// The task.
    pub task_id: String,
    /// Kind of change.
    pub change: Change,
    /// Fields that differ, by name.
    pub fields: BTreeMap<String, FieldChange>,
}

/// Changes of an inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InboxChange {
    /// Owner of the inbox.
    pub agent: String,
    /// Number of messages that arrived.
    pub received: u64,
    /// Number of messages that were acknowledged.
    pub acked: u64,
    /// Number of unread messages at the last point.
    pub unread: u64,
}

/// Kind of change of a mode between the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeTurn {
    /// The mode is active only at the last point.
    Started,
    /// The mode is active only at the first point.
    Ended,
    /// The mode is in another phase, or was started again.
    Changed,
}

/// A mode that differs between the points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeChange {
    /// The mode.
    pub mode: Mode,
    /// Session of the mode; absent at the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Kind of change.
    pub change: ModeTurn,
    /// Phase before; `null` if the mode had no state.
    pub from: Option<String>,
    /// Phase after; `null` if the mode has no state.
    pub to: Option<String>,
}

/// A bootstrap run that differs between the points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunChange {
    /// The run.
    pub run: String,
    /// State of the run before; `null` if the run had not started.
    pub from: Option<State>,
    /// State after.
    pub to: State,
    /// Number of breaches of the contract between the points.
    pub breaches: u64,
}

/// The answer `{team, from, to, events, kinds, members_added, tasks_created, tasks_changed, tasks, count, next_cursor, inboxes,
/// modes, runs}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DiffAnswer {
    /// The team.
    pub team: String,
    /// First point. Events up to this point are not counted.
    pub from: PastPoint,
    /// Last point. Its event is counted.
    pub to: PastPoint,
    /// Events between the points.
    pub events: u64,
    /// Number of events per kind. All foreign kinds are counted together as `foreign`.
    pub kinds: BTreeMap<String, u64>,
    /// New members, sorted.
    pub members_added: Vec<String>,
    /// Number of new tasks.
    pub tasks_created: u64,
    /// Number of changed tasks.
    pub tasks_changed: u64,
    /// New and changed tasks of the page, in natural order of ids.
    pub tasks: Vec<TaskChange>,
    /// Tasks on the page.
    pub count: usize,
    /// Cursor of the next page: the last id of this page; `null` on the last page.
    pub next_cursor: Option<String>,
    /// Inboxes in which a message arrived or was acknowledged, by agent.
    pub inboxes: Vec<InboxChange>,
    /// Modes that started, ended or changed their phase: first the modes of the root, then the modes of each session.
    pub modes: Vec<ModeChange>,
    /// Bootstrap runs that started, changed their state or had a breach, in natural order of their ids.
    pub runs: Vec<RunChange>,
}

/// Ids of the objects that the events between the points name.
#[derive(Default)]
struct TouchedIds {
    events: u64,
    kinds: BTreeMap<String, u64>,
    /// Task ids by their natural sort key.
    tasks: BTreeMap<Vec<u8>, String>,
    agents: BTreeSet<String>,
    modes: BTreeSet<(Scope, Mode)>,
    /// Run ids by their natural sort key.
    runs: BTreeMap<Vec<u8>, String>,
}

/// The fields of an event that identify its mode.
#[derive(Deserialize)]
struct ModeKey {
    mode: Mode,
    #[serde(default)]
    session_id: Option<String>,
}

/// The fields of an event that identify its run.
#[derive(Deserialize)]
struct RunKey {
    run: String,
}

impl Team {
    /// Returns the changes between two points.
    ///
    /// # Errors
    /// `point_unknown`; `invalid_input` if the points are in the wrong order; `cursor_unknown`; errors of the log.
    pub fn diff(&mut self, diff: &Diff) -> Result<DiffAnswer> {
        let from = self.look_back("from", self.not_before_first(diff.from)?)?;
        let to = match diff.to {
            Some(point) => self.look_back("to", point)?,
            None => self.present()?,
        };
        if from.moment.seq > to.moment.seq {
            let (from, to) = (from.moment.seq, to.moment.seq);
            let message = format!("from must not be after to, event {to}, but is event {from}");
            let refusal = Refusal::new(Code::InvalidInput, message);
            return Err(refusal.field("from").into());
        }
        let _fold = self.past_fold()?;
        let touched = touched(&from.reader, &to.reader)?;
        let before = self.state_of(&from)?;
        let after = Live::behind(&self.log, &to.reader, &before)?;
        let mut lives = [before, after];
        let mut answer = self.compare(diff, (&from, &to), &touched, &lives);
        if answer.as_ref().is_err_and(Failure::is_derived) {
            lives.iter_mut().try_for_each(Live::repair)?;
            answer = self.compare(diff, (&from, &to), &touched, &lives);
        }
        answer
    }

    /// Replaces a time before the first event by the first event.
    fn not_before_first(&self, point: Point) -> Result<Point> {
        let Point::Time(time) = point else {
            return Ok(point);
        };
        let first = self.reader()?.upto(Point::Seq(1))?;
        let first = first.and_then(|first| first.head().last_id);
        Ok(match first {
            Some(first) if time < first.created_at() => Point::Seq(1),
            _ => point,
        })
    }

    fn present(&self) -> Result<Past> {
        let reader = self.reader()?;
        let seq = reader.head().last_seq;
        let time = self.now();
        let moment = PastPoint { seq, time };
        Ok(Past { reader, moment })
    }

    fn state_of(&self, past: &Past) -> Result<Live> {
        Ok(Live::at(&self.log, &past.reader, past.moment.seq)?)
    }

    fn compare(
        &self,
        diff: &Diff,
        (from, to): (&Past, &Past),
        touched: &TouchedIds,
        [before, after]: &[Live; 2],
    ) -> Result<DiffAnswer> {
        let page = task_page(diff, touched, before, after)?;
        Ok(DiffAnswer {
            team: self.name().to_owned(),
            from: from.moment,
            to: to.moment,
            events: touched.events,
            kinds: touched.kinds.clone(),
            members_added: members_added(before, after)?,
            tasks_created: page.created,
            tasks_changed: page.changed,
            count: page.tasks.len(),
            next_cursor: page.next_cursor,
            tasks: page.tasks,
            inboxes: inboxes(before, after, &touched.agents)?,
            modes: modes(before, after, &touched.modes)?,
            runs: runs(before, after, touched.runs.values())?,
        })
    }
}

fn touched(from: &Reader, to: &Reader) -> Result<TouchedIds> {
    let mut touched = TouchedIds::default();
    let behind = from.find_seq(from.head().last_seq)?;
    to.each(behind, |located| {
        let event = &located.frame.event;
        touched.events += 1;
        let kind = match event.foreign {
            true => "foreign",
            false => &*event.kind,
        };
        *touched.kinds.entry(kind.to_owned()).or_default() += 1;
        if !event.foreign {
            touched.note(event);
        }
        Ok::<_, Failure>(ControlFlow::<()>::Continue(()))
    })?;
    Ok(touched)
}

impl TouchedIds {
    /// Adds the object of an event to the touched ids.
    fn note(&mut self, event: &Event<'_>) {
        if let Some(task) = event.refs.get(RefKind::Task) {
            let known = self.tasks.entry(natural::key(task));
            known.or_insert_with(|| task.to_owned());
        }
        let agent = event.refs.get(RefKind::Agent);
        if let Some(agent) = agent.filter(|agent| !self.agents.contains(*agent)) {
            self.agents.insert(agent.to_owned());
        }
        if event.kind.starts_with("mode_")
            && let Ok(of) = serde_json::from_str::<ModeKey>(&event.payload)
        {
            let scope = Scope::for_session(of.session_id.as_deref());
            self.modes.insert((scope, of.mode));
        }
        if event.kind.starts_with("bootstrap_")
            && let Ok(of) = serde_json::from_str::<RunKey>(&event.payload)
        {
            self.runs.entry(natural::key(&of.run)).or_insert(of.run);
        }
    }
}

/// A page of tasks that differ, with the total number of new and of changed tasks.
#[derive(Default)]
struct TaskPage {
    tasks: Vec<TaskChange>,
    next_cursor: Option<String>,
    created: u64,
    changed: u64,
}

/// Compares the touched tasks one after the other. Keeps only the tasks of the page in memory.
fn task_page(diff: &Diff, touched: &TouchedIds, before: &Live, after: &Live) -> Result<TaskPage> {
    let limit = page::limit(diff.limit, page::PAGE);
    let mut page = TaskPage::default();
    // The task of the cursor; `None` after the comparison has passed that task.
    let mut awaited = diff.cursor.as_deref();
    for id in touched.tasks.values() {
        let full = page.tasks.len() >= limit;
        let (old, new) = (before.task(id)?, after.task(id)?);
        let Some(new) = new else {
            continue;
        };
        let is_listed = awaited.is_none() && !full;
        // Does not compare the fields of a new task outside the page, because that task is only counted.
        let fields = match old.is_none() && !is_listed {
            true => None,
            false => Some(field_changes(old.as_ref(), &new)),
        };
        // Skips a task without a difference. A superseded message touches its task without changing the task.
        if old.is_some() && fields.as_ref().is_some_and(BTreeMap::is_empty) {
            continue;
        }
        let change = match old {
            None => Change::Created,
            Some(_) => Change::Changed,
        };
        page.created += u64::from(change == Change::Created);
        page.changed += u64::from(change == Change::Changed);
        if awaited.is_some() {
            awaited = awaited.filter(|cursor| cursor != id);
        } else if full {
            if page.next_cursor.is_none() {
                page.next_cursor = page.tasks.last().map(|last| last.task_id.clone());
            }
        } else {
            page.tasks.push(TaskChange {
                task_id: id.clone(),
                change,
                fields: fields.unwrap_or_default(),
            });
        }
    }
    match awaited {
        Some(cursor) => Err(page::unknown_cursor(cursor, "the id of a task that changed").into()),
        None => Ok(page),
    }
}

/// Returns the fields of a task with a different value, by name.
fn field_changes(old: Option<&Task>, new: &Task) -> BTreeMap<String, FieldChange> {
    let old = old.map(fields).unwrap_or_default();
    let new = fields(new);
    let mut differ = BTreeMap::new();
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let value = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or_default();
        let (from, to) = (value(&old), value(&new));
        let is_some = |value: &Value| !value.is_null() && value != &json!([]);
        if from != to && (is_some(&from) || is_some(&to)) {
            differ.insert(name.clone(), FieldChange { from, to });
        }
    }
    differ
}

/// Fields that are left out: aliases of other fields, and fields that every change sets.
const LEFT_OUT: [&str; 15] = [
    "schema_version",
    "schemaVersion",
    "id",
    "task_id",
    "title",
    "description",
    "depends_on",
    "blocked_by",
    "updated_at",
    "version",
    "snapshot_version",
    "last_message_id",
    "last_message_created_at",
    "snapshot_conflict_policy",
    "seq",
];

fn fields(task: &Task) -> Map<String, Value> {
    let mut fields: Map<String, Value> =
        serde_json::from_str(task.to_json().as_str()).unwrap_or_default();
    fields.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    fields
}

fn members_added(before: &Live, after: &Live) -> Result<Vec<String>> {
    let known: BTreeSet<String> = before.members()?.into_iter().collect();
    let mut members = after.members()?;
    members.retain(|member| !known.contains(member));
    Ok(members)
}

fn inboxes(before: &Live, after: &Live, agents: &BTreeSet<String>) -> Result<Vec<InboxChange>> {
    let mut changes = Vec::new();
    for agent in agents {
        let (old, new) = (before.agent(agent)?, after.agent(agent)?);
        let received = new.received.saturating_sub(old.received);
        let read = |info: &crate::projections::message::AgentInfo| {
            info.received - info.unread.min(info.received)
        };
        let acked = read(&new).saturating_sub(read(&old));
        if received + acked > 0 {
            changes.push(InboxChange {
                agent: agent.clone(),
                received,
                acked,
                unread: new.unread,
            });
        }
    }
    Ok(changes)
}

fn modes(
    before: &Live,
    after: &Live,
    touched: &BTreeSet<(Scope, Mode)>,
) -> Result<Vec<ModeChange>> {
    let mut changes = Vec::new();
    for (scope, mode) in touched {
        let old = before.mode_state(scope, *mode)?;
        let new = after.mode_state(scope, *mode)?;
        let active = |state: &Option<ModeState>| state.as_ref().is_some_and(ModeState::is_active);
        let phase = |state: &Option<ModeState>| {
            let state = state.as_ref()?;
            Some(state.phase().unwrap_or_default().to_owned())
        };
        let began = |state: &Option<ModeState>| state.as_ref().map(|state| state.activated);
        let (from, to) = (phase(&old), phase(&new));
        let change = match (active(&old), active(&new)) {
            (false, true) => ModeTurn::Started,
            (true, false) => ModeTurn::Ended,
            (_, true) if began(&old) != began(&new) => ModeTurn::Changed,
            _ if from != to => ModeTurn::Changed,
            _ => continue,
        };
        changes.push(ModeChange {
            mode: *mode,
            session_id: scope.session().map(str::to_owned),
            change,
            from,
            to,
        });
    }
    Ok(changes)
}

fn runs<'a>(
    before: &Live,
    after: &Live,
    touched: impl Iterator<Item = &'a String>,
) -> Result<Vec<RunChange>> {
    let mut changes = Vec::new();
    for run in touched {
        let (old, Some(new)) = (before.bootstrap_run(run)?, after.bootstrap_run(run)?) else {
            continue;
        };
        let from = old.as_ref().map(|old| old.state);
        let known = old.map_or(0, |old| old.breaches);
        let breaches = new.breaches.saturating_sub(known);
        if from != Some(new.state) || breaches > 0 {
            changes.push(RunChange {
                run: run.clone(),
                from,
                to: new.state,
                breaches,
            });
        }
    }
    Ok(changes)
}
