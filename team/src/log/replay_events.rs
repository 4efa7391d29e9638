//! `replay-events`: the events after a seq, in order, for programs that poll.

use crate::log::recorded::Recorded;
use crate::log::replay::Replay;
use crate::operation::prelude::*;
use crate::projections::vocabulary;

operation! {
    /// Read the events after a seq, in order
    "replay-events": Reads(ReplayEvents {
        /// Seq of the last event that the caller knows; 0 if absent
        #[serde(default)]
        since: u64,
        /// Only events of this kind
        #[schemars(extend("examples" = vocabulary::kinds().map(|kind| kind.name).collect::<Vec<_>>()))]
        kind: Option<String>,
        /// Only events of this task
        task_id: Option<String>,
        /// Only events that concern this agent
        agent: Option<String>,
        /// Largest number of events, 1 to 1000; 50 if absent
        #[schemars(range(min = 1, max = 1000))]
        limit: Option<u64>,
    }) -> ReplayEventsAnswer = Team::replay_events
}

/// Default number of events.
const EVENTS: u64 = 50;

/// The answer `{team, events, count, last_seq}`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ReplayEventsAnswer {
    /// The team
    pub team: String,
    /// The events, oldest first
    pub events: Vec<Recorded>,
    /// Number of events
    pub count: usize,
    /// Seq to pass as `since` to the next call
    pub last_seq: u64,
}

impl Team {
    /// Returns the events after a seq.
    pub fn replay_events(&mut self, asked: ReplayEvents) -> Result<ReplayEventsAnswer> {
        let replay = Replay {
            from_seq: Some(asked.since.saturating_add(1)),
            kind: asked.kind,
            task_id: asked.task_id,
            agent: asked.agent,
            limit: Some(asked.limit.unwrap_or(EVENTS)),
            ..Replay::default()
        };
        let mut events = Vec::new();
        self.replay(replay, &mut |event, _| {
            events.push(Recorded::plain(event.clone().into_owned()));
            ControlFlow::Continue(())
        })?;
        Ok(ReplayEventsAnswer {
            team: self.name().to_owned(),
            count: events.len(),
            last_seq: events.last().map_or(asked.since, |last| last.event.seq),
            events,
        })
    }
}
