//! Acting under a key: a command whose answer is recorded with its events, and repeated for whoever asks again.

use crate::failure::{Failure, Result};
use crate::handle::deadline::Deadline;
use crate::handle::team::{self, Team};
use crate::log::append::DEFAULT_ACTOR;
use crate::names;
use crate::refusal::{Code, Refusal, shown};
use crate::task::grant;
use serde::Serialize;
use serde::de::DeserializeOwned;
use teamlog_engine::{Durability, Event, NewEvent, RefKind, Timestamp};
use teamlog_projections::Live;
use teamlog_projections::response::event::ResponseStored;

/// Kinds that follow from what any command, or time, did.
const CONSEQUENCES: [&str; 3] = ["task_blocked", "task_unblocked", "task_lease_expired"];

/// What may stand beside the input of any command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Control {
    /// The command's name, as its answer is stored under.
    pub operation: String,
    /// What identifies the request, in any form: the same bytes mean the same request.
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
}

/// Where a command is done from, as far as its surface knows: what modes keep of it when they become active.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The pane of tmux: `TMUX_PANE`.
    pub tmux_pane: Option<String>,
    /// The session of the workflow, whatever scope is meant: `RCS_SESSION_ID`.
    pub rcs_session: Option<String>,
    /// The native session of the agent: `CODEX_SESSION_ID`.
    pub codex_session: Option<String>,
}

/// A mutation that answers from the state behind its own events.
pub(crate) trait Act: Clone + Send + 'static {
    /// What was decided, before it is recorded.
    type Verdict: Send + 'static;
    /// The answer, which can be stored and read again.
    type Answer: Serialize + DeserializeOwned + Send + 'static;
    /// Whether it may happen in a team that was closed.
    const WHEN_CLOSED: bool = false;
    /// Whether its answer hands out a claim on the task that it shows. Such an answer is repeated while that claim lives.
    const GRANTS: bool = false;

    /// Whether it may happen on behalf of that actor, where the input alone does not say so.
    ///
    /// # Errors
    /// As the command's.
    fn admits(&self, _: &Live, _actor: Option<&str>, _now: Timestamp) -> Result<()> {
        Ok(())
    }

    /// Whether the input says who does it. Where it does not, some commands record the holder or the leader.
    fn names_actor(&self) -> bool {
        true
    }

    /// Whether an event of its own only follows from what it does: it keeps the story of what it is about, and is nobody's
    /// doing.
    fn is_consequence(&self, event: &NewEvent) -> bool {
        CONSEQUENCES.contains(&&*event.kind)
    }

    /// Decides. Pure: state, input and time. An error records nothing.
    fn decide(&self, live: &Live, now: Timestamp) -> Result<Ruling<Self::Verdict>>;

    /// The answer, once the events are stamped and folded.
    fn answer(
        &self,
        live: &Live,
        verdict: &Self::Verdict,
        events: &[Event<'static>],
        now: Timestamp,
    ) -> Result<Self::Answer>;
}

/// What was decided.
pub(crate) enum Ruling<V> {
    /// It happens; these events record it (none, where nothing changes).
    Granted(V, Vec<NewEvent>),
    /// It does not, and these facts are recorded all the same.
    Denied(Refusal, Vec<NewEvent>),
}

/// How far a request has come.
enum Stage<A: Act> {
    Granted(A::Verdict, Timestamp),
    Denied(Refusal),
    Answered(A::Answer),
    /// The key is known: the first answer.
    Repeated(String),
}

impl Team {
    /// Acts on whose behalf, and under which key, the control says, from now on.
    pub fn under(&mut self, control: Control) {
        self.control = control;
    }

    /// Carries out a command: decides under the lock, records, answers. Under a key that is known it answers again what
    /// it answered first, and records nothing.
    ///
    /// # Errors
    /// The command's; `team_closed`, `idempotency_key_reused`, `response_too_large`, `invalid_input`; `lease_expired` and
    /// `claim_conflict` where the answer to be repeated is a claim that no longer lives.
    pub(crate) fn perform<A: Act>(&mut self, act: A) -> Result<A::Answer> {
        self.repeated = false;
        self.control.check()?;
        let stage = match self.stage(act.clone()) {
            Err(failure) if failure.is_derived() => self.stage(act.clone())?,
            stage => stage?,
        };
        self.repeated = matches!(stage, Stage::Repeated(_));
        match stage {
            Stage::Answered(answer) => Ok(answer),
            Stage::Denied(refusal) => Err(refusal.into()),
            Stage::Repeated(text) => Ok(stored(&text)?),
            // Recorded, but the state could not be read for the answer; by now it may have been rebuilt.
            Stage::Granted(verdict, now) => {
                self.query(|live, _| act.answer(live, &verdict, &[], now))
            }
        }
    }

