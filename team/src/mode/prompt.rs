//! `mode-prompt`: starts the skills that a prompt requests. Decides on the whole prompt before any event is recorded.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::answer::{Keyword, PromptAnswer, Started};
use crate::mode::rules::prompt::gate::{Planned, gated};
use crate::mode::rules::prompt::keyword::going_on;
use crate::mode::rules::prompt::plan::{Plan, plan};
use crate::mode::rules::prompt::{NamedSkills, Words, lock, text, typed};
use crate::projections::mode::event::{ModeGateBypassed, ModePromptDecided};
use crate::projections::team::settings::{OFF, PHRASES};

operation! {
    /// Start the skills that a prompt requests: all of them or none
    "mode-prompt": Records(ModePrompt {
        /// Text of the prompt
        text: String,
        /// Session of the modes; the root if absent. The mode `team` always starts at the root
        session_id: Option<String>,
        /// Thread of the prompt
        thread_id: Option<String>,
        /// Turn that the prompt starts
        turn_id: Option<String>,
    }) -> PromptAnswer = Team::mode_prompt,
    refuses = [ModeDenied]
}

impl Team {
    /// Starts all skills that a prompt requests, or no skill.
    ///
    /// # Errors
    /// `mode_denied`, with the whole [`PromptAnswer`] in its details; `invalid_input`, `team_closed`; errors of the
    /// log.
    pub fn mode_prompt(&mut self, prompt: ModePrompt) -> Result<PromptAnswer> {
        self.execute(prompt)
    }

    /// Returns the answer to a prompt that changes nothing, and records nothing. Returns `None` if the prompt would change
    /// something.
    ///
    /// # Errors
    /// `invalid_input`; errors of the log.
    pub fn mode_prompt_preview(&mut self, prompt: ModePrompt) -> Result<Option<PromptAnswer>> {
        let ctx = self.ctx(self.control.clone(), self.now());
        let team = self.name().to_owned();
        self.query(|live, _| match prompt.decide(&ctx, live)? {
            Decision::Granted(told, _) if told.changes_something() => Ok(None),
            Decision::Granted(told, _) => {
                Ok(Some(prompt.completed(told, live, (&team, ctx.now))?))
            }
            Decision::Denied(refusal, _) => Ok(PromptAnswer::of_refusal(&refusal)),
        })
    }
}

impl PromptAnswer {
    /// Parses the answer out of a prompt's refusal.
    pub fn of_refusal(refusal: &Refusal) -> Option<PromptAnswer> {
        refusal.told(Code::ModeDenied)
    }

    /// Parses the answer out of the details of a refusal with the code `mode_denied`.
    pub fn from_details(details: &Map<String, Value>) -> Option<PromptAnswer> {
        serde_json::from_value(Value::Object(details.clone())).ok()
    }
}

impl Command for ModePrompt {
    type Decided = PromptAnswer;
    type Answer = PromptAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<PromptAnswer>> {
        let scope = self.check()?;
        let mut decision = PromptDecision {
            prompt: self,
            live,
            decision: ModeDecision::for_call(ctx, live),
            told: PromptAnswer::default(),
            scope,
        };
        let decided = decision.decide();
        match decided.and_then(|()| decision.decision.see(&decision.scope)) {
            Ok(()) => Ok(Decision::Granted(
                decision.told,
                decision.decision.into_events(),
            )),
            Err(Failure::Refused(refusal)) if refusal.code == Code::ModeDenied => {
                // A denied prompt changes nothing, so the active modes are the modes of the present
                // state.
                let active = decision::active(live, &decision.scope)?;
                let refusal = decision.told.denied(live.team_name(), refusal, active);
                Ok(Decision::Denied(refusal, Vec::new()))
            }
            Err(failure) => Err(failure),
        }
    }

    fn answer(&self, told: &PromptAnswer, after: &After<'_>) -> Result<PromptAnswer> {
        self.completed(told.clone(), after.live, (after.team, after.ctx.now))
    }
}

