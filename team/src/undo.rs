//! `undo`: appends events that reverse a command of an agent. The log also keeps the events of the command.
//!
//! The command and the state before it are read before the decision. The decision checks that the read command is the command to reverse.

use crate::claim::holding::{TaskDecision, block};
use crate::mode::end::canceled;
use crate::operation::prelude::*;
use crate::projections::Fact;
use crate::projections::mode::event::{ModeFact, ModeStarted};
use crate::projections::task::event::{TaskAct, TaskAssigned, TaskCanceled, TaskFact, TaskUpdated};
use crate::projections::task::{Attributes, PlanChange};
use crate::projections::team::event::ConfigChanged;
use crate::projections::team::settings;
use teamlog_engine::Point;

operation! {
    /// Reverse the last command of an agent, or the command that recorded an event
    "undo": Records(Undo {
        /// Seq of an event of the command; the last command of the agent if absent
        #[arg(value_name = "EVENT", value_parser = crate::argv::whole::<u64>)]
        seq: Option<u64>,
        /// Agent that undoes its command
        #[arg(long, value_name = "AGENT")]
        worker: Option<String>,
    }) -> UndoAnswer = Team::undo,
    refuses = [PointUnknown, InvalidTransition, PastBusy, WorkerNotFound]
}

/// The answer `{undone, seq, text, task_id?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UndoAnswer {
    /// Kind of the event that was reversed
    pub undone: String,
    /// Seq of that event
    pub seq: u64,
    /// Description of the change that reversed the event
    pub text: String,
    /// Task that changed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

/// Detail of a refusal: the seq of an event. The caller reads that event, and then repeats the decision.
const UNREAD: &str = "unread";
/// Maximum number of earlier events to search for the first event of a command.
const GROUP_MAX: u64 = 16;
/// Kind of the event that asks for a review, beside the edit of the task.
const REVIEWED: &str = "approval_recorded";
/// Kinds of events that another event of the same command causes, each with the kind of the causing
/// event.
const FOLLOWS: [(&str, &str); 5] = [
    (REVIEWED, "task_updated"),
    ("task_deps_changed", "task_updated"),
    ("message_sent", "task_updated"),
    ("message_sent", "task_assigned"),
    ("task_assigned", "task_reopened"),
];
/// Kinds of events that the start of a mode records after `mode_started`.
const BESIDE_START: [&str; 4] = [
    "mode_skills_synced",
    "mode_input_locked",
    "mode_session_seen",
    "mode_transitioned",
];
/// Maximum number of later events that a refusal names.
const LATER_MAX: usize = 5;

/// The command to reverse, as read from the log.
#[derive(Debug, Clone)]
struct Target {
    /// Seq of the event to undo: the event that the caller named, or the agent's last event.
    asked: u64,
    /// First event of the command.
    event: Event<'static>,
    /// The task before the event.
    task: Option<Task>,
    /// The settings that the event changed, with their values before the event.
    settings: Vec<(Setting, Option<settings::Value>)>,
    /// True if the command asked for a review.
    asks_review: bool,
    /// The newest later events of the task, in the form `task_claimed by dev (event 7)`.
    later: Vec<String>,
}

/// An undo. `target` is set after the command to reverse was read.
#[derive(Debug, Clone)]
struct Reversal {
    undo: Undo,
    target: Option<Arc<Target>>,
}

impl Team {
    /// Reverses a command.
    ///
    /// # Errors `invalid_transition` for a command that cannot be reversed, or whose subject has changed since the command; errors
    /// of the log.
    pub fn undo(&mut self, undo: Undo) -> Result<UndoAnswer> {
        let mut reversal = Reversal { undo, target: None };
        loop {
            let failure = match self.execute(reversal.clone()) {
                Err(failure) => failure,
                done => return done,
            };
            let unread = failure.refusal().and_then(|refusal| {
                let seq = refusal.details.get(UNREAD)?;
                seq.as_u64()
            });
            let Some(seq) = unread else {
                return Err(failure);
            };
            reversal.target = Some(Arc::new(self.target(seq)?));
        }
    }

