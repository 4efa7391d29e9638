//! The teams that the daemon serves.

use crate::agent_token;
use crate::agents::{Agents, NotAdmitted};
use crate::caller::{Admitted, Caller, Reach, Scope};
use crate::checks::Checks;
use crate::limits::Limits;
use crate::page_sessions::{NewPageSession, PageSessions};
use crate::token::Digest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Instant, SystemTime};
use teamlog_team::engine::Timestamp;
use teamlog_team::handle::past_folds::PastFolds;
use teamlog_team::handle::pasts::Pasts;
use teamlog_team::{Root, RootOptions, Team};
use tokio_util::sync::CancellationToken;

/// A data root whose teams stay open between calls, with the served teams and the digests of their tokens.
#[derive(Debug)]
pub struct Served {
    root: Root,
    known: RwLock<ServedTeams>,
    pasts: Pasts,
    checks: Arc<Checks>,
    page_sessions: PageSessions,
    agents: Agents,
    about: About,
    stopping: AtomicBool,
}

#[derive(Debug, Default)]
struct ServedTeams {
    teams: BTreeMap<String, Entry>,
    /// Token that gives access to all teams.
    whole: Option<TokenEntry>,
}

/// The daemon's description of itself.
#[derive(Debug, Clone)]
pub struct About {
    /// Version of the daemon.
    pub version: String,
    /// Name of the data root's directory.
    pub data_root_name: String,
}

/// The digest of a token.
#[derive(Debug)]
struct TokenEntry {
    digest: Digest,
    /// Canceled when the token becomes invalid.
    revoked: CancellationToken,
}

#[derive(Debug)]
struct Entry {
    token: TokenEntry,
    condition: Condition,
    audit: Audit,
}

/// Results of verifying the whole log and comparing it with its journal.
#[derive(Debug)]
struct Audit {
    /// Time of the next verification.
    due: Instant,
    /// Fault that the last completed verification found.
    damage: Option<String>,
    /// Code and description of the error if the last verification could not be completed.
    failed: Option<(&'static str, String)>,
    /// Time of the next comparison with the journal.
    journal_due: Instant,
    /// First difference that the last comparison found.
    journal_damage: Option<String>,
    /// Result of the last completed verification.
    last: Option<Verified>,
    /// Time of the next measurement of disk usage.
    measure: Instant,
    /// Disk usage in bytes.
    disk_bytes: Option<u64>,
}

/// A verification of a whole log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verified {
    /// Time at which the verification ended.
    pub at: SystemTime,
    /// True if no fault was found.
    pub sound: bool,
}

impl TokenEntry {
    fn new(digest: Digest) -> TokenEntry {
        TokenEntry {
            digest,
            revoked: CancellationToken::new(),
        }
    }
    fn admits(&self, reach: Reach) -> Admitted {
        Admitted::new(Caller::with_token(reach), self.revoked.clone())
    }
}

impl Drop for TokenEntry {
    fn drop(&mut self) {
        self.revoked.cancel();
    }
}

impl Entry {
    /// Returns the condition. A reason that forbids writing takes precedence over damage of old events.
    fn condition(&self) -> Condition {
        match (&self.condition, &self.audit.damage, &self.audit.failed) {
            (Condition::Sound, Some(why), _) => Condition::Unready {
                code: DAMAGED,
                why: why.clone(),
            },
            (Condition::Sound, None, _) if self.audit.journal_damage.is_some() => {
                Condition::Unready {
                    code: JOURNAL_DAMAGED,
                    why: self.audit.journal_damage.clone().unwrap_or_default(),
                }
            }
            (Condition::Sound, None, Some((code, why))) => Condition::Unready {
                code,
                why: format!("the log could not be verified: {why}"),
            },
            (condition, ..) => condition.clone(),
        }
    }
}

/// Code of a log that cannot be read.
pub(crate) const DAMAGED: &str = "damaged";
/// Code of a team whose journal and log have different events.
pub(crate) const JOURNAL_DAMAGED: &str = "journal_damaged";

/// Condition of a team at the daemon's last check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "condition", rename_all = "snake_case")]
pub enum Condition {
    /// The team has not been checked yet.
    Starting,
    /// The team can be read and written.
    Sound,
    /// The team cannot be read or written.
    Unready {
        /// Stable code of the reason.
        code: &'static str,
        /// Description of the reason.
        why: String,
    },
}

