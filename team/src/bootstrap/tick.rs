//! Timeouts of bootstrap runs: handshakes with the core, and deliveries without an ack.

use super::start::event;
use super::*;

/// Maximum number of runs per group of timeout events.
const RUNS_MAX: usize = 8;

/// The JSON object `{handshakes, deliveries}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootstrapTicked {
    /// Number of handshakes with the core that timed out.
    pub handshakes: u64,
    /// Number of deliveries that were not confirmed in time.
    pub deliveries: u64,
}

impl Team {
    /// Records the timeouts that are due at `now`, group by group. Takes no lock if no timeout is due.
    pub(crate) fn bootstrap_sweep(
        &mut self,
        now: Timestamp,
        actor: &str,
    ) -> Result<BootstrapTicked> {
        let mut sum = BootstrapTicked::default();
        let is_due = |live: &Live| -> Result<bool> {
            Ok(!live.is_closed()? && !live.bootstrap_due_by(now, 1)?.is_empty())
        };
        while self.query(|live, _| is_due(live))? {
            let actor = actor.to_owned();
            let ticked = self
                .execute_unkeyed(act(CommandTerms::new(Authority::Anyone), move |_, live| {
                    timed_out(live, now, &actor)
                }))?;
            sum.handshakes += ticked.handshakes;
            sum.deliveries += ticked.deliveries;
        }
        Ok(sum)
    }
}

/// Returns the timeouts of one group.
fn timed_out(live: &Live, now: Timestamp, actor: &str) -> Acted<BootstrapTicked> {
    let mut ticked = BootstrapTicked::default();
    let mut events = Vec::new();
    for run in live.bootstrap_due_by(now, RUNS_MAX)? {
        let trace = run.trace_id.as_deref();
        for act in due(&run, now) {
            let of_handshake = matches!(act, BootstrapAct::HandshakeTimedOut { .. });
            events.push(event(&run.run, act, actor, trace, &Map::new())?);
            if !of_handshake {
                ticked.deliveries += 1;
                continue;
            }
            ticked.handshakes += 1;
            let breach = BootstrapAct::Breached(handshake_breach(&run));
            let mut breach = event(&run.run, breach, actor, trace, &Map::new())?;
            breach.cause = Some(Cause::Earlier(events.len() - 1));
            events.push(breach);
        }
    }
    Ok((ticked, events))
}
