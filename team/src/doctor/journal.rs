//! Check `journal`: compares the log with its journal, and the state with the states of other hosts.

use super::*;
use teamlog_engine::JournalFault;
use teamlog_engine::internals::comparison::Comparison;

/// Returns the result of the check; `None` if the team has no journal.
pub(super) fn check(seen: &Observations<'_>) -> Observation<Option<Check>> {
    let (log, reader) = (borrowed(&seen.log)?, borrowed(&seen.reader)?);
    // A quick check folds nothing, so it has no digest to compare.
    let digest = match seen.sampled {
        None => Some(borrowed(&seen.fresh)?.digest().map_err(error_text)?),
        Some(_) => None,
    };
    if digest.is_some()
        && let Some(check) = damaged(seen, log)
    {
        return Ok(Some(check));
    }
    match log.compare(reader, digest.as_deref()) {
        Ok(None) => Ok(None),
        Ok(Some(comparison)) => Ok(Some(judge(&comparison))),
        Err(Error::Journal { fault, why }) => Ok(Some(refused(seen, fault, &why))),
        Err(error) => Err(error_text(error)),
    }
}

/// Compares all groups of the journal with the log. Returns `None` if the journal does not answer, because [`check`] reports this
/// failure.
fn damaged(seen: &Observations<'_>, log: &Log) -> Option<Check> {
    let compared = log.scrub_journal(&|_| true).ok()??;
    let check = Check::unhealthy(compared.first_difference()?);
    let mend = seen.command("journal check", "--deep --repair");
    Some(
        check
            .recommend(mend)
            .details(json!({"code": "journal_damaged"})),
    )
}

fn judge(comparison: &Comparison) -> Check {
    if !comparison.diverged.is_empty() {
        let hosts = comparison.diverged.join(", ");
        let summary = format!(
            "the same events give a different state on {hosts}: update teamlog to the same version on all hosts"
        );
        let check = Check::unhealthy(summary);
        return check.details(json!({"code": "state_diverged", "hosts": comparison.diverged}));
    }
    if let Some(clock) = &comparison.clock {
        let check = Check::unhealthy(format!(
            "{clock}: this host cannot record until the clocks agree"
        ));
        return check.details(json!({"code": "clock_skew"}));
    }
    if comparison.is_older {
        let check = Check::unhealthy(
            "a newer teamlog has recorded in the journal: update teamlog here to record",
        );
        return check.details(json!({"code": "newer_host"}));
    }
    match comparison.is_behind {
        true => Check::healthy("the journal has further events, which the next command fetches"),
        false => Check::healthy("the journal has all events of this host"),
    }
}

fn refused(seen: &Observations<'_>, fault: JournalFault, why: &str) -> Check {
    let details = json!({"code": fault.code()});
    match fault {
        JournalFault::Unreachable | JournalFault::Unconfigured | JournalFault::UnknownKind => {
            Check::warn(format!("cannot reach the journal: {why}")).details(details)
        }
        JournalFault::Behind => {
            let check = Check::unhealthy(format!(
                "the journal has lost events that this host has: {why}"
            ));
            let heal = seen.command("journal heal", "");
            check.recommend(heal).details(details)
        }
        JournalFault::Moved => {
            let check =
                Check::unhealthy(format!("the journal may be a copy of the original: {why}"));
            let accept = seen.command("journal accept-system", "");
            check.recommend(accept).details(details)
        }
        _ => Check::unhealthy(format!("the journal: {why}")).details(details),
    }
}