    /// Reads the command that recorded an event, and the state before that command.
    fn target(&mut self, asked: u64) -> Result<Target> {
        let event = self.query(|live, reader| first_of(live, reader, asked))?;
        let fact = match event.foreign {
            true => None,
            false => Some(Fact::decode(&event)?),
        };
        let before = match (&fact, event.seq) {
            (Some(Fact::Task(_) | Fact::Team(_)), 2..) => {
                let past = self.look_back("seq", Point::Seq(event.seq - 1))?;
                let _fold = self.past_fold()?;
                Some(Live::at(&self.log, &past.reader, past.moment.seq)?)
            }
            _ => None,
        };
        let mut target = Target {
            asked,
            event,
            task: None,
            settings: Vec::new(),
            asks_review: false,
            later: Vec::new(),
        };
        match (&fact, before) {
            (Some(Fact::Task(fact)), before) => {
                target.task = before
                    .map(|live| live.task(&fact.task_id))
                    .transpose()?
                    .flatten();
                let seq = target.event.seq;
                target.asks_review = self.query(|live, reader| {
                    if seq >= reader.head().last_seq {
                        return Ok(false);
                    }
                    let next = page::event(live, reader, seq + 1)?;
                    Ok(next.kind == REVIEWED && next.refs.cause == Some(target.event.id))
                })?;
                target.later =
                    self.query(|live, reader| later(live, reader, &fact.task_id, seq))?;
            }
            (Some(Fact::Team(fact)), Some(live)) => {
                if let TeamFact::ConfigChanged(changed) = &**fact {
                    for (setting, _) in &changed.changes {
                        let (value, set) = live.setting(*setting)?;
                        target.settings.push((*setting, set.then_some(value)));
                    }
                }
            }
            _ => {}
        }
        Ok(target)
    }
}

/// Returns the first event of the command that recorded the event `seq`: follows the causes inside
/// the group of that event.
fn first_of(live: &Live, reader: &Reader, seq: u64) -> Result<Event<'static>> {
    if seq == 0 || seq > reader.head().last_seq {
        let last = reader.head().last_seq;
        let message = format!("seq must be an event of the team, 1 to {last}, but is {seq}");
        return Err(Refusal::new(Code::PointUnknown, message)
            .field("seq")
            .into());
    }
    let mut event = page::event(live, reader, seq)?;
    for back in 1..=GROUP_MAX.min(seq - 1) {
        let earlier = page::event(live, reader, seq - back)?;
        let follows = FOLLOWS.contains(&(&*event.kind, &*earlier.kind));
        let is_cause = follows && event.refs.cause == Some(earlier.id);
        let is_mode = BESIDE_START.contains(&&*event.kind) && earlier.kind.starts_with("mode_");
        if earlier.actor == event.actor && (is_cause || is_mode) {
            event = earlier;
        }
    }
    Ok(event)
}

/// Returns the newest events of a task after `seq`, as texts.
fn later(live: &Live, reader: &Reader, task_id: &str, seq: u64) -> Result<Vec<String>> {
    let page = live.with_ref(RefKind::Task, task_id, None, LATER_MAX)?;
    let mut found = Vec::new();
    for seq in page.seqs.into_iter().filter(|one| *one > seq) {
        let event = page::event(live, reader, seq)?;
        found.push(format!("{} by {} (event {seq})", event.kind, event.actor));
    }
    Ok(found)
}

impl Command for Reversal {
    type Decided = UndoAnswer;
    type Answer = UndoAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        let named = self.undo.worker.as_deref();
        CommandTerms::new(Authority::of_named(named))
            .members_only()
            .named(named.is_some())
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<UndoAnswer>> {
        names::check_known_given([("worker", &self.undo.worker)])?;
        let control = &ctx.control;
        let known = self.undo.worker.as_ref().or(control.actor.as_ref());
        let who = known
            .or(control.user.as_ref())
            .map_or(DEFAULT_ACTOR, String::as_str);
        let asked = match (self.undo.seq, live.activity(who)?) {
            (Some(seq), _) => seq,
            (None, Some(last)) => last.seq,
            (None, None) => {
                let message = format!("{who} has recorded nothing that could be undone");
                return Err(Refusal::new(Code::InvalidTransition, message).into());
            }
        };
        let target = self.target.as_ref().filter(|target| target.asked == asked);
        let Some(target) = target else {
            let refusal = Refusal::new(
                Code::PointUnknown,
                format!("event {asked} was not read; try again"),
            );
            return Err(refusal.detail(UNREAD, asked).into());
        };
        if target.event.actor != who && who != LEADER {
            let (seq, actor) = (target.event.seq, &target.event.actor);
            return Err(
                target.refused(format!("event {seq} was recorded by {actor}, not by {who}"))
            );
        }
        let actor = self.undo.worker.as_deref().unwrap_or(DEFAULT_ACTOR);
        let (text, mut events) = target.reverse(ctx, live, actor)?;
        if let Some(first) = events.first_mut() {
            first.cause = Some(Cause::Event(target.event.id));
        }
        let answer = UndoAnswer {
            undone: target.event.kind.to_string(),
            seq: target.event.seq,
            text,
            task_id: target.event.refs.get(RefKind::Task).map(str::to_owned),
        };
        Ok(Decision::Granted(answer, events))
    }

