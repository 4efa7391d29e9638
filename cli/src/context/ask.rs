//! Reads a team in this process, which needs no daemon, or through the daemon on another machine. Both ways return the typed
//! answer of the operation.

use super::Context;
use super::execute::not_served;
use super::lines::Lines;
use crate::call::{Call, CallerIdentity, unreadable};
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::Client;
use crate::render::View;
use crate::stream::{EventSink, Streamed};
use crate::when::PastPoint;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use std::io::Read;
use std::ops::ControlFlow;
use teamlog_team::api::Op;
use teamlog_team::artifact::ArtifactList;
use teamlog_team::import::messages::ImportMessages;
use teamlog_team::import::report::ImportAnswer;
use teamlog_team::{Recorded, Root};

impl Context {
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Runs an operation that reads, and prints its answer.
    pub fn show<O: Op + Serialize>(
        &mut self,
        team: &str,
        input: O,
        human: impl FnOnce(&O::Data, &View) -> Vec<String>,
    ) -> Outcome
    where
        O::Data: DeserializeOwned,
    {
        self.show_at(team, None::<PastPoint>, input, human)
    }

    /// Runs an operation that reads, at a past point if `at` is set, and prints its answer.
    pub fn show_at<O: Op + Serialize>(
        &mut self,
        team: &str,
        at: impl Into<Option<PastPoint>>,
        input: O,
        human: impl FnOnce(&O::Data, &View) -> Vec<String>,
    ) -> Outcome
    where
        O::Data: DeserializeOwned,
    {
        let answer = self.read_at(team, at, input)?;
        self.end(Exit::Done, &answer, human)
    }

    /// Runs an operation that reads, and returns its answer.
    pub fn read<O: Op + Serialize>(&mut self, team: &str, input: O) -> Result<O::Data, CommandError>
    where
        O::Data: DeserializeOwned,
    {
        self.read_at(team, None::<PastPoint>, input)
    }

    /// Runs an operation that reads, at a past point if `at` is set, and returns its answer.
    pub fn read_at<O: Op + Serialize>(
        &mut self,
        team: &str,
        at: impl Into<Option<PastPoint>>,
        input: O,
    ) -> Result<O::Data, CommandError>
    where
        O::Data: DeserializeOwned,
    {
        let at = at.into();
        if self.is_remote {
            let answer = self.asked(O::NAME, (team, at), to_raw_value(&input))?;
            return serde_json::from_str(answer.get()).map_err(unreadable);
        }
        let root = self.root_at(team, at)?;
        // Reads have no actor.
        let answer = self.here(
            root,
            &CallerIdentity::default(),
            &Call::reading(),
            team,
            input,
        )?;
        debug_assert!(
            comes_back(&answer),
            "an answer of {} is not read back",
            O::NAME
        );
        Ok(answer)
    }

    /// Runs a call that reads, and returns its answer.
    pub fn fetch<I: Serialize, A: DeserializeOwned>(
        &mut self,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        if !self.is_remote {
            let root = self.root_at(team, None)?;
            return self.here(root, &CallerIdentity::default(), call, team, input);
        }
        self.concerns(team)?;
        self.freshen(team)?;
        let answer = self.forwarded(&self.who(), call, team, &input)?;
        answer.ok_or_else(|| not_served(team))
    }

    pub fn stream(&mut self, team: &str, wanted: Streamed) -> Outcome {
        let filter = wanted.finite_filter().cloned();
        let is_empty = match self.is_remote {
            true => self.stream_remote(team, wanted)?,
            false => self.stream_here(team, wanted)?,
        };
        if let Some(filter) = filter.filter(|_| is_empty) {
            self.out.flush()?;
            self.note_unmatched(team, &filter);
        }
        self.ended(Exit::Done)
    }

