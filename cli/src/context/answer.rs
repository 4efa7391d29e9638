//! Prints answers to standard output and notes to standard error.

use super::Context;
use crate::call;
use crate::exit::{CommandError, Exit, Outcome};
use crate::output;
use crate::render::escape::visible;
use crate::render::{View, age, wrap};
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::Team;
use teamlog_team::engine::{Clock, Receipt, SystemClock};
use teamlog_team::lifecycle::freshness::AsOf;

/// Note under an answer that was stored by an earlier call.
const REPLAYED: &str = "answered again: this key was used before, and nothing new was recorded";

/// A note as a line of JSON: `{note}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note<'a> {
    /// Remark for people, beside the answer
    note: &'a str,
}

/// Optional fields that follow the fields of the answer.
struct More {
    replayed: bool,
    receipt: Option<Receipt>,
    as_of: Option<AsOf>,
}

impl More {
    fn behind(&self, mut answer: String) -> Result<String, CommandError> {
        if self.replayed {
            output::add_field(&mut answer, "replayed", &true)?;
        }
        if let Some(receipt) = &self.receipt {
            output::add_field(&mut answer, "receipt", receipt)?;
        }
        // A stored answer or an answer with a receipt has no `as_of` field.
        if let (false, None, Some(as_of)) = (self.replayed, &self.receipt, &self.as_of) {
            output::add_field(&mut answer, "as_of", as_of)?;
        }
        Ok(answer)
    }
}

impl Context {
    /// Records if the answer is the stored answer of an earlier call with the same key.
    pub fn replays(&mut self, replayed: bool) {
        self.replayed = replayed;
        if replayed && !self.out.is_json() {
            self.note(REPLAYED);
        }
    }

    /// Returns true if the answer is the stored answer of an earlier call with the same key.
    pub fn replayed(&self) -> bool {
        self.replayed
    }

    /// Turns off the shortening of long answers.
    pub fn show_whole(&mut self, whole: bool) {
        self.whole = whole;
    }

    pub fn view(&self) -> View {
        View {
            paint: self.out.paint(),
            now: self.now.unwrap_or_else(|| SystemClock.now()),
            width: self.env.columns(),
            whole: self.whole,
        }
    }

    /// Prints a document and ends the command. Under `--json` the document is one line of JSON, else indented JSON.
    pub fn document<D: Serialize>(&mut self, document: &D) -> Outcome {
        if self.out.is_json() {
            self.out.json(document)?;
        } else {
            let text = serde_json::to_string_pretty(document).unwrap_or_default();
            self.out.line(text)?;
        }
        Ok(Exit::Done)
    }

    /// Prints an answer, as JSON or as text.
    pub fn answer<A: Serialize>(
        &mut self,
        answer: &A,
        human: impl FnOnce(&A, &View) -> Vec<String>,
    ) -> Result<(), CommandError> {
        match self.out.is_json() {
            true => self.print_json(output::json_text(answer)?),
            false => {
                let view = self.view();
                let lines = human(answer, &view);
                self.print_lines(&match view.width {
                    Some(width) => lines
                        .iter()
                        .flat_map(|line| wrap::fitted(line, width))
                        .collect(),
                    None => lines,
                })
            }
        }
    }

    // This part is a separate function, so that it is compiled only once and not for each answer type.

    fn print_json(&mut self, answer: String) -> Result<(), CommandError> {
        let more = self.more();
        self.out.json_line(more.behind(answer)?.as_bytes())
    }

    fn print_lines(&mut self, lines: &[String]) -> Result<(), CommandError> {
        let more = self.more();
        if let Some(old) = more.as_of.as_ref().and_then(age::note) {
            self.note(&old);
        }
        self.out.lines(lines)?;
        match more.receipt.map(|receipt| serde_json::to_string(&receipt)) {
            Some(Ok(receipt)) => self.out.line(format!("  receipt: {receipt}")),
            _ => Ok(()),
        }
    }

    fn more(&mut self) -> More {
        More {
            replayed: self.replayed,
            receipt: self.receipt_of_answer(),
            as_of: self.as_of.take(),
        }
    }

    /// Prints an answer and ends the command.
    pub fn end<A: Serialize>(
        &mut self,
        exit: Exit,
        answer: &A,
        human: impl FnOnce(&A, &View) -> Vec<String>,
    ) -> Outcome {
        self.answer(answer, human)?;
        self.ended(exit)
    }

    /// Returns the receipt for the answer, if the command records events and `--receipt` is set.
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

    /// Ends a command after its call. If this process carried out the call, ends it like [`Context::done`].
    pub fn ended(&mut self, exit: Exit) -> Outcome {
        match self.held.take() {
            Some(team) => self.done(team, exit),
            None => self.out.flush().map(|()| exit),
        }
    }

    /// Prints the answer, and then does the maintenance of the team.
    pub fn done(&mut self, mut team: Team, exit: Exit) -> Outcome {
        self.out.flush()?;
        if let Err(failure) = team.finish() {
            self.note(&format!(
                "the answer stands, but maintenance behind it failed: {failure}"
            ));
        }
        Ok(exit)
    }

    /// Ends the part of the command that concerns one of several teams. Later errors concern no team.
    pub fn leave_team(&mut self) -> Result<(), CommandError> {
        (self.team, self.answered) = (None, None);
        match self.held.take() {
            Some(mut team) => Ok(team.finish()?),
            None => Ok(()),
        }
    }

    /// Prints the notes of the open team.
    pub fn say_notes(&self) {
        let here = self.options.notes.take();
        for note in self.notes.iter().chain(&here) {
            self.note(note);
        }
    }

    /// Prints a note to standard error.
    pub fn note(&self, text: &str) {
        let line = match self.out.is_json() {
            true => self.env.json_line(&Note { note: text }),
            false => format!("note: {}", visible(text)),
        };
        self.env.say(&format!("{line}\n"));
    }
}
