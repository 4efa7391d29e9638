//! Refusals: a rule forbids a command. A refusal has a stable code, and the refused command writes nothing. A refusal is not an error of
//! the system.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt::Display;

/// Declares the codes in one table with meaning, variant and text.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $code:ident = $text:literal,)*) => {
        /// The stable codes of refusals, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ #[serde(rename = $text)] $code,)*
        }

        impl Code {
            /// Returns the code as text, in snake_case. Codes of the bootstrap contract have the contract's spelling. The text
            /// never changes after a release.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$code => $text,)*
                }
            }

            /// Returns the meaning of the code, in a sentence.
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
    /// No team has that name.
    TeamNotFound = "team_not_found",
    /// A team of that name exists already.
    TeamExists = "team_exists",
    /// The team exists already, in another format.
    FormatMismatch = "format_mismatch",
    /// The agent is not a member of the team, and the team is not open.
    WorkerNotFound = "worker_not_found",
    /// No task has that id.
    TaskNotFound = "task_not_found",
    /// No thread has that id.
    ThreadNotFound = "thread_not_found",
    /// The token budget of the team or of the agent is used up.
    BudgetExceeded = "budget_exceeded",
    /// No artifact has that name.
    ArtifactNotFound = "artifact_not_found",
    /// Another artifact has that name.
    ArtifactExists = "artifact_exists",
    /// The file of an artifact is damaged or missing.
    ArtifactDamaged = "artifact_damaged",
    /// No token of the team has that id.
    TokenNotFound = "token_not_found",
    /// The team has that token already.
    TokenExists = "token_exists",
    /// The caller's token belongs to an agent that differs from the agent in the request.
    ActorMismatch = "actor_mismatch",
    /// The cursor is after the end of the log.
    CursorAhead = "cursor_ahead",
    /// The cursor names no item of this listing.
    CursorUnknown = "cursor_unknown",
    /// The log has no event at that seq, or does not reach that time.
    PointUnknown = "point_unknown",
    /// The daemon already reads the maximum number of past states.
    PastBusy = "past_busy",
    /// The team is opened at a point in its past, so nothing can be recorded.
    PastReadOnly = "past_read_only",
    /// The followed log was replaced by another log, or by another history of the same log.
    LogReplaced = "log_replaced",
    /// A condition of the append does not hold: an event that it excludes was appended.
    AppendConflict = "append_conflict",
    /// No subscription has that name.
    SubscriptionNotFound = "subscription_not_found",
    /// A subscription of that name exists already, with another filter.
    SubscriptionExists = "subscription_exists",
    /// Another consumer took over the subscription.
    SubscriptionFenced = "subscription_fenced",
    /// The file of the subscription is damaged.
    SubscriptionDamaged = "subscription_damaged",
    /// The event was not delivered to this consumer under its lease.
    EventNotDelivered = "event_not_delivered",
    /// The event is not parked in the subscription.
    EventNotParked = "event_not_parked",
    /// No scripted projection has that name.
    ProjectionNotFound = "projection_not_found",
    /// Only the leader, or a caller without an agent's name, may do this.
    LeaderRequired = "leader_required",
    /// The kind is reserved for teamlog's own commands.
    ReservedKind = "reserved_kind",
    /// A time is too far in the future to be explained by clocks that differ.
    CreatedAtAhead = "created_at_ahead",
    /// Imported history is not newer than the team's last event.
    NotNewer = "not_newer",
    /// The input has too many items, or items that are too large.
    TooLarge = "too_large",
    /// No setting has that key.
    SettingUnknown = "setting_unknown",
    /// No dead letter has that id.
    DeadLetterNotFound = "dead_letter_not_found",
    /// The message already waits for its ack.
    DeliveryOpen = "delivery_open",
    /// The message was acknowledged already.
    AlreadyAcked = "already_acked",
    /// The backup directory has no backup of that team.
    BackupNotFound = "backup_not_found",
    /// The existing backup has events that the team's log does not have.
    BackupDiverged = "backup_diverged",
    /// The team was closed; it can still be read.
    TeamClosed = "team_closed",
    /// The team is not closed.
    TeamOpen = "team_open",
    /// The idempotency key was used for another request.
    IdempotencyKeyReused = "idempotency_key_reused",
    /// The message id was used for a message with other content.
    MessageIdReused = "message_id_reused",
    /// The request was carried out, but its answer is too large to be stored for repetitions.
    ResponseTooLarge = "response_too_large",
    /// A task of that id exists already.
    TaskExists = "task_exists",
    /// Another agent holds the task, or the task is not in the state that the caller expects.
    ClaimConflict = "claim_conflict",
    /// Another agent holds paths that the task declares.
    ResourceConflict = "resource_conflict",
    /// A dependency of the task is not completed.
    BlockedDependency = "blocked_dependency",
    /// The task is completed, failed or canceled.
    AlreadyTerminal = "already_terminal",
    /// The requested change of status is not allowed.
    InvalidTransition = "invalid_transition",
    /// The lease of the claim has expired.
    LeaseExpired = "lease_expired",
    /// The presented epoch is not the present epoch of the task.
    EpochMismatch = "epoch_mismatch",
    /// Another agent claimed the task.
    NotHolder = "not_holder",
    /// The task has another version than the caller expects.
    VersionConflict = "version_conflict",
    /// The dependencies form a cycle.
    DependencyCycle = "dependency_cycle",
    /// The result lacks the evidence of delegation that the task demands.
    MissingEvidence = "missing_delegation_compliance_evidence",
    /// The task requires an approval that no reviewer has given.
    ApprovalRequired = "approval_required",
    /// The holder of a task cannot approve its own work.
    SelfApproval = "self_approval",
    /// No manifest exists, because the team does not exist.
    ManifestNotFound = "manifest_not_found",
    /// The team stays open, because tasks are unfinished.
    ShutdownGateBlocked = "shutdown_gate_blocked",
    /// Some tasks failed. The caller must confirm them before the team is closed.
    ShutdownConfirm = "shutdown_confirm_issues_required",
    /// A worker rejected its shutdown.
    ShutdownRejected = "shutdown_rejected",
    /// No mode has that name.
    UnsupportedMode = "unsupported_mode",
    /// The mode conflicts with modes that are active.
    ModeDenied = "mode_denied",
    /// The mode is not active.
    ModeNotActive = "mode_not_active",
    /// The mode has no state.
    ModeNotFound = "mode_not_found",
    /// The event is not legal in the state of the run.
    IllegalEvent = "illegal_event",
    /// The branch differs from the branch in TeamCreate's answer.
    BranchMismatch = "branch_mismatch",
    /// The roster does not consist of the core and all selected domains.
    RosterIncomplete = "roster_incomplete",
    /// The evidence of a launch is incomplete, or contradicts the log.
    EvidenceInvalid = "evidence_invalid",
    /// A result was reviewed before it was delivered.
    ReviewBeforeResult = "review_before_result",
    /// At least one active domain is not reviewed and confirmed yet.
    Round1Incomplete = "round1_incomplete",
    /// A domain is left out without a reason.
    ReasonRequired = "reason_required",
    /// A domain revises a result without an objection.
    UntriggeredRevision = "untriggered_revision",
    /// A condition for the synthesis is not met, or its required reason is missing.
    GateRefused = "gate_refused",
    /// The final synthesis is requested before the gate is passed.
    GateNotCleared = "gate_not_cleared",
    /// No bootstrap run has that id.
    RunNotFound = "run_not_found",
    /// A bootstrap run of that id exists already.
    RunExists = "run_exists",
    /// The run has evidence of a launch, but was not launched.
    NotLaunched = "not_launched",
    /// The first members were launched by tasks of the lead.
    BreachInitialTaskLaunch = "PROTOCOL_BREACH_INITIAL_TASK_LAUNCH",
    /// The fallback was entered although a team exists.
    BreachInvalidFallbackReason = "PROTOCOL_BREACH_INVALID_FALLBACK_REASON",
    /// The core did not report that it is ready.
    BreachCoreNotReady = "PROTOCOL_BREACH_CORE_NOT_READY",
    /// Domains began to work before the core was ready.
    BreachDomainBeforeCoreReady = "PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY",
    /// The lead did work of the domains.
    BreachLeadSoloAnalysis = "PROTOCOL_BREACH_LEAD_SOLO_ANALYSIS",
    /// The first launch did not cover the whole roster at once.
    BreachPartialAtomicLaunch = "PROTOCOL_BREACH_PARTIAL_ATOMIC_LAUNCH",
    /// No tool can launch a team.
    BlockedTeamLaunchUnavailable = "PROTOCOL_BLOCKED_TEAM_LAUNCH_UNAVAILABLE",
    /// The data root is on a file system whose locks or syncs cannot be trusted.
    UnsafeFileSystem = "unsafe_file_system",
    /// A sync of the team's log failed in this process, so the process no longer writes to the log.
    SyncFailed = "sync_failed",
    /// Another process took the log's lock between two groups of a batch. The earlier groups are recorded.
    PartlyAppended = "partly_appended",
    /// The receipt covers events after the end of the log, because an older state of the log was put back.
    RolledBack = "rolled_back",
    /// The receipt covers bytes that were cut off.
    CutBelowReceipt = "cut_below_receipt",
    /// The bytes in the log differ from the bytes that the receipt covers.
    ChangedSinceReceipt = "changed_since_receipt",
    /// The receipt belongs to another log.
    ReceiptOfAnotherLog = "receipt_of_another_log",
    /// The receipt has no signature, but a signature is required.
    SignatureMissing = "signature_missing",
    /// The signature does not match the receipt.
    SignatureInvalid = "signature_invalid",
    /// The receipt is signed with another key.
    SignedByAnotherKey = "signed_by_another_key",
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The refusal of a command.
#[derive(Debug, Clone, PartialEq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Code for programs.
    pub code: Code,
    /// Message for people, in lower case and without a full stop.
    pub message: String,
    /// The wrong field of the input, if the refusal concerns a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The next step, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Details for programs, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Refusal {
    /// Returns a refusal without field, hint and details.
    pub fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal {
            code,
            message: message.into(),
            field: None,
            hint: None,
            details: Map::new(),
        }
    }
    /// Returns `invalid_input` for a field: "`field` `rule`, but is `value`".
    pub fn invalid(field: impl Into<String>, value: impl Display, rule: impl Display) -> Refusal {
        let field = field.into();
        let message = format!("{field} {rule}, but is {}", shown(&value.to_string()));
        Refusal::new(Code::InvalidInput, message).field(field)
    }
    /// Sets the field that is wrong.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Refusal {
        self.field = Some(field.into());
        self
    }
    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Refusal {
        self.hint = Some(hint.into());
        self
    }
    /// Adds details: the fields of a JSON object.
    #[must_use]
    pub(crate) fn details(mut self, details: Value) -> Refusal {
        if let Value::Object(details) = details {
            self.details.extend(details);
        }
        self
    }
    /// Parses the details if the refusal has the given code.
    pub(crate) fn told<T: DeserializeOwned>(&self, code: Code) -> Option<T> {
        let details = (self.code == code).then(|| Value::Object(self.details.clone()))?;
        serde_json::from_value(details).ok()
    }
    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Refusal {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Maximum number of characters of a value in a message.
const SHOWN_MAX: usize = 80;

/// Quotes, escapes and shortens a caller's value for messages.
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
