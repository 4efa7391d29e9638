//! The teams that the daemon serves.

use crate::agent_token;
use crate::agents::{Agents, NotAdmitted};
use crate::caller::{Admitted, Caller, Reach, Scope};
use crate::checks::Checks;
use crate::limits::Limits;
use crate::page_sessions::{Made, PageSessions};
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

/// A data root whose teams stay open between calls, and the teams that are served, each with what its token is compared
/// with.
#[derive(Debug)]
pub struct Served {
    root: Root,
    known: RwLock<Known>,
    pasts: Pasts,
    checks: Arc<Checks>,
    page_sessions: PageSessions,
    agents: Agents,
    about: About,
    stopping: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    teams: BTreeMap<String, Entry>,
    /// What lets in to all of them.
    whole: Option<TokenEntry>,
}

/// What is told to whoever is let in.
#[derive(Debug, Clone)]
pub struct About {
    /// The daemon's version.
    pub version: String,
    /// What the directory of the data root is called.
    pub data_root_name: String,
}

/// What a token is compared with.
#[derive(Debug)]
struct TokenEntry {
    digest: Digest,
    /// Ends when the token is worth nothing any more.
    revoked: CancellationToken,
}

#[derive(Debug)]
struct Entry {
    token: TokenEntry,
    condition: Condition,
    audit: Audit,
}

/// What is known of the log as a whole, which nobody reads who only writes.
#[derive(Debug)]
struct Audit {
    /// When it is to be looked at.
    due: Instant,
    /// What is wrong with it, as the last look found that was carried out.
    damage: Option<String>,
    /// Why the last look was not carried out: its code, and the long form.
    failed: Option<(&'static str, String)>,
    /// When the history in its journal is to be compared with the log.
    journal_due: Instant,
    /// The first difference that the last comparison found.
    journal_damage: Option<String>,
    /// When all of it was last looked at, and whether it was sound.
    last: Option<Verified>,
    /// When the room that the team takes is to be measured.
    measure: Instant,
    /// How many bytes its files take on the disk.
    disk_bytes: Option<u64>,
}

/// A look at a whole log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verified {
    /// When it ended.
    pub at: SystemTime,
    /// Whether nothing was wrong.
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
        Admitted::of(Caller::with_token(reach), self.revoked.clone())
    }
}

impl Drop for TokenEntry {
    fn drop(&mut self) {
        self.revoked.cancel();
    }
}

