//! `retire-agent`: removes an agent from the team for good. In the same group of events, the agent's open tasks become pending
//! without an owner, and the agent's tokens are revoked.

use crate::claim::holding::expire;
use crate::message::read::{Read, ReadAnswer};
use crate::projections::agent_token::event::{AgentTokenFact, AgentTokenRevoked};
use crate::projections::agent_token::id;
use crate::projections::natural;
use crate::projections::task::event::TaskAssigned;
use crate::projections::team::event::AgentRetired;
use crate::task::prelude::*;

operation! {
    /// Retire an agent: it can no longer act or receive, and its open tasks are for any agent
    "retire-agent": Records(RetireAgent {
        /// Agent that leaves the team
        #[arg(value_name = "AGENT")]
        agent: String,
        /// Only list what would change
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[arg(long)]
        dry_run: bool,
    }) -> RetireAnswer = Team::retire_agent,
    refuses = [WorkerNotFound],
    scope = Operate
}

/// Maximum number of open tasks that an agent may have when it is retired.
const TASKS_MAX: usize = 500;
/// Number of unread messages that the answer lists.
const MAIL: usize = 20;

/// `{agent, successor?, dry_run, tasks, taken, tokens_revoked, leader?, unread, mail}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RetireAnswer {
    /// The agent
    pub agent: String,
    /// New name of the agent, if it was renamed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// True if nothing was recorded
    pub dry_run: bool,
    /// Open tasks of the agent. They are now for the successor, else for any agent
    pub tasks: Vec<String>,
    /// Tasks that the agent held. Its claims have ended
    pub taken: Vec<String>,
    /// Ids of the tokens that were revoked
    pub tokens_revoked: Vec<String>,
    /// Agent that gets messages to the leader from now on, if the agent was the leader
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// Number of messages that the agent has not acknowledged
    pub unread: u64,
    /// The newest of these messages, oldest first; no agent will read them
    #[serde(
        default,
        serialize_with = "crate::shapes::messages",
        deserialize_with = "crate::shapes::read_messages"
    )]
    #[schemars(with = "Vec<Message>")]
    pub mail: Vec<Message>,
}

impl Team {
    /// Retires an agent.
    ///
    /// # Errors `worker_not_found` if the team has no such agent, or if the agent was retired before; errors of the log.
    pub fn retire_agent(&mut self, retire: RetireAgent) -> Result<RetireAnswer> {
        let answer = self.execute(retire)?;
        self.after_leaving(answer)
    }

    /// Forgets the revoked tokens of an agent that left, and adds the agent's unread mail to the
    /// answer.
    pub(crate) fn after_leaving(&mut self, mut answer: RetireAnswer) -> Result<RetireAnswer> {
        if !answer.dry_run {
            // The log says that the tokens are revoked, so each of them is invalid even if this
            // call fails.
            for token in &answer.tokens_revoked {
                self.forget_accepted(token)?;
            }
        }
        let unread: ReadAnswer = self.read(Read {
            agent: answer.agent.clone(),
            unread: true,
            limit: Some(MAIL),
            ..Read::default()
        })?;
        answer.mail = unread.messages;
        Ok(answer)
    }
}

impl Command for RetireAgent {
    type Decided = RetireAnswer;
    type Answer = RetireAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
            .named(false)
            .members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<RetireAnswer>> {
        let (answer, mut events) = leave(live, ctx, &self.agent, None)?;
        if self.dry_run {
            events.clear();
        }
        Ok(Decision::Granted(
            RetireAnswer {
                dry_run: self.dry_run,
                ..answer
            },
            events,
        ))
    }

    fn answer(&self, answer: &RetireAnswer, _: &After<'_>) -> Result<RetireAnswer> {
        Ok(answer.clone())
    }
}

