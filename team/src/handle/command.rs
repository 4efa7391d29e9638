//! Acting under a key: a command whose answer is recorded with its events, and repeated for whoever asks again.

use super::authority::{Actor, authorize};
use super::execution::{AnyExecution, Execution, Shape, Text};
use crate::handle::deadline::Deadline;
use crate::handle::root::Authenticated;
use crate::handle::team;
use crate::prelude::*;
use crate::task::grant;
use serde::de::DeserializeOwned;
use teamlog_engine::limits::EVENT_BYTES_MAX;
use teamlog_engine::writer::Room;
use teamlog_engine::{Clock, IdSource};
use teamlog_projections::response::event::{ResponseFact, ResponseStored};

/// Kinds that follow from what any command, or time, did.
const CONSEQUENCES: [&str; 3] = ["task_blocked", "task_unblocked", "task_lease_expired"];

/// What may stand beside the input of any command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// The command's name, as its answer is stored under.
    pub operation: String,
    /// What identifies a request with a key, in any form: the same bytes mean the same request.
    pub request: Vec<u8>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The story that its events belong to; else that of the task or the message.
    pub trace_id: Option<String>,
    /// Who does it; else the agent that the input names.
    pub actor: Option<String>,
    /// Whom the system takes the caller for, to be recorded where nobody says who does it.
    pub user: Option<String>,
    /// How long whoever asked waits.
    pub deadline: Deadline,
    /// Where it is done from; no part of the request.
    pub origin: Origin,
    /// The order in which a claim that is presented is checked.
    pub claim_order: ClaimOrder,
    /// The agent that the caller proved to be, as the options of its root say; whatever stands here gives way to that.
    pub authenticated: Option<String>,
    /// True if that agent recorded the answer of the team's key, before keys belonged to agents. Whatever the caller sets is
    /// replaced by what the log says.
    pub owns_team_key: bool,
}

/// The order of the checks of a command that presents a claim. In each order the caller is authorized before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimOrder {
    /// The input, then the task, its state, the claim.
    #[default]
    InputFirst,
    /// The task, the epoch, the state, the holder, the lease, then the input: each caller learns first what is wrong with its
    /// view of the task.
    EpochFirst,
}

/// Where a command is done from, as far as its surface knows: what modes keep of it when they become active.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The pane of tmux: `TMUX_PANE`.
    pub tmux_pane: Option<String>,
    /// The session of the workflow, whatever scope is meant: `RCS_SESSION_ID`.
    pub rcs_session: Option<String>,
    /// The native session of the agent: `CODEX_SESSION_ID`.
    pub codex_session: Option<String>,
}

/// What comes with a call beside the input of its command.
#[derive(Debug, Clone)]
pub(crate) struct Ctx {
    /// The time of the decision.
    pub now: Timestamp,
    /// Measures how long something takes.
    pub clock: Arc<dyn Clock>,
    /// Random bits, for tokens.
    pub ids: Arc<dyn IdSource>,
    /// The caller, and what it said beside the input.
    pub control: Control,
}

impl Ctx {
    /// Returns the agent that acts: the one that the input names, else the one that the caller proved to be.
    pub fn agent<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        named.or(self.control.authenticated.as_deref())
    }
}

/// A command: decides on the state, and answers from the state behind its own events.
pub(crate) trait Command: Clone + Send + 'static {
    /// What was decided, as far as the answer needs it.
    type Decided: Send + 'static;
    /// The answer; one that can be stored and read again may be given again under a key.
    type Answer: Send + 'static;

    /// Which agents may have it carried out, and when. Without a default: nothing is permitted by omission.
    fn terms(&self) -> CommandTerms<'_>;

    /// Whether an event of its own only follows from what it does: it keeps the story of what it is about, and is nobody's
    /// doing.
    fn is_consequence(&self, event: &NewEvent) -> bool {
        CONSEQUENCES.contains(&&*event.kind)
    }

    /// Decides. Pure: input, context and state. An error records nothing.
    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Self::Decided>>;

    /// The answer, once the events are stamped and folded.
    fn answer(&self, decided: &Self::Decided, after: &After<'_>) -> Result<Self::Answer>;

    /// Returns the room that its events of [`Command::stored_answers`] need at most.
    fn room(&self) -> Room {
        Room::default()
    }

    /// Returns events that store answers under keys of its own, for a command that takes several.
    fn stored_answers(&self, _: &Self::Decided, _: &After<'_>) -> Vec<NewEvent> {
        Vec::new()
    }
}

pub(crate) enum Decision<D> {
    /// It happens; these events record it (none, where nothing changes).
    Granted(D, Vec<NewEvent>),
    /// It does not, and these facts are recorded all the same.
    Denied(Refusal, Vec<NewEvent>),
}

/// The answer of a command, and the events that it records.
pub(crate) type Acted<A> = Result<(A, Vec<NewEvent>)>;