    fn answer(&self, answer: &UndoAnswer, _: &After<'_>) -> Result<UndoAnswer> {
        Ok(answer.clone())
    }
}

type Reversed = Result<(String, Vec<NewEvent>)>;

impl Target {
    fn refused(&self, message: String) -> Failure {
        let refusal = Refusal::new(Code::InvalidTransition, message);
        refusal.detail("seq", self.event.seq).into()
    }

    /// Returns the events that reverse the command, and a text that describes these events.
    fn reverse(&self, ctx: &Ctx, live: &Live, actor: &str) -> Reversed {
        let seq = self.event.seq;
        let fact = match self.event.foreign {
            true => return Err(self.refused(format!("event {seq} belongs to another tool"))),
            false => Fact::decode(&self.event)?,
        };
        match &fact {
            Fact::Task(fact) => self.reverse_task(fact, ctx, live, actor),
            Fact::Team(fact) => match &**fact {
                TeamFact::ConfigChanged(changed) => self.reverse_config(changed, live, actor),
                TeamFact::Retired(retired) => Err(self.refused(format!(
                    "event {seq} retired {0}, whose tasks are for any agent now: to bring {0} back, add it as a member again",
                    retired.agent
                ))),
                _ => Err(self.irreversible()),
            },
            Fact::Mode(fact) => match &**fact {
                ModeFact::Started(started) => self.reverse_start(started, ctx, live),
                _ => Err(self.irreversible()),
            },
            fact if fact.sent().is_some() => Err(self.refused(format!(
                "event {seq} is a message, and its recipient may have read it: send another message that corrects it"
            ))),
            _ => Err(self.irreversible()),
        }
    }

    fn irreversible(&self) -> Failure {
        let (seq, kind) = (self.event.seq, &self.event.kind);
        self.refused(format!(
            "event {seq} ({kind}) cannot be undone: only a task's creation, edit, assignment or cancellation, a setting, \
             and the start of a mode can"
        ))
    }

    fn reverse_start(&self, started: &ModeStarted, ctx: &Ctx, live: &Live) -> Reversed {
        let (mode, seq) = (started.mode, self.event.seq);
        let state = live.mode_state(&started.scope, mode)?;
        if state.is_none_or(|state| state.seq != seq) {
            return Err(self.refused(format!("mode {mode} changed since event {seq}")));
        }
        let events = canceled(ctx, live, (mode.name(), started.scope.session()), "undone")?;
        Ok((format!("mode {mode} is canceled"), events))
    }

