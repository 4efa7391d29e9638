//! Reading a team for the board, once and again whenever its log grows. Takes no lock of a writer.

use super::live::{KEPT, Line};
use super::state::Change;
use crate::render::event;
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
use teamlog_team::task::list::{Tasks, TasksAnswer};
use teamlog_team::task::listed::Listed;
use teamlog_team::worker::who::{Who, WhoAgent, WhoAnswer};
use teamlog_team::{Root, Team};

/// How often leases are looked at that run out.
const SECOND: Duration = Duration::from_secs(1);
/// A busy log is read at most so often, and never for more than a fifth of the time.
const PAUSE: Duration = Duration::from_millis(150);
/// Events of the answer for programs.
const EVENTS: usize = 100;
/// Bytes of an event that are kept to be shown in full.
const JSON_MAX: usize = 16 << 10;

/// All of it that there is to be had.
const ATTENTION: Attention = Attention {
    limit: Some(1_000),
    stale_minutes: None,
};

/// What a program gets: the same data, once
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoardAnswer {
    /// The team
    pub team: String,
    /// Seq of the last event that is known
    pub last_seq: u64,
    /// Who does what, as `who` answers it
    pub crew: WhoAnswer,
    /// All tasks, as `tasks` answers them
    pub board: TasksAnswer,
    /// What somebody has to see to, as `attention` answers it
    pub attention: AttentionAnswer,
    /// The newest events, oldest first
    pub live: EventsAnswer,
}

pub type WaitsInVain = BTreeMap<String, Vec<String>>;

/// What one look at a team brought.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The last event.
    pub seq: u64,
    pub now: Timestamp,
    pub agents: Vec<WhoAgent>,
    pub live_claims: u64,
    /// All tasks, and the failed or canceled ones that they wait for; nothing if unchanged.
    pub tasks: Option<(Vec<Task>, WaitsInVain)>,
    /// What needs somebody.
    pub items: Vec<AttentionItem>,
    /// Items beyond those.
    pub more_items: usize,
    /// The events behind those of the look before.
    pub lines: Vec<Line>,
    /// Whether it is another history than that of the look before.
    pub fresh: bool,
}

#[derive(Debug, Clone)]
pub struct Source {
    pub root: Root,
    pub team: String,
    /// The point of its past, if it is not to go along.
    pub at: Option<Point>,
}

impl Source {
    pub fn open(&self) -> teamlog_team::Result<Team> {
        let team = self.root.team(&self.team)?;
        match self.at {
            Some(point) => team.at(point),
            None => Ok(team),
        }
    }

    /// Reads the team again and again, and tells of each look until nobody listens. What fails is told, and tried again.
    pub fn go_along(&self, tell: &dyn Fn(Change) -> ControlFlow<()>) {
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

    /// Until nobody listens, or another log lies there.
    fn follow(&self, tell: &dyn Fn(Change) -> ControlFlow<()>) -> teamlog_team::Result<Ended> {
        let mut team = self.open()?;
        let identity = team.log().identity().clone();
        // Before the first look, so that nothing falls between.
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
                // It stays as it was.
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

/// Why a team is followed no longer.
enum Ended {
    /// Nobody listens, or there is nothing more to tell.
    Unheard,
    /// Another log lies in its place.
    Replaced,
}

/// A look at a team, of which everything up to `known` was seen.
pub fn look(team: &mut Team, known: Option<u64>) -> teamlog_team::Result<Loaded> {
    let seq = last_seq(team)?;
    // A repair may have cut events off.
    let fresh = known.is_none_or(|known| known > seq);
    let known = known.filter(|_| !fresh);
    let who = team.who(&Who::default())?;
    let grown = known != Some(seq);
    let attention = team.attention(&ATTENTION)?;
    let (mut tasks, mut lines) = (None, Vec::new());
    if grown {
        let answer = all_tasks(team)?;
        let all = answer.tasks.into_iter().map(Listed::into_task);
        tasks = Some((all.collect(), answer.failed_dependencies));
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
        // What came since is looked at again: the tasks were read before the events.
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

/// The same as one answer.
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

fn last_seq(team: &mut Team) -> teamlog_team::Result<u64> {
    team.query(|_, reader| Ok(reader.head().last_seq))
}

fn line(event: &Event<'_>, json: &[u8]) -> Line {
    Line {
        seq: event.seq,
        at: event.created_at,
        actor: event.actor.to_string(),
        kind: event.kind.to_string(),
        foreign: event.foreign,
        what: event::what(event),
        json: without_token(event, json),
    }
}

/// The JSON of an event, up to a length. Whose a claim is its token proves, so that it is not shown around.
fn without_token(event: &Event<'_>, json: &[u8]) -> String {
    let shown = String::from_utf8_lossy(json.get(..JSON_MAX).unwrap_or(json));
    let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
    match payload["token"].as_str() {
        Some(token) if !token.is_empty() => shown.replace(token, "…"),
        _ => shown.into_owned(),
    }
}
