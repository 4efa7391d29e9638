//! `wait`: returns when something arrives for an agent.

use crate::handle::follower::Follower;
use crate::log::recorded::Recorded;
use crate::operation::prelude::*;

operation! {
    /// Wait until something arrives for an agent: mail, a post, a repeated delivery, or news of its tasks
    "wait": Waits(Wait {
        /// Agent to wait for
        #[arg(long, value_name = "AGENT")]
        agent: String,
        /// Longest wait in milliseconds; 30000 if absent
        timeout_ms: Option<u64>,
        /// Seq of the last event that the caller knows; the newest event if absent
        #[arg(long, value_name = "SEQ", value_parser = crate::argv::whole::<u64>)]
        since: Option<u64>,
    }) -> WaitAnswer = |team, asked| team.wait(&asked),
    refuses = [WorkerNotFound, LogReplaced]
}

/// Outcome of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitStatus {
    /// Something arrived.
    Arrived,
    /// No event arrived before the timeout.
    TimedOut,
}

/// The answer `{status, team, agent, events, count, last_seq}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WaitAnswer {
    /// Outcome of the wait.
    pub status: WaitStatus,
    /// Name of the team.
    pub team: String,
    /// The agent that waits.
    pub agent: String,
    /// The first 50 events that arrived, in log order.
    pub events: Vec<Recorded>,
    /// Number of events in the answer.
    pub count: usize,
    /// Seq of the last event examined. A next wait with this `since` misses nothing.
    pub last_seq: u64,
}

/// Kind of the event that records a post in a thread.
const POST: &str = "thread_message_posted";

impl Team {
    /// Waits until something arrives for an agent: entries of its feed, a repeated delivery, or changes of its tasks by other agents.
    /// Ignores posts that the agent has acknowledged.
    ///
    /// # Errors
    /// `worker_not_found`; `invalid_input` if `since` is ahead of the log; `log_replaced`; errors of the log.
    pub fn wait(&mut self, wait: &Wait) -> Result<WaitAnswer> {
        let gone = self.control.deadline.clone();
        let timeout = gone.wait(wait.timeout_ms)?;
        // If the deadline is beyond the range of `Instant`, waits without a deadline.
        let deadline = Instant::now().checked_add(timeout);
        let mut follower = Follower::start(self, |live, reader| {
            membership::check(live, "agent", &wait.agent)?;
            let last = reader.head().last_seq;
            match wait.since {
                Some(since) if since > last => Err(ahead(since, last).into()),
                since => Ok(since.unwrap_or(last)),
            }
        })?;
        loop {
            let mut new = Vec::new();
            let full = follower.read(self, |event| {
                if may_concern(event, &wait.agent) {
                    new.push(event.clone().into_owned());
                }
                Ok(page::goes_on(new.len() < page::PAGE))
            })?;
            let arrived = match new.is_empty() {
                true => Vec::new(),
                false => self.query(|live, _| arrived(live, &new, &wait.agent))?,
            };
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let over = left == Some(Duration::ZERO) || gone.is_over();
            let timed_out = full.is_continue() && over;
            if !arrived.is_empty() || timed_out {
                return Ok(self.waited(wait, arrived, follower.seq()));
            }
            if full.is_continue() {
                follower.wait(self, gone.step(left))?;
            }
        }
    }

    fn waited(&self, wait: &Wait, events: Vec<Recorded>, last_seq: u64) -> WaitAnswer {
        WaitAnswer {
            status: match events.is_empty() {
                true => WaitStatus::TimedOut,
                false => WaitStatus::Arrived,
            },
            team: self.name().to_owned(),
            agent: wait.agent.clone(),
            count: events.len(),
            events,
            last_seq,
        }
    }
}

/// Returns true if an event can wake an agent. Returns false for the agent's own events, and for events without effect on the
/// state.
fn may_concern(event: &Event<'_>, agent: &str) -> bool {
    let for_agent = event.refs.get(RefKind::Agent) == Some(agent);
    match &*event.kind {
        _ if event.foreign => event.actor != agent,
        "message_sent" => for_agent || event.actor != agent,
        "delivery_retry" => for_agent,
        "message_duplicate"
        | "message_suppressed"
        | "message_acked"
        | "message_ack_duplicate"
        | "ack_rejected"
        | "delivery_acked"
        | "delivery_required"
        | "message_notified"
        | "message_delivered"
        | "dispatch_requested"
        | "dispatch_notified"
        | "dispatch_delivered"
        | "dispatch_failed" => false,
        _ => event.actor != agent,
    }
}

/// Returns the events that are addressed to the agent or name one of its tasks.
fn arrived(live: &Live, events: &[Event<'static>], agent: &str) -> Result<Vec<Recorded>> {
    let mut found = Vec::new();
    let read = live.post_counts(agent)?.read_seq;
    for event in events {
        if event.seq <= read && !event.foreign && event.kind == POST {
            continue;
        }
        let task = event.refs.get(RefKind::Task).map(|task| live.task(task));
        let owner = task.transpose()?.flatten().and_then(|task| task.owner);
        let own_task = owner.as_deref() == Some(agent);
        let named = event.refs.get(RefKind::Agent) == Some(agent);
        if own_task || named || live.is_addressed(agent, event.seq)? {
            found.push(Recorded::marked(live, event.clone())?);
        }
    }
    Ok(found)
}

fn ahead(since: u64, last: u64) -> Refusal {
    let message = format!("since must be an event of the log, 0 to {last}, but is {since}");
    Refusal::new(Code::InvalidInput, message).field("since")
}