/// Returns a command that answers what it decided.
pub(crate) fn act<A: Clone + Send + 'static>(
    terms: CommandTerms<'static>,
    decide: impl Fn(&Ctx, &Live) -> Acted<A> + Clone + Send + 'static,
) -> impl Command<Answer = A> {
    Act { terms, decide }
}

#[derive(Clone)]
struct Act<F> {
    terms: CommandTerms<'static>,
    decide: F,
}

impl<A, F> Command for Act<F>
where
    A: Clone + Send + 'static,
    F: Fn(&Ctx, &Live) -> Acted<A> + Clone + Send + 'static,
{
    type Decided = A;
    type Answer = A;

    fn terms(&self) -> CommandTerms<'_> {
        self.terms
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<A>> {
        let (answer, events) = (self.decide)(ctx, live)?;
        Ok(Decision::Granted(answer, events))
    }

    fn answer(&self, answer: &A, _: &After<'_>) -> Result<A> {
        Ok(answer.clone())
    }
}

/// How things are once a command is recorded.
pub(crate) struct After<'a> {
    pub team: &'a str,
    /// The state behind its events.
    pub live: &'a Live,
    pub events: &'a [Event<'static>],
    /// The context in which it was decided.
    pub ctx: &'a Ctx,
}

impl After<'_> {
    /// The last event, of a command that always records one.
    pub fn last_event(&self) -> Result<Event<'static>> {
        self.events.last().cloned().ok_or_else(unrecorded)
    }
}

/// A command that always records an event recorded none.
pub(crate) fn unrecorded() -> Failure {
    Error::Poisoned("the writer answered without an event".into()).into()
}

impl Team {
    /// Who acts where the input names an actor of its own: that one, or the agent that the caller proved to be.
    pub(crate) fn acting(&self, named: Option<String>) -> Result<Option<String>, Refusal> {
        let authenticated = self.options.authenticated.as_ref();
        match (authenticated.map(|known| &known.agent), named) {
            (Some(agent), Some(named)) if named != *agent => Err(mismatch(agent, &named)),
            (agent, named) => Ok(named.or_else(|| agent.cloned())),
        }
    }
}

/// An execution behind its decision.
struct Stage {
    execution: Box<dyn AnyExecution>,
    ctx: Ctx,
    outcome: Outcome,
}

enum Outcome {
    /// It happens, and was not answered yet.
    Granted,
    Denied(Refusal),
    Answered,
    /// The key is known: the first answer.
    Repeated(String),
}

/// How a command was answered.
enum Done {
    Answered(Box<dyn AnyExecution>),
    Repeated(String),
}

impl Team {
    /// Acts on whose behalf, and under which key, the control says, from now on.
    pub fn under(&mut self, control: Control) {
        self.control = control;
    }

    /// Carries out a command: decides under the lock, records, answers. Under a key that is known it answers again what
    /// it answered first, and records nothing.
    pub(crate) fn execute<C: Command>(&mut self, command: C) -> Result<C::Answer>
    where
        C::Answer: Serialize + DeserializeOwned,
    {
        self.execute_as(command, |_, answer| Ok(answer))
    }

