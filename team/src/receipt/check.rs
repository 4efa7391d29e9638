//! `check-receipt`: checks that the log still contains the events of an earlier receipt. If not, finds the first change.

use crate::log::verify::{Problem, Severity, VerifyAnswer};
use crate::operation::prelude::*;
use crate::receipt::given::GivenReceipt;
use teamlog_engine::ReceiptStatus;
use teamlog_engine::internals::layout::EVENTS_DIR;
use teamlog_engine::verify::ProblemKind;

operation! {
    /// Check that the log still contains the events of a receipt, and show its signer or the first change
    "check-receipt": Reads(CheckReceipt {
        /// The receipt, signed or not, as `head` returns it
        receipt: Map<String, Value>,
    }) -> CheckedReceipt = Team::check_receipt
}

/// Result of checking a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedReceipt {
    /// The team
    pub team: String,
    /// True if the log has every byte that the receipt covers, and the signature, if any, is valid
    pub holds: bool,
    /// Seq of the last event that the receipt covers
    pub seq: u64,
    /// Public key of the signer, if the signature is valid
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
    /// True if the signature covers the team's name; signatures of older versions do not
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_signed: Option<bool>,
    /// Reason why the receipt does not hold
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ReceiptProblem>,
}

/// The reason why a receipt does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptProblem {
    /// Stable code: the kind of a problem of `verify`, or `signature_invalid`
    pub kind: String,
    /// Changed file, relative to the team's directory
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Seq of the first changed event; if only a digest differs, of the first event that may have changed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Message for people
    pub message: String,
}

impl Team {
    /// Compares a receipt with the log. Reads the whole log, as `verify --against` does, and changes nothing.
    pub fn check_receipt(&mut self, asked: CheckReceipt) -> Result<CheckedReceipt> {
        let given = GivenReceipt::read(&Value::Object(asked.receipt).to_string())?;
        let mut checked = CheckedReceipt {
            team: self.name().to_owned(),
            holds: false,
            seq: given.receipt.seq,
            signed_by: None,
            team_signed: None,
            problem: None,
        };
        match given.check(None) {
            Ok(None) => {}
            Ok(Some(signer)) => {
                checked.team_signed = Some(signer.covers_team);
                checked.signed_by = Some(signer.public_key);
            }
            Err(refusal) => {
                checked.problem = Some(ReceiptProblem {
                    kind: Code::SignatureInvalid.as_str().to_owned(),
                    file: None,
                    seq: None,
                    message: refusal.message,
                });
                return Ok(checked);
            }
        }
        checked.problem = self.changed_since(&given.receipt)?;
        checked.holds = checked.problem.is_none();
        Ok(checked)
    }

    /// Returns the first change in the part of the log that a receipt covers.
    fn changed_since(&self, receipt: &Receipt) -> Result<Option<ReceiptProblem>> {
        let report = self.verify(Some(receipt))?;
        if let Some(first) = first_change(&report, receipt) {
            return Ok(Some(self.located(first, receipt)?));
        }
        // Compares again, because a report lists a limited number of problems, and the change is
        // possibly not among them.
        let holds = self.log.check_receipt(receipt)? == ReceiptStatus::Holds;
        Ok((!holds).then(|| ReceiptProblem {
            kind: ProblemKind::ChangedSinceReceipt.name().to_owned(),
            file: None,
            seq: None,
            message: "the log has changed since the receipt was made".to_owned(),
        }))
    }

    /// Returns a problem with the changed file, and with the first event in that file that changed or has possibly changed.
    fn located(&self, problem: &Problem, receipt: &Receipt) -> Result<ReceiptProblem> {
        let mut located = ReceiptProblem {
            kind: problem.kind.name().to_owned(),
            file: Some(problem.file.clone()),
            seq: problem.seq,
            message: problem.message.clone(),
        };
        match problem.kind {
            // The header contains the digest of the previous segment, so the previous segment has changed.
            ProblemKind::BrokenChain => {
                if let Some((file, first)) = self.segment_before(&problem.file)? {
                    (located.file, located.seq) = (Some(file), Some(first));
                }
            }
            ProblemKind::ChangedSinceReceipt => located.seq = self.first_seq(&receipt.segment)?,
            ProblemKind::CutBelowReceipt => {
                let last = self.log.peek()?.head().last_seq;
                located.seq = Some(receipt.seq.min(last.saturating_add(1)));
            }
            ProblemKind::ReceiptOfAnotherLog | ProblemKind::ReceiptMalformed => {
                (located.file, located.seq) = (None, None);
            }
            _ => {}
        }
        Ok(located)
    }

    /// Returns the file and the first event of the segment before the given segment.
    fn segment_before(&self, file: &str) -> Result<Option<(String, u64)>> {
        let reader = self.log.peek()?;
        let names = reader.segments()?;
        let named = |name: &String| format!("{EVENTS_DIR}/{name}");
        let at = names.iter().position(|name| named(name) == file);
        let Some(before) = at.and_then(|at| at.checked_sub(1)) else {
            return Ok(None);
        };
        let first = reader.header(before as u32 + 1);
        let first = first.map_or(0, |header| header.first_seq);
        Ok(names.get(before).map(|name| (named(name), first)))
    }

    fn first_seq(&self, segment: &str) -> Result<Option<u64>> {
        let reader = self.log.peek()?;
        let names = reader.segments()?;
        let at = names.iter().position(|name| name == segment);
        let header = at.and_then(|at| reader.header(at as u32 + 1).ok());
        Ok(header.map(|header| header.first_seq))
    }
}

/// Returns the first problem in the part of the log that a receipt covers. Problems of events come before problems of
/// digests.
fn first_change<'a>(report: &'a VerifyAnswer, receipt: &Receipt) -> Option<&'a Problem> {
    let of_receipt = |kind| {
        matches!(
            kind,
            ProblemKind::ReceiptOfAnotherLog
                | ProblemKind::ReceiptMalformed
                | ProblemKind::CutBelowReceipt
                | ProblemKind::ChangedSinceReceipt
        )
    };
    // These problems concern the head, or old files that the receipt does not cover.
    let beside = |kind| {
        matches!(
            kind,
            ProblemKind::DamagedHead
                | ProblemKind::MissingHead
                | ProblemKind::StaleHead
                | ProblemKind::MisplacedEvent
        )
    };
    let errors = || {
        let problems = report.problems.iter();
        problems.filter(|problem| problem.severity == Severity::Error)
    };
    let others = [
        ProblemKind::ReceiptOfAnotherLog,
        ProblemKind::ReceiptMalformed,
    ];
    let other = errors().find(|problem| others.contains(&problem.kind));
    let covered = |problem: &&Problem| problem.seq.is_some_and(|seq| seq <= receipt.seq);
    let changed = errors()
        .filter(|problem| !of_receipt(problem.kind) && !beside(problem.kind))
        .filter(covered)
        .min_by_key(|problem| problem.seq);
    let against = errors().find(|problem| of_receipt(problem.kind));
    other.or(changed).or(against)
}
