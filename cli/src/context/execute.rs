//! Where a call is carried out: by the daemon that has the team, else here.

use super::Context;
use crate::call::{Call, Site, Who};
use crate::exit::CommandError;
use crate::forward::{Client, Repeat};
use serde::Serialize;
use serde::de::DeserializeOwned;
use teamlog_team::{Root, names};

impl Context {
    /// Who asks, under no key.
    pub fn who(&self) -> Who {
        Who {
            actor: self.actor(),
            user: self.user(),
            origin: self.origin(),
            ..Who::default()
        }
    }

    /// What asks the daemons of the data root.
    pub fn client(&self) -> Client {
        Client {
            root: self.data_root.clone(),
            lock_deadline: self.options.lock_deadline,
            receipt: self.receipt,
        }
    }

    /// Carries out a call on a team.
    pub fn execute<I: Serialize + Clone, A: DeserializeOwned>(
        &mut self,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        let who = self.who();
        self.execute_for(&who, call, team, input)
    }

    /// The same on behalf of that caller.
    pub fn execute_for<I: Serialize + Clone, A: DeserializeOwned>(
        &mut self,
        who: &Who,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        self.execute_in(Context::data, who, call, team, input)
    }

    /// The same in the data root that `open` gives where no daemon has the team.
    pub fn execute_in<I: Serialize + Clone, A: DeserializeOwned>(
        &mut self,
        open: impl FnOnce(&Context) -> Result<Root, CommandError>,
        who: &Who,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        self.concerns(team)?;
        self.check_last_receipt(team)?;
        if let Some(answer) = self.forwarded(who, call, team, &input)? {
            return Ok(answer);
        }
        let done = self.here(open(self)?, who, call, team, input.clone());
        match done {
            // A daemon may have come in between, and has the lock for good.
            Err(error) if error.code() == "locked" => {
                let forwarded = self.forwarded(who, call, team, &input)?;
                forwarded.ok_or(error)
            }
            done => done,
        }
    }

    /// Carries a call out here.
    pub fn here<I, A>(
        &mut self,
        root: Root,
        who: &Who,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        let mut site = Site {
            root,
            team,
            who,
            caller: None,
            opened: self.held.take().filter(|held| held.name() == team),
        };
        let done = (call.run)(&mut site, input);
        let replayed = site.replayed();
        self.held = site.opened;
        self.replays(replayed);
        done
    }

    /// Has a call carried out by the daemon that has the team, if one does.
    pub fn forwarded<I: Serialize, A: DeserializeOwned>(
        &mut self,
        who: &Who,
        call: &Call<I, A>,
        team: &str,
        input: &I,
    ) -> Result<Option<A>, CommandError> {
        let repeat = self.repeat.unwrap_or(Repeat::Same);
        let client = self.client();
        let Some(ended) = client.call(call, team, who, input, repeat)? else {
            return Ok(None);
        };
        self.notes.extend(ended.notes);
        self.answered = Some(ended.receipt);
        self.replays(ended.replayed);
        ended.outcome.map(Some)
    }

    /// Carries out what needs a whole log for this process, off which a daemon that serves the team keeps until it ends. A
    /// daemon that began to serve it after it was looked for has the lock: then it is asked, and all is tried once more.
    pub fn alone<A>(
        &mut self,
        team: &str,
        mut run: impl FnMut(&mut Context) -> Result<A, CommandError>,
    ) -> Result<A, CommandError> {
        let gave_way = self.keep_off(team)?;
        match run(self) {
            Err(error) if error.code() == "locked" && !gave_way => match self.keep_off(team)? {
                true => run(self),
                false => Err(error),
            },
            done => done,
        }
    }

    /// Asks the daemon that serves a team to keep off it until this process ends; whether there is one.
    pub fn keep_off(&mut self, team: &str) -> Result<bool, CommandError> {
        // What cannot be a team's name is no part of a path either; whoever opens it says so.
        if names::check_known("team", team).is_err() {
            return Ok(false);
        }
        let gave_way = self.client().give_way(team)?;
        self.gave_way.extend(gave_way);
        Ok(!self.gave_way.is_empty())
    }
}
