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
    ///
    /// # Errors
    /// The call's; the team cannot be opened; the daemon that has it is not to be reached.
    pub fn execute<I, A>(
        &mut self,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError>
    where
        I: Serialize + Clone,
        A: DeserializeOwned,
    {
        let who = self.who();
        self.execute_for(&who, call, team, input)
    }

    /// The same on behalf of that caller.
    ///
    /// # Errors
    /// As [`Context::execute`].
    pub fn execute_for<I, A>(
        &mut self,
        who: &Who,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError>
    where
        I: Serialize + Clone,
        A: DeserializeOwned,
    {
        self.execute_in(Context::data, who, call, team, input)
    }

    /// The same in the data root that `open` gives where no daemon has the team.
    ///
    /// # Errors
    /// As [`Context::execute`].
    pub fn execute_in<I, A>(
        &mut self,
        open: impl FnOnce(&Context) -> Result<Root, CommandError>,
        who: &Who,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError>
    where
        I: Serialize + Clone,
        A: DeserializeOwned,
    {
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
    ///
    /// # Errors
    /// The call's.
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
    ///
    /// # Errors
    /// The call's; the daemon is not to be reached.
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

    /// Has the team for this process until it ends: a daemon that serves it gives way.
    ///
    /// # Errors
    /// The daemon is not to be reached.
    pub fn alone(&mut self, team: &str) -> Result<(), CommandError> {
        // What cannot be a team's name is no part of a path either; whoever opens it says so.
        if names::check_known("team", team).is_ok() {
            let gave_way = self.client().give_way(team)?;
            self.gave_way.extend(gave_way);
        }
        Ok(())
    }
}
