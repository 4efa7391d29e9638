//! What times out of runs of the bootstrap contract: handshakes with the core, and deliveries that nobody confirmed.

use crate::bootstrap;
use crate::bootstrap::start::event;
use crate::prelude::*;
use crate::projections::bootstrap::event::BootstrapAct;

/// Most runs of which something times out as one group.
const RUNS_MAX: usize = 8;

/// `{handshakes, deliveries}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapTicked {
    /// Handshakes with the core that timed out.
    pub handshakes: u64,
    /// Deliveries that were not confirmed in time.
    pub deliveries: u64,
}

/// One group of what timed out.
#[derive(Debug, Clone)]
struct Sweep {
    now: Timestamp,
    actor: String,
}

impl Team {
    /// Records what timed out by then, group by group. Where nothing did, no lock is taken.
    pub(crate) fn bootstrap_sweep(
        &mut self,
        now: Timestamp,
        actor: &str,
    ) -> Result<BootstrapTicked> {
        let sweep = Sweep {
            now,
            actor: actor.to_owned(),
        };
        let mut sum = BootstrapTicked::default();
        let is_due = |live: &Live| -> Result<bool> {
            Ok(!live.is_closed()? && !live.bootstrap_due_by(now, 1)?.is_empty())
        };
        while self.query(|live, _| is_due(live))? {
            let ticked = self.execute_unkeyed(sweep.clone())?;
            sum.handshakes += ticked.handshakes;
            sum.deliveries += ticked.deliveries;
        }
        Ok(sum)
    }
}

impl Command for Sweep {
    type Decided = BootstrapTicked;
    type Answer = BootstrapTicked;

    fn decide(&self, live: &Live, _: Timestamp) -> Result<Decision<BootstrapTicked>> {
        let mut ticked = BootstrapTicked::default();
        let mut events = Vec::new();
        for run in live.bootstrap_due_by(self.now, RUNS_MAX)? {
            let trace = run.trace_id.as_deref();
            for act in bootstrap::due(&run, self.now) {
                let of_handshake = matches!(act, BootstrapAct::HandshakeTimedOut { .. });
                events.push(event(&run.run, act, &self.actor, trace, &Map::new())?);
                if !of_handshake {
                    ticked.deliveries += 1;
                    continue;
                }
                ticked.handshakes += 1;
                let breach = BootstrapAct::Breached(bootstrap::handshake_breach(&run));
                let mut breach = event(&run.run, breach, &self.actor, trace, &Map::new())?;
                breach.cause = Some(Cause::Earlier(events.len() - 1));
                events.push(breach);
            }
        }
        Ok(Decision::Granted(ticked, events))
    }

    fn answer(&self, ticked: &BootstrapTicked, _: &After<'_>) -> Result<BootstrapTicked> {
        Ok(*ticked)
    }
}
