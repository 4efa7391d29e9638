//! What verification found.

use crate::prelude::*;
use crate::words;

/// No more problems than this are listed; a badly damaged log has one every few bytes.
pub const PROBLEMS_MAX: usize = 100;

words! {
    /// What sort of problem it is: a stable word.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum ProblemKind {
        /// Bytes before the head that are no event, or not the one that belongs there.
        DamagedEvent = "damaged_event",
        /// A segment's header cannot be read.
        DamagedHeader = "damaged_header",
        /// A slot of the head cannot be read.
        DamagedHead = "damaged_head",
        /// There is no head.
        MissingHead = "missing_head",
        /// The head names a segment that is not the last.
        StaleHead = "stale_head",
        /// The head names an event behind the last one that is there.
        LostEvents = "lost_events",
        /// The log ends before an event that was acknowledged, or has another one there: an older state was put back.
        RolledBack = "rolled_back",
        /// A segment is not there.
        MissingSegment = "missing_segment",
        /// A segment does not begin with the event behind the one before it.
        MissingEvents = "missing_events",
        /// A segment is not what the header behind it describes.
        BrokenChain = "broken_chain",
        /// A segment of another log, or of another name.
        ForeignSegment = "foreign_segment",
        /// An event of another day than its segment's.
        MisplacedEvent = "misplaced_event",
        /// The rest of a write that was never acknowledged.
        TornTail = "torn_tail",
        /// What a power loss took of a log that has a journal, which the next writer fetches from there.
        UnsyncedTail = "unsynced_tail",
        /// A cut that the next writer finishes.
        UnfinishedCut = "unfinished_cut",
        /// A file among the segments that is not a segment.
        UnknownFile = "unknown_file",
        /// The receipt is of another log.
        ReceiptOfAnotherLog = "receipt_of_another_log",
        /// The receipt names a segment by a name that no segment can have.
        ReceiptMalformed = "receipt_malformed",
        /// Bytes that the receipt covers are gone.
        CutBelowReceipt = "cut_below_receipt",
        /// Bytes that the receipt covers have changed.
        ChangedSinceReceipt = "changed_since_receipt",
        /// A file of a backup is not what was backed up.
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

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The log does not hold what it was acknowledged to hold, or cannot be trusted to.
    Error,
    /// Nothing acknowledged is in doubt.
    Warning,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// What sort of problem.
    pub kind: ProblemKind,
    /// How bad it is.
    pub severity: Severity,
    /// The file, relative to the log's directory.
    pub file: String,
    /// The byte where it starts.
    pub offset: u64,
    /// The event concerned, where one is.
    pub seq: Option<u64>,
    /// For people.
    pub message: String,
}

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// No problem is an error.
    pub ok: bool,
    /// Valid events.
    pub events: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Seq of the last valid event.
    pub last_seq: u64,
    /// What was found, in the order of the log; at most 100.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub problems_omitted: u64,
}

impl Report {
    /// Nothing was looked at and nothing found.
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

    /// One more problem. Where there is no room, the first error takes that of the last warning.
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

    /// Adds that an older state of the log was put back, as a file beside it shows, at the event that this one knows.
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

    /// One more problem, of a whole file.
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
