//! Ends the active work of a team that closes, because nothing can change in a closed team.
//!
//! Sessions end, modes are canceled, claims are released, open deliveries become dead letters, and open dispatch requests fail. Each of
//! these ends has its own event, in the trace of the ended work. If the event has a reason, the reason is `team_closed`.
//!
//! Bootstrap runs do not end. The bootstrap contract has two ends: the fallback, which says that no team was available, and the synthesis.
//! Neither is true of a closed team. A closed team accepts no events of a run, so none of its runs is active.

use crate::lifecycle::tick;
use crate::mode::prelude::*;
use crate::projections::delivery::event::{DeliveryDead, DeliveryFact};
use crate::projections::message::event::{DispatchMoved, MailFact};
use crate::projections::message::{Dispatch, MessageInfo};
use crate::projections::task::event::TaskAct;
use crate::task::{blocking, holding};

/// Reason field of the events.
pub(crate) const TEAM_CLOSED: &str = "team_closed";
/// Reason in texts for people.
const WHY: &str = "the team was closed";
/// Maximum number of items per kind that one group ends.
const GROUP_MAX: usize = 1_000;
/// Maximum number of sessions that one group ends.
const SCOPES_MAX: usize = 200;

/// Returns true if any work is still active.
pub(crate) fn is_due(live: &Live) -> Result<bool> {
    let decision = ModeDecision::new(live, Timestamp::default());
    Ok(!decision.open_in(&Scope::Root)?.is_empty()
        || !open_sessions(live)?.is_empty()
        || live.next_lease()?.is_some()
        || !live.open_deliveries(1)?.is_empty()
        || !live.open_dispatches(1)?.is_empty())
}

/// Returns the sessions that have not ended, and the ended sessions in which a mode is still active.
fn open_sessions(live: &Live) -> Result<BTreeSet<String>> {
    let mut open: BTreeSet<String> = live.active_sessions()?.into_iter().collect();
    for session in live.sessions(None, usize::MAX)? {
        let life = live.session_life(&session)?;
        if life.is_some_and(|life| life.ended_at.is_none()) {
            open.insert(session);
        }
    }
    Ok(open)
}

/// Appends events that end active work, up to the size of one group. `cause` is the index of the causing event in the group.
/// Returns true if active work possibly remains.
pub(crate) fn end(
    live: &Live,
    now: Timestamp,
    cause: Option<usize>,
    events: &mut Vec<NewEvent>,
) -> Result<bool> {
    let led = |mut event: NewEvent| {
        event.cause = cause.map(Cause::Earlier);
        event
    };
    let mut decision = ModeDecision::new(live, now);
    let sessions = open_sessions(live)?;
    let mut more = sessions.len() > SCOPES_MAX;
    for session in sessions.iter().take(SCOPES_MAX) {
        decision.end_session(session, SessionEnd::Ended, Some(WHY.to_owned()))?;
    }
    for (mode, _) in decision.open_in(&Scope::Root)? {
        decision.end(&Scope::Root, mode, Ending::canceled(Some(WHY)))?;
    }
    events.extend(decision.into_events().into_iter().map(led));
    let claimed = live.expired_tasks(Timestamp::MAX, GROUP_MAX)?;
    more |= claimed.len() == GROUP_MAX;
    for mut task in claimed {
        let first = events.len();
        match task.claim().cloned() {
            Some(_) if task.lease_expired(now) => {
                holding::expire(live, &mut task, now, DEFAULT_ACTOR, events)?;
            }
            Some(claim) => {
                let released = TaskAct::Released(holding::holder(&task, &claim));
                let owner = Some(&*claim.owner);
                events.push(holding::event(&task, released, DEFAULT_ACTOR, owner));
                task.owner = None;
                task.status = Status::Pending;
                blocking::block(live, &mut task, DEFAULT_ACTOR, events)?;
            }
            None => {}
        }
        if let Some(ended) = events.get_mut(first) {
            ended.cause = cause.map(Cause::Earlier);
        }
    }
    let deliveries = live.open_deliveries(GROUP_MAX)?;
    more |= deliveries.len() == GROUP_MAX;
    for delivery in deliveries {
        let dead = DeliveryFact::Dead(DeliveryDead {
            id: tick::dead_letter_id(delivery.required_id),
            message_id: delivery.message_id.clone(),
            reason: TEAM_CLOSED.to_owned(),
            attempts: delivery.attempt,
            due_at: Some(now.to_string()),
        });
        let message = tick::message(live, &delivery)?;
        events.push(led(dead.event(DEFAULT_ACTOR, &message)));
    }
    let dispatches = live.open_dispatches(GROUP_MAX)?;
    more |= dispatches.len() == GROUP_MAX;
    for dispatch in dispatches {
        events.push(led(failed(live, &dispatch)?));
    }
    Ok(more)
}

fn failed(live: &Live, dispatch: &Dispatch) -> Result<NewEvent> {
    let request = &dispatch.request;
    let moved = DispatchMoved::new(&request.request_id, Some(TEAM_CLOSED));
    let known = match &request.message_id {
        Some(id) => live.message(id)?,
        None => None,
    };
    // The id may be absent: some requests are not about a message, and an imported log possibly lacks the message.
    let id = request.message_id.as_deref().unwrap_or_default();
    let message = known.unwrap_or_else(|| MessageInfo::unknown(id, &request.to_worker));
    let mut event = MailFact::DispatchFailed(moved).event(DEFAULT_ACTOR, &message);
    if message.id.is_empty() {
        event.refs.clear(RefKind::Message);
    }
    Ok(event)
}
