//! The answer of an import: counts, and the first lines that were not imported.

use crate::agent_token::TokenShown;
use crate::import::source::ImportResult;
use crate::operation::prelude::*;
use crate::projections::message::{NotApplied, Unapplied};
use crate::time::millis;

/// Maximum number of problems in a report.
pub const PROBLEMS_MAX: usize = 100;

/// A problem with a line of the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineProblem {
    /// Number of the line, from 1.
    pub line: u64,
    /// Kind of the problem: `malformed`, `duplicate` or `not_applied`. With `not_applied` the message is in the log, but at least
    /// a part of it changed no task.
    #[schemars(extend("enum" = ["malformed", "duplicate", "not_applied"]))]
    pub kind: Cow<'static, str>,
    /// Text that names the field, the value and the rule.
    pub message: String,
}

/// The answer `{status, team, created, imported, duplicates, malformed, not_applied{reason:n}, problems[], problems_omitted,
/// first_seq, last_seq, elapsed_ms}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportAnswer {
    /// `ok`, or `rejected` if nothing was written. The reason is `strict`, or that no line was a message.
    #[schemars(extend("enum" = ["ok", "rejected"]))]
    pub status: Cow<'static, str>,
    /// The team.
    pub team: String,
    /// True if the team is new.
    pub created: bool,
    /// Number of imported messages or events.
    pub imported: u64,
    /// Number of lines with a message that the log has already.
    pub duplicates: u64,
    /// Number of lines that are not messages.
    pub malformed: u64,
    /// Number of messages per reason that were not fully applied to their tasks. Reasons are `no_task_id`, `unknown_status` and
    /// `wrong_type`.
    pub not_applied: Reasons,
    /// The first problems, in the order of lines.
    pub problems: Vec<LineProblem>,
    /// Number of further problems.
    pub problems_omitted: u64,
    /// Seq of the first imported event.
    pub first_seq: Option<u64>,
    /// Seq of the last imported event.
    pub last_seq: Option<u64>,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
    /// Number of artifacts in the imported events. Their files are not part of an export.
    #[serde(default, skip_serializing_if = "crate::shapes::is_zero")]
    pub artifacts_without_files: usize,
    /// Agent tokens in an imported log that this host has not accepted, so that they are not valid here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unaccepted_tokens: Vec<TokenShown>,
}

/// Number of messages per reason that were not fully applied to their tasks.
pub type Reasons = BTreeMap<Cow<'static, str>, u64>;

pub(crate) fn count(reasons: &mut Reasons, its: impl Iterator<Item = NotApplied>) {
    let its: BTreeSet<&'static str> = its.map(NotApplied::name).collect();
    for reason in its {
        *reasons.entry(reason.into()).or_default() += 1;
    }
}

#[derive(Debug, Default)]
pub(crate) struct Report {
    pub duplicates: u64,
    pub malformed: u64,
    pub not_applied: Reasons,
    problems: Vec<LineProblem>,
    all: u64,
}

impl Report {
    /// Counts a malformed line.
    pub fn malformed(&mut self, line: u64, message: String) {
        self.malformed += 1;
        self.note(line, "malformed", message);
    }
    /// Counts a line with a known message. `why` says where the first copy of the message is.
    pub fn duplicate(&mut self, line: u64, id: &str, why: &str) {
        self.duplicates += 1;
        let message = format!("message id {id:?} is not new: {why}");
        self.note(line, "duplicate", message);
    }
    /// Counts a message that was recorded but not fully applied to its task.
    pub fn unapplied(&mut self, line: u64, unapplied: &[Unapplied]) {
        let reasons = unapplied.iter().map(|one| one.reason);
        count(&mut self.not_applied, reasons);
        for one in unapplied {
            self.note(line, "not_applied", one.rule.to_string());
        }
    }
    /// Returns true if a strict import must write nothing.
    pub fn rejects(&self, strict: bool) -> bool {
        strict && self.all > 0
    }

    /// Adds a problem. Keeps only the problems of the first lines.
    fn note(&mut self, line: u64, kind: &'static str, message: String) {
        self.all += 1;
        let at = self.problems.partition_point(|known| known.line <= line);
        if at < PROBLEMS_MAX {
            let problem = LineProblem {
                line,
                kind: kind.into(),
                message,
            };
            self.problems.insert(at, problem);
            self.problems.truncate(PROBLEMS_MAX);
        }
    }
}

impl ImportAnswer {
    pub(crate) fn new(
        found: ImportResult,
        team: &str,
        report: Report,
        started: Instant,
    ) -> ImportAnswer {
        let mut answer = ImportAnswer {
            status: "rejected".into(),
            team: team.to_owned(),
            duplicates: report.duplicates,
            malformed: report.malformed,
            not_applied: report.not_applied,
            problems_omitted: report.all - report.problems.len() as u64,
            problems: report.problems,
            elapsed_ms: millis(started),
            ..ImportAnswer::default()
        };
        if let ImportResult::Imported {
            created,
            count,
            first,
            last,
        } = found
        {
            answer.status = "ok".into();
            answer.created = created;
            answer.imported = count;
            (answer.first_seq, answer.last_seq) = (first, last);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_keeps_the_first_problems_and_counts_the_rest() {
        let mut report = Report::default();
        for line in (1..=300).rev() {
            report.malformed(line, "bad".into());
        }
        report.duplicate(7, "msg_1", "line 2 has it too");
        let answer = ImportAnswer::new(ImportResult::Rejected, "demo", report, Instant::now());
        assert_eq!((answer.malformed, answer.duplicates), (300, 1));
        assert_eq!(answer.problems.len(), PROBLEMS_MAX);
        assert_eq!(answer.problems_omitted, 201);
        assert_eq!(answer.problems[0].line, 1);
        assert_eq!(answer.problems[7].kind, "duplicate");
        assert!(answer.problems.is_sorted_by_key(|problem| problem.line));
        assert_eq!(answer.status, "rejected");
    }
}