impl ModePrompt {
    /// Adds three fields to an answer: the active modes, the input lock and the paragraph for the agent.
    fn completed(
        &self,
        mut told: PromptAnswer,
        live: &Live,
        (team, now): (&str, Timestamp),
    ) -> Result<PromptAnswer> {
        let scope = self.check()?;
        told.active_skills = decision::active(live, &scope)?;
        told.input_lock = held_lock(&ModeDecision::new(live, now), &scope)?;
        told.additional_context = text::paragraph(team, &told);
        Ok(told)
    }
}

impl ModePrompt {
    fn check(&self) -> Result<Scope, Refusal> {
        names::check_free_given([("thread_id", &self.thread_id), ("turn_id", &self.turn_id)])?;
        scope(self.session_id.as_deref())
    }
}

impl PromptAnswer {
    /// Returns true if the prompt starts, defers or cancels a mode.
    fn changes_something(&self) -> bool {
        !self.started.is_empty() || !self.deferred_skills.is_empty() || self.canceled.is_some()
    }

    fn denied(mut self, team: &str, refusal: Refusal, active: Vec<Mode>) -> Refusal {
        let transition: Option<Transition> = refusal.told(refusal.code);
        self.denial = transition.and_then(|transition| transition.denial);
        self.transition_error = Some(refusal.message.clone());
        self.active_skills = active;
        self.canceled = None;
        self.started.clear();
        self.auto_completed.clear();
        self.transition_messages.clear();
        self.additional_context = text::paragraph(team, &self);
        let answer = serde_json::to_value(&self).unwrap_or_default();
        refusal.details(answer).field("text")
    }
}

/// A decision on a prompt, step by step.
struct PromptDecision<'a> {
    prompt: &'a ModePrompt,
    live: &'a Live,
    decision: ModeDecision<'a>,
    told: PromptAnswer,
    scope: Scope,
}

