//! `journal adopt`, `leave` and `heal`. `adopt` moves a team to a journal, `leave` moves a team off its journal, and `heal` sends
//! the journal the events that the journal lost.

use crate::operation::prelude::*;
use teamlog_engine::JournalIdentity;

/// The answer `{status:"ok", team, journal, groups, events, last_seq, changed}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JournalAnswer {
    /// Always `ok`.
    #[schemars(extend("enum" = ["ok"]))]
    pub status: Cow<'static, str>,
    /// The team.
    pub team: String,
    /// The journal's id.
    pub journal: String,
    /// Groups that were sent to the journal.
    pub groups: u64,
    /// Events in these groups.
    pub events: u64,
    /// Seq of the last event.
    pub last_seq: u64,
    /// True if the call changed something.
    pub changed: bool,
}

/// The answer `{status:"ok", team, journal, system, was, changed}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SystemAnswer {
    /// Always `ok`.
    #[schemars(extend("enum" = ["ok"]))]
    pub status: Cow<'static, str>,
    /// The team.
    pub team: String,
    /// The journal's id.
    pub journal: String,
    /// Id of the database system that this host now accepts.
    pub system: String,
    /// Id of the database system that this host accepted before; 0 if there was none.
    pub was: String,
    /// True if the ids differ.
    pub changed: bool,
}

impl Team {
    /// Accepts that the team's journal moved to another database system, see [`Log::accept_system`]. Returns `None` if the team
    /// has no journal.
    ///
    /// # Errors
    /// `Journal`, `Locked`, `Corrupt`, I/O.
    pub fn accept_system(&mut self) -> Result<Option<SystemAnswer>> {
        let Some(journal) = self.journal() else {
            return Ok(None);
        };
        let accepted = self.alone(|team| Ok(team.log.accept_system()?))?;
        Ok(accepted.map(|(was, is)| SystemAnswer {
            status: "ok".into(),
            team: self.name().to_owned(),
            journal,
            system: is.to_string(),
            was: was.to_string(),
            changed: was != is,
        }))
    }

    /// Moves the team's log to a journal, so that other hosts can join. Takes the whole log. If the call is interrupted, the
    /// next call continues. Calls `progress` with `(events done, events in all)`.
    ///
    /// # Errors
    /// `Journal`, `Locked`, `Corrupt`, I/O.
    pub fn adopt(
        &mut self,
        journal: &JournalIdentity,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<JournalAnswer> {
        let mut kept = BTreeSet::new();
        self.keep_artifacts(journal, &mut kept)?;
        let adopted = self.alone(|team| Ok(team.log.adopt(journal, progress)?))?;
        self.reopen()?;
        // Copies the artifacts that were stored during the move.
        self.keep_artifacts(journal, &mut kept)?;
        Ok(JournalAnswer {
            groups: adopted.pushed.groups,
            events: adopted.pushed.events,
            last_seq: adopted.last_seq,
            changed: adopted.changed,
            ..self.unmoved(journal.id.clone())
        })
    }

    /// Moves the team's log off its journal. Afterwards the team is on this host alone. Returns `None` if the team has no journal.
    ///
    /// # Errors
    /// `Journal`, `Locked`, `Corrupt`, I/O.
    pub fn leave(&mut self) -> Result<Option<JournalAnswer>> {
        self.left(Log::leave)
    }

    /// Moves the team's log off its journal without a connection to the journal, see [`Log::leave_offline`]. Returns `None` if
    /// the team has no journal.
    ///
    /// # Errors
    /// `Locked`, `Corrupt`, I/O.
    pub fn leave_offline(&mut self) -> Result<Option<JournalAnswer>> {
        self.left(Log::leave_offline)
    }

    fn left(
        &mut self,
        leave: fn(&Log) -> teamlog_engine::Result<Option<u64>>,
    ) -> Result<Option<JournalAnswer>> {
        let Some(journal) = self.journal() else {
            return Ok(None);
        };
        let Some(last_seq) = self.alone(|team| Ok(leave(&team.log)?))? else {
            return Ok(None);
        };
        self.reopen()?;
        Ok(Some(JournalAnswer {
            last_seq,
            changed: true,
            ..self.unmoved(journal)
        }))
    }

    /// Sends the team's journal the events that the journal lacks. Returns `None` if the team has no journal. Calls `progress` with
    /// `(events done, events in all)`.
    ///
    /// # Errors
    /// `Journal`, `Locked`, `Corrupt`, I/O.
    pub fn heal(
        &mut self,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Option<JournalAnswer>> {
        let Some(journal) = self.journal() else {
            return Ok(None);
        };
        let healed = self.alone(|team| Ok(team.log.heal(progress)?))?;
        let pushed = healed.unwrap_or_default();
        if let Some(journal) = self.log.identity().journal.clone() {
            self.keep_artifacts(&journal, &mut BTreeSet::new())?;
        }
        Ok(Some(JournalAnswer {
            groups: pushed.groups,
            events: pushed.events,
            last_seq: self.catch_up()?,
            changed: pushed.groups > 0,
            ..self.unmoved(journal)
        }))
    }

    fn journal(&self) -> Option<String> {
        let journal = self.log.identity().journal.as_ref();
        journal.map(|journal| journal.id.clone())
    }

    /// Opens the log again after its identity has changed.
    fn reopen(&mut self) -> Result<()> {
        let log = &self.log;
        let log = Log::open(log.storage().clone(), log.dir(), log.options().clone())?;
        *self = Team::new(log, self.options.clone(), None);
        Ok(())
    }

    fn unmoved(&self, journal: String) -> JournalAnswer {
        JournalAnswer {
            status: "ok".into(),
            team: self.name().to_owned(),
            journal,
            groups: 0,
            events: 0,
            last_seq: 0,
            changed: false,
        }
    }
}
