//! Questions about a team: answered here, since what only reads needs no daemon, or by the daemon on another machine.

use super::Context;
use super::execute::not_served;
use super::lines::Lines;
use crate::call::{Call, Who};
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::Client;
use crate::question::{self, Form, Question, Streamed};
use crate::render::View;
use crate::when::Spot;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::io::Read;
use std::ops::ControlFlow;
use teamlog_team::Root;
use teamlog_team::artifact::ArtifactList;
use teamlog_team::import::messages::ImportMessages;
use teamlog_team::projections::hidden::one_line_of_json;

impl Context {
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    pub fn ask<I: Serialize, A: Serialize>(
        &mut self,
        team: &str,
        question: &Question<I, A>,
        input: I,
    ) -> Outcome {
        self.ask_at(team, None::<Spot>, question, input)
    }

    /// The same at a point of its past, if one is given.
    pub fn ask_at<I: Serialize, A: Serialize>(
        &mut self,
        team: &str,
        at: impl Into<Option<Spot>>,
        question: &Question<I, A>,
        input: I,
    ) -> Outcome {
        self.ask_tuned(team, at, question, input, |_, _| ())
    }

    /// The same, with what is answered here changed before it is shown.
    pub fn ask_tuned<I: Serialize, A: Serialize>(
        &mut self,
        team: &str,
        at: impl Into<Option<Spot>>,
        question: &Question<I, A>,
        input: I,
        tune: impl FnOnce(&mut A, &Context),
    ) -> Outcome {
        if self.is_remote {
            let form = self.form();
            let (answer, exit) = self.asked(team, at.into(), question, &input, form)?;
            return self.passed_on(&answer, form, exit);
        }
        let mut answer = self.answered(team, at.into(), &question.call, input)?;
        tune(&mut answer, self);
        self.answer(&answer, question.show)?;
        self.ended((question.exit)(&answer))
    }

    /// The lines of an answer, with what is answered here changed before.
    pub fn lines<I: Serialize, A: Serialize>(
        &mut self,
        team: &str,
        at: impl Into<Option<Spot>>,
        question: &Question<I, A>,
        input: I,
        (view, tune): (View, impl FnOnce(&mut A, &Context)),
    ) -> Result<Vec<String>, CommandError> {
        if self.is_remote {
            let form = Form::Lines(view);
            let (answer, _) = self.asked(team, at.into(), question, &input, form)?;
            return lines(&answer);
        }
        let mut answer = self.answered(team, at.into(), &question.call, input)?;
        tune(&mut answer, self);
        Ok((question.show)(&answer, &view))
    }

    /// The answer as JSON, whatever is asked for, of a daemon on another machine.
    pub fn ask_json<I: Serialize, A: Serialize>(
        &mut self,
        team: &str,
        at: impl Into<Option<Spot>>,
        question: &Question<I, A>,
        input: I,
    ) -> Outcome {
        let (answer, exit) = self.asked(team, at.into(), question, &input, Form::Json)?;
        self.passed_on(&answer, Form::Json, exit)
    }

    /// What a call answers that only reads.
    pub fn fetch<I: Serialize, A: DeserializeOwned>(
        &mut self,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        if !self.is_remote {
            return self.answered(team, None, call, input);
        }
        self.concerns(team)?;
        self.freshen(team)?;
        let answer = self.forwarded(&self.who(), call, team, &input)?;
        answer.ok_or_else(|| not_served(team))
    }

    pub fn stream(&mut self, team: &str, wanted: Streamed) -> Outcome {
        if self.is_remote {
            return self.stream_remote(team, wanted);
        }
        let mut opened = self.team(team)?;
        let view = self.view();
        let mut lines = Lines::new(&mut self.out, view);
        let streamed = wanted.run(&mut opened, &mut lines);
        lines.written?;
        streamed?;
        self.done(opened, Exit::Done)
    }