impl Entry {
    /// What keeps the team from being written counts for more than what cannot be read of its past.
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

/// The code of a log that cannot be read.
pub(crate) const DAMAGED: &str = "damaged";
/// The code of a team whose journal has another history than the log.
pub(crate) const JOURNAL_DAMAGED: &str = "journal_damaged";

/// How a team is, as the daemon last saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "condition", rename_all = "snake_case")]
pub enum Condition {
    /// Not looked at yet.
    Starting,
    /// It can be read and written.
    Sound,
    /// It cannot.
    Unready {
        /// The stable word for it.
        code: &'static str,
        /// The long form.
        why: String,
    },
}

impl Served {
    /// Serves no team yet.
    pub fn new(root: Root) -> Served {
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data_root_name: String::new(),
        };
        Served::within(root, &Limits::default(), about)
    }
    /// The same with other limits, and with what is told of the daemon.
    pub(crate) fn within(root: Root, limits: &Limits, about: About) -> Served {
        let checks = Arc::<Checks>::default();
        let folds = PastFolds::new(limits.past_folds, limits.past_fold_wait);
        let options = RootOptions {
            background: Some(checks.clone()),
            past_folds: Some(Arc::new(folds)),
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
    /// The root; its teams are resident.
    pub fn root(&self) -> &Root {
        &self.root
    }
    /// The checks that were asked for.
    pub(crate) fn checks(&self) -> &Checks {
        &self.checks
    }
    /// The pasts of the teams that were asked for lately.
    pub fn pasts(&self) -> &Pasts {
        &self.pasts
    }
    /// Opens a team: cheap, since what it needs stays in memory.
    pub fn team(&self, name: &str) -> teamlog_team::Result<Team> {
        self.root.team(name)
    }
    /// The names of the teams that are served, sorted.
    pub fn names(&self) -> Vec<String> {
        self.read().teams.keys().cloned().collect()
    }
    /// Whether the team is served.
    pub fn serves(&self, name: &str) -> bool {
        self.read().teams.contains_key(name)
    }
    /// Whose token or page session this is. Looks at all of them, so that how long it takes tells nothing.
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
    /// Whom a one-time code would let in.
    pub(crate) fn admit_code(&self, presented: &Digest) -> Option<Admitted> {
        self.page_sessions.code(presented, self.now())
    }
    /// Makes a one-time code; `None` for a team that is not served.
    pub(crate) fn new_code(&self, reach: Reach, scope: Scope) -> Option<io::Result<Made>> {
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
    /// The page sessions.
    pub(crate) fn page_sessions(&self) -> &PageSessions {
        &self.page_sessions
    }
    /// Whoever presents the token of an agent. Waits for the disk.
    pub(crate) fn admit_agent(&self, presented: &str) -> Result<Admitted, NotAdmitted> {
        let named = agent_token::named(presented).filter(|named| self.serves(named.team));
        let team = named.ok_or(NotAdmitted::Unknown)?.team;
        self.agents.admit(&self.root, team, presented)
    }
    /// Ends what goes on under tokens of agents that are worth nothing any more.
    pub(crate) fn expire_agents(&self) {
        self.agents.expire(&self.root, |team| self.serves(team));
    }
    /// What is told of the daemon.
    pub(crate) fn about(&self) -> &About {
        &self.about
    }
    /// The time, by the root's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.root.options().clock.now()
    }
    /// Ends when the token of a team is worth nothing any more, or the team is not served any more.
    pub(crate) fn revoked(&self, team: &str) -> Option<CancellationToken> {
        let known = self.read();
        let entry = known.teams.get(team);
        entry.map(|entry| entry.token.revoked.clone())
    }
    /// Lets whoever presents this token reach every team. What goes on under the one before ends.
    pub fn serve_whole(&self, token: Digest) {
        self.write().whole = Some(TokenEntry::new(token));
    }
    /// How the teams are, by name.
    pub fn conditions(&self) -> BTreeMap<String, Condition> {
        let known = self.read();
        let told = |(name, entry): (&String, &Entry)| (name.clone(), entry.condition());
        known.teams.iter().map(told).collect()
    }
    /// Has the whole log of a team looked at soon: somebody met damage in it. What is known to be damaged is looked at
    /// as often as that is, however many meet it.
    pub(crate) fn suspect(&self, name: &str) {
        self.change(name, |Entry { audit, .. }| {
            if audit.damage.is_none() {
                audit.due = audit.due.min(Instant::now());
            }
        });
    }
    /// A team whose whole log is to be looked at by now; the one that has waited longest.
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
    /// Notes what a look at the whole log of a team found, or with which code and why it was not carried out, and when the
    /// next one is due. Damage that is known stays known until a look finds none.
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
    /// A team whose journal is to be compared with its log by now; the one that has waited longest.
    pub(crate) fn to_compare(&self) -> Option<String> {
        let known = self.read();
        let now = Instant::now();
        let due = known.teams.iter();
        let due = due.map(|(name, entry)| (entry.audit.journal_due, name));
        let first = due.filter(|(due, _)| *due <= now).min();
        first.map(|(_, name)| name.clone())
    }
    /// Notes what a comparison of a team's journal with its log found, and when the next one is due. A difference that is known stays
    /// known until a comparison that was carried out finds none.
    pub(crate) fn compared(&self, name: &str, found: Option<Option<String>>, next: Instant) {
        self.change(name, |Entry { audit, .. }| {
            audit.journal_due = next;
            if let Some(damage) = found {
                audit.journal_damage = damage;
            }
        });
    }
    /// A team whose room on the disk is to be measured by now.
    pub(crate) fn to_measure(&self) -> Option<String> {
        let known = self.read();
        let now = Instant::now();
        let due = known
            .teams
            .iter()
            .find(|(_, entry)| entry.audit.measure <= now);
        due.map(|(name, _)| name.clone())
    }
    /// Notes how many bytes the files of a team take, and when that is due again.
    pub(crate) fn measured(&self, name: &str, bytes: Option<u64>, next: Instant) {
        self.change(name, |Entry { audit, .. }| {
            audit.disk_bytes = bytes;
            audit.measure = next;
        });
    }
    /// The last look at the whole log of a team, and the bytes that its files take, as far as that is known.
    pub(crate) fn observed(&self, name: &str) -> (Option<Verified>, Option<u64>) {
        let known = self.read();
        let audit = known.teams.get(name).map(|entry| &entry.audit);
        audit.map_or((None, None), |audit| (audit.last, audit.disk_bytes))
    }
    /// Notes how a team is.
    pub(crate) fn found(&self, name: &str, condition: Condition) {
        self.change(name, |entry| entry.condition = condition);
    }
    fn change(&self, name: &str, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.write().teams.get_mut(name) {
            change(entry);
        }
    }
    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
    /// Whether the daemon is about to end: whoever sends what goes on should come to an end.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }
    /// Serves a team, or takes a new token for it. What goes on under the one before ends.
    pub fn serve(&self, name: &str, token: Digest) {
        let mut known = self.write();
        let token = TokenEntry::new(token);
        // Another token changes nothing of what is known of the log.
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
    /// Serves the team no longer, nor what goes on under its token.
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
        served.serve("demo", Digest::of(b"one"));
        served.found("demo", Condition::Sound);
        audited(Ok(None));
        assert_eq!(code(&served), None);
        audited(Err(("io", "it cannot be read".to_owned())));
        assert_eq!(code(&served), Some("io"));
        audited(Ok(Some("a byte".to_owned())));
        audited(Err(("io", "it cannot be read".to_owned())));
        assert_eq!(code(&served), Some(DAMAGED));
        let revoked = served.revoked("demo").unwrap();
        served.serve("demo", Digest::of(b"two"));
        assert!(revoked.is_cancelled());
        assert_eq!(code(&served), Some(DAMAGED));
        audited(Ok(None));
        assert_eq!(code(&served), None);
    }
}