/// Returns the events that remove an agent from the team. A successor gets the agent's open tasks.
pub(crate) fn leave(
    live: &Live,
    ctx: &Ctx,
    agent: &str,
    successor: Option<&str>,
) -> Result<(RetireAnswer, Vec<NewEvent>)> {
    check(live, agent)?;
    let retired = TeamFact::Retired(AgentRetired {
        agent: agent.to_owned(),
        successor: successor.map(str::to_owned),
    });
    let mut answer = RetireAnswer {
        agent: agent.to_owned(),
        successor: successor.map(str::to_owned),
        dry_run: false,
        tasks: Vec::new(),
        taken: Vec::new(),
        tokens_revoked: Vec::new(),
        leader: membership::next_leader(live, agent, successor)?,
        unread: live.whole_agent(agent)?.unread,
        mail: Vec::new(),
    };
    let mut events = vec![retired.event(DEFAULT_ACTOR)];
    for mut task in open_tasks(live, agent)? {
        expire(live, &mut task, ctx.now, DEFAULT_ACTOR, &mut events)?;
        answer.tasks.push(task.task_id.clone());
        if task.owner.as_deref() != Some(agent) {
            continue;
        }
        let mut decision = TaskDecision { task, events };
        if hand_over(live, &mut decision, successor)? {
            answer.taken.push(decision.task.task_id.clone());
        }
        events = decision.events;
    }
    for token in live.agent_tokens()? {
        if token.agent == agent && token.revoked.is_none() {
            let token_id = id(&token.digest).to_owned();
            answer.tokens_revoked.push(token_id.clone());
            let agent = token.agent;
            let revoked = AgentTokenFact::Revoked(AgentTokenRevoked { agent, token_id });
            events.push(revoked.event(DEFAULT_ACTOR));
        }
    }
    Ok((answer, events))
}

/// Refuses the fixed leader, a retired agent, and a name that the team does not know.
fn check(live: &Live, agent: &str) -> Result<()> {
    if live.is_retired(agent)? {
        let message = format!("agent {agent:?} has left this team already");
        return Err(Refusal::new(Code::WorkerNotFound, message)
            .field("agent")
            .into());
    }
    membership::check(live, "agent", agent)?;
    let message = match membership::unknown_warning(live, agent)? {
        _ if agent == LEADER => format!("agent {LEADER} cannot leave the team"),
        Some(unknown) => unknown,
        None => return Ok(()),
    };
    let refusal = Refusal::new(Code::WorkerNotFound, message).field("agent");
    // Without the detail `worker`: to add an agent that is to leave would not help.
    Err(refusal.into())
}

/// Returns the unfinished tasks of an agent. Refuses an agent that has more such tasks than one
/// command can handle.
fn open_tasks(live: &Live, agent: &str) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for status in Status::ALL.into_iter().filter(|status| !status.is_final()) {
        let filter = TaskFilter {
            status: Some(status),
            owner: Some(agent.to_owned()),
            ..TaskFilter::default()
        };
        tasks.extend(live.tasks(&filter, None, TASKS_MAX + 1)?.tasks);
    }
    tasks.sort_by_cached_key(|task| natural::key(&task.task_id));
    if tasks.len() > TASKS_MAX {
        let message = format!("agent {agent} has more than {TASKS_MAX} open tasks");
        let refusal = Refusal::new(Code::TooLarge, message).field("agent");
        return Err(refusal
            .hint("assign some of them to other agents first")
            .into());
    }
    Ok(tasks)
}

/// Makes a task pending for the successor, or for any agent, and ends its claim. Returns true if there was a claim.
fn hand_over(live: &Live, decision: &mut TaskDecision, successor: Option<&str>) -> Result<bool> {
    let epoch = decision.task.governed.epoch;
    let taken_from = decision.task.claim().map(|claim| ClaimRef {
        worker: claim.owner.clone(),
        epoch,
        forced: false,
    });
    let held = taken_from.is_some();
    let assigned = TaskAct::Assigned(TaskAssigned {
        owner: successor.map(str::to_owned),
        taken_from,
        epoch: held.then(|| live.next_epoch(epoch)).transpose()?,
    });
    decision.follow(assigned, DEFAULT_ACTOR, successor, 0);
    if decision.task.status != Status::Blocked {
        decision.give_back(live)?;
    }
    decision.task.owner = successor.map(str::to_owned);
    Ok(held)
}