    fn stream_remote(&mut self, team: &str, wanted: Streamed) -> Outcome {
        let ((client, who), form) = (self.far(team)?, self.form());
        let out = &mut self.out;
        let mut written = Ok(());
        let ended = client.stream(team, &who, (wanted, form), &mut |chunk| {
            written = out
                .text(&one_line_of_json(chunk))
                .and_then(|()| out.flush());
            match written.is_err() || out.reader_left() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        written?;
        let ended = ended?.ok_or_else(|| not_served(team))?;
        let exit = ended.exit;
        self.told(ended).map(|_| exit)
    }

    /// Has the daemon on another machine import the messages of a file.
    pub fn import_remote(&mut self, import: &ImportMessages, file: &mut dyn Read) -> Outcome {
        let team = &import.team;
        let ((client, who), form) = (self.far(team)?, self.form());
        let imported = client.import(team, &who, (import, form), file)?;
        let ended = imported.ok_or_else(|| not_served(team))?;
        let exit = ended.exit;
        let answer = self.told(ended)?;
        self.passed_on(&answer, form, exit)
    }

    /// The answer of a team that is read here.
    fn answered<I, A>(
        &mut self,
        team: &str,
        at: Option<Spot>,
        call: &Call<I, A>,
        input: I,
    ) -> Result<A, CommandError> {
        let root = self.root_at(team, at)?;
        // Nobody acts.
        self.here(root, &Who::default(), call, team, input)
    }

    fn root_at(&mut self, team: &str, at: Option<Spot>) -> Result<Root, CommandError> {
        let is_now = at.is_none();
        let opened = self.team_at(team, at)?;
        if is_now {
            self.as_of = opened.as_of()?;
        }
        let root = Root::of_team(&opened);
        self.held = Some(opened);
        Ok(root)
    }

    /// What asks the daemon on another machine about a team, and who asks.
    fn far(&mut self, team: &str) -> Result<(Client, Who), CommandError> {
        self.concerns(team)?;
        self.freshen(team)?;
        Ok((self.client(self.remote()?), self.who()))
    }

    fn form(&self) -> Form {
        match self.out.is_json() {
            true => Form::Json,
            false => Form::Lines(self.view()),
        }
    }

    /// The answer of a daemon on another machine.
    /// Returns how many artifacts a team has.
    pub fn artifact_count(&mut self, team: &str) -> Result<usize, CommandError> {
        if !self.is_remote {
            return Ok(self.team(team)?.artifact_count()?);
        }
        let all = ArtifactList {
            limit: Some(usize::MAX),
            ..ArtifactList::default()
        };
        let (answer, _) = self.asked(team, None, &question::ARTIFACTS, &all, Form::Json)?;
        let listed: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        let artifacts = listed.get("artifacts").and_then(Value::as_array);
        Ok(artifacts.map_or(0, Vec::len))
    }

    fn asked<I: Serialize, A>(
        &mut self,
        team: &str,
        at: Option<Spot>,
        question: &Question<I, A>,
        input: &I,
        form: Form,
    ) -> Result<(Box<RawValue>, Exit), CommandError> {
        self.asked_by_name(question.call.name, (team, at), to_raw_value(input), form)
    }

    fn asked_by_name(
        &mut self,
        question: &str,
        (team, at): (&str, Option<Spot>),
        input: serde_json::Result<Box<RawValue>>,
        form: Form,
    ) -> Result<(Box<RawValue>, Exit), CommandError> {
        let (client, who) = self.far(team)?;
        let at = at.map(|spot| self.point(spot)).transpose()?;
        let asked = client.ask(question, (team, at), &who, input, form)?;
        let ended = asked.ok_or_else(|| not_served(team))?;
        let exit = ended.exit;
        Ok((self.told(ended)?, exit))
    }

    fn passed_on(&mut self, answer: &RawValue, form: Form, exit: Exit) -> Outcome {
        match form {
            Form::Json => self.out.json(&answer)?,
            Form::Lines(_) => self.out.lines(&lines(answer)?)?,
        }
        self.out.flush().map(|()| exit)
    }
}

fn lines(answer: &RawValue) -> Result<Vec<String>, CommandError> {
    serde_json::from_str(answer.get()).map_err(|error| {
        let message = format!("the daemon must answer in lines, but: {error}");
        CommandError::bug(message)
    })
}
