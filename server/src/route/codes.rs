//! Codes of refusals and failures, and the HTTP status of each code.

use crate::reply::Reply;

/// An error code with its HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRow {
    /// The error code. A refusal has this code on every surface.
    pub code: &'static str,
    /// HTTP status.
    pub status: u16,
    /// Seconds after which a retry may succeed. `None` if waiting does not help.
    pub retry_after: Option<u32>,
    /// The code's name in other servers of this protocol, if it differs.
    pub elsewhere: Option<&'static str>,
}

impl CodeRow {
    /// Makes a reply with the status of the code. Adds `Retry-After` if waiting helps.
    pub fn reply(&self, body: &impl serde::Serialize) -> Reply {
        let reply = Reply::json(self.status, body);
        match self.retry_after {
            Some(seconds) => reply.header("Retry-After", seconds.to_string()),
            None => reply,
        }
    }
}

/// Status of refusals that have no row.
const REFUSED: u16 = 409;

/// Returns the row of a code. An unknown code counts as a conflict with the current state.
pub fn row_of(code: &str) -> CodeRow {
    let found = CODES.iter().find(|row| row.code == code);
    found.copied().unwrap_or(CodeRow {
        code: "refused",
        status: REFUSED,
        retry_after: None,
        elsewhere: None,
    })
}

/// Declares the codes by status. Seconds of `Retry-After` are in brackets. Names in other servers are in parentheses.
macro_rules! codes {
    ($($status:literal: $($code:ident $([$seconds:literal])? $(($($other:ident),+))?)+;)*) => {
        /// Every code that has its own status.
        pub static CODES: &[CodeRow] = &[$($(CodeRow {
            code: stringify!($code),
            status: $status,
            retry_after: codes!(@one $($seconds)?),
            elsewhere: codes!(@one $(stringify!($($other),+))?),
        },)+)*];
    };
    (@one) => { None };
    (@one $some:expr) => { Some($some) };
}

codes! {
    400:
        invalid_json(INVALID_JSON) invalid_input(INVALID_TASK, INVALID_AGENT_ID, INVALID_THREAD_MESSAGE)
        malformed_request cursor_unknown point_unknown reserved_kind created_at_ahead format_mismatch
        setting_unknown unsupported_mode missing_delegation_compliance_evidence dependency_cycle;
    401: unauthorized(UNAUTHORIZED);
    403: forbidden actor_mismatch lease_expired(LEASE_EXPIRED) not_holder(LEASE_HOLDER_MISMATCH) self_approval leader_required;
    404:
        not_found(NOT_FOUND) unknown_operation team_not_found(TEAM_NOT_FOUND) task_not_found(TASK_NOT_FOUND)
        thread_not_found(THREAD_NOT_FOUND) worker_not_found manifest_not_found dead_letter_not_found mode_not_found
        run_not_found backup_not_found artifact_not_found message_not_found token_not_found
        subscription_not_found projection_not_found;
    405: method_not_allowed;
    408: request_timeout;
    409:
        epoch_mismatch(EPOCH_MISMATCH) claim_conflict(TASK_NOT_CLAIMABLE, TASK_NOT_IN_PROGRESS)
        blocked_dependency(TASK_NOT_CLAIMABLE) already_terminal(TASK_NOT_CLAIMABLE, TASK_NOT_IN_PROGRESS)
        resource_conflict approval_required invalid_transition version_conflict task_exists team_exists team_closed team_open
        subscription_exists subscription_fenced event_not_delivered event_not_parked
        cursor_ahead append_conflict past_read_only log_replaced response_too_large daemon_version_mismatch journal_team
        journal_refused journal_left journal_trimmed;
    413: too_large;
    414: target_too_long;
    415: unsupported_media_type;
    421: misdirected;
    422: idempotency_key_reused message_id_reused;
    429: budget_exceeded rate_limited[1];
    431: head_too_large;
    500:
        internal operation_failed undecodable artifact_damaged subscription_damaged failed io not_permitted unsupported_format newer_log
        foreign_file journal_behind journal_forked;
    503:
        locked[1] busy[1] past_busy[1] lock_lost[1] poisoned sync_failed damaged rolled_back derived_unusable
        journal_busy[1]
        journal_unreachable[1] journal_unknown[1] journal_not_durable[1] journal_of_another journal_not_configured journal_moved journal_denied
        adoption_unfinished clock_skew newer_host;
    507: no_space;
}

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
            assert!(
                row.retry_after.is_none() || [429, 503].contains(&row.status),
                "{row:?}"
            );
        }
        assert_eq!(row_of("budget_exceeded").retry_after, None);
    }

    #[test]
    fn a_rule_without_a_row_stands_in_the_way_of_the_state() {
        assert_eq!(row_of("PROTOCOL_BREACH_CORE_NOT_READY").status, 409);
    }
}