    /// Executes a command like [`Team::execute`], but returns and stores the answer in another form.
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
            Done::Answered(execution) => first.answer_of(execution),
            Done::Repeated(text) => {
                self.repeated = true;
                serde_json::from_str(&text).map_err(|error| unread(&text, &error))
            }
        }
    }

    /// Carries out a command on nobody's behalf and under no key, whatever this handle's control says.
    pub(crate) fn execute_unkeyed<C: Command>(&mut self, command: C) -> Result<C::Answer> {
        let first = Execution::new(command, |_, answer| Ok(answer), |_| None);
        match self.carry_out(&first, &Control::default())? {
            Done::Answered(execution) => first.answer_of(execution),
            Done::Repeated(_) => {
                Err(Error::Poisoned("a command without a key was repeated".into()).into())
            }
        }
    }

    /// Returns the context of a command that this handle carries out at `now`.
    pub(crate) fn ctx(&self, control: Control, now: Timestamp) -> Ctx {
        Ctx {
            now,
            clock: self.options.clock.clone(),
            ids: self.options.ids.clone(),
            control,
        }
    }

    /// Decides under the lock, records, answers. A derived file that proves damaged is rebuilt, once; and where another host of
    /// the team came first, it is decided again on what that one recorded, for as long as a lock is waited for.
    fn carry_out(&mut self, first: &dyn AnyExecution, control: &Control) -> Result<Done> {
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

    /// Returns whether the agent recorded the answer of the team's key, before keys belonged to agents. Mostly there is none.
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
        // Stored answers lie in the group of the command's events.
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

    fn answered(&mut self, stage: Stage, events: &[Event<'static>]) -> Result<Done> {
        let mut execution = stage.execution;
        match stage.outcome {
            Outcome::Answered => {}
            Outcome::Denied(refusal) => return Err(refusal.into()),
            Outcome::Repeated(text) => return Ok(Done::Repeated(text)),
            // Recorded, but the state could not be read for the answer; by now it may have been rebuilt.
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
        Ok(Done::Answered(execution))
    }
}

impl Control {
    fn check(&self) -> Result<(), Refusal> {
        // A key that was given before must find its answer.
        names::check_known_free_given([("key", &self.key)])?;
        names::check_free_given([
            ("trace_id", &self.trace_id),
            ("actor", &self.actor),
            ("user", &self.user),
        ])
    }

    /// The caller, as far as it is known.
    pub(super) fn caller(&self) -> Actor<'_> {
        Actor {
            name: self.actor.as_deref(),
            authenticated: self.authenticated.is_some(),
        }
    }

    fn key_scope(&self) -> KeyScope<'_> {
        KeyScope {
            agent: self.authenticated.as_deref(),
            owns_team_key: self.owns_team_key,
        }
    }

    fn digest(&self) -> String {
        blake3::hash(&self.request).to_hex().to_string()
    }

    /// The first answer under this key.
    fn repeated(&self, live: &Live) -> Result<Option<String>> {
        match &self.key {
            Some(key) => first_answer(live, self.key_scope(), key, &self.operation, &self.digest()),
            None => Ok(None),
        }
    }

    /// The same on behalf of the agent that the caller proved to be, where that was asked.
    fn authenticated(&self, known: Option<&Authenticated>) -> Result<Control, Refusal> {
        let mut control = Control {
            authenticated: None,
            ..self.clone()
        };
        if let Some(Authenticated { agent, .. }) = known {
            if let Some(actor) = self.actor.as_ref().filter(|actor| *actor != agent) {
                return Err(mismatch(agent, actor));
            }
            control.actor = Some(agent.clone());
            control.authenticated = Some(agent.clone());
        }
        Ok(control)
    }

    /// Refuses what the input says another agent does than whom the caller proved to be. What only follows is nobody's doing.
    fn check_actor(
        &self,
        terms: &CommandTerms<'_>,
        event: &NewEvent,
        follows: bool,
    ) -> Result<(), Refusal> {
        let Some(agent) = &self.authenticated else {
            return Ok(());
        };
        let unnamed = !terms.names_actor
            || event.actor == DEFAULT_ACTOR
            || (terms.led && event.actor == LEADER)
            || follows;
        let actor = (!unnamed).then_some(&*event.actor);
        let other = actor.filter(|named| named != agent);
        other.map_or(Ok(()), |other| Err(mismatch(agent, other)))
    }

    /// What the caller said of what the command records.
    fn mark(&self, terms: &CommandTerms<'_>, event: &mut NewEvent, follows: bool) {
        if !follows {
            let unnamed = !terms.names_actor || event.actor == DEFAULT_ACTOR;
            let user = self.user.as_ref().filter(|_| unnamed);
            if let Some(actor) = self.actor.as_ref().or(user) {
                event.actor.clone_from(actor);
            }
            if let Some(trace) = &self.trace_id {
                event.refs.set(RefKind::Trace, trace.clone());
            }
        }
        if let Some(key) = &self.key {
            event.refs.set(RefKind::Key, key.clone());
        }
    }
}

/// Decides under the lock: repeats the answer of a known key, or authorizes the caller and lets the command decide.
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
    if let Some(text) = ctx.control.repeated(live)? {
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

/// Answers, and stores the answer where there is a key.
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
    // If the state cannot be read for the answer, the key stands for the request all the same.
    let answered = execution.answer(&after).is_ok();
    if answered {
        stage.outcome = Outcome::Answered;
    }
    let Some(key) = &control.key else {
        return execution.stored_answers(&after);
    };
    // What a closed team answers changes nothing, so it is answered anew each time.
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

/// The keys that count for a request: those of the authenticated agent, else those of the team.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyScope<'a> {
    pub agent: Option<&'a str>,
    /// True if the answer of the team's key counts too: the agent recorded it before keys belonged to agents.
    pub owns_team_key: bool,
}

/// Returns the first answer under a key; `None` if the key is new.
///
/// # Errors
/// `idempotency_key_reused` if the key belongs to another request, `response_too_large`.
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
        return Err(key_reused(key, &first.operation).into());
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

/// Refuses a key that belongs to another request of that operation.
pub(crate) fn key_reused(key: &str, operation: &str) -> Refusal {
    let key = shown(key);
    let message = format!(
        "key must be new, or that of the same request, but {key} stands for another request of {operation}"
    );
    let refusal = Refusal::new(Code::IdempotencyKeyReused, message).field("key");
    refusal.detail("operation", operation)
}

/// The token is one agent's, and the other is said to act.
pub(crate) fn mismatch(agent: &str, actor: &str) -> Refusal {
    let (agent, actor) = (shown(agent), shown(actor));
    let message = format!("actor must be {agent}, to whom the token belongs, but is {actor}");
    Refusal::new(Code::ActorMismatch, message).field("actor")
}

/// An answer that was stored once reads again.
pub(crate) fn unread(text: &str, error: &serde_json::Error) -> Failure {
    Failure::from(Error::Invalid {
        field: "response".into(),
        value: shown(text),
        rule: format!("must be an answer of this operation: {error}"),
    })
}
