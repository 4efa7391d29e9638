//! Runs commands: decides under the lock, records the events, answers. For a known idempotency key, returns the first
//! answer instead.

use super::authorize::{authorize, check_member};
use super::execution::{AnyExecution, Execution, Shape, Text};
use crate::claim::{grant, renewal};
use crate::command::{After, Authority, CommandTerms, Ctx, Decision, act, mismatch};
use crate::handle::prelude::*;
use crate::handle::team;
use crate::membership;
use serde::de::DeserializeOwned;
use teamlog_engine::Room;
use teamlog_engine::limits::EVENT_BYTES_MAX;
use teamlog_projections::response::event::{ResponseFact, ResponseStored};

impl Team {
    /// Returns the actor of a command: the agent that the input names, else the authenticated agent. Refuses a retired agent.
    pub(crate) fn acting(&mut self, named: Option<String>) -> Result<Option<String>> {
        let authenticated = self.options.authenticated.as_ref();
        let actor = match (authenticated.map(|known| &known.agent), named) {
            (Some(agent), Some(named)) if named != *agent => {
                return Err(mismatch(agent, &named).into());
            }
            (agent, named) => named.or_else(|| agent.cloned()),
        };
        if let Some(actor) = &actor {
            self.query(|live, _| membership::check_active(live, "actor", actor))?;
        }
        Ok(actor)
    }
}

/// An execution after its decision.
struct Stage {
    execution: Box<dyn AnyExecution>,
    ctx: Ctx,
    outcome: Outcome,
}

enum Outcome {
    /// The command is granted, but has no answer yet.
    Granted,
    Denied(Refusal),
    Answered,
    /// The key is known. The text is the first answer.
    Repeated(String),
}

/// Outcome of a command.
enum Completion {
    Answered(Box<dyn AnyExecution>),
    Repeated(String),
}

impl Team {
    /// Sets the caller, the key and the other terms for the next calls of this handle.
    pub fn under(&mut self, control: Control) {
        self.control = control;
    }

    /// Runs a command: decides under the lock, records the events, answers. For a known key, returns the first answer and
    /// records nothing.
    pub(crate) fn execute<C: Command>(&mut self, command: C) -> Result<C::Answer>
    where
        C::Answer: Serialize + DeserializeOwned,
    {
        self.execute_as(command, |_, answer| Ok(answer))
    }

    /// Runs a command like [`Team::execute`], but returns and stores the answer in another form.
    pub(crate) fn execute_as<C: Command, A>(
        &mut self,
        command: C,
        shape: impl Shape<C::Answer, A>,
    ) -> Result<A>
    where
        A: Serialize + DeserializeOwned + Send + 'static,
    {
        self.repeated = false;
        let control = self.control.clone();
        control.check()?;
        let text: Text<A> = |answer| serde_json::to_string(answer).ok();
        let first = Execution::new(command, shape, text);
        match self.carry_out(&first, &control)? {
            Completion::Answered(execution) => first.answer_of(execution),
            Completion::Repeated(text) => {
                self.repeated = true;
                serde_json::from_str(&text).map_err(|error| unread(&text, &error))
            }
        }
    }

    /// Runs a command without a caller and without a key, regardless of this handle's control.
    pub(crate) fn execute_unkeyed<C: Command>(&mut self, command: C) -> Result<C::Answer> {
        let first = Execution::new(command, |_, answer| Ok(answer), |_| None);
        match self.carry_out(&first, &Control::default())? {
            Completion::Answered(execution) => first.answer_of(execution),
            Completion::Repeated(_) => {
                Err(Error::Poisoned("a command without a key was repeated".into()).into())
            }
        }
    }

    /// Returns the first answer under the idempotency key of the call (`Control::key`); `None` without a key or for a new key.
    /// Serves operations that record several groups.
    pub(crate) fn answer_under_key<A: DeserializeOwned>(&mut self) -> Result<Option<A>> {
        self.repeated = false;
        self.control.check()?;
        if self.control.key.is_none() {
            return Ok(None);
        }
        let known = self.options.authenticated.as_ref();
        let mut control = self.control.authenticated(known)?;
        control.owns_team_key = self.owns_team_key(&control)?;
        let first = self.query(|live, _| repeated(&control, live))?;
        self.repeated = first.is_some();
        let read = first.map(|text| {
            let answer = serde_json::from_str(&text);
            answer.map_err(|error| unread(&text, &error))
        });
        read.transpose()
    }