    fn reverse_task(&self, fact: &TaskFact, ctx: &Ctx, live: &Live, actor: &str) -> Reversed {
        let (id, seq) = (&fact.task_id, self.event.seq);
        match &fact.act {
            TaskAct::Updated(_) if self.asks_review => {
                return Err(self.refused(format!(
                    "event {seq} asked for the review of task {id}, and the reviewer may have read it: to complete the task \
                     without an approval, edit the task so that it requires none"
                )));
            }
            TaskAct::Created(_)
            | TaskAct::Updated(_)
            | TaskAct::Assigned(_)
            | TaskAct::Canceled(_) => {}
            TaskAct::Completed(_) => {
                return Err(self.refused(format!(
                    "task {id} is completed, and that is final: create a task that continues it"
                )));
            }
            act => {
                let kind = act.kind();
                return Err(self.refused(format!(
                    "event {seq} ({kind}) cannot be undone: only a creation, an edit, an assignment or a cancellation can"
                )));
            }
        }
        let mut decision = TaskDecision::load(live, id, ctx.now)?;
        let version = self.task.as_ref().map_or(0, |before| before.version) + 1;
        if decision.task.version != version || !decision.events.is_empty() {
            let later = self.later.join(", ");
            return Err(self.refused(format!("task {id} changed since event {seq}: {later}")));
        }
        let before = self.task.as_ref();
        let missing = || self.refused(format!("task {id} did not exist before event {seq}"));
        let text = match (&fact.act, before) {
            (TaskAct::Created(_), _) => {
                let reason = Some(format!("undo of event {seq}"));
                let act = TaskAct::Canceled(TaskCanceled {
                    reason,
                    forced: false,
                });
                let owner = decision.task.owner.clone();
                decision.act(act, actor, owner.as_deref());
                format!("task {id} is canceled")
            }
            (_, None) => return Err(missing()),
            (TaskAct::Updated(updated), Some(before)) => {
                self.restore_texts(live, &mut decision, updated, before, actor)?;
                format!("task {id} is as before event {seq}")
            }
            (TaskAct::Assigned(assigned), Some(before)) => {
                let was = before.owner.clone();
                if let Some(was) = was
                    .as_deref()
                    .filter(|was| Some(*was) != assigned.owner.as_deref())
                    && live.is_retired(was)?
                {
                    return Err(self.refused(format!("task {id} was for {was}, who was retired")));
                }
                let act = TaskAct::Assigned(TaskAssigned {
                    owner: was.clone(),
                    taken_from: None,
                    epoch: None,
                });
                decision.act(act, actor, was.as_deref());
                let owner = was.as_deref().unwrap_or("any agent");
                match &assigned.taken_from {
                    Some(_) => format!("task {id} is for {owner}, who must claim it again"),
                    None => format!("task {id} is for {owner}"),
                }
            }
            (_, Some(before)) => {
                if before.claim().is_some() {
                    return Err(self.refused(format!(
                        "event {seq} ended a claim on task {id}, which cannot be restored"
                    )));
                }
                let owner = before.owner.clone();
                decision.act(TaskAct::Reopened, actor, owner.as_deref());
                if owner.is_some() {
                    let act = TaskAct::Assigned(TaskAssigned {
                        owner: owner.clone(),
                        taken_from: None,
                        epoch: None,
                    });
                    decision.follow(act, actor, owner.as_deref(), 0);
                }
                decision.task.owner = owner;
                decision.task.status = Status::Pending;
                let TaskDecision { task, events } = &mut decision;
                block(live, task, DEFAULT_ACTOR, events)?;
                format!("task {id} is open again")
            }
        };
        Ok((text, decision.events))
    }

    /// Appends an edit that restores the values that the task had before the edit `updated`.
    fn restore_texts(
        &self,
        live: &Live,
        decision: &mut TaskDecision,
        updated: &TaskUpdated,
        before: &Task,
        actor: &str,
    ) -> Result<()> {
        let (plan, was) = (&updated.plan, &before.governed.plan);
        let demands = &before.governed.attributes;
        let demanded = |now: Option<bool>, was: Option<bool>| now.map(|_| was.unwrap_or(false));
        let restored = TaskAct::Updated(TaskUpdated {
            subject: updated
                .subject
                .as_ref()
                .map(|_| before.subject.clone().unwrap_or_default()),
            description: updated
                .description
                .as_ref()
                .map(|_| before.details.clone().unwrap_or_default()),
            attributes: Attributes {
                requires_code_change: demanded(
                    updated.attributes.requires_code_change,
                    demands.requires_code_change,
                ),
                requires_approval: demanded(
                    updated.attributes.requires_approval,
                    demands.requires_approval,
                ),
            },
            plan: PlanChange {
                labels: plan.labels.as_ref().map(|_| was.labels.clone()),
                due_at: plan.due_at.map(|_| was.due_at),
                defer_until: plan.defer_until.map(|_| was.defer_until),
                parent: plan.parent.as_ref().map(|_| was.parent.clone()),
            },
            priority: updated.priority.map(|_| before.priority),
            forced: false,
        });
        let owner = decision.task.owner.clone();
        let cause = decision.act(restored, actor, owner.as_deref());
        if decision.task.deps == before.deps {
            return Ok(());
        }
        crate::task::change::wait_for(live, decision, before.deps.clone(), cause)
    }

    fn reverse_config(&self, changed: &ConfigChanged, live: &Live, actor: &str) -> Reversed {
        let seq = self.event.seq;
        for (setting, value) in &changed.changes {
            let (now, set) = live.setting(*setting)?;
            if set.then_some(&now) != value.as_ref() {
                let key = setting.key();
                return Err(self.refused(format!("setting {key} changed since event {seq}")));
            }
        }
        if self.settings.is_empty() {
            return Err(self.refused(format!(
                "event {seq} created the team, and cannot be undone"
            )));
        }
        let changes = self.settings.clone();
        let keys: Vec<String> = changes.iter().map(|(setting, _)| setting.key()).collect();
        let text = format!("setting {} is as before event {seq}", keys.join(", "));
        let event = TeamFact::ConfigChanged(ConfigChanged { changes }).event(actor);
        Ok((text, vec![event]))
    }
}
