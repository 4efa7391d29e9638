//! Reads a team for the board through the daemon on another machine, by operations that other programs call too.

use super::live::KEPT;
use super::load::{ATTENTION, BoardAnswer, EVENTS, Loaded, SECOND, line, with_waits};
use super::state::Change;
use crate::call::{CallerIdentity, unreadable};
use crate::context::not_served;
use crate::exit::CommandError;
use crate::forward::{Client, Ended};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::to_raw_value;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};
use teamlog_team::api::Op;
use teamlog_team::attention::Attention;
use teamlog_team::engine::{Point, Timestamp};
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::task::list::{ReadTasks, Tasks, TasksAnswer};
use teamlog_team::worker::who::Who;

/// Maximum age of the shown leases. New events are asked for each second.
const LEASES_AGE_MAX: Duration = Duration::from_secs(5);

/// A team that the daemon on another machine serves.
#[derive(Debug, Clone)]
pub struct RemoteTeam {
    pub client: Client,
    pub who: CallerIdentity,
    pub team: String,
    /// Past point to show, or `None` to follow the log.
    pub at: Option<Point>,
}

impl RemoteTeam {
    /// Returns seq and time of the last event before the past point, if there is one.
    pub fn moment(&self) -> Result<Option<(u64, Timestamp)>, CommandError> {
        match self.at {
            None => Ok(None),
            Some(_) => Ok(self.asked(Who::NAME, &Who::default())?.moment),
        }
    }

    /// Reads the team once, for the answer under `--json`.
    pub fn answer(&self) -> Result<BoardAnswer, CommandError> {
        let last_seq = self
            .events(&json!({"order": "newest", "limit": 1}))?
            .last_seq;
        let after = last_seq.saturating_sub(EVENTS as u64);
        Ok(BoardAnswer {
            team: self.team.clone(),
            last_seq,
            crew: self.ask::<Who>(&Who::default())?,
            board: self.tasks()?,
            attention: self.ask::<Attention>(&ATTENTION)?,
            live: self.events(&json!({"after": after, "limit": EVENTS}))?,
        })
    }

    /// Reads the team once. The caller has all events up to `known`.
    pub fn look(&self, known: Option<u64>) -> Result<Loaded, CommandError> {
        let (page, fresh) = self.page(known)?;
        self.loaded(page, known, fresh)
    }

    /// Reads the team repeatedly, and passes each result to `tell` until `tell` returns `Break`. Errors are passed to `tell`
    /// too, and then reading is tried again.
    pub fn go_along(&self, tell: &dyn Fn(Change) -> ControlFlow<()>) {
        let (mut known, mut read) = (None, None::<Instant>);
        loop {
            let is_old = read.is_none_or(|read| read.elapsed() >= LEASES_AGE_MAX);
            let change = match self.news(known, is_old) {
                Ok(None) => None,
                Ok(Some(loaded)) => {
                    (known, read) = (Some(loaded.seq), Some(Instant::now()));
                    Some(Change::Loaded(Box::new(loaded)))
                }
                Err(error) => Some(Change::Failed(error)),
            };
            let is_settled = self.at.is_some() && known.is_some();
            if change.is_some_and(|change| tell(change).is_break()) || is_settled {
                return;
            }
            thread::sleep(SECOND);
        }
    }

    /// Reads the team if there are new events, or if the shown leases are old.
    fn news(&self, known: Option<u64>, is_old: bool) -> Result<Option<Loaded>, CommandError> {
        let (page, fresh) = self.page(known)?;
        match is_old || fresh || known != Some(page.last_seq) {
            true => self.loaded(page, known, fresh).map(Some),
            false => Ok(None),
        }
    }

    /// Returns the newest events after `known`, newest first. Also returns true if the caller must drop the events
    /// that it has.
    fn page(&self, known: Option<u64>) -> Result<(EventsAnswer, bool), CommandError> {
        let newest = |after: Option<u64>| {
            self.events(&json!({
                "order": "newest", "after": after, "limit": KEPT, "bookkeeping": false,
            }))
        };
        match newest(known) {
            // A repair has cut events off.
            Err(error) if error.code() == "cursor_ahead" => Ok((newest(None)?, true)),
            page => Ok((page?, known.is_none())),
        }
    }

    fn loaded(
        &self,
        page: EventsAnswer,
        known: Option<u64>,
        fresh: bool,
    ) -> Result<Loaded, CommandError> {
        let mut lines = Vec::with_capacity(page.events.len());
        for recorded in page.events.iter().rev() {
            let json = serde_json::to_vec(recorded).map_err(unreadable)?;
            lines.push(line(&recorded.event, &json));
        }
        let who = self.ask::<Who>(&Who::default())?;
        let attention = self.ask::<Attention>(&ATTENTION)?;
        let tasks = match fresh || known != Some(page.last_seq) {
            true => Some(with_waits(self.tasks()?)),
            false => None,
        };
        Ok(Loaded {
            seq: page.last_seq,
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

    fn tasks(&self) -> Result<TasksAnswer, CommandError> {
        let all = ReadTasks(Tasks {
            limit: Some(0),
            ..Tasks::default()
        });
        self.ask::<ReadTasks>(&all)
    }

    fn events(&self, input: &impl Serialize) -> Result<EventsAnswer, CommandError> {
        self.ask::<Events>(input)
    }

    /// Runs an operation that reads, and returns its answer.
    fn ask<O: Op>(&self, input: &impl Serialize) -> Result<O::Data, CommandError>
    where
        O::Data: DeserializeOwned,
    {
        let answer = self.asked(O::NAME, input)?.outcome?;
        serde_json::from_str(answer.get()).map_err(unreadable)
    }

    fn asked(&self, operation: &str, input: &impl Serialize) -> Result<Ended, CommandError> {
        let at = (&*self.team, self.at);
        let asked = self
            .client
            .ask(operation, at, &self.who, to_raw_value(input))?;
        asked.ok_or_else(|| not_served(&self.team))
    }
}
