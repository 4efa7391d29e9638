//! Reads a team for the board, repeatedly as its log grows. Never takes the lock of the writer.

use super::live::{KEPT, Line};
use super::remote::RemoteTeam;
use super::state::Change;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::attention::{Attention, AttentionAnswer, AttentionItem};
use teamlog_team::engine::Point;
use teamlog_team::engine::{Event, Timestamp};
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::log::replay::Replay;
use teamlog_team::log::tail::Tail;
use teamlog_team::projections::Task;
use teamlog_team::story::sentence::sentence;
use teamlog_team::task::list::{Tasks, TasksAnswer};
use teamlog_team::task::listed::Listed;
use teamlog_team::worker::who::{Who, WhoAgent, WhoAnswer};
use teamlog_team::{Root, Team};

/// Maximum time between two reads: the board must show the expiry of leases, which needs no event. Also the pause
/// after an error.
pub const SECOND: Duration = Duration::from_secs(1);
/// Minimum pause between two reads of a busy log. Reading also takes at most a fifth of the total time.
const PAUSE: Duration = Duration::from_millis(150);
/// Number of events in the answer under `--json`.
pub const EVENTS: usize = 100;
/// Maximum number of bytes of an event's JSON that the board keeps.
const JSON_MAX: usize = 16 << 10;

/// Query for the maximum number of attention items.
pub const ATTENTION: Attention = Attention {
    limit: Some(1_000),
    stale_minutes: None,
    kind: None,
    agent: None,
};

/// The answer for programs: the board's data, read once
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoardAnswer {
    /// The team
    pub team: String,
    /// Seq of the last event of the team
    pub last_seq: u64,
    /// The agents and their work, as `who` answers
    pub crew: WhoAnswer,
    /// All tasks, in the form of the answer of `tasks`
    pub board: TasksAnswer,
    /// The items that need attention, as `attention` answers
    pub attention: AttentionAnswer,
    /// The newest events, oldest first
    pub live: EventsAnswer,
}

pub type WaitsInVain = BTreeMap<String, Vec<String>>;

/// The result of reading a team once.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Seq of the last event.
    pub seq: u64,
    pub now: Timestamp,
    pub agents: Vec<WhoAgent>,
    pub live_claims: u64,
    /// All tasks, and the failed or canceled tasks on which other tasks wait. `None` if nothing changed.
    pub tasks: Option<(Vec<Task>, WaitsInVain)>,
    /// The items that need attention.
    pub items: Vec<AttentionItem>,
    /// Number of attention items that are left out of `items`.
    pub more_items: usize,
    /// Newest events since the previous read.
    pub lines: Vec<Line>,
    /// True for the first read of a log, and for the first read after a repair cut events off.
    pub fresh: bool,
}

/// The team that a board follows.
#[derive(Debug, Clone)]
pub enum Source {
    Here(LocalTeam),
    Remote(RemoteTeam),
}

impl Source {
    /// Reads the team repeatedly, and passes each result to `tell` until `tell` returns `Break`. Errors are passed to `tell`
    /// too, and then reading is tried again.
    pub fn go_along(&self, tell: &dyn Fn(Change) -> ControlFlow<()>) {
        match self {
            Source::Here(team) => team.go_along(tell),
            Source::Remote(team) => team.go_along(tell),
        }
    }
}

/// A team in a data root of this machine.
#[derive(Debug, Clone)]
pub struct LocalTeam {
    pub root: Root,
    pub team: String,
    /// Past point to show, or `None` to follow the log.
    pub at: Option<Point>,
}

impl LocalTeam {
    fn open(&self) -> teamlog_team::Result<Team> {
        let team = self.root.team(&self.team)?;
        match self.at {
            Some(point) => team.at(point),
            None => Ok(team),
        }
    }

    fn go_along(&self, tell: &dyn Fn(Change) -> ControlFlow<()>) {
        loop {
            match self.follow(tell) {
                Ok(Ended::Unheard) => return,
                Ok(Ended::Replaced) => {}
                Err(failure) => {
                    if tell(Change::Failed(failure.into())).is_break() {
                        return;
                    }
                    thread::sleep(SECOND);
                }
            }
        }
    }

