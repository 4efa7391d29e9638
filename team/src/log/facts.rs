//! Records facts of a foreign vocabulary as one group. Each fact may have its own idempotency key.
//!
//! Older versions stored no answer for an event that they appended under a key. For a fact with an equal key and equal content,
//! such an event itself serves as the stored answer. A fact with an equal key and other content is refused.

use crate::command::unrecorded;
use crate::handle::execute::{KeyScope, first_answer, key_reused, unread};
use crate::log::append::{Append, AppendAnswer};
use crate::log::append_batch::{AppendFacts, BatchAnswer};
use crate::log::condition::Conditions;
use crate::operation::Op;
use crate::operation::prelude::*;
use crate::projections::tag::TAGGED_VERSION;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use teamlog_engine::Room;
use teamlog_projections::response::event::{ResponseFact, ResponseStored};

/// Name of the operation under which answers are stored.
const OPERATION: &str = Append::NAME;
const BATCH: &str = AppendFacts::NAME;
/// Maximum number of events under a key that are compared with a fact, newest first.
const COMPARED: usize = 64;
/// Maximum number of bytes that a stored answer adds to a group.
pub(crate) const ANSWER_BYTES: usize = 1_024;

/// A fact whose fields are checked.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    event: NewEvent,
    /// Line number of the fact in its batch.
    line: Option<u64>,
    /// The event that an older version appended under the fact's key, if any.
    earlier: Option<AppendAnswer>,
}

impl Fact {
    pub fn new(event: NewEvent, line: Option<u64>) -> Fact {
        Fact {
            event,
            line,
            earlier: None,
        }
    }

    pub fn key(&self) -> Option<&str> {
        self.event.refs.get(RefKind::Key)
    }

    /// Returns the digest of the fact without its key.
    fn request(&self) -> String {
        let event = &self.event;
        let refs = REFS.map(|kind| event.refs.get(kind));
        let content = (&event.kind, &event.actor, refs, cause(event.cause));
        let mut request = serde_json::to_vec(&content).unwrap_or_default();
        if event.schema_version == TAGGED_VERSION {
            request.extend_from_slice(b"tagged");
        }
        request.extend_from_slice(event.payload.as_str().as_bytes());
        blake3::hash(&request).to_hex().to_string()
    }

    /// Returns true if a recorded event has the content of the fact. A fact without a trace matches every trace, because such a fact
    /// inherits a trace. A fact with the default actor matches every actor, because the authenticated agent replaces that actor.
    fn equals(&self, recorded: &Event<'_>) -> bool {
        let event = &self.event;
        let same_ref = |kind: &RefKind| {
            let given = event.refs.get(*kind);
            given == recorded.refs.get(*kind) || (*kind == RefKind::Trace && given.is_none())
        };
        event.kind == recorded.kind
            && (event.actor == recorded.actor || event.actor == DEFAULT_ACTOR)
            && event.schema_version == recorded.schema_version
            && event.payload.as_str() == &*recorded.payload
            && REFS.iter().all(same_ref)
            && cause(event.cause) == recorded.refs.cause.map(|id| id.to_string())
    }

    /// Adds the fact's line number to a refusal.
    fn located(&self, failure: Failure) -> Failure {
        match (failure, self.line) {
            (Failure::Refused(refusal), Some(line)) => refusal.detail("line", line).into(),
            (failure, _) => failure,
        }
    }
}

/// Kinds of refs that a fact may have, besides its key.
const REFS: [RefKind; 6] = [
    RefKind::Trace,
    RefKind::Task,
    RefKind::Agent,
    RefKind::Message,
    RefKind::Thread,
    RefKind::Session,
];

fn cause(cause: Option<Cause>) -> Option<String> {
    match cause {
        Some(Cause::Event(id)) => Some(id.to_string()),
        _ => None,
    }
}

