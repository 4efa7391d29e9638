//! Refusals: the domain's "no". A refusal has a stable code, writes nothing, and is not an error of the system.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt::Display;

/// Codes from one table: what each means, its name, its text.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $code:ident = $text:literal,)*) => {
        /// The stable codes of refusals, as machines read them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $code,)*
        }

        impl Code {
            /// The code as text, in snake_case (those of the bootstrap contract as it has them); never changes once
            /// released.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$code => $text,)*
                }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Code::$code => concat!($($doc),+).trim_ascii(),)*
                }
            }
        }
    };
}

codes! {
    /// A field of the input breaks a rule.
    InvalidInput = "invalid_input",
    /// There is no team of that name.
    TeamNotFound = "team_not_found",
    /// There is a team of that name already.
    TeamExists = "team_exists",
    /// The team exists already in another format.
    FormatMismatch = "format_mismatch",
    /// The agent is no member of a closed team.
    WorkerNotFound = "worker_not_found",
    /// There is no task of that id.
    TaskNotFound = "task_not_found",
    /// There is no thread of that id.
    ThreadNotFound = "thread_not_found",
    /// The team, or the agent, used as many tokens as it may.
    BudgetExceeded = "budget_exceeded",
    /// There is no artifact of that name.
    ArtifactNotFound = "artifact_not_found",
    /// There is another artifact of that name.
    ArtifactExists = "artifact_exists",
    /// The file of an artifact is not what was left.
    ArtifactDamaged = "artifact_damaged",
    /// The team has no token of that id.
    TokenNotFound = "token_not_found",
    /// The team knows that token already.
    TokenExists = "token_exists",
    /// Whoever was let in with the token of one agent would do it as another.
    ActorMismatch = "actor_mismatch",
    /// The cursor lies behind the end of the log.
    CursorAhead = "cursor_ahead",
    /// The cursor names nothing that this listing holds.
    CursorUnknown = "cursor_unknown",
    /// The log has no such point of its past.
    PointUnknown = "point_unknown",
    /// The daemon folds as many states of the past as it may.
    PastBusy = "past_busy",
    /// The handle stands at a point of the past, where nothing can be recorded.
    PastReadOnly = "past_read_only",
    /// Another log, or another history of it, took the place of the one that was followed.
    LogReplaced = "log_replaced",
    /// The kind belongs to teamlog's own vocabulary and is produced by its commands only.
    ReservedKind = "reserved_kind",
    /// A time lies further ahead than clocks differ.
    CreatedAtAhead = "created_at_ahead",
    /// Imported history is not newer than what the team holds.
    NotNewer = "not_newer",
    /// The input holds more or larger things than a limit allows.
    TooLarge = "too_large",
    /// There is no setting of that key.
    SettingUnknown = "setting_unknown",
    /// There is no such dead letter.
    DeadLetterNotFound = "dead_letter_not_found",
    /// The message waits for its ack already.
    DeliveryOpen = "delivery_open",
    /// The message was acknowledged already.
    AlreadyAcked = "already_acked",
    /// There is no backup of that team.
    BackupNotFound = "backup_not_found",
    /// The backup that is there is not a past of the team's log.
    BackupDiverged = "backup_diverged",
    /// The team was closed; reads go on.
    TeamClosed = "team_closed",
    /// The team was not closed yet.
    TeamOpen = "team_open",
    /// The key stands for another request.
    IdempotencyKeyReused = "idempotency_key_reused",
    /// The message id belongs to a message with other content.
    MessageIdReused = "message_id_reused",
    /// The request was carried out, but its answer was too large to be kept for a repetition.
    ResponseTooLarge = "response_too_large",
    /// There is a task of that id already.
    TaskExists = "task_exists",
    /// Somebody else holds the task, or it is not as the caller takes it to be.
    ClaimConflict = "claim_conflict",
    /// Somebody else holds paths that the task declares.
    ResourceConflict = "resource_conflict",
    /// A dependency of the task is not completed.
    BlockedDependency = "blocked_dependency",
    /// The task is completed, failed or canceled.
    AlreadyTerminal = "already_terminal",
    /// The task cannot go from that status to that one.
    InvalidTransition = "invalid_transition",
    /// The lease of the claim ran out.
    LeaseExpired = "lease_expired",
    /// The task was claimed anew since, or never with that number.
    EpochMismatch = "epoch_mismatch",
    /// Somebody else claimed the task.
    NotHolder = "not_holder",
    /// The task has another version than the caller expects.
    VersionConflict = "version_conflict",
    /// The dependencies would lead back to the task.
    DependencyCycle = "dependency_cycle",
    /// The result does not say how the work was delegated, which the task demands.
    MissingEvidence = "missing_delegation_compliance_evidence",
    /// The task requires an approval that no reviewer gave.
    ApprovalRequired = "approval_required",
    /// There is no manifest, since there is no such team.
    ManifestNotFound = "manifest_not_found",
    /// Work is left over, so the team is not closed.
    ShutdownGateBlocked = "shutdown_gate_blocked",
    /// Tasks failed, which must be confirmed before the team is closed.
    ShutdownConfirm = "shutdown_confirm_issues_required",
    /// A worker rejected its shutdown.
    ShutdownRejected = "shutdown_rejected",
    /// There is no mode of that name.
    UnsupportedMode = "unsupported_mode",
    /// The mode does not go with those that are active.
    ModeDenied = "mode_denied",
    /// The mode is not active.
    ModeNotActive = "mode_not_active",
    /// There is no state of the mode.
    ModeNotFound = "mode_not_found",
    /// The event is not legal where the run stands.
    IllegalEvent = "illegal_event",
    /// The branch is not that of what TeamCreate answered.
    BranchMismatch = "branch_mismatch",
    /// The roster is not the core and every selected domain.
    RosterIncomplete = "roster_incomplete",
    /// The evidence of a launch is not whole, or not what the log says.
    EvidenceInvalid = "evidence_invalid",
    /// A result was reviewed before it was delivered.
    ReviewBeforeResult = "review_before_result",
    /// Not every active domain was reviewed and confirmed.
    Round1Incomplete = "round1_incomplete",
    /// A domain is left out without a reason.
    ReasonRequired = "reason_required",
    /// A domain revises what nobody objected to.
    UntriggeredRevision = "untriggered_revision",
    /// Something stands against the synthesis, or it is not said why nothing does.
    GateRefused = "gate_refused",
    /// The final synthesis is requested before the gate is cleared.
    GateNotCleared = "gate_not_cleared",
    /// There is no bootstrap run of that id.
    RunNotFound = "run_not_found",
    /// There is a bootstrap run of that id already.
    RunExists = "run_exists",
    /// There is no evidence of a launch before one.
    NotLaunched = "not_launched",
    /// The first members were launched by tasks of the lead's.
    BreachInitialTaskLaunch = "PROTOCOL_BREACH_INITIAL_TASK_LAUNCH",
    /// The fallback was entered although there is a team.
    BreachInvalidFallbackReason = "PROTOCOL_BREACH_INVALID_FALLBACK_REASON",
    /// The core did not say that it is ready.
    BreachCoreNotReady = "PROTOCOL_BREACH_CORE_NOT_READY",
    /// Domains began to work before the core was ready.
    BreachDomainBeforeCoreReady = "PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY",
    /// The lead did the work of others.
    BreachLeadSoloAnalysis = "PROTOCOL_BREACH_LEAD_SOLO_ANALYSIS",
    /// The first launch did not cover the whole roster at once.
    BreachPartialAtomicLaunch = "PROTOCOL_BREACH_PARTIAL_ATOMIC_LAUNCH",
    /// There is no way to launch a team.
    BlockedTeamLaunchUnavailable = "PROTOCOL_BLOCKED_TEAM_LAUNCH_UNAVAILABLE",
    /// The data root lies where locks or syncs cannot be trusted.
    UnsafeFileSystem = "unsafe_file_system",
    /// A sync of the team's log failed in this process, which writes to it no more.
    SyncFailed = "sync_failed",
    /// Somebody took the log's lock between two groups of a batch: those before are recorded.
    PartlyAppended = "partly_appended",
    /// A receipt vouches for events behind the end of the log: an older state was put back.
    RolledBack = "rolled_back",
    /// A receipt vouches for bytes that were cut off.
    CutBelowReceipt = "cut_below_receipt",
    /// A receipt vouches for other bytes than the log holds.
    ChangedSinceReceipt = "changed_since_receipt",
    /// A receipt is of another log.
    ReceiptOfAnotherLog = "receipt_of_another_log",
    /// A receipt that has to be signed is not.
    SignatureMissing = "signature_missing",
    /// A signature is not that of the receipt.
    SignatureInvalid = "signature_invalid",
    /// A receipt is signed by somebody else.
    SignedByAnotherKey = "signed_by_another_key",
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a command may not happen.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// For machines.
    pub code: Code,
    /// For people: lower case, no full stop, names field, value and rule.
    pub message: String,
    /// The field of the input that is at fault, if one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What to do next, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// More for machines, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Refusal {
    /// A refusal without field, hint and details.
    pub fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal {
            code,
            message: message.into(),
            field: None,
            hint: None,
            details: Map::new(),
        }
    }
    /// `invalid_input` for a field: "`field` `rule`, but is `value`".
    pub fn invalid(field: impl Into<String>, value: impl Display, rule: impl Display) -> Refusal {
        let field = field.into();
        let message = format!("{field} {rule}, but is {}", shown(&value.to_string()));
        Refusal::new(Code::InvalidInput, message).field(field)
    }
    /// The same with the field named that is at fault.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Refusal {
        self.field = Some(field.into());
        self
    }
    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hint = Some(hint.into());
        self
    }
    /// The same with more details: the fields of a JSON object.
    #[must_use]
    pub(crate) fn details(mut self, details: Value) -> Refusal {
        if let Value::Object(details) = details {
            self.details.extend(details);
        }
        self
    }
    /// What its details hold, where it has that code.
    pub(crate) fn told<T: DeserializeOwned>(&self, code: Code) -> Option<T> {
        let details = (self.code == code).then(|| Value::Object(self.details.clone()))?;
        serde_json::from_value(details).ok()
    }
    /// The same with one more detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Refusal {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Most characters of a value that a message repeats.
const SHOWN_MAX: usize = 80;

/// A caller's value as messages repeat it: quoted, escaped and cut.
pub(crate) fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN_MAX) {
        None => format!("{value:?}"),
        Some((cut, _)) => format!("{:?}…", value.get(..cut).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_field_value_and_rule_and_serialises_without_empty_parts() {
        let refusal = Refusal::invalid("message.to", "a/b", "must not hold a path separator");
        assert_eq!(
            refusal.to_string(),
            r#"message.to must not hold a path separator, but is "a/b""#
        );
        assert_eq!(
            serde_json::to_string(&refusal).unwrap(),
            r#"{"code":"invalid_input","message":"message.to must not hold a path separator, but is \"a/b\"","field":"message.to"}"#
        );
    }

    #[test]
    fn a_long_or_strange_value_is_cut_and_escaped() {
        assert_eq!(shown("a\u{1b}[0m"), r#""a\u{1b}[0m""#);
        assert_eq!(shown(&"é".repeat(200)), format!("{:?}…", "é".repeat(80)));
    }
}
