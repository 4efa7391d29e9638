//! What an import answers: counts, and the first lines that did not get in.

use crate::agent_token::TokenShown;
use crate::import::source::Found;
use crate::operation::prelude::*;
use crate::projections::message::{NotApplied, Unapplied};
use crate::time::millis;

/// Most problems that a report lists.
pub const PROBLEMS_MAX: usize = 100;

/// What was wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineProblem {
    /// The line, from 1.
    pub line: u64,
    /// `malformed`, `duplicate`, or `not_applied`: the message is in the log, and something of it changed no task.
    #[schemars(extend("enum" = ["malformed", "duplicate", "not_applied"]))]
    pub kind: Cow<'static, str>,
    /// Field, value and rule.
    pub message: String,
}

/// `{status, team, created, imported, duplicates, malformed, not_applied{reason:n}, problems[], problems_omitted,
/// first_seq, last_seq, elapsed_ms}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportAnswer {
    /// `ok`, or `rejected` where nothing was written: because of `strict`, or as no line was a message.
    #[schemars(extend("enum" = ["ok", "rejected"]))]
    pub status: Cow<'static, str>,
    /// The team.
    pub team: String,
    /// Whether the team is new.
    pub created: bool,
    /// Messages (or events) that are in the log now.
    pub imported: u64,
    /// Lines whose message is known already.
    pub duplicates: u64,
    /// Lines that are no message.
    pub malformed: u64,
    /// How many messages say something that was not applied to a task, by reason: `no_task_id`, `unknown_status`,
    /// `wrong_type`.
    pub not_applied: Reasons,
    /// The first problems, in order of lines.
    pub problems: Vec<LineProblem>,
    /// Problems beyond those.
    pub problems_omitted: u64,
    /// Seq of the first imported event.
    pub first_seq: Option<u64>,
    /// Seq of the last imported event.
    pub last_seq: Option<u64>,
    /// How long it took.
    pub elapsed_ms: u64,
    /// Artifacts of imported events, whose files an export does not hold.
    #[serde(default, skip_serializing_if = "crate::shapes::is_zero")]
    pub artifacts_without_files: usize,
    /// Tokens of an imported log that let nobody in here until they are accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unaccepted_tokens: Vec<TokenShown>,
}

/// How many messages have something that was not applied to a task, by reason.
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
    /// A line that is no message.
    pub fn malformed(&mut self, line: u64, message: String) {
        self.malformed += 1;
        self.note(line, "malformed", message);
    }
    /// A line whose message is known; `why` says whence.
    pub fn duplicate(&mut self, line: u64, id: &str, why: &str) {
        self.duplicates += 1;
        let message = format!("message.id must be new, but {why}: {id:?}");
        self.note(line, "duplicate", message);
    }
    /// A message that says something of a task in vain; it is recorded all the same.
    pub fn unapplied(&mut self, line: u64, unapplied: &[Unapplied]) {
        let reasons = unapplied.iter().map(|one| one.reason);
        count(&mut self.not_applied, reasons);
        for one in unapplied {
            self.note(line, "not_applied", one.rule.to_string());
        }
    }
    /// Whether a strict import stops here.
    pub fn rejects(&self, strict: bool) -> bool {
        strict && self.all > 0
    }

    /// Keeps the problems of the lowest lines.
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
    pub(crate) fn new(found: Found, team: &str, report: Report, started: Instant) -> ImportAnswer {
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
        if let Found::Imported {
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
        let answer = ImportAnswer::new(Found::Rejected, "demo", report, Instant::now());
        assert_eq!((answer.malformed, answer.duplicates), (300, 1));
        assert_eq!(answer.problems.len(), PROBLEMS_MAX);
        assert_eq!(answer.problems_omitted, 201);
        assert_eq!(answer.problems[0].line, 1);
        assert_eq!(answer.problems[7].kind, "duplicate");
        assert!(answer.problems.is_sorted_by_key(|problem| problem.line));
        assert_eq!(answer.status, "rejected");
    }
}