/// The answer for one fact.
#[derive(Debug, Clone)]
pub(crate) struct FactAnswer {
    pub answer: AppendAnswer,
    /// True if the fact was recorded earlier under the same key.
    pub replayed: bool,
}

/// Facts that are recorded all together or not at all.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    facts: Vec<Fact>,
    /// The authenticated agent, which owns the keys.
    agent: Option<String>,
    /// Idempotency key of the whole batch.
    batch: Option<BatchKey>,
    conditions: Conditions,
}

/// Idempotency key of a whole batch.
#[derive(Debug, Clone)]
pub(crate) struct BatchKey {
    pub key: String,
    /// Bytes that identify the request.
    pub request: Vec<u8>,
    /// Answer for the input lines before the batch.
    pub before: BatchAnswer,
}

impl BatchKey {
    fn digest(&self) -> String {
        blake3::hash(&self.request).to_hex().to_string()
    }
}

/// The decision on a group of facts.
pub(crate) struct FactDecision {
    outcomes: Vec<Outcome>,
    /// First answer under the batch's key; `None` for a new key.
    first: Option<BatchAnswer>,
}

/// The answers for a group of facts.
pub(crate) struct FactAnswers {
    pub each: Vec<FactAnswer>,
    /// First answer under the batch's key; `None` for a new key.
    pub first: Option<BatchAnswer>,
}

/// The event that the answer for a fact names.
pub(crate) enum Outcome {
    /// A new event, by its index in the group.
    New(usize),
    /// The event of an equal fact in the same call, by its index in the group.
    Again(usize),
    /// An event that was recorded earlier.
    Known(AppendAnswer),
}

impl Facts {
    pub fn new(facts: Vec<Fact>) -> Facts {
        Facts {
            facts,
            agent: None,
            batch: None,
            conditions: Conditions::default(),
        }
    }

    /// Sets the conditions, which count if the call has a fact that is not recorded yet.
    pub fn with_conditions(self, conditions: Conditions) -> Facts {
        Facts { conditions, ..self }
    }

    /// Sets the idempotency key of the batch.
    pub fn under(self, batch: Option<BatchKey>) -> Facts {
        Facts { batch, ..self }
    }

    fn has_key(&self) -> bool {
        self.facts.iter().any(|fact| fact.key().is_some())
    }
}

impl Team {
    /// Records facts as one group, except facts with a known key. Returns an answer for each fact.
    pub(crate) fn append_facts(&mut self, mut facts: Facts) -> Result<FactAnswers> {
        let known = self.options.authenticated.as_ref();
        facts.agent = known.map(|known| known.agent.clone());
        if facts.has_key() {
            self.find_unanswered(&mut facts)?;
        }
        let recorded = self.execute_unkeyed(facts);
        recorded.map_err(|failure| self.name_conflict(failure))
    }

    /// Finds the events that an older version appended under the facts' keys. Takes no lock, because this version never adds an event
    /// without a stored answer.
    fn find_unanswered(&mut self, facts: &mut Facts) -> Result<()> {
        let found = self.query(|live, reader| {
            let each = facts.facts.iter();
            let found = each.map(|fact| unanswered(live, reader, fact, facts.agent.as_deref()));
            found.collect::<Result<Vec<_>>>()
        })?;
        for (fact, found) in facts.facts.iter_mut().zip(found) {
            fact.earlier = found;
        }
        Ok(())
    }
}

