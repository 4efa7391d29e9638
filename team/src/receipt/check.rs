//! `check-receipt`: does a receipt that somebody kept still hold, and if not, what changed first?

use crate::log::verify::{Problem, Severity, VerifyAnswer};
use crate::operation::prelude::*;
use crate::receipt::given::GivenReceipt;
use teamlog_engine::ReceiptStatus;
use teamlog_engine::internals::layout::EVENTS_DIR;
use teamlog_engine::verify::ProblemKind;

operation! {
    /// Say whether the log still holds what a receipt vouches for, who signed it, and else what changed first
    "check-receipt": Reads(CheckReceipt {
        /// The receipt, as head answers it; perhaps signed
        receipt: Map<String, Value>,
    }) -> CheckedReceipt = Team::check_receipt
}

/// What the log says to a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedReceipt {
    /// The team
    pub team: String,
    /// Whether every byte is there that it vouches for, and its signature, if it has one, is good
    pub holds: bool,
    /// The last event that it vouches for
    pub seq: u64,
    /// The public key of who signed it, where the signature is good
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
    /// If the signature covers the team's name; signatures of older versions do not
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_signed: Option<bool>,
    /// Why it does not hold
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ReceiptProblem>,
}

/// Why a receipt does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReceiptProblem {
    /// A stable word: that of a problem of `verify`, or `signature_invalid`
    pub kind: String,
    /// The file that changed, relative to the team's directory
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first event that changed; where only a digest tells, the first one that may have
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// For people
    pub message: String,
}

impl Team {
    /// Holds a receipt against the log. Reads all of the log, as `verify --against` does, and changes nothing.
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

    /// What changed first of what a receipt covers.
    fn changed_since(&self, receipt: &Receipt) -> Result<Option<ReceiptProblem>> {
        let report = self.verify(Some(receipt))?;
        if let Some(first) = first_change(&report, receipt) {
            return Ok(Some(self.located(first, receipt)?));
        }
        // Where a log has more problems than a report lists.
        let holds = self.log.check_receipt(receipt)? == ReceiptStatus::Holds;
        Ok((!holds).then(|| ReceiptProblem {
            kind: ProblemKind::ChangedSinceReceipt.name().to_owned(),
            file: None,
            seq: None,
            message: "the log is not what it was when the receipt was given".to_owned(),
        }))
    }

    /// A problem with the file that changed, and the first event in it that did or may have.
    fn located(&self, problem: &Problem, receipt: &Receipt) -> Result<ReceiptProblem> {
        let mut located = ReceiptProblem {
            kind: problem.kind.name().to_owned(),
            file: Some(problem.file.clone()),
            seq: problem.seq,
            message: problem.message.clone(),
        };
        match problem.kind {
            // The header tells of the segment before it.
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

    /// The segment before the one of that file: its file, and its first event.
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

/// The first problem of a report that concerns what a receipt covers. What an event itself says counts before digests.
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
    // These are of the head, or of what the log held all along.
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
