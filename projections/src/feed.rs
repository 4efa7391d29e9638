//! What each agent is to be told, in the order of the log: its mail, what is said in its threads, and what happens to its
//! tasks. Nothing is copied: an entry is the event itself.
//!
//! What concerns everybody is noted once and merged in when somebody reads.

use crate::prelude::*;
use crate::task::event::TaskAct;
use crate::thread::event::ThreadAct;

/// Series by agent: what that agent is told.
const TOLD: u8 = 0xB2;
/// One series: what everybody is told.
const TOLD_ALL: u8 = 0xB3;

/// Whom an event is told to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told<'a> {
    /// Nobody.
    Nobody,
    /// Everybody.
    All,
    /// One agent.
    One(&'a str),
    /// Each of these.
    Each(&'a [String]),
}

/// Some events that an agent is told, oldest first, and whether newer ones remain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedPage {
    /// Their seqs, ascending.
    pub seqs: Vec<u64>,
    /// Whether there are newer ones.
    pub more: bool,
}

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let seq = recorded.event.seq;
    match told(recorded.event, recorded.fact) {
        Told::Nobody => {}
        Told::All => tx.mark(&numbered(TOLD_ALL, "", seq)),
        Told::One(agent) => tx.mark(&numbered(TOLD, agent, seq)),
        Told::Each(agents) => {
            for agent in agents {
                tx.mark(&numbered(TOLD, agent, seq));
            }
        }
    }
    Ok(())
}

/// Whom an event is told to. That a task can be taken up is told to its owner, and to everybody where it has none.
pub fn told<'a>(event: &'a Event<'_>, fact: &'a Fact) -> Told<'a> {
    match fact {
        Fact::Thread(fact) => match &fact.act {
            ThreadAct::Posted(posted) => Told::Each(&posted.to),
            _ => Told::Nobody,
        },
        Fact::Task(fact) => match &fact.act {
            TaskAct::Created(created) => one(created.owner.as_deref()),
            TaskAct::Claimed(_) | TaskAct::Completed(_) | TaskAct::Failed(_) => Told::All,
            TaskAct::Unblocked => match event.refs.get(RefKind::Agent) {
                Some(owner) => Told::One(owner),
                None => Told::All,
            },
            TaskAct::Canceled(_) => one(event.refs.get(RefKind::Agent)),
            TaskAct::LeaseExpired(lease) => Told::One(&lease.held.worker),
            _ => Told::Nobody,
        },
        fact => fact.sent().map_or(Told::Nobody, |sent| Told::One(&sent.to)),
    }
}

fn one(agent: Option<&str>) -> Told<'_> {
    agent.map_or(Told::Nobody, Told::One)
}

impl TeamState {
    /// The first `limit` events behind `since` that an agent is told, oldest first.
    pub fn feed(&self, agent: &str, since: u64, limit: usize) -> Result<FeedPage> {
        let own = first(
            self.rows(),
            &key::series(TOLD, agent.as_bytes()),
            since,
            limit,
        )?;
        let mut seqs = first(self.rows(), &key::series(TOLD_ALL, b""), since, limit)?;
        seqs.extend(own);
        seqs.sort_unstable();
        let more = seqs.len() > limit;
        seqs.truncate(limit);
        Ok(FeedPage { seqs, more })
    }
}

/// The first numbers of a series behind `since`, one more than `limit`.
fn first(rows: Rows<'_>, series: &[u8], since: u64, limit: usize) -> Result<Vec<u64>> {
    let Some(next) = since.checked_add(1) else {
        return Ok(Vec::new());
    };
    let from = [series, &next.to_be_bytes()].concat();
    let found = rows.walk(&from, &end_of(series), false);
    found
        .take(limit.saturating_add(1))
        .map(|entry| Ok(entry?.seq()))
        .collect()
}