    fn stage<A: Act>(&mut self, act: A) -> Result<Stage<A>> {
        let control = self.control.clone();
        let (decider, mutation) = (control.clone(), act.clone());
        let committed = self.commit(move |writer| {
            writer.commit_with(
                Durability::Synced,
                move |live: &Live, now| decider.decide(&mutation, live, now),
                move |live, stage, events| control.conclude(&act, live, stage, events),
            )
        })?;
        Ok(committed.answer)
    }
}

impl Control {
    fn check(&self) -> Result<(), Refusal> {
        let given = [
            ("key", &self.key),
            ("trace_id", &self.trace_id),
            ("actor", &self.actor),
            ("user", &self.user),
        ];
        for (field, value) in given {
            if let Some(value) = value {
                names::check_free(field, value)?;
            }
        }
        Ok(())
    }

    fn digest(&self) -> String {
        blake3::hash(&self.request).to_hex().to_string()
    }

    fn decide<A: Act>(
        &self,
        act: &A,
        live: &Live,
        now: Timestamp,
    ) -> Result<(Stage<A>, Vec<NewEvent>)> {
        if let Some(text) = self.repeated(live)? {
            if A::GRANTS {
                grant::check_live(live, &text, now)?;
            }
            return Ok((Stage::Repeated(text), Vec::new()));
        }
        if !A::WHEN_CLOSED {
            team::open(live)?;
        }
        act.admits(live, self.actor.as_deref(), now)?;
        let (stage, mut events) = match act.decide(live, now)? {
            Ruling::Granted(verdict, events) => (Stage::Granted(verdict, now), events),
            Ruling::Denied(refusal, events) => (Stage::Denied(refusal), events),
        };
        for event in &mut events {
            self.mark(act, event);
        }
        Ok((stage, events))
    }

    /// The first answer under this key.
    fn repeated(&self, live: &Live) -> Result<Option<String>> {
        let Some(key) = &self.key else {
            return Ok(None);
        };
        let Some(first) = live.response(key)? else {
            return Ok(None);
        };
        if (&first.operation, first.request) != (&self.operation, self.digest()) {
            let message = format!(
                "key must be new, or that of the same request, but {} stands for another request of {}",
                shown(key),
                first.operation
            );
            return Err(Refusal::new(Code::IdempotencyKeyReused, message)
                .field("key")
                .detail("operation", first.operation)
                .into());
        }
        match first.response {
            Some(text) => Ok(Some(text)),
            None => {
                let message = format!(
                    "the request with key {} was carried out, but its answer was too large to be stored",
                    shown(key)
                );
                Err(Refusal::new(Code::ResponseTooLarge, message)
                    .field("key")
                    .into())
            }
        }
    }

    /// What the caller said of what the command records.
    fn mark<A: Act>(&self, act: &A, event: &mut NewEvent) {
        if !act.is_consequence(event) {
            let unnamed = !act.names_actor() || event.actor == DEFAULT_ACTOR;
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

    fn conclude<A: Act>(
        &self,
        act: &A,
        live: &Live,
        stage: &mut Stage<A>,
        events: &[Event<'static>],
    ) -> Vec<NewEvent> {
        let Stage::Granted(verdict, now) = stage else {
            return Vec::new();
        };
        let Ok(answer) = act.answer(live, verdict, events, *now) else {
            return Vec::new();
        };
        let text = serde_json::to_string(&answer).ok();
        *stage = Stage::Answered(answer);
        let Some(key) = &self.key else {
            return Vec::new();
        };
        // What a closed team answers changes nothing, so it is answered anew each time.
        if events.is_empty() && live.is_closed().unwrap_or(true) {
            return Vec::new();
        }
        let stored = ResponseStored {
            operation: self.operation.clone(),
            request: self.digest(),
            response: text,
        };
        let actor = events.first().map_or(DEFAULT_ACTOR, |event| &*event.actor);
        vec![stored.event(actor, key)]
    }
}

/// An answer that was stored once reads again.
fn stored<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        Failure::from(teamlog_engine::Error::Invalid {
            field: "response",
            value: shown(text),
            rule: format!("must be an answer of this operation: {error}"),
        })
    })
}