/// Returns the event that an older version appended under the fact's key.
fn unanswered(
    live: &Live,
    reader: &Reader,
    fact: &Fact,
    agent: Option<&str>,
) -> Result<Option<AppendAnswer>> {
    let Some(key) = fact.key() else {
        return Ok(None);
    };
    if live.response(agent, key)?.is_some() {
        return Ok(None);
    }
    let (mut facts, mut answered) = (Vec::new(), BTreeSet::new());
    for seq in live.with_ref(RefKind::Key, key, None, COMPARED)?.seqs {
        match live.event(reader, seq)? {
            Some(event) if event.foreign => facts.push(event),
            Some(event) => match answered_fact(&event) {
                Some(seq) => drop(answered.insert(seq)),
                // The stored answer under the key belongs to another command.
                None => return Ok(None),
            },
            None => {}
        }
    }
    // Skips events with a stored answer, because the look-up of stored answers finds them. Also
    // skips events under keys of other agents.
    facts.retain(|event| !answered.contains(&event.seq));
    facts.retain(|event| agent.is_none_or(|agent| event.actor == agent));
    match facts.iter().find(|event| fact.equals(event)) {
        Some(event) => Ok(Some(AppendAnswer::new(event))),
        None => match facts.first() {
            Some(first) => Err(fact.located(key_reused(key, OPERATION, &first.actor).into())),
            None => Ok(None),
        },
    }
}

/// Returns the seq of the fact to which a stored answer belongs.
fn answered_fact(event: &Event<'_>) -> Option<u64> {
    let stored: Value = serde_json::from_str(&event.payload).ok()?;
    let about_fact = stored.get("operation")? == OPERATION;
    let seq = stored.get("response")?.get("seq")?.as_u64();
    seq.filter(|_| about_fact)
}

impl Command for Facts {
    type Decided = FactDecision;
    type Answer = FactAnswers;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<FactDecision>> {
        if let Some(first) = self.first_of_batch(live)? {
            let decided = FactDecision {
                outcomes: Vec::new(),
                first: Some(first),
            };
            return Ok(Decision::Granted(decided, Vec::new()));
        }
        let mut events = Vec::new();
        let mut outcomes = Vec::with_capacity(self.facts.len());
        let mut keys: HashMap<&str, (usize, String)> = HashMap::new();
        for fact in &self.facts {
            if let Some(key) = fact.key() {
                let request = fact.request();
                if let Some((place, first)) = keys.get(key) {
                    if *first != request {
                        let reused = key_reused(key, OPERATION, &fact.event.actor);
                        return Err(fact.located(reused.into()));
                    }
                    outcomes.push(Outcome::Again(*place));
                    continue;
                }
                if let Some(known) = known(live, self.agent.as_deref(), fact, (key, &request))? {
                    outcomes.push(Outcome::Known(known));
                    continue;
                }
                keys.insert(key, (events.len(), request));
            }
            outcomes.push(Outcome::New(events.len()));
            let mut event = fact.event.clone();
            inherit_trace(live, &mut event)?;
            events.push(event);
        }
        if !events.is_empty() {
            self.check_actors(live)?;
            self.conditions.hold(live)?;
        }
        let first = None;
        Ok(Decision::Granted(FactDecision { outcomes, first }, events))
    }

    fn answer(&self, decided: &FactDecision, after: &After<'_>) -> Result<FactAnswers> {
        Ok(FactAnswers {
            each: appended(&decided.outcomes, after)?,
            first: decided.first,
        })
    }

    fn room(&self) -> Room {
        let events = self
            .facts
            .iter()
            .filter(|fact| fact.key().is_some())
            .count();
        let events = events + usize::from(self.batch.is_some());
        let bytes = events * ANSWER_BYTES;
        Room { events, bytes }
    }

    fn stored_answers(&self, decided: &FactDecision, after: &After<'_>) -> Vec<NewEvent> {
        let each = self.facts.iter().zip(&decided.outcomes);
        let stored = each.filter_map(|(fact, outcome)| {
            let (key, Outcome::New(place)) = (fact.key()?, outcome) else {
                return None;
            };
            let event = after.events.get(*place)?;
            let stored = ResponseFact::Stored(ResponseStored {
                agent: self.agent.clone(),
                operation: OPERATION.to_owned(),
                request: fact.request(),
                response: serde_json::to_string(&AppendAnswer::new(event)).ok(),
            });
            Some(stored.event(&event.actor, key))
        });
        stored.chain(self.stored_batch(decided, after)).collect()
    }
}