impl Served {
    /// Returns a list without teams, with default limits.
    pub fn new(root: Root) -> Served {
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_root_name: String::new(),
        };
        Served::within(root, &Limits::default(), about)
    }
    /// Returns a list without teams, with the given limits and description.
    pub(crate) fn within(root: Root, limits: &Limits, about: About) -> Served {
        let checks = Arc::<Checks>::default();
        let folds = PastFolds::new(limits.past_folds, limits.past_fold_wait);
        let options = RootOptions {
            background: Some(checks.clone()),
            past_folds: Some(Arc::new(folds)),
            settlements: Some(Arc::default()),
            ..root.options().clone()
        };
        Served {
            root: root.with_options(options).resident(),
            checks,
            known: RwLock::default(),
            pasts: Pasts::default(),
            page_sessions: PageSessions::new(limits.clone()),
            agents: Agents::new(limits.agent_calls, limits.agent_connections),
            about,
            stopping: AtomicBool::new(false),
        }
    }
    /// Returns the data root. The teams of this root stay open between calls.
    pub fn root(&self) -> &Root {
        &self.root
    }
    /// Returns the requested checks.
    pub(crate) fn checks(&self) -> &Checks {
        &self.checks
    }
    /// Returns the cached past states of the teams.
    pub fn pasts(&self) -> &Pasts {
        &self.pasts
    }
    /// Opens a team. Opening is cheap, because the state of the team stays in memory.
    pub fn team(&self, name: &str) -> teamlog_team::Result<Team> {
        self.root.team(name)
    }
    /// Returns the names of the served teams, sorted.
    pub fn names(&self) -> Vec<String> {
        self.read().teams.keys().cloned().collect()
    }
    /// Returns true if the team is served.
    pub fn serves(&self, name: &str) -> bool {
        self.read().teams.contains_key(name)
    }
    /// Returns the caller for a token or page session. Compares all digests, so that the duration of the search reveals
    /// nothing about a valid digest.
    pub(crate) fn admit(&self, presented: &Digest) -> Option<Admitted> {
        let session = self.page_sessions.session(presented, self.now());
        let known = self.read();
        let whole = known.whole.as_ref();
        let whole = whole.filter(|token| token.digest == *presented);
        let mut found = None;
        for (name, entry) in &known.teams {
            if entry.token.digest == *presented {
                found = Some((name, entry));
            }
        }
        let team = found.map(|(name, entry)| entry.token.admits(Reach::Team(name.clone())));
        team.or_else(|| whole.map(|token| token.admits(Reach::Root)))
            .or(session)
    }
    /// Returns the caller that a one-time code authenticates.
    pub(crate) fn admit_code(&self, presented: &Digest) -> Option<Admitted> {
        self.page_sessions.code(presented, self.now())
    }
    /// Creates a one-time code. Returns `None` if the team is not served.
    pub(crate) fn new_code(
        &self,
        reach: Reach,
        scope: Scope,
    ) -> Option<io::Result<NewPageSession>> {
        let revoked = match &reach {
            Reach::Team(team) => self.revoked(team),
            Reach::Root => {
                let known = self.read();
                known.whole.as_ref().map(|token| token.revoked.clone())
            }
        };
        let now = self.now();
        Some(self.page_sessions.new_code(reach, scope, &revoked?, now))
    }
    /// Returns the page sessions.
    pub(crate) fn page_sessions(&self) -> &PageSessions {
        &self.page_sessions
    }
    /// Returns the caller for an agent's token. Reads the disk.
    pub(crate) fn admit_agent(&self, presented: &str) -> Result<Admitted, NotAdmitted> {
        let named = agent_token::named(presented).filter(|named| self.serves(named.team));
        let team = named.ok_or(NotAdmitted::Unknown)?.team;
        self.agents.admit(&self.root, team, presented)
    }
    /// Ends all connections with agents' tokens that are no longer valid.
    pub(crate) fn expire_agents(&self) {
        self.agents.expire(&self.root, |team| self.serves(team));
    }
    /// Returns the daemon's description.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }
    /// Returns the current time of the data root's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.root.options().clock.now()
    }
    /// Returns the cancellation token of a team, or `None` for an unknown team. The cancellation token is canceled
    /// when the team's token is replaced or when the team is no longer served.
    pub(crate) fn revoked(&self, team: &str) -> Option<CancellationToken> {
        let known = self.read();
        let entry = known.teams.get(team);
        entry.map(|entry| entry.token.revoked.clone())
    }
    /// Sets the token that gives access to all teams. Ends all connections with the old token.
    pub fn serve_whole(&self, token: Digest) {
        self.write().whole = Some(TokenEntry::new(token));
    }
    /// Returns the conditions of the teams, by name.
    pub fn conditions(&self) -> BTreeMap<String, Condition> {
        let known = self.read();
        let told = |(name, entry): (&String, &Entry)| (name.clone(), entry.condition());
        known.teams.iter().map(told).collect()
    }
    /// Schedules a verification of a team's log soon, after an answer found damage. If damage of this log is already
    /// known, the schedule does not change.
    pub(crate) fn suspect(&self, name: &str) {
        self.change(name, |Entry { audit, .. }| {
            if audit.damage.is_none() {
                audit.due = audit.due.min(Instant::now());
            }
        });
    }
    /// Returns the team whose verification is most overdue, if any is due.
    pub(crate) fn to_audit(&self) -> Option<String> {
        let known = self.read();
        let now = Instant::now();
        let due = known
            .teams
            .iter()
            .map(|(name, entry)| (entry.audit.due, name));
        let first = due.filter(|(due, _)| *due <= now).min();
        first.map(|(_, name)| name.clone())
    }
    /// Stores the result of a verification, or code and description of its error, and the time of the next verification. Known damage is
    /// kept until a verification finds no damage.
    pub(crate) fn audited(
        &self,
        name: &str,
        found: Result<Option<String>, (&'static str, String)>,
        next: Instant,
    ) {
        self.change(name, |Entry { audit, .. }| {
            audit.due = next;
            match found {
                Ok(damage) => {
                    let (at, sound) = (SystemTime::now(), damage.is_none());
                    audit.last = Some(Verified { at, sound });
                    audit.damage = damage;
                    audit.failed = None;
                }
                Err(failed) => audit.failed = Some(failed),
            }
        });
    }
    /// Returns the team whose journal comparison is most overdue, if any is due.
    pub(crate) fn to_compare(&self) -> Option<String> {
        let known = self.read();
        let now = Instant::now();
        let due = known.teams.iter();
        let due = due.map(|(name, entry)| (entry.audit.journal_due, name));
        let first = due.filter(|(due, _)| *due <= now).min();
        first.map(|(_, name)| name.clone())
    }
    /// Stores the result of comparing a journal with the log, and the time of the next comparison. A known difference is kept
    /// until a completed comparison finds no difference.
    pub(crate) fn compared(&self, name: &str, found: Option<Option<String>>, next: Instant) {
        self.change(name, |Entry { audit, .. }| {
            audit.journal_due = next;
            if let Some(damage) = found {
                audit.journal_damage = damage;
            }
        });
    }
    /// Returns a team whose disk usage must be measured, if any is due.
    pub(crate) fn to_measure(&self) -> Option<String> {
        let known = self.read();
        let now = Instant::now();
        let due = known
            .teams
            .iter()
            .find(|(_, entry)| entry.audit.measure <= now);
        due.map(|(name, _)| name.clone())
    }
    /// Stores the disk usage of a team, and the time of the next measurement.
    pub(crate) fn measured(&self, name: &str, bytes: Option<u64>, next: Instant) {
        self.change(name, |Entry { audit, .. }| {
            audit.disk_bytes = bytes;
            audit.measure = next;
        });
    }
    /// Returns the last verification of a team's log and its disk usage, if known.
    pub(crate) fn observed(&self, name: &str) -> (Option<Verified>, Option<u64>) {
        let known = self.read();
        let audit = known.teams.get(name).map(|entry| &entry.audit);
        audit.map_or((None, None), |audit| (audit.last, audit.disk_bytes))
    }
    /// Stores the condition of a team.
    pub(crate) fn found(&self, name: &str, condition: Condition) {
        self.change(name, |entry| entry.condition = condition);
    }
    fn change(&self, name: &str, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.write().teams.get_mut(name) {
            change(entry);
        }
    }
    fn read(&self) -> RwLockReadGuard<'_, ServedTeams> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
    fn write(&self) -> RwLockWriteGuard<'_, ServedTeams> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
    /// Returns true if the daemon is stopping. A stream must then end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }
    /// Starts to serve a team, or sets a new token for it. Ends all connections with the old token.
    pub fn serve(&self, name: &str, token: Digest) {
        let mut known = self.write();
        let token = TokenEntry::new(token);
        // Keep the results of verification, because they do not depend on the token.
        let entry = match known.teams.remove(name) {
            Some(before) => Entry { token, ..before },
            None => Entry {
                token,
                condition: Condition::Starting,
                audit: Audit {
                    due: Instant::now(),
                    damage: None,
                    failed: None,
                    journal_due: Instant::now(),
                    journal_damage: None,
                    last: None,
                    measure: Instant::now(),
                    disk_bytes: None,
                },
            },
        };
        known.teams.insert(name.to_owned(), entry);
    }
    /// Stops serving a team, and ends all connections with its token.
    pub fn forget(&self, name: &str) {
        self.write().teams.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_team::engine::storage::Memory;

    fn code(served: &Served) -> Option<&'static str> {
        match served.conditions().remove("demo").unwrap() {
            Condition::Unready { code, .. } => Some(code),
            _ => None,
        }
    }

    #[test]
    fn what_is_known_of_a_log_outlives_a_look_that_failed_and_a_new_token() {
        let root = Root::on(Arc::new(Memory::new()), RootOptions::default());
        let served = Served::new(root);
        let audited = |found| served.audited("demo", found, Instant::now());
        served.serve("demo", Digest::new(b"one"));
        served.found("demo", Condition::Sound);
        audited(Ok(None));
        assert_eq!(code(&served), None);
        audited(Err(("io", "it cannot be read".to_owned())));
        assert_eq!(code(&served), Some("io"));
        audited(Ok(Some("a byte".to_owned())));
        audited(Err(("io", "it cannot be read".to_owned())));
        assert_eq!(code(&served), Some(DAMAGED));
        let revoked = served.revoked("demo").unwrap();
        served.serve("demo", Digest::new(b"two"));
        assert!(revoked.is_cancelled());
        assert_eq!(code(&served), Some(DAMAGED));
        audited(Ok(None));
        assert_eq!(code(&served), None);
    }
}
