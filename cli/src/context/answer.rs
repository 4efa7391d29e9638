//! Answers, and what is said beside them.

use super::Context;
use crate::call;
use crate::exit::{CommandError, Exit, Outcome};
use crate::render::View;
use crate::render::escape::{visible, visible_json};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use teamlog_team::Team;
use teamlog_team::engine::{Clock, Receipt, SystemClock, Timestamp};
use teamlog_team::lifecycle::freshness::AsOf;

/// The note beside an answer that was given before.
const REPLAYED: &str = "answered again: this key was used before, and nothing new was recorded";

/// An answer that may be older than this says so to people, in microseconds.
const OLD: i64 = 5_000_000;

/// `{note}`: the line that a program gets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note<'a> {
    /// Something beside the answer, for people
    note: &'a str,
}

/// An answer that is an object, with how new it is; any other as it is.
fn with_age<A: Serialize>(answer: &A, as_of: &AsOf) -> Option<Box<RawValue>> {
    let text = serde_json::to_string(answer).ok()?;
    let text = match text.strip_suffix('}').filter(|fields| fields.len() > 1) {
        Some(fields) => format!(
            "{fields},\"as_of\":{}}}",
            serde_json::to_string(as_of).ok()?
        ),
        None => text,
    };
    RawValue::from_string(text).ok()
}

impl Context {
    /// Marks the answer as that of an earlier request under the same key, if it is.
    pub fn replays(&mut self, replayed: bool) {
        self.replayed = replayed;
        if replayed && !self.out.is_json() {
            self.note(REPLAYED);
        }
    }

    /// Whether the answer is that of an earlier request under the same key.
    pub fn replayed(&self) -> bool {
        self.replayed
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
        let as_of = self.as_of.take();
        if self.out.is_json() {
            let replayed = self.replayed;
            return match (replayed, &receipt, as_of) {
                (false, None, None) => self.out.json(answer),
                (false, None, Some(as_of)) => match with_age(answer, &as_of) {
                    Some(answer) => self.out.json(&answer),
                    None => self.out.json(answer),
                },
                _ => self.out.json(&WithMore {
                    answer,
                    replayed,
                    receipt,
                }),
            };
        }
        self.note_age(as_of.as_ref());
        let lines = human(answer, &self.view());
        self.out.lines(&lines)?;
        match receipt.map(|receipt| serde_json::to_string(&receipt)) {
            Some(Ok(receipt)) => self.out.line(format!("  receipt: {receipt}")),
            _ => Ok(()),
        }
    }

    /// Says to people how old an answer may be.
    fn note_age(&self, as_of: Option<&AsOf>) {
        let Some(as_of) = as_of else { return };
        let read_at = as_of.checked_at.as_ref();
        let read_at = read_at.and_then(|at| Timestamp::parse(at).ok());
        let age = read_at.map(|at| SystemClock.now().micros() - at.micros());
        if age.is_some_and(|age| age < OLD) {
            return;
        }
        let since = as_of.checked_at.as_deref().unwrap_or("it began");
        self.note(&format!(
            "what other hosts recorded since {since} is not in this answer; --fresh takes it in"
        ));
    }

    /// A receipt for everything up to the answer of a command that records something, if one is wanted.
    fn receipt_of_answer(&mut self) -> Option<Receipt> {
        if let Some(receipt) = self.answered.take() {
            return receipt;
        }
        let team = self.team.as_deref().filter(|_| self.receipt)?;
        self.repeat?;
        let made = self.data().map_err(|error| error.message().to_owned());
        match made.and_then(|root| call::receipt(&root, team)) {
            Ok(receipt) => Some(receipt),
            Err(note) => {
                self.note(&note);
                None
            }
        }
    }

    /// The end of a command whose call was carried out: as [`Context::done`] where that was here.
    pub fn ended(&mut self, exit: Exit) -> Outcome {
        match self.held.take() {
            Some(team) => self.done(team, exit),
            None => self.out.flush().map(|()| exit),
        }
    }

    /// The end of a command on a team: the answer goes out before the maintenance that nobody waits for.
    pub fn done(&mut self, mut team: Team, exit: Exit) -> Outcome {
        self.out.flush()?;
        if let Err(failure) = team.finish() {
            self.note(&format!(
                "the answer stands, but maintenance behind it failed: {failure}"
            ));
        }
        Ok(exit)
    }

    /// The end of a call on one of several teams: what follows is about none in particular.
    pub fn leave_team(&mut self) -> Result<(), CommandError> {
        (self.team, self.answered) = (None, None);
        match self.held.take() {
            Some(mut team) => Ok(team.finish()?),
            None => Ok(()),
        }
    }

    /// Passes on what the team had to say.
    pub fn say_notes(&self) {
        let here = self.options.notes.take();
        for note in self.notes.iter().chain(&here) {
            self.note(note);
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