impl Facts {
    /// Refuses facts of retired agents.
    fn check_actors(&self, live: &Live) -> Result<()> {
        let mut checked = BTreeSet::new();
        for fact in &self.facts {
            if checked.insert(&*fact.event.actor) {
                let active = membership::check_active(live, "actor", &fact.event.actor);
                active.map_err(|failure| fact.located(failure))?;
            }
        }
        Ok(())
    }

    /// Returns the first answer under the batch's key.
    fn first_of_batch(&self, live: &Live) -> Result<Option<BatchAnswer>> {
        let Some(batch) = &self.batch else {
            return Ok(None);
        };
        let scope = KeyScope {
            agent: self.agent.as_deref(),
            ..KeyScope::default()
        };
        let first = first_answer(live, scope, &batch.key, BATCH, &batch.digest())?;
        first.map(|text| read(&text)).transpose()
    }

    /// Returns the event that stores the answer under the batch's key.
    fn stored_batch(&self, decided: &FactDecision, after: &After<'_>) -> Option<NewEvent> {
        let batch = self.batch.as_ref().filter(|_| decided.first.is_none())?;
        let mut answer = batch.before;
        let appended = appended(&decided.outcomes, after).ok()?;
        appended.iter().for_each(|fact| answer.add(fact));
        let stored = ResponseFact::Stored(ResponseStored {
            agent: self.agent.clone(),
            operation: BATCH.to_owned(),
            request: batch.digest(),
            response: serde_json::to_string(&answer).ok(),
        });
        let actor = after.events.first().map(|event| &*event.actor);
        Some(stored.event(actor.unwrap_or(DEFAULT_ACTOR), &batch.key))
    }
}

fn appended(outcomes: &[Outcome], after: &After<'_>) -> Result<Vec<FactAnswer>> {
    let each = outcomes.iter().map(|outcome| {
        let (answer, replayed) = match outcome {
            Outcome::New(place) => (recorded(after, *place)?, false),
            Outcome::Again(place) => (recorded(after, *place)?, true),
            Outcome::Known(known) => (known.clone(), true),
        };
        Ok(FactAnswer { answer, replayed })
    });
    each.collect()
}

/// Parses a stored answer.
fn read<A: DeserializeOwned>(text: &str) -> Result<A> {
    serde_json::from_str(text).map_err(|error| unread(text, &error))
}

/// Returns the first answer under the key of a fact.
fn known(
    live: &Live,
    agent: Option<&str>,
    fact: &Fact,
    (key, request): (&str, &str),
) -> Result<Option<AppendAnswer>> {
    if let Some(earlier) = &fact.earlier {
        return Ok(Some(earlier.clone()));
    }
    // `owns_team_key` stays false: older versions, in which an agent's key belonged to the team, stored no answers of `append`.
    let scope = KeyScope {
        agent,
        ..KeyScope::default()
    };
    let first = first_answer(live, scope, key, OPERATION, request);
    let first = first.map_err(|failure| fact.located(failure))?;
    first.map(|text| read(&text)).transpose()
}

fn recorded(after: &After<'_>, place: usize) -> Result<AppendAnswer> {
    let event = after.events.get(place);
    event.map(AppendAnswer::new).ok_or_else(unrecorded)
}

/// Gives an event without a trace the trace of its message; without a message, the trace of its task.
pub(crate) fn inherit_trace(live: &Live, event: &mut NewEvent) -> Result<()> {
    if event.refs.get(RefKind::Trace).is_some() {
        return Ok(());
    }
    let mut trace = None;
    if let Some(message) = event.refs.get(RefKind::Message) {
        trace = live.message(message)?.and_then(|message| message.trace_id);
    }
    if let (None, Some(task)) = (&trace, event.refs.get(RefKind::Task)) {
        trace = live.task(task)?.and_then(|task| task.trace_id);
    }
    if let Some(trace) = trace {
        event.refs.set(RefKind::Trace, trace);
    }
    Ok(())
}
