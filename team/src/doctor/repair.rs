//! `doctor repair`: removes the end of a log after a given event, because the end is damaged or unwanted. The archive keeps
//! the removed part.

use crate::handle::rollback;
use crate::handle::team::input_fault;
use crate::log::rehydrate::cores;
use crate::operation::prelude::*;
use crate::projections::live::known_end::{known_behind, known_end};
use crate::projections::rebuild::{Progress, rehydrate};
use teamlog_engine::LockedLog;
use teamlog_engine::internals::layout::CUT;
use teamlog_engine::repair::CutPlan;
use teamlog_engine::{AcceptedRollback, LostEvent, internals::LOST_EVENTS_MAX};

/// Options of `doctor repair`.
#[derive(Debug, Clone, Default)]
pub struct Repair {
    /// Seq of the last event to keep. This event must be the last event of its group.
    pub to: u64,
    /// True to cut the log; false to report only the events that would be removed.
    pub yes: bool,
    /// Actor of the event that records the repair; `teamlog` if absent.
    pub actor: Option<String>,
}

/// Answer of `doctor repair`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RepairAnswer {
    /// Result. `planned` without `yes`, `repaired`, or `unchanged` if no event follows `to`. For a rollback `accepted`, or
    /// `unchanged` if the log was not rolled back.
    #[schemars(extend("enum" = ["planned", "repaired", "unchanged", "accepted"]))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// Part of the log to remove: its start, its size, and its unreadable part.
    pub cut: CutPlan,
    /// Directory of the original files, relative to the team's directory; `null` if nothing was removed.
    pub archive: Option<String>,
    /// Seq of the event that records the repair; `null` if nothing was removed.
    pub seq: Option<u64>,
    /// Digest of the new state; `null` if nothing was removed.
    pub state_digest: Option<String>,
    /// Known facts about the events that were lost by a rollback; absent if no rollback was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollback: Option<AcceptedRollback>,
}

impl Team {
    /// Cuts the log after an event and rebuilds all derived data. Without `yes`, reports the events to remove and changes
    /// nothing. The part of the log after that event need not be readable.
    ///
    /// # Errors
    /// `invalid_input` if the log cannot be cut there; errors of the log.
    pub fn repair(&mut self, repair: Repair) -> Result<RepairAnswer> {
        names::check_free_given([("actor", &repair.actor)])?;
        if !repair.yes {
            let cut = self.log.plan_cut(repair.to).map_err(input_fault)?;
            let status = match cut.is_empty() {
                true => "unchanged",
                false => "planned",
            };
            return Ok(self.answer(status, cut));
        }
        let actor = repair.actor.as_deref().unwrap_or(DEFAULT_ACTOR);
        let (cut, exclusive) =
            self.alone(|team| team.log.cut(repair.to, actor).map_err(input_fault))?;
        if cut.is_empty() {
            return Ok(self.answer("unchanged", cut));
        }
        let reader = exclusive.reader();
        let mut quietly = |_: Progress| {};
        let (rebuilt, live) = rehydrate(&self.log, &reader, cores(), &mut quietly)?;
        let seq = live.seq();
        let archive = match live.event(&reader, seq)? {
            Some(event) if event.kind == CUT => archive_of(&event.payload),
            _ => None,
        };
        drop(exclusive);
        self.keep(live);
        Ok(RepairAnswer {
            archive,
            seq: Some(seq),
            state_digest: Some(rebuilt.digest),
            ..self.answer("repaired", cut)
        })
    }

    /// Records that the log was rolled back, with the known facts about the lost events, and rebuilds all derived data. Does
    /// nothing if no event was lost.
    ///
    /// # Errors
    /// Errors of the log.
    pub fn accept_rollback(&mut self, actor: Option<&str>) -> Result<RepairAnswer> {
        if let Some(actor) = actor {
            names::check_free("actor", actor)?;
        }
        let actor = actor.unwrap_or(DEFAULT_ACTOR);
        let Some((accepted, exclusive)) = self.alone(|team| team.accept(actor))? else {
            return Ok(self.answer("unchanged", CutPlan::default()));
        };
        let reader = exclusive.reader();
        let mut quietly = |_: Progress| {};
        let (rebuilt, live) = rehydrate(&self.log, &reader, cores(), &mut quietly)?;
        drop(exclusive);
        let seq = accepted.last_seq + 1;
        self.keep(live);
        Ok(RepairAnswer {
            seq: Some(seq),
            state_digest: Some(rebuilt.digest),
            rollback: Some(accepted),
            ..self.answer("accepted", CutPlan::default())
        })
    }

    /// Records the rollback in the log, but rebuilds nothing. Returns `None` if no event was lost.
    fn accept(&self, actor: &str) -> Result<Option<(AcceptedRollback, LockedLog)>> {
        let log = self.log.lock_rolled_back()?;
        let reader = log.reader();
        let rollback = match log.rollback()? {
            Some(rollback) => Some(rollback),
            None => rollback::shown_by_files(&self.log, &reader)?,
        };
        let Some(rollback) = rollback else {
            return Ok(None);
        };
        let known = known_end(&self.log)?.map_or(0, |known| known.seq);
        let mut lost = known_behind(&self.log, reader.head().last_seq)?;
        lost.retain(|event| event.seq != rollback.known_seq || rollback.known_id.is_none());
        lost.extend(rollback.known_id.clone().map(|id| LostEvent {
            seq: rollback.known_seq,
            id: Some(id),
            kind: None,
        }));
        lost.sort_by_key(|event| event.seq);
        let omitted = lost.len().saturating_sub(LOST_EVENTS_MAX);
        lost.drain(..omitted);
        let accepted = AcceptedRollback {
            known_seq: rollback.known_seq.max(known),
            known_id: rollback.known_id,
            last_seq: reader.head().last_seq,
            witness: rollback.witness,
            lost,
            lost_omitted: omitted as u64,
        };
        let exclusive = log.accept(actor, &accepted)?;
        Ok(Some((accepted, exclusive)))
    }

    fn answer(&self, status: &'static str, cut: CutPlan) -> RepairAnswer {
        RepairAnswer {
            status,
            team: self.name().to_owned(),
            cut,
            archive: None,
            seq: None,
            state_digest: None,
            rollback: None,
        }
    }
}

fn archive_of(payload: &str) -> Option<String> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    payload["archive"].as_str().map(str::to_owned)
}