    /// Stores the answer under the idempotency key of the call (`Control::key`), if the call has a key. Serves operations that
    /// record several groups.
    pub(crate) fn store_under_key<A>(&mut self, answer: A) -> Result<A>
    where
        A: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        match self.control.key {
            Some(_) => {
                let terms = CommandTerms::new(Authority::Anyone).when_closed();
                self.execute(act(terms, move |_, _| Ok((answer.clone(), Vec::new()))))
            }
            None => Ok(answer),
        }
    }

    /// Returns the context of a command at the time `now`.
    pub(crate) fn ctx(&self, control: Control, now: Timestamp) -> Ctx {
        Ctx {
            now,
            clock: self.options.clock.clone(),
            ids: self.options.ids.clone(),
            control,
        }
    }

    /// Decides under the lock, records the events, and answers. If a derived file is damaged, rebuilds it once. If another host
    /// recorded events first, decides again on the new state, until the lock deadline.
    fn carry_out(&mut self, first: &dyn AnyExecution, control: &Control) -> Result<Completion> {
        let mut control = control.authenticated(self.options.authenticated.as_ref())?;
        control.owns_team_key = self.owns_team_key(&control)?;
        let deadline = Instant::now() + self.options.lock_deadline;
        let mut repaired = false;
        let (stage, events) = loop {
            match self.record_once(first.again(), control.clone()) {
                Err(failure) if failure.is_derived() && !repaired => repaired = true,
                Err(failure) if failure.is_conflict() && Instant::now() < deadline => {}
                recorded => break recorded?,
            }
        };
        self.answered(stage, &events)
    }

    /// Returns true if this agent recorded the answer under the team's key. Only old versions, in which keys belonged to the
    /// team, recorded such answers.
    fn owns_team_key(&mut self, control: &Control) -> Result<bool> {
        let (Some(agent), Some(key)) = (&control.authenticated, &control.key) else {
            return Ok(false);
        };
        if self.peek(|live| Ok(live.response(None, key)?))?.is_none() {
            return Ok(false);
        }
        let stored = self.query(|live, reader| Ok(live.response_event(reader, None, key)?))?;
        Ok(stored.is_some_and(|event| event.actor == **agent))
    }

    fn record_once(
        &mut self,
        execution: Box<dyn AnyExecution>,
        control: Control,
    ) -> Result<(Stage, Vec<Event<'static>>)> {
        let (team, durability) = (self.name().to_owned(), self.durability());
        // Reserves room for the event with the stored answer. That event is in the same group as the command's events.
        let room = match control.key {
            Some(_) => Room {
                events: 1,
                bytes: EVENT_BYTES_MAX,
            },
            None => execution.room(),
        };
        let ctx = self.ctx(control, Timestamp::default());
        let committed = self.commit(move |writer| {
            writer.commit_with(
                durability,
                room,
                move |live, now| decide(execution, Ctx { now, ..ctx }, live),
                move |live, stage, events| answer(stage, (&team, live), events),
            )
        })?;
        Ok((committed.answer, committed.events))
    }

    fn answered(&mut self, stage: Stage, events: &[Event<'static>]) -> Result<Completion> {
        let mut execution = stage.execution;
        match stage.outcome {
            Outcome::Answered => {}
            Outcome::Denied(refusal) => return Err(refusal.into()),
            Outcome::Repeated(text) => return Ok(Completion::Repeated(text)),
            // The events are recorded, but the state could not be read for the answer. Tries once more, because the state was
            // possibly rebuilt.
            Outcome::Granted => {
                let (team, ctx) = (&self.name().to_owned(), &stage.ctx);
                self.query(|live, _| {
                    let after = After {
                        team,
                        live,
                        events,
                        ctx,
                    };
                    execution.answer(&after)
                })?;
            }
        }
        Ok(Completion::Answered(execution))
    }
}

/// Returns the stored answer under the key of a call.
fn repeated(control: &Control, live: &Live) -> Result<Option<String>> {
    let Some(key) = &control.key else {
        return Ok(None);
    };
    let scope = KeyScope {
        agent: control.authenticated.as_deref(),
        owns_team_key: control.owns_team_key,
    };
    first_answer(live, scope, key, &control.operation, &control.digest())
}

