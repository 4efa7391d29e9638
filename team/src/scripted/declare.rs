//! `declare-projection`, `remove-projection`: only the leader, or a caller without an agent's name, may do this.

use super::fold::set_name;
use super::read::ProjectionShown;
use super::{SCRIPTED_MAX, check_name, declared};
use crate::log::filter::EventFilter;
use crate::operation::prelude::*;
use crate::projections::script::event::{ProjectionDeclared, ProjectionRemoved, ScriptFact};
use teamlog_script::{CompileError, LANGUAGE, LANGUAGE_VERSION, Script, Source};

operation! {
    /// Declare a scripted projection, or declare it again with other rules
    "declare-projection": Records(DeclareProjection {
        /// Name of the projection
        name: String,
        /// Source of the fold: a function `fold(event)` that changes the state `this`, at most 64 KiB
        fold: String,
        /// First state of each key: any JSON; `{}` if absent
        init: Option<Value>,
        /// Expression over `event` that gives the key of an event's state, or `()` to skip the event. If absent, there is one state
        // The field is not called `key`, because `key` is the idempotency key of the request.
        key_by: Option<String>,
        /// Events that are folded; all events if absent
        filter: Option<EventFilter>,
    }) -> ProjectionDeclaredAnswer as declare_projection,
    refuses = [LeaderRequired, WorkerNotFound],
    scope = Operate
}

operation! {
    /// Remove a scripted projection with its states
    "remove-projection": Records(RemoveProjection {
        /// Name of the projection
        #[arg(value_name = "NAME")]
        name: String,
    }) -> ProjectionRemovedAnswer = Team::remove_projection,
    refuses = [ProjectionNotFound, LeaderRequired, WorkerNotFound],
    scope = Operate
}

/// Result of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeclareStatus {
    /// The projection is new
    Declared,
    /// The projection has other rules now; its states are folded again from the first event
    Changed,
    /// The projection has these rules already; nothing was recorded
    Unchanged,
}

/// The answer of `declare-projection`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionDeclaredAnswer {
    /// The team
    pub team: String,
    /// The result
    pub status: DeclareStatus,
    /// The projection
    pub projection: ProjectionShown,
}

/// The answer of `remove-projection`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionRemovedAnswer {
    /// The team
    pub team: String,
    /// Name of the removed projection
    pub name: String,
}

impl DeclareProjection {
    /// Returns the payload of the event.
    fn declared(&self) -> Result<ProjectionDeclared, Refusal> {
        check_name(&self.name)?;
        let filter = self.filter.clone().unwrap_or_default();
        filter.check()?;
        let init = self
            .init
            .as_ref()
            .map_or_else(|| "{}".to_owned(), Value::to_string);
        let script = Script::compile(&Source {
            fold: &self.fold,
            init: &init,
            key: self.key_by.as_deref(),
        });
        let script = script.map_err(|error| uncompiled(&error))?;
        Ok(ProjectionDeclared {
            name: self.name.clone(),
            language: LANGUAGE.to_owned(),
            language_version: LANGUAGE_VERSION,
            fold: self.fold.clone(),
            init: String::from_utf8_lossy(script.init()).into_owned(),
            key: self.key_by.clone(),
            filter: (!filter.is_empty()).then(|| filter.text()),
        })
    }
}

/// Returns the refusal of a script that breaks a rule.
fn uncompiled(error: &CompileError) -> Refusal {
    let refusal = Refusal::new(Code::InvalidInput, error.to_string()).field(error.field);
    match (error.line, error.column) {
        (Some(line), Some(column)) => refusal.detail("line", line).detail("column", column),
        _ => refusal,
    }
}

/// Refuses an agent that does not lead the team.
fn check_leader(ctx: &Ctx, live: &Live) -> Result<()> {
    let caller = ctx.control.caller();
    if caller.leads(live, None)? {
        return Ok(());
    }
    let agent = caller.name.unwrap_or_default();
    let message = format!(
        "{agent} cannot declare or remove projections: only the leader can, or a caller without an agent's name"
    );
    Err(Refusal::new(Code::LeaderRequired, message).into())
}

impl Command for DeclareProjection {
    type Decided = DeclareStatus;
    type Answer = ProjectionDeclaredAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
            .members_only()
            .named(false)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<DeclareStatus>> {
        check_leader(ctx, live)?;
        let declared = self.declared()?;
        let status = match live.scripted_projection(&self.name)? {
            Some(known) if known.declared == declared => {
                return Ok(Decision::Granted(DeclareStatus::Unchanged, Vec::new()));
            }
            Some(_) => DeclareStatus::Changed,
            None if live.scripted_projections()?.len() >= SCRIPTED_MAX => {
                let message = format!("a team has at most {SCRIPTED_MAX} scripted projections");
                let refusal = Refusal::new(Code::TooLarge, message).field("name");
                return Err(refusal.hint("remove one of them first").into());
            }
            None => DeclareStatus::Declared,
        };
        let event = ScriptFact::Declared(declared).event(DEFAULT_ACTOR);
        Ok(Decision::Granted(status, vec![event]))
    }

    fn answer(&self, status: &DeclareStatus, after: &After<'_>) -> Result<Self::Answer> {
        Ok(ProjectionDeclaredAnswer {
            team: after.team.to_owned(),
            status: *status,
            projection: ProjectionShown::from(&declared(after.live, &self.name)?),
        })
    }
}

impl Command for RemoveProjection {
    type Decided = ();
    type Answer = ProjectionRemovedAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
            .members_only()
            .named(false)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<()>> {
        check_leader(ctx, live)?;
        declared(live, &self.name)?;
        let removed = ProjectionRemoved {
            name: self.name.clone(),
        };
        let event = ScriptFact::Removed(removed).event(DEFAULT_ACTOR);
        Ok(Decision::Granted((), vec![event]))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<ProjectionRemovedAnswer> {
        Ok(ProjectionRemovedAnswer {
            team: after.team.to_owned(),
            name: self.name.clone(),
        })
    }
}

impl Team {
    /// Removes a scripted projection, then its stored states.
    ///
    /// # Errors
    /// `projection_not_found`, `leader_required`; errors of the log.
    pub fn remove_projection(
        &mut self,
        remove: RemoveProjection,
    ) -> Result<ProjectionRemovedAnswer> {
        let answer = self.execute(remove)?;
        // If the removal fails, the states are never read: their set has the version of the removed rules.
        let (storage, log) = (self.log.storage().as_ref(), self.log.dir());
        let _ = teamlog_engine::projection::remove(storage, log, &set_name(&answer.name));
        Ok(answer)
    }
}
