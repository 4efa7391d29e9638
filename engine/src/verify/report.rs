//! The report of a verification.

use crate::prelude::*;
use crate::words;

/// Largest number of problems in the list, because a badly damaged log can have a problem every few bytes.
const PROBLEMS_MAX: usize = 100;

words! {
    /// Kind of a problem: a stable word.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum ProblemKind {
        /// Bytes before the head are no event, or not the expected event.
        DamagedEvent = "damaged_event",
        /// A segment's header cannot be read.
        DamagedHeader = "damaged_header",
        /// A slot of the head cannot be read.
        DamagedHead = "damaged_head",
        /// There is no head.
        MissingHead = "missing_head",
        /// The head names a segment that is not the last.
        StaleHead = "stale_head",
        /// The head names an event that the log does not have.
        LostEvents = "lost_events",
        /// The log ends before an event that was acknowledged, or has another event in its place: an older state was restored.
        RolledBack = "rolled_back",
        /// A segment is missing.
        MissingSegment = "missing_segment",
        /// A segment does not begin with the event after the previous segment.
        MissingEvents = "missing_events",
        /// A segment differs from its description in the next header.
        BrokenChain = "broken_chain",
        /// A segment belongs to another log, or has another name.
        ForeignSegment = "foreign_segment",
        /// An event is of another day than its segment.
        MisplacedEvent = "misplaced_event",
        /// The rest of a write that was never acknowledged.
        TornTail = "torn_tail",
        /// Unsynced events that a power loss removed from a log with a journal; the next writer fetches them.
        UnsyncedTail = "unsynced_tail",
        /// A cut that the next writer finishes.
        UnfinishedCut = "unfinished_cut",
        /// A file in the directory of segments is no segment.
        UnknownFile = "unknown_file",
        /// The receipt is of another log.
        ReceiptOfAnotherLog = "receipt_of_another_log",
        /// The receipt's segment name is not valid.
        ReceiptMalformed = "receipt_malformed",
        /// Bytes that the receipt covers are missing.
        CutBelowReceipt = "cut_below_receipt",
        /// Bytes that the receipt covers have changed.
        ChangedSinceReceipt = "changed_since_receipt",
        /// A file of a backup differs from the backed-up file.
        ChangedBackup = "changed_backup",
    }
}

impl PartialEq<&str> for ProblemKind {
    fn eq(&self, word: &&str) -> bool {
        self.name() == *word
    }
}

impl std::fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Acknowledged events are missing or cannot be trusted.
    Error,
    /// No acknowledged event is affected.
    Warning,
}

/// A problem of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Kind of the problem.
    pub kind: ProblemKind,
    /// Severity of the problem.
    pub severity: Severity,
    /// The file, relative to the log's directory.
    pub file: String,
    /// Offset in the file.
    pub offset: u64,
    /// Seq of the affected event, if any.
    pub seq: Option<u64>,
    /// Description, for people.
    pub message: String,
}

/// Result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// True if no problem is an error.
    pub ok: bool,
    /// Number of valid events.
    pub events: u64,
    /// Number of segments.
    pub segments: u64,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Seq of the last valid event.
    pub last_seq: u64,
    /// The problems, in the order of the log; at most 100.
    pub problems: Vec<Problem>,
    /// Number of further problems.
    pub problems_omitted: u64,
}

impl Report {
    /// Creates an empty report.
    pub(crate) fn empty() -> Report {
        Report {
            ok: true,
            events: 0,
            segments: 0,
            bytes: 0,
            last_seq: 0,
            problems: Vec::new(),
            problems_omitted: 0,
        }
    }

    /// Adds a problem. If the list is full, the first error replaces the last warning.
    pub(crate) fn push(&mut self, problem: Problem) {
        let first_error = self.ok && problem.severity == Severity::Error;
        self.ok &= problem.severity == Severity::Warning;
        if self.problems.len() == PROBLEMS_MAX {
            self.problems_omitted += 1;
            if !first_error {
                return;
            }
            self.problems.pop();
        }
        self.problems.push(problem);
        assert!(
            self.problems.len() <= PROBLEMS_MAX,
            "{} problems are listed",
            self.problems.len()
        );
    }

    /// Adds a rollback: `file` shows that the log lacks the event `seq` or has another event in its place.
    pub fn add_rollback(&mut self, file: &str, seq: u64, message: String) {
        self.push(Problem {
            kind: ProblemKind::RolledBack,
            severity: Severity::Error,
            file: file.to_string(),
            offset: 0,
            seq: Some(seq),
            message,
        });
    }

    /// Adds a problem of a whole file.
    pub(crate) fn add(
        &mut self,
        severity: Severity,
        kind: ProblemKind,
        file: &str,
        message: String,
    ) {
        self.push(Problem {
            kind,
            severity,
            file: file.to_string(),
            offset: 0,
            seq: None,
            message,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted_and_the_first_error_never_is() {
        let mut report = Report::empty();
        for _ in 0..PROBLEMS_MAX + 5 {
            report.add(Severity::Warning, ProblemKind::TornTail, "head", "a".into());
        }
        assert!(report.ok);
        for _ in 0..3 {
            report.add(
                Severity::Error,
                ProblemKind::DamagedEvent,
                "head",
                "b".into(),
            );
        }
        assert!(!report.ok);
        assert_eq!(report.problems.len(), PROBLEMS_MAX);
        assert_eq!(report.problems_omitted, 8);
        let errors = |problem: &&Problem| problem.severity == Severity::Error;
        assert_eq!(report.problems.iter().filter(errors).count(), 1);
    }
}