    /// Prints the events of a stream. Returns true if there were none.
    fn stream_here(&mut self, team: &str, wanted: Streamed) -> Result<bool, CommandError> {
        let mut opened = self.team(team)?;
        let view = self.view();
        let mut lines = Lines::new(&mut self.out, view);
        let streamed = wanted.run(&mut opened, &mut lines);
        let is_empty = lines.is_empty;
        lines.written?;
        streamed?;
        self.held = Some(opened);
        Ok(is_empty)
    }

    /// Prints the events of a stream from the daemon on another machine. Returns true if there were none.
    fn stream_remote(&mut self, team: &str, wanted: Streamed) -> Result<bool, CommandError> {
        let (client, who) = self.far(team)?;
        let in_words = wanted.has_words() && !self.out.is_json();
        let view = self.view();
        let mut lines = Lines::new(&mut self.out, view);
        let mut unread = None;
        let ended = client.stream(team, &who, wanted, &mut |chunk| {
            for line in chunk.lines() {
                let json = line.as_bytes();
                match in_words.then(|| serde_json::from_str::<Recorded>(line)) {
                    None => lines.json(json)?,
                    Some(Ok(recorded)) => lines.event(&recorded.event, json)?,
                    Some(Err(error)) => {
                        unread = Some(error);
                        return ControlFlow::Break(());
                    }
                }
            }
            lines.idle()
        });
        let is_empty = lines.is_empty;
        lines.written?;
        let ended = ended?.ok_or_else(|| not_served(team))?;
        self.told(ended)?;
        match unread {
            Some(error) => Err(unreadable(error)),
            None => Ok(is_empty),
        }
    }

    /// Imports a file of messages through the daemon on another machine.
    pub fn import_remote(
        &mut self,
        import: &ImportMessages,
        file: &mut dyn Read,
    ) -> Result<ImportAnswer, CommandError> {
        let team = &import.team;
        let (client, who) = self.far(team)?;
        let imported = client.import(team, &who, import, file)?;
        let answer = self.told(imported.ok_or_else(|| not_served(team))?)?;
        serde_json::from_str(answer.get()).map_err(unreadable)
    }

    /// Returns the number of a team's artifacts.
    pub fn artifact_count(&mut self, team: &str) -> Result<usize, CommandError> {
        if !self.is_remote {
            return Ok(self.team(team)?.artifact_count()?);
        }
        let all = ArtifactList {
            limit: Some(usize::MAX),
            ..ArtifactList::default()
        };
        Ok(self.read(team, all)?.artifacts.len())
    }

    fn root_at(&mut self, team: &str, at: Option<PastPoint>) -> Result<Root, CommandError> {
        let is_now = at.is_none();
        let opened = self.team_at(team, at)?;
        if is_now {
            self.as_of = opened.as_of()?;
        }
        let root = Root::of_team(&opened);
        self.held = Some(opened);
        Ok(root)
    }

    /// Returns the client and the caller for a read through the daemon on another machine.
    fn far(&mut self, team: &str) -> Result<(Client, CallerIdentity), CommandError> {
        self.concerns(team)?;
        self.freshen(team)?;
        Ok((self.client(self.remote()?), self.who()))
    }

    /// Returns the JSON answer from the daemon on another machine.
    fn asked(
        &mut self,
        operation: &str,
        (team, at): (&str, Option<PastPoint>),
        input: serde_json::Result<Box<RawValue>>,
    ) -> Result<Box<RawValue>, CommandError> {
        let (client, who) = self.far(team)?;
        let at = at.map(|spot| self.point(spot)).transpose()?;
        let asked = client.ask(operation, (team, at), &who, input)?;
        let mut ended = asked.ok_or_else(|| not_served(team))?;
        self.as_of = ended.as_of.take();
        self.told(ended)
    }
}

/// Returns true if the answer stays equal when it is serialised as JSON and parsed again.
fn comes_back<A: Serialize + DeserializeOwned>(answer: &A) -> bool {
    let written = serde_json::to_string(answer).unwrap_or_default();
    let read = serde_json::from_str::<A>(&written);
    read.is_ok_and(|read| serde_json::to_string(&read).is_ok_and(|again| again == written))
}