/// Decides under the lock. For a known key, returns the stored answer. Otherwise authorizes the caller and lets the command
/// decide.
fn decide(
    mut execution: Box<dyn AnyExecution>,
    ctx: Ctx,
    live: &Live,
) -> Result<(Stage, Vec<NewEvent>)> {
    let (outcome, mut events) = outcome(&mut *execution, &ctx, live)?;
    let terms = execution.terms();
    for event in &mut events {
        let follows = execution.is_consequence(event);
        ctx.control.check_actor(&terms, event, follows)?;
        ctx.control.mark(&terms, event, follows);
        if !follows {
            check_member(&terms, &ctx, live, &event.actor)?;
        }
    }
    if matches!(outcome, Outcome::Granted) {
        let own = events.len();
        renewal::renew_own(&ctx, live, &mut events)?;
        for renewed in events.iter_mut().skip(own) {
            ctx.control.mark(&terms, renewed, true);
        }
    }
    let stage = Stage {
        execution,
        ctx,
        outcome,
    };
    Ok((stage, events))
}

fn outcome(
    execution: &mut dyn AnyExecution,
    ctx: &Ctx,
    live: &Live,
) -> Result<(Outcome, Vec<NewEvent>)> {
    if let Some(text) = repeated(&ctx.control, live)? {
        if execution.terms().grants {
            grant::check_live(ctx, live, &text)?;
        }
        return Ok((Outcome::Repeated(text), Vec::new()));
    }
    let terms = execution.terms();
    if !terms.when_closed {
        team::open(live)?;
    }
    authorize(&terms, ctx, live)?;
    Ok(match execution.decide(ctx, live)? {
        Decision::Granted((), events) => (Outcome::Granted, events),
        Decision::Denied(refusal, events) => (Outcome::Denied(refusal), events),
    })
}

/// Answers. With a key, also returns the event that stores the answer.
fn answer(
    stage: &mut Stage,
    (team, live): (&str, &Live),
    events: &[Event<'static>],
) -> Vec<NewEvent> {
    if !matches!(stage.outcome, Outcome::Granted) {
        return Vec::new();
    }
    let (control, execution) = (&stage.ctx.control, &mut stage.execution);
    let after = After {
        team,
        live,
        events,
        ctx: &stage.ctx,
    };
    // The key belongs to this request even if the state cannot be read for the answer.
    let answered = execution.answer(&after).is_ok();
    if answered {
        stage.outcome = Outcome::Answered;
    }
    let Some(key) = &control.key else {
        return execution.stored_answers(&after);
    };
    // A closed team accepts no events, so the answer is not stored. A repeated request computes the answer again.
    if events.is_empty() && live.is_closed().unwrap_or(true) {
        return Vec::new();
    }
    let stored = ResponseFact::Stored(ResponseStored {
        agent: control.authenticated.clone(),
        operation: control.operation.clone(),
        request: control.digest(),
        response: answered.then(|| execution.text()).flatten(),
    });
    let actor = events.first().map_or(DEFAULT_ACTOR, |event| &*event.actor);
    vec![stored.event(actor, key)]
}

/// The set of keys for a request: the keys of the authenticated agent, else the team's keys.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyScope<'a> {
    pub agent: Option<&'a str>,
    /// True if an answer under the team's key is valid for the agent. An older version, in which keys belonged to teams, stored the
    /// answer for this agent.
    pub owns_team_key: bool,
}

/// Returns the first answer under a key; `None` if the key is new.
///
/// # Errors
/// `idempotency_key_reused` if the key belongs to another request; `response_too_large`.
pub(crate) fn first_answer(
    live: &Live,
    scope: KeyScope<'_>,
    key: &str,
    operation: &str,
    request: &str,
) -> Result<Option<String>> {
    let first = match live.response(scope.agent, key)? {
        None if scope.owns_team_key => live.response(None, key)?,
        first => first,
    };
    let Some(first) = first else {
        return Ok(None);
    };
    if (&*first.operation, &*first.request) != (operation, request) {
        return Err(key_reused(key, &first.operation, &first.actor).into());
    }
    if first.response.is_none() {
        let message = format!(
            "the request with key {} was carried out, but its answer could not be stored",
            shown(key)
        );
        let refusal = Refusal::new(Code::ResponseTooLarge, message);
        return Err(refusal.field("key").into());
    }
    Ok(first.response)
}

/// Returns the refusal for a key that belongs to another request of `operation`, which `actor` made.
pub(crate) fn key_reused(key: &str, operation: &str, actor: &str) -> Refusal {
    let key = shown(key);
    let message =
        format!("key {key} was used already by {actor} for another request of {operation}");
    let refusal = Refusal::new(Code::IdempotencyKeyReused, message).field("key");
    refusal
        .detail("operation", operation)
        .detail("used_by", actor)
}

/// Returns the failure for a stored answer that cannot be parsed.
pub(crate) fn unread(text: &str, error: &serde_json::Error) -> Failure {
    Failure::from(Error::Invalid {
        field: "response".into(),
        value: shown(text),
        rule: format!("must be an answer of this operation: {error}"),
    })
}
