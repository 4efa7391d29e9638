//! The table of claims: one row per claim, from its start to its end.

use crate::error::Result;
use rusqlite::{Connection, params};
use teamlog_team::engine::Event;
use teamlog_team::projections::task::event::{ClaimRef, TaskAct, TaskClaimed};

/// Applies an event of a task to its claims.
pub(crate) fn apply(
    connection: &Connection,
    event: &Event<'_>,
    task: &str,
    act: &TaskAct,
) -> Result<()> {
    let of = |held: &ClaimRef| Some(held.epoch);
    match act {
        TaskAct::Claimed(claimed) => {
            end(connection, event, task, None, "replaced")?;
            start(connection, event, task, claimed)
        }
        TaskAct::Renewed(lease) => {
            let mut renew = connection.prepare_cached(
                "UPDATE claims SET leased_until = ?3, renewals = renewals + 1 \
                 WHERE task_id = ?1 AND epoch = ?2 AND ended_seq IS NULL",
            )?;
            renew.execute(params![
                task,
                lease.held.epoch,
                lease.leased_until.to_string()
            ])?;
            Ok(())
        }
        // These acts end the open claim of the task. They may name another claim.
        TaskAct::Completed(_) => end(connection, event, task, None, "completed"),
        TaskAct::Failed(_) => end(connection, event, task, None, "failed"),
        TaskAct::Canceled(_) => end(connection, event, task, None, "canceled"),
        TaskAct::Released(held) => end(connection, event, task, of(held), "released"),
        TaskAct::LeaseExpired(lease) => end(connection, event, task, of(&lease.held), "expired"),
        TaskAct::Assigned(assigned) => match &assigned.taken_from {
            Some(held) => end(connection, event, task, of(held), "reassigned"),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn start(
    connection: &Connection,
    event: &Event<'_>,
    task: &str,
    claimed: &TaskClaimed,
) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO claims (seq, task_id, epoch, holder, session, claimed_at, leased_until, renewals) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)",
    )?;
    insert.execute(params![
        event.seq,
        task,
        claimed.epoch,
        claimed.worker,
        claimed.session,
        event.created_at.to_string(),
        claimed.leased_until.to_string(),
    ])?;
    Ok(())
}

/// Ends the open claim of a task, if there is one and if it has the given epoch.
fn end(
    connection: &Connection,
    event: &Event<'_>,
    task: &str,
    epoch: Option<u64>,
    by: &str,
) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE claims SET ended_seq = ?3, ended_at = ?4, ended_by = ?5 \
         WHERE task_id = ?1 AND ended_seq IS NULL AND epoch = coalesce(?2, epoch)",
    )?;
    update.execute(params![
        task,
        epoch,
        event.seq,
        event.created_at.to_string(),
        by
    ])?;
    Ok(())
}

/// Removes the claims of a task that the team does not know: a log that lost the creation of a task may still have its claims.
pub(crate) fn forget(connection: &Connection, task: &str) -> Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM claims WHERE task_id = ?1")?;
    delete.execute(params![task])?;
    Ok(())
}
