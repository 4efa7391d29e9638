//! Answers, and what is said beside them.

use super::{Context, Unknown};
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::View;
use crate::render::escape::{visible, visible_json};
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::Team;
use teamlog_team::engine::{Clock, Receipt, SystemClock};

/// The note beside an answer that was given before.
const REPLAYED: &str = "answered again: this key was used before, and nothing new was recorded";

/// `{note}`: the line that a program gets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note<'a> {
    /// Something beside the answer, for people
    note: &'a str,
}

impl Context {
    /// Marks the answer as that of an earlier request under the same key, if it is.
    pub fn replays(&mut self, replayed: bool) {
        self.replayed = replayed;
        if replayed && !self.out.is_json() {
            self.note(REPLAYED);
        }
    }

    /// How to show things to people, now.
    pub fn view(&self) -> View {
        View {
            paint: self.out.paint(),
            now: self.now.unwrap_or_else(|| SystemClock.now()),
            width: self.env.columns(),
        }
    }

    /// Prints an answer, as JSON or for people.
    ///
    /// # Errors
    /// Standard output failed.
    pub fn answer<A: Serialize>(
        &mut self,
        answer: &A,
        human: impl FnOnce(&A, &View) -> Vec<String>,
    ) -> Result<(), CommandError> {
        #[derive(Serialize)]
        struct WithMore<'a, A> {
            #[serde(flatten)]
            answer: &'a A,
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            replayed: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            receipt: Option<Receipt>,
        }
        let receipt = self.receipt_of_answer();
        if self.out.is_json() {
            let replayed = self.replayed;
            return match (replayed, &receipt) {
                (false, None) => self.out.json(answer),
                _ => self.out.json(&WithMore {
                    answer,
                    replayed,
                    receipt,
                }),
            };
        }
        let lines = human(answer, &self.view());
        self.out.lines(&lines)?;
        match receipt.map(|receipt| serde_json::to_string(&receipt)) {
            Some(Ok(receipt)) => self.out.line(format!("  receipt: {receipt}")),
            _ => Ok(()),
        }
    }

    /// A receipt for everything up to the answer of a command that records something, if one is wanted. What was
    /// recorded is recorded also where none can be made.
    fn receipt_of_answer(&self) -> Option<Receipt> {
        let team = self.team.as_deref().filter(|_| self.receipt)?;
        if self.outcome == Unknown::Never {
            return None;
        }
        let made = self.opened(team).and_then(|mut team| Ok(team.head()?));
        match made {
            Ok(head) => Some(head.receipt),
            Err(error) => {
                self.note(&format!(
                    "the answer stands, but there is no receipt for it: {}",
                    error.message()
                ));
                None
            }
        }
    }

    /// The end of a command on a team: the answer goes out before the maintenance that nobody waits for.
    ///
    /// # Errors
    /// Standard output failed.
    pub fn done(&mut self, mut team: Team, exit: Exit) -> Outcome {
        self.out.flush()?;
        if let Err(failure) = team.finish() {
            self.note(&format!(
                "the answer stands, but maintenance behind it failed: {failure}"
            ));
        }
        Ok(exit)
    }

    /// Passes on what the team had to say.
    pub fn say_notes(&self) {
        for note in self.options.notes.take() {
            self.note(&note);
        }
    }

    /// Says something beside the answer, on standard error.
    pub fn note(&self, text: &str) {
        let line = if self.out.is_json() {
            let line = serde_json::to_string(&Note { note: text }).unwrap_or_default();
            if self.env.terminals().stderr {
                visible_json(&line).into_owned()
            } else {
                line
            }
        } else {
            format!("note: {}", visible(text))
        };
        self.env.say(&format!("{line}\n"));
    }
}
