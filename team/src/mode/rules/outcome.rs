//! Outcomes of modes: the words of `lifecycle_outcome`, the older words of `run_outcome`, and all other spellings.

use crate::mode::prelude::*;

words! {
    /// Outcome of a workflow, for people.
    pub enum Lifecycle in json {
        /// The workflow reached its goal.
        Finished = "finished",
        /// The workflow cannot continue.
        Blocked = "blocked",
        /// The workflow failed.
        Failed = "failed",
        /// The user ended or interrupted the workflow.
        UserInterlude = "userinterlude",
        /// The workflow asked its user a question.
        AskUserQuestion = "askuserQuestion",
    }
}

words! {
    /// Status of a run, in the older words.
    pub enum RunOutcome in json {
        /// The run continues and has made progress.
        Progress = "progress",
        /// The run continues.
        Continue = "continue",
        /// The run reached its goal.
        Finish = "finish",
        /// The run waits for its user.
        BlockedOnUser = "blocked_on_user",
        /// The run failed.
        Failed = "failed",
        /// The run was canceled.
        Cancelled = "cancelled",
    }
}

impl Lifecycle {
    /// Returns the `run_outcome` for this outcome.
    pub fn run(self) -> RunOutcome {
        match self {
            Lifecycle::Finished => RunOutcome::Finish,
            Lifecycle::Blocked | Lifecycle::AskUserQuestion => RunOutcome::BlockedOnUser,
            Lifecycle::Failed => RunOutcome::Failed,
            Lifecycle::UserInterlude => RunOutcome::Cancelled,
        }
    }
}

impl RunOutcome {
    /// Returns the `lifecycle_outcome` for this status; `None` if the run continues. `asked` is true if a question to the user is
    /// pending.
    pub fn lifecycle(self, asked: bool) -> Option<Lifecycle> {
        match self {
            RunOutcome::Progress | RunOutcome::Continue => None,
            RunOutcome::Finish => Some(Lifecycle::Finished),
            RunOutcome::BlockedOnUser if asked => Some(Lifecycle::AskUserQuestion),
            RunOutcome::BlockedOnUser => Some(Lifecycle::Blocked),
            RunOutcome::Failed => Some(Lifecycle::Failed),
            RunOutcome::Cancelled => Some(Lifecycle::UserInterlude),
        }
    }
    /// Returns true if the run has ended.
    pub fn is_terminal(self) -> bool {
        !matches!(self, RunOutcome::Progress | RunOutcome::Continue)
    }
}

/// Meaning of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// The word ends the mode with this `lifecycle_outcome`. The second value is the `run_outcome`, if the word is also valid as
    /// `run_outcome`.
    Ends(Lifecycle, Option<RunOutcome>),
    /// The mode waits for its user. If a question is pending, the mode waits for the answer.
    Waits,
    /// The run continues with this status.
    Goes(RunOutcome),
}

const FINISH: Word = Word::Ends(Lifecycle::Finished, Some(RunOutcome::Finish));
const BLOCKED: Word = Word::Ends(Lifecycle::Blocked, Some(RunOutcome::BlockedOnUser));
const FAILED: Word = Word::Ends(Lifecycle::Failed, Some(RunOutcome::Failed));
const CANCELLED: Word = Word::Ends(Lifecycle::UserInterlude, Some(RunOutcome::Cancelled));
const INTERLUDE: Word = Word::Ends(Lifecycle::UserInterlude, None);
const QUESTION: Word = Word::Ends(Lifecycle::AskUserQuestion, None);

/// All words, in lower case.
const WORDS: [(&str, Word); 27] = [
    ("finish", FINISH),
    ("finished", FINISH),
    ("complete", FINISH),
    ("completed", FINISH),
    ("done", FINISH),
    ("blocked", BLOCKED),
    ("blocked_on_user", Word::Waits),
    ("blocked-on-user", Word::Waits),
    ("failed", FAILED),
    ("fail", FAILED),
    ("error", FAILED),
    ("cancelled", CANCELLED),
    ("canceled", CANCELLED),
    ("cancel", CANCELLED),
    ("aborted", CANCELLED),
    ("abort", CANCELLED),
    ("userinterlude", INTERLUDE),
    ("user-interlude", INTERLUDE),
    ("interrupted", INTERLUDE),
    ("interrupt", INTERLUDE),
    ("askuserquestion", QUESTION),
    ("ask-user-question", QUESTION),
    ("askuser", QUESTION),
    ("question", QUESTION),
    ("continue", Word::Goes(RunOutcome::Continue)),
    ("continued", Word::Goes(RunOutcome::Continue)),
    ("progress", Word::Goes(RunOutcome::Progress)),
];

fn word(text: &str) -> Option<Word> {
    let text = text.trim().to_lowercase();
    let found = WORDS.iter().find(|(word, _)| *word == text);
    found.map(|(_, meaning)| *meaning)
}

/// A word in its present spelling, with a warning if the input had another spelling.
type Spelled<T> = (T, Option<String>);

