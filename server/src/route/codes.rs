//! The codes of refusals and failures, and what HTTP has for each.

/// A code, as the body of an answer names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRow {
    /// The code; refusals have the same one in every surface.
    pub code: &'static str,
    /// The status that it is answered with.
    pub status: u16,
    /// After how many seconds the same request may go through, where waiting helps.
    pub retry_after: Option<u32>,
    /// What servers of the same protocol call it, where they have a name for it.
    pub elsewhere: Option<&'static str>,
}

const fn row(code: &'static str, status: u16) -> CodeRow {
    CodeRow {
        code,
        status,
        retry_after: None,
        elsewhere: None,
    }
}

const fn also(code: &'static str, status: u16, elsewhere: &'static str) -> CodeRow {
    CodeRow {
        elsewhere: Some(elsewhere),
        ..row(code, status)
    }
}

const fn later(code: &'static str, retry_after: u32) -> CodeRow {
    CodeRow {
        retry_after: Some(retry_after),
        ..row(code, 503)
    }
}

/// The status of a rule that says no and has no row.
const REFUSED: u16 = 409;

/// The row of a code; a refusal without one stands in the way of the state as it is.
pub fn of(code: &str) -> CodeRow {
    let found = CODES.iter().find(|row| row.code == code);
    found.copied().unwrap_or(row("refused", REFUSED))
}

/// Every code with a status of its own.
pub static CODES: &[CodeRow] = &[
    // the request
    also("invalid_json", 400, "INVALID_JSON"),
    also(
        "invalid_input",
        400,
        "INVALID_TASK, INVALID_AGENT_ID, INVALID_THREAD_MESSAGE",
    ),
    row("malformed_request", 400),
    also("unauthorized", 401, "UNAUTHORIZED"),
    row("forbidden", 403),
    also("not_found", 404, "NOT_FOUND"),
    row("unknown_operation", 404),
    row("method_not_allowed", 405),
    row("request_timeout", 408),
    row("too_large", 413),
    row("target_too_long", 414),
    row("unsupported_media_type", 415),
    row("misdirected", 421),
    row("idempotency_key_reused", 422),
    row("head_too_large", 431),
    // what is not there
    also("team_not_found", 404, "TEAM_NOT_FOUND"),
    also("task_not_found", 404, "TASK_NOT_FOUND"),
    also("thread_not_found", 404, "THREAD_NOT_FOUND"),
    row("worker_not_found", 404),
    row("manifest_not_found", 404),
    row("dead_letter_not_found", 404),
    row("mode_not_found", 404),
    row("run_not_found", 404),
    row("backup_not_found", 404),
    row("artifact_not_found", 404),
    row("message_not_found", 404),
    // what breaks a rule of the input
    row("cursor_unknown", 400),
    row("point_unknown", 400),
    row("reserved_kind", 400),
    row("created_at_ahead", 400),
    row("format_mismatch", 400),
    row("setting_unknown", 400),
    row("unsupported_mode", 400),
    row("missing_delegation_compliance_evidence", 400),
    row("dependency_cycle", 400),
    // who may
    also("lease_expired", 403, "LEASE_EXPIRED"),
    also("not_holder", 403, "LEASE_HOLDER_MISMATCH"),
    // the state
    also("epoch_mismatch", 409, "EPOCH_MISMATCH"),
    also(
        "claim_conflict",
        409,
        "TASK_NOT_CLAIMABLE, TASK_NOT_IN_PROGRESS",
    ),
    also("blocked_dependency", 409, "TASK_NOT_CLAIMABLE"),
    also(
        "already_terminal",
        409,
        "TASK_NOT_CLAIMABLE, TASK_NOT_IN_PROGRESS",
    ),
    row("resource_conflict", 409),
    row("invalid_transition", 409),
    row("version_conflict", 409),
    row("task_exists", 409),
    row("team_exists", 409),
    row("team_closed", 409),
    row("team_open", 409),
    row("cursor_ahead", 409),
    row("past_read_only", 409),
    row("log_replaced", 409),
    row("response_too_large", 409),
    row("daemon_version_mismatch", 409),
    row("budget_exceeded", 429),
    // what lies beneath
    row("internal", 500),
    row("operation_failed", 500),
    row("undecodable", 500),
    row("artifact_damaged", 500),
    row("failed", 500),
    row("io", 500),
    row("not_permitted", 500),
    row("unsupported_format", 500),
    row("newer_log", 500),
    row("foreign_file", 500),
    later("locked", 1),
    later("busy", 1),
    later("lock_lost", 1),
    row("no_space", 507),
    row("poisoned", 503),
    row("sync_failed", 503),
    row("damaged", 503),
    row("derived_unusable", 503),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_code_stands_once_and_has_a_status_of_http() {
        let codes: BTreeSet<&str> = CODES.iter().map(|row| row.code).collect();
        assert_eq!(codes.len(), CODES.len());
        assert!(CODES.iter().all(|row| (400..600).contains(&row.status)));
    }

    #[test]
    fn only_what_passes_by_itself_is_worth_waiting_for() {
        for row in CODES {
            assert!(row.retry_after.is_none() || row.status == 503, "{row:?}");
        }
        assert_eq!(of("budget_exceeded").retry_after, None);
    }

    #[test]
    fn a_rule_without_a_row_stands_in_the_way_of_the_state() {
        assert_eq!(of("PROTOCOL_BREACH_CORE_NOT_READY").status, 409);
    }
}