    /// Reads the team repeatedly, until `tell` returns `Break` or another log replaces the team's log.
    fn follow(&self, tell: &dyn Fn(Change) -> ControlFlow<()>) -> teamlog_team::Result<Ended> {
        let mut team = self.open()?;
        let identity = team.log().identity().clone();
        // Start watching before the first read, so that no event is missed.
        let mut watch = team.log().watch()?;
        let mut known = None;
        loop {
            let began = Instant::now();
            let loaded = look(&mut team, known)?;
            let took = began.elapsed();
            known = Some(loaded.seq);
            if tell(Change::Loaded(Box::new(loaded))).is_break() {
                return Ok(Ended::Unheard);
            }
            if self.at.is_some() {
                // The state at a past point never changes, so one read is enough.
                return Ok(Ended::Unheard);
            }
            thread::sleep(PAUSE.max(took * 4));
            watch.wait(Some(SECOND))?;
            if self.root.team(&self.team)?.log().identity() != &identity {
                return Ok(Ended::Replaced);
            }
        }
    }
}

/// Reason why `follow` ended.
enum Ended {
    /// `tell` returned `Break`, or received the state at a past point, which never changes.
    Unheard,
    /// Another log replaced the team's log.
    Replaced,
}

/// Reads a team. The caller has all events up to `known`.
pub fn look(team: &mut Team, known: Option<u64>) -> teamlog_team::Result<Loaded> {
    let seq = last_seq(team)?;
    // If `known` is beyond the end of the log, a repair has cut events off.
    let fresh = known.is_none_or(|known| known > seq);
    let known = known.filter(|_| !fresh);
    let who = team.who(&Who::default())?;
    let grown = known != Some(seq);
    let attention = team.attention(&ATTENTION)?;
    let (mut tasks, mut lines) = (None, Vec::new());
    if grown {
        tasks = Some(with_waits(all_tasks(team)?));
        let newest = Tail {
            filter: Replay {
                from_seq: known.map(|known| known + 1),
                without_bookkeeping: true,
                ..Replay::default()
            },
            last: Some(KEPT as u64),
        };
        team.tail(&newest, &mut |event, json| {
            lines.push(line(event, json));
            ControlFlow::Continue(())
        })?;
    }
    Ok(Loaded {
        // Use the seq from before the tasks were read. Later events are read again next time.
        seq,
        now: who.now,
        live_claims: who.live_claims,
        more_items: attention.total - attention.count,
        items: attention.items,
        agents: who.agents,
        tasks,
        lines,
        fresh,
    })
}

/// Reads a team once, for the answer under `--json`.
pub fn answer(team: &mut Team) -> teamlog_team::Result<BoardAnswer> {
    let last_seq = last_seq(team)?;
    let crew = team.who(&Who::default())?;
    Ok(BoardAnswer {
        team: team.name().to_owned(),
        last_seq,
        board: all_tasks(team)?,
        attention: team.attention(&ATTENTION)?,
        crew,
        live: team.events(&Events {
            after: Some(last_seq.saturating_sub(EVENTS as u64)),
            limit: Some(EVENTS),
            ..Events::default()
        })?,
    })
}

fn all_tasks(team: &mut Team) -> teamlog_team::Result<TasksAnswer> {
    team.tasks(Tasks {
        limit: Some(0),
        ..Tasks::default()
    })
}

/// Returns the tasks, and the failed or canceled tasks on which they wait.
pub fn with_waits(answer: TasksAnswer) -> (Vec<Task>, WaitsInVain) {
    let all = answer.tasks.into_iter().map(Listed::into_task);
    (all.collect(), answer.failed_dependencies)
}

fn last_seq(team: &mut Team) -> teamlog_team::Result<u64> {
    team.query(|_, reader| Ok(reader.head().last_seq))
}

pub fn line(event: &Event<'_>, json: &[u8]) -> Line {
    Line {
        seq: event.seq,
        at: event.created_at,
        actor: event.actor.to_string(),
        kind: event.kind.to_string(),
        foreign: event.foreign,
        what: sentence(event),
        json: without_token(event, json),
    }
}

/// Returns the JSON of an event without claim tokens, cut at a maximum length. A claim token proves who holds a task, so it
/// must not be shown.
fn without_token(event: &Event<'_>, json: &[u8]) -> String {
    let shown = String::from_utf8_lossy(json.get(..JSON_MAX).unwrap_or(json));
    let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
    match payload["token"].as_str() {
        Some(token) if !token.is_empty() => shown.replace(token, "…"),
        _ => shown.into_owned(),
    }
}