/// Reads a `lifecycle_outcome`. `asked` is true if a question is pending.
pub fn lifecycle(field: &str, text: &str, asked: bool) -> Result<Spelled<Lifecycle>, Refusal> {
    let Some(outcome) = of_phase(text, asked) else {
        let all = Lifecycle::ALL.map(Lifecycle::name).join(", ");
        let refusal = Refusal::invalid("lifecycle_outcome", text, format!("must be one of: {all}"));
        return Err(refusal.field(field));
    };
    Ok((outcome, remark(field, text, outcome.name())))
}

/// Reads a `run_outcome`.
pub fn run(text: &str) -> Result<Spelled<RunOutcome>, Refusal> {
    let outcome = match word(text) {
        Some(Word::Ends(_, Some(outcome)) | Word::Goes(outcome)) => outcome,
        Some(Word::Waits) => RunOutcome::BlockedOnUser,
        Some(Word::Ends(_, None)) | None => {
            let all = RunOutcome::ALL.map(RunOutcome::name).join(", ");
            let rule = format!("must be one of: {all}");
            return Err(Refusal::invalid("run_outcome", text, &rule));
        }
    };
    Ok((outcome, remark("run_outcome", text, outcome.name())))
}

/// Returns the outcome that a phase implies; `None` for a running phase.
pub fn of_phase(text: &str, asked: bool) -> Option<Lifecycle> {
    match word(text)? {
        Word::Ends(outcome, _) => Some(outcome),
        Word::Waits => RunOutcome::BlockedOnUser.lifecycle(asked),
        Word::Goes(_) => None,
    }
}

/// Returns all words for an ended mode.
pub fn words() -> Vec<&'static str> {
    let ends = |(_, meaning): &&(&str, Word)| !matches!(meaning, Word::Goes(_));
    WORDS.iter().filter(ends).map(|(word, _)| *word).collect()
}

fn remark(field: &str, text: &str, name: &str) -> Option<String> {
    (text != name).then(|| format!("{field} {} is read as {name}", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_in_any_case_and_a_spelling_of_old_is_remarked() {
        for (text, told, old) in [
            ("finish", "finished", "finish"),
            ("finished", "finished", "finish"),
            ("complete", "finished", "finish"),
            ("completed", "finished", "finish"),
            ("done", "finished", "finish"),
            ("blocked", "blocked", "blocked_on_user"),
            ("blocked_on_user", "blocked", "blocked_on_user"),
            ("blocked-on-user", "blocked", "blocked_on_user"),
            ("failed", "failed", "failed"),
            ("fail", "failed", "failed"),
            ("error", "failed", "failed"),
            ("cancelled", "userinterlude", "cancelled"),
            ("canceled", "userinterlude", "cancelled"),
            ("cancel", "userinterlude", "cancelled"),
            ("aborted", "userinterlude", "cancelled"),
            ("abort", "userinterlude", "cancelled"),
            ("userinterlude", "userinterlude", ""),
            ("user-interlude", "userinterlude", ""),
            ("interrupted", "userinterlude", ""),
            ("interrupt", "userinterlude", ""),
            ("askuserQuestion", "askuserQuestion", ""),
            ("ask-user-question", "askuserQuestion", ""),
            ("askuser", "askuserQuestion", ""),
            ("question", "askuserQuestion", ""),
            ("continue", "", "continue"),
            ("continued", "", "continue"),
            ("progress", "", "progress"),
            ("nonsense", "", ""),
            ("", "", ""),
        ] {
            for spelled in [text.to_owned(), format!("  {}\n", text.to_uppercase())] {
                let read = lifecycle("lifecycle_outcome", &spelled, false);
                assert_eq!(read.is_ok(), !told.is_empty(), "{spelled}");
                if let Ok((outcome, remark)) = read {
                    assert_eq!(outcome.name(), told);
                    assert_eq!(remark.is_some(), spelled != told, "{spelled}: {remark:?}");
                }
                let read = run(&spelled);
                assert_eq!(read.is_ok(), !old.is_empty(), "{spelled}");
                if let Ok((outcome, remark)) = read {
                    assert_eq!(outcome.name(), old);
                    assert_eq!(remark.is_some(), spelled != old, "{spelled}: {remark:?}");
                }
                let phase = of_phase(&spelled, false).map_or("", Lifecycle::name);
                assert_eq!(phase, told, "{spelled}");
            }
        }
        let (outcome, _) = lifecycle("lifecycle_outcome", "blocked_on_user", true).unwrap();
        assert_eq!(outcome, Lifecycle::AskUserQuestion);
        assert_eq!(
            of_phase("blocked_on_user", true),
            Some(Lifecycle::AskUserQuestion)
        );
    }

    #[test]
    fn there_and_back_every_outcome_stays_what_it_is() {
        for outcome in Lifecycle::ALL {
            let asked = outcome == Lifecycle::AskUserQuestion;
            assert!(outcome.run().is_terminal());
            assert_eq!(outcome.run().lifecycle(asked), Some(outcome));
        }
        for outcome in RunOutcome::ALL {
            assert_eq!(outcome.lifecycle(false).is_some(), outcome.is_terminal());
        }
    }
}
