//! `rehydrate --salvage`: replaces a damaged log by a log of its readable events, and keeps the damaged log unchanged.

use crate::log::rehydrate::{Rehydrate, RehydrateAnswer};
use crate::operation::prelude::*;
use crate::projections::team::event::TeamCreated;
use std::ops::ControlFlow;
use teamlog_engine::repair::salvage;

impl Root {
    /// Copies the readable events of a damaged log into a new log in its place, then rebuilds all derived data. The archive keeps
    /// every byte of the damaged log. If the log is undamaged, keeps the log and only rebuilds the derived data.
    ///
    /// # Errors
    /// `team_not_found`; errors of opening the log if it has no segments.
    pub fn salvage(
        &self,
        team: &str,
        actor: Option<&str>,
        options: Rehydrate,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<RehydrateAnswer> {
        names::check_known("team", team)?;
        if let Some(actor) = actor {
            names::check_free("actor", actor)?;
        }
        let dir = team_dir(team);
        if !self.holds_segments(team) {
            self.team(team)?;
        }
        let actor = actor.unwrap_or(DEFAULT_ACTOR);
        let pause = self.pause(team);
        let log_options = self.log_options();
        let mut more = |reader: &Reader| created_again(reader, actor);
        let mut salvage = || {
            Ok(salvage(
                self.storage(),
                &dir,
                &log_options,
                actor,
                &mut more,
            )?)
        };
        let salvaged = match &pause {
            Some(pause) => pause.guard(self.options(), team, salvage)?,
            None => salvage()?,
        };
        let rebuilt = self.team(team)?.rehydrate(options, progress)?;
        Ok(RehydrateAnswer {
            salvaged,
            ..rebuilt
        })
    }
}

/// Returns the events that create the team again, if the event of the team's creation was lost. The team becomes open, because its
/// members are unknown.
fn created_again(reader: &Reader, actor: &str) -> Result<Vec<NewEvent>, Error> {
    let created: Option<()> = reader.each(None, |located| {
        let event = &located.frame.event;
        Ok::<_, Error>(match event.kind == "team_created" && !event.foreign {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    if created.is_some() {
        return Ok(Vec::new());
    }
    let again = TeamCreated {
        leader: None,
        members: Vec::new(),
        open: true,
        views: true,
    };
    Ok(vec![again.event(actor, None)])
}
