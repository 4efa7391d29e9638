//! Runs a call in the daemon that holds the team, or else in this process.

use super::Context;
use crate::call::{Call, CallContext, CallerIdentity, ErasedCall};
use crate::exit::{CommandError, Exit};
use crate::forward::{API, Client, Ended, Remote, Repeat};
use crate::random;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::path::PathBuf;
use teamlog_team::shell::quoted;
use teamlog_team::{Root, names};

impl Context {
    /// Returns the caller, without an idempotency key.
    pub fn who(&self) -> CallerIdentity {
        CallerIdentity {
            actor: self.actor(),
            user: self.user(),
            origin: self.origin(),
            ..CallerIdentity::default()
        }
    }

    /// Returns a client for the daemons of the data root, or for the daemon on another machine if `remote` is set.
    pub fn client(&self, remote: Option<Remote>) -> Client {
        Client {
            // For a local daemon the caller has checked the data root. A daemon on another machine does not use this path.
            root: self
                .data_root
                .as_ref()
                .map_or_else(|_| PathBuf::new(), |root| root.path.clone()),
            remote,
            lock_deadline: self.options.lock_deadline,
            step_limit: self.step_limit,
            receipt: self.receipt,
        }
    }

    pub fn execute<I: Serialize + Clone, A: DeserializeOwned>(
        &mut self,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        let who = self.who();
        self.execute_in(Context::data, &who, call, team, input)
    }

    /// Runs a call for `who`. If no daemon holds the team, the call runs in the data root that `open` returns.
    pub fn execute_in<I: Serialize + Clone, A: DeserializeOwned>(
        &mut self,
        open: impl FnOnce(&Context) -> Result<Root, CommandError>,
        who: &CallerIdentity,
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
            // A daemon started in the meantime and holds the lock until the daemon ends.
            Err(error) if error.code() == "locked" => {
                let forwarded = self.forwarded(who, call, team, &input)?;
                forwarded.ok_or(error)
            }
            done => done,
        }
    }

    /// Stores notes, receipt and times from the result of a forwarded call.
    pub(super) fn told(&mut self, ended: Ended) -> Result<Box<RawValue>, CommandError> {
        self.notes.extend(ended.notes);
        self.replays(ended.replayed);
        if let Some((seq, time)) = ended.moment {
            self.stands_at(seq, time);
        }
        ended.outcome
    }

    pub fn here<I, A>(
        &mut self,
        root: Root,
        who: &CallerIdentity,
        call: &Call<I, A>,
        team: &str,
        input: I,
    ) -> Result<A, CommandError> {
        if self.repeat.is_some() {
            self.tighten(team);
        }
        let mut site = self.site(root, who, team);
        let done = (call.run)(&mut site, input);
        let replayed = site.replayed();
        self.held = site.opened;
        self.replays(replayed);
        done
    }

    fn site<'a>(&mut self, root: Root, who: &'a CallerIdentity, team: &'a str) -> CallContext<'a> {
        CallContext {
            root,
            team,
            who,
            caller: None,
            at: None,
            opened: self.held.take().filter(|held| held.name() == team),
        }
    }

    /// Runs a call in the daemon that holds the team. Returns `None` if no daemon holds the team.
    pub fn forwarded<I: Serialize, A: DeserializeOwned>(
        &mut self,
        who: &CallerIdentity,
        call: &Call<I, A>,
        team: &str,
        input: &I,
    ) -> Result<Option<A>, CommandError> {
        let (_, answer) = call.sent(input, |sent| self.forward(who, team, sent))?;
        Ok(answer)
    }

    fn forward(
        &mut self,
        who: &CallerIdentity,
        team: &str,
        sent: ErasedCall<'_>,
    ) -> Result<(), CommandError> {
        let remote = self.remote()?;
        let is_remote = remote.is_some();
        if !is_remote {
            self.data_root()?;
        }
        let (who, repeat) = match is_remote {
            true => keyed(who, sent.name, self.repeat)?,
            false => (who.clone(), self.repeat.unwrap_or(Repeat::Same)),
        };
        let client = self.client(remote);
        let called = client.call(sent, team, &who, repeat);
        let called = called.map_err(|error| match &who.key {
            Some(key) if is_remote && error.code() == "outcome_unknown" => again(error, "key", key),
            _ => error,
        });
        let Some(mut ended) = called? else {
            return match is_remote {
                true => Err(not_served(team)),
                false => Ok(()),
            };
        };
        self.answered = Some(ended.receipt.take());
        self.told(ended).map(drop)
    }

    /// Runs work that needs exclusive access to the whole log. A daemon that serves the team releases it until this process
    /// ends. If a daemon takes the lock in between, the daemon is asked to release the team, and the work is tried once more.
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

    /// Asks the daemon that serves a team to release the team until this process ends. Returns false if there is no
    /// daemon.
    pub fn keep_off(&mut self, team: &str) -> Result<bool, CommandError> {
        // Do not build a path from an invalid team name. Opening the team reports the error.
        if names::check_known("team", team).is_err() {
            return Ok(false);
        }
        self.check_local()?;
        self.data_root()?;
        let gave_way = self.client(None).give_way(team)?;
        self.gave_way.extend(gave_way);
        Ok(!self.gave_way.is_empty())
    }
}

/// Adds a hint to the error: the option `name` with `value` makes it safe to repeat the command.
pub fn again(error: CommandError, name: &str, value: &str) -> CommandError {
    let option = name.replace('_', "-");
    let hint = format!(
        "repeat the command with --{option} {}: it is not carried out twice",
        quoted(value)
    );
    error.hinting(hint).detailing(name, value)
}

/// Adds a random idempotency key to a call that supports a key. Answers from another machine are lost more often, and a
/// call with a key can be repeated.
fn keyed(
    who: &CallerIdentity,
    call: &str,
    repeat: Option<Repeat>,
) -> Result<(CallerIdentity, Repeat), CommandError> {
    let repeat = repeat.unwrap_or(Repeat::Same);
    // A call through `api` has its key in the input.
    if repeat != Repeat::Unsafe || who.key.is_some() || call == API.name {
        return Ok((who.clone(), repeat));
    }
    let key = random::name("key")?;
    let who = CallerIdentity {
        key: Some(key),
        ..who.clone()
    };
    Ok((who, Repeat::UnderKey))
}

/// Makes the error for a team that the daemon on another machine does not serve to this token.
pub fn not_served(team: &str) -> CommandError {
    let message = format!("no team {team} on the daemon of TEAMLOG_REMOTE");
    CommandError::new(Exit::Refused, "team_not_found", message).about("team")
}