impl PromptDecision<'_> {
    fn decide(&mut self) -> Result<()> {
        let (trigger, _) = self.live.setting(Setting::ModesTrigger)?;
        if trigger.text() == OFF {
            return Ok(());
        }
        let prompt = self.prompt.text.clone();
        if let Some(lock) = held_lock(&self.decision, &self.scope)?
            && let Some(word) = lock::kept_back(&lock, &prompt)
        {
            self.told.blocked_input = Some(word);
            return Ok(());
        }
        let words = Words {
            phrases: trigger.text() == PHRASES,
            planned: self.planned()?,
        };
        let named = NamedSkills::from_prompt(&prompt, words);
        if !named.explicit && self.goes_on(&prompt)? {
            return Ok(());
        }
        self.told.keywords = named.found.iter().map(Keyword::from).collect();
        let skills = match named.explicit {
            true => named.skills(),
            false => {
                let (skills, gate) = gated(&prompt, &named.found, words.planned);
                self.told.gate = gate;
                skills
            }
        };
        let names = skills.iter().map(|skill| skill.name().to_owned());
        self.told.requested_skills = names.collect();
        if skills.contains(&CANCEL) {
            self.call_off()?;
        }
        self.carry_out(&skills)
    }

    /// Returns true if the prompt only asks to continue an active mode.
    fn goes_on(&mut self, prompt: &str) -> Result<bool> {
        let Some(with) = going_on(&typed(prompt)) else {
            return Ok(false);
        };
        let active = self.decision.active(&self.scope)?;
        self.told.continued = match with {
            None => self.primary(&active)?,
            Some(skill) => skill.mode().filter(|mode| active.contains(mode)),
        };
        Ok(self.told.continued.is_some())
    }

    /// Returns the primary mode among the active modes.
    fn primary(&self, active: &[Mode]) -> Result<Option<Mode>> {
        for scope in visible_from(&self.scope) {
            let own = self.live.mode_scope(&scope)?;
            let primary = own.and_then(|own| own.primary);
            if let Some(mode) = primary.filter(|mode| active.contains(mode)) {
                return Ok(Some(mode));
            }
        }
        Ok(active.first().copied())
    }

    /// Returns the state of the plan, on which the gate decides.
    fn planned(&self) -> Result<Planned> {
        let blueprint = self.decision.visible(&self.scope, Mode::Blueprint)?;
        let active = self.decision.active(&self.scope)?;
        Ok(Planned {
            complete: blueprint.is_some_and(|(_, state)| is_complete(&state.fields)),
            prior: self.primary(&active)?,
        })
    }

    /// Cancels the interview in each scope. The word `cancel` in a prompt cancels no other mode.
    fn call_off(&mut self) -> Result<()> {
        let mode = Mode::DeepInterview;
        for scope in visible_from(&self.scope) {
            let state = self.decision.state(&scope, mode)?;
            if state.is_some_and(|state| state.is_active() || is_waiting(&state)) {
                let set = ended("completing", Lifecycle::UserInterlude);
                let ending = Ending::new(Change::Canceled, Exit::Abort, set);
                self.decision.end(&scope, mode, ending)?;
                self.told.canceled = Some(mode);
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, skills: &[Skill]) -> Result<()> {
        let beside = self.decision.beside(&self.scope)?;
        let plan = plan(skills, &beside, self.decision.review(&self.scope)?);
        self.told.deferred_skills.clone_from(&plan.deferred);
        if let Some(denied) = plan.denied() {
            if let [only] = &*plan.steps {
                // Modes in sessions can also block a mode that starts at the root. `reconcile` checks every session, and its refusal names
                // all blocking modes.
                let at = self.place(only.requested);
                self.decision
                    .reconcile(&at, only.requested, Source::Prompt)?;
            }
            let mut denied = denied.clone();
            let places = self.decision.places(&self.scope)?;
            let team = Some(self.decision.team());
            denial::word(&mut denied, Source::Prompt, team, &places);
            let refusal = denial::refusal(&denied);
            return Err(match self.scope.session() {
                Some(session) => refusal.detail("session_id", session).into(),
                None => refusal.into(),
            });
        }
        self.told.transition_messages = plan.messages();
        self.told.auto_completed = plan.completed();
        let visible = self.decision.active(&self.scope)?;
        for mode in plan.started(&visible) {
            self.start(mode, &plan)?;
        }
        self.record()
    }

    /// Returns true if a mode is already active in the scope in which the prompt would start the
    /// mode. In that case the mode keeps its state.
    fn is_on(&self, at: &Scope, mode: Mode) -> Result<bool> {
        Ok(self.decision.already_active(at, mode)?.is_some())
    }

    /// Clears an ended state of the session if that state would hide a mode that starts at the
    /// root.
    fn uncover(&mut self, at: &Scope, mode: Mode) -> Result<()> {
        if *at != self.scope && self.decision.state(&self.scope, mode)?.is_some() {
            let scope = self.scope.clone();
            self.decision.clear(&scope, mode, false)?;
        }
        Ok(())
    }

    /// Returns the scope in which a mode starts: the root for `team`, else the session.
    fn place(&self, mode: Mode) -> Scope {
        match mode {
            Mode::Team => Scope::Root,
            _ => self.scope.clone(),
        }
    }

    /// Starts a mode unless it is active already.
    fn start(&mut self, mode: Mode, plan: &Plan) -> Result<()> {
        let at = self.place(mode);
        self.uncover(&at, mode)?;
        if self.is_on(&at, mode)? {
            return Ok(());
        }
        let decided = self.decision.reconcile(&at, mode, Source::Prompt)?;
        let mut state = seed::prompted(mode, self.decision.now());
        let prompt = self.prompt;
        let step = plan.steps.iter().find(|step| step.requested == mode);
        let handed = step.filter(|step| !step.auto_completed.is_empty());
        let message = handed.and_then(|step| step.message.clone());
        // If the mode starts at the root, the decision can also end modes of sessions. The message of the decision names these
        // modes.
        let message = message.or(match decided.kind {
            Kind::AutoComplete => decided.message,
            _ => None,
        });
        join(&mut self.told.auto_completed, decided.auto_completed);
        join(&mut self.told.transition_messages, message.clone());
        put(&mut state, "thread_id", prompt.thread_id.as_deref());
        put(&mut state, "turn_id", prompt.turn_id.as_deref());
        put(&mut state, "transition_message", message);
        self.decision.start(&at, mode, state)?;
        self.decision.lock_input(&at, mode)?;
        self.told.started.push(Started {
            mode,
            session_id: at.session().map(str::to_owned),
            path: path(self.decision.team(), &at, mode.name()),
        });
        Ok(())
    }

    /// Records the decision if it changes a state.
    fn record(&mut self) -> Result<()> {
        if !self.told.changes_something() {
            return Ok(());
        }
        let active = self.decision.active(&self.scope)?;
        let metadata = self.metadata();
        for scope in self.touched() {
            self.decision.sync(&scope, metadata.clone(), None)?;
        }
        let told = &self.told;
        let gate = told.gate.as_ref();
        if let Some(gate) = gate.filter(|gate| gate.reason.is_bypass()) {
            let bypassed = ModeGateBypassed {
                scope: self.scope.clone(),
                reason: gate.reason.name().to_owned(),
                skills: names_of(&gate.modes),
            };
            self.decision.record(bypassed.event(DEFAULT_ACTOR, None))?;
        }
        let decided = ModePromptDecided {
            scope: self.scope.clone(),
            requested_skills: told.requested_skills.clone(),
            deferred_skills: names_of(&told.deferred_skills),
            active_skills: names_of(&active),
            transition_messages: told.transition_messages.clone(),
            gate: gate.map_or("none", |gate| gate.reason.name()).to_owned(),
        };
        self.decision.record(decided.event(DEFAULT_ACTOR, None))
    }

    /// Returns the scopes in which a mode started. If no mode started, returns the scope of the
    /// prompt.
    fn touched(&self) -> Vec<Scope> {
        let mut touched = Vec::new();
        let started = self.told.started.iter();
        join(
            &mut touched,
            started.map(|one| Scope::for_session(one.session_id.as_deref())),
        );
        if touched.is_empty() {
            touched.push(self.scope.clone());
        }
        touched
    }

    /// Returns the metadata for the list of skills. Sets every field, so that no field of an earlier prompt remains.
    fn metadata(&self) -> Fields {
        let (told, prompt) = (&self.told, self.prompt);
        let first = told.started.first();
        let several = |names: Vec<String>, least: usize| match names.len() >= least {
            true => names.into(),
            false => Value::Null,
        };
        object(json!({
            "keyword": told.keywords.first().map(|one| &one.keyword),
            "source": Source::Prompt.name(),
            "thread_id": prompt.thread_id,
            "turn_id": prompt.turn_id,
            "requested_skills": several(told.requested_skills.clone(), 2),
            "deferred_skills": several(names_of(&told.deferred_skills), 1),
            "transition_message": told.transition_messages.first(),
            "transition_messages": several(told.transition_messages.clone(), 1),
            "initialized_mode": first.map(|one| one.mode),
            "initialized_state_path": first.map(|one| &one.path),
        }))
    }
}

/// Returns the input lock that a prompt in this scope meets.
fn held_lock(decision: &ModeDecision<'_>, scope: &Scope) -> Result<Option<Fields>> {
    for scope in visible_from(scope) {
        let interview = decision.state(&scope, Mode::DeepInterview)?;
        let interview = interview.filter(|state| state.is_active() || is_asked(&state.fields));
        let lock = interview.and_then(|state| lock::held(&state.fields).cloned());
        if lock.is_some() {
            return Ok(lock);
        }
    }
    Ok(None)
}

/// Returns true if a state of blueprint has a complete plan.
fn is_complete(blueprint: &Fields) -> bool {
    if let Some(Value::Bool(complete)) = blueprint.get("planning_complete")
        && *complete
    {
        return true;
    }
    let phase = blueprint.get("current_phase").and_then(Value::as_str);
    let ended = phase.and_then(|phase| outcome::of_phase(phase, false));
    ended == Some(Lifecycle::Finished)
}

fn names_of(modes: &[Mode]) -> Vec<String> {
    modes.iter().map(|mode| mode.name().to_owned()).collect()
}
