//! `can-write`: tells if an agent may write a path now. An agent may write a path while the agent holds a live lease on a task that
//! declares the path.

use crate::operation::prelude::*;
use crate::projections::task::HeldResources;
use crate::projections::team::settings::{ALLOW_WHEN_FREE, ASK, DENY};
use crate::resource::Tree;
use crate::resource::pattern::Pattern;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

/// Time limit for an answer in a team with a journal, even if the journal does not respond.
const ANSWER_WITHIN: Duration = Duration::from_millis(900);
/// Maximum number of threads that wait for a journal in this process. Beyond this number, an answer is `stale` at once.
const WAITING_MAX: usize = 64;

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// A slot for a thread that waits for a journal. Dropping this value frees the slot.
struct Waiting;

impl Waiting {
    fn begin() -> Option<Waiting> {
        let waiting = Waiting;
        // If the limit is reached, the slot is dropped. Dropping a slot frees it.
        (WAITING.fetch_add(1, Ordering::SeqCst) < WAITING_MAX).then_some(waiting)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::SeqCst);
    }
}

operation! {
    /// Check if an agent may write a path now
    "can-write": Reads(CanWrite {
        /// Agent that wants to write
        #[arg(long, value_name = "AGENT")]
        agent: String,
        /// Path relative to the repository, or absolute if `resources.root` is set; the whole repository if absent
        #[arg(value_name = "PATH")]
        path: Option<String>,
    }) -> WriteVerdict = Team::can_write
}

words! {
    /// Reason of a verdict on a path.
    pub enum WriteReason in json {
        /// The agent holds a task that declares the path.
        LeaseActiveForResource = "lease_active_for_resource",
        /// No agent holds a task that declares the path.
        NoActiveLeaseForPath = "no_active_lease_for_path",
        /// Another agent holds a task that declares the path.
        ResourceHeldByOther = "resource_held_by_other",
        /// The path leads out of the repository.
        PathTraversalDenied = "path_traversal_denied",
        /// The path is invalid, or it is absolute and no root is set.
        InvalidPath = "invalid_path",
        /// Events of other hosts may be missing on this host, and the journal does not answer.
        Stale = "stale",
    }
}

/// The JSON object `{allow, reason, path, task_id?, holder?, resource?, until?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WriteVerdict {
    /// True if the agent may write the path
    pub allow: bool,
    /// Reason of the answer
    pub reason: WriteReason,
    /// Path relative to the repository; the path as requested if it is not in the repository
    pub path: String,
    /// Id of the task that declares the path
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Holder of that task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Resource of the task that covers the path
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// End of the holder's lease
    #[schemars(with = "Option<Timestamp>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// The settings of the guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardRules {
    /// Programs that the guard trusts, separated by commas; empty if not set.
    pub known: String,
    /// True if `guard.known` was set.
    pub known_is_set: bool,
    /// Reaction if the guard cannot tell which files a command writes.
    pub unknown: UnknownWrites,
    /// True if `guard.unknown` was set.
    pub unknown_is_set: bool,
}

impl UnknownWrites {
    /// Returns the value as the settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            UnknownWrites::Ask => ASK,
            UnknownWrites::Deny => DENY,
            UnknownWrites::AllowWhenFree => ALLOW_WHEN_FREE,
        }
    }
}

/// The values of `guard.unknown`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnknownWrites {
    /// Ask a person.
    Ask,
    /// Refuse the call.
    Deny,
    /// Allow the call if no other agent holds a path.
    AllowWhenFree,
}

/// A request about several paths.
#[derive(Debug, Clone, Default)]
pub struct CanWriteAll {
    /// The agent that would write.
    pub agent: String,
    /// Root of the repository; the team's setting if absent.
    pub root: Option<String>,
    /// The paths to write.
    pub paths: Vec<String>,
}

impl Team {
    /// Tells if an agent may write a path.
    pub fn can_write(&mut self, asked: CanWrite) -> Result<WriteVerdict> {
        let path = asked.path.unwrap_or_default();
        let all = CanWriteAll {
            agent: asked.agent,
            root: None,
            paths: vec![path.clone()],
        };
        let verdict = self.can_write_all(&all)?.pop();
        Ok(verdict.unwrap_or_else(|| denied(&path, WriteReason::InvalidPath)))
    }

    /// Returns the root of the repository; empty if not set. Resources of tasks are relative to the
    /// root.
    pub fn resources_root(&mut self) -> Result<String> {
        self.query(|live, _| Ok(live.setting(Setting::ResourcesRoot)?.0.text().to_owned()))
    }

    /// Returns the paths that an agent holds now, per task.
    pub fn held_by(&mut self, agent: &str) -> Result<Vec<HeldResources>> {
        names::check_known("agent", agent)?;
        let now = self.now();
        self.query(|live, _| {
            let mut held = live.held_by(agent)?;
            held.retain(|held| held.leased_until > now);
            Ok(held)
        })
    }

    /// Returns the settings of the guard.
    pub fn guard_rules(&mut self) -> Result<GuardRules> {
        self.query(|live, _| {
            let (known, known_is_set) = live.setting(Setting::GuardKnown)?;
            let (unknown, unknown_is_set) = live.setting(Setting::GuardUnknown)?;
            Ok(GuardRules {
                known: known.text().to_owned(),
                known_is_set,
                unknown: match unknown.text() {
                    ALLOW_WHEN_FREE => UnknownWrites::AllowWhenFree,
                    DENY => UnknownWrites::Deny,
                    _ => UnknownWrites::Ask,
                },
                unknown_is_set,
            })
        })
    }

    /// Returns a task of another agent that holds paths; `None` if there is none. Ignores tasks of the agents in `own`.
    pub fn held_by_others(&mut self, own: &[&str]) -> Result<Option<HeldResources>> {
        let now = self.now();
        self.query(|live, _| {
            let over = live.leases_over_by(now);
            let held = live.held_resources()?.into_iter();
            let others =
                |held: &HeldResources| !own.contains(&&*held.holder) && held.leased_until > over;
            let mut others = held.filter(others);
            Ok(others.find(|held| !held.resources.is_empty()))
        })
    }

    /// Returns true if leases may be outdated: other hosts record in the team, and the journal does not answer within a second.
    ///
    /// # Errors
    /// Any error that keeps the team from being read.
    pub fn is_stale(&mut self) -> Result<bool> {
        let stale = self.soon(Team::lacks_news)?;
        Ok(stale.unwrap_or(true))
    }

    /// Runs `work` on another thread if `work` possibly has to wait for the journal. If `work` takes too long, returns `None` and
    /// lets the thread continue. In a team without a journal, runs `work` on this thread.
    fn soon<A: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Team) -> Result<A> + Send + 'static,
    ) -> Result<Option<A>> {
        if self.log.identity().journal.is_none() || self.past().is_some() {
            return work(self).map(Some);
        }
        let Some(waiting) = Waiting::begin() else {
            return Ok(None);
        };
        let mut team = self.sibling();
        let (give, answer) = sync_channel(1);
        let started = thread::Builder::new()
            .name("verdict".to_owned())
            .spawn(move || {
                let _waiting = waiting;
                let done = work(&mut team);
                let _ = give.send((done, team.live.take()));
            });
        match started
            .ok()
            .and_then(|_| answer.recv_timeout(ANSWER_WITHIN).ok())
        {
            Some((done, live)) => {
                self.live = live;
                done.map(Some)
            }
            None => Ok(None),
        }
    }

    fn lacks_news(&mut self) -> Result<bool> {
        if self.log.identity().journal.is_none() || self.past().is_some() {
            return Ok(false);
        }
        let most = self.query(|live, _| Ok(live.setting(Setting::GuardStale)?.0.number()))?;
        match self.keep_up(Duration::from_secs(most)) {
            Ok(()) => Ok(false),
            // The process that holds the lock is possibly waiting for the journal.
            Err(failure) if failure.is_of_journal() || failure.code() == "locked" => Ok(true),
            Err(failure) => Err(failure),
        }
    }

    /// Tells for each path if an agent may write the path. The verdicts have the order of the
    /// paths.
    pub fn can_write_all(&mut self, asked: &CanWriteAll) -> Result<Vec<WriteVerdict>> {
        names::check_known("agent", &asked.agent)?;
        let known = asked.clone();
        let verdicts = self.soon(move |team| match team.lacks_news()? {
            true => Ok(None),
            false => team.verdicts(&known).map(Some),
        })?;
        Ok(verdicts.flatten().unwrap_or_else(|| stale(&asked.paths)))
    }

    fn verdicts(&mut self, asked: &CanWriteAll) -> Result<Vec<WriteVerdict>> {
        // Reads the disk after the query, because a query can run twice.
        let (held, set) = self.leases(&asked.agent)?;
        let root = asked.root.as_deref().unwrap_or(&set);
        Ok(verdicts(root, &held, asked))
    }

    /// Returns the live leases on paths, and the setting `resources.root`.
    fn leases(&mut self, agent: &str) -> Result<(Vec<HeldResources>, String)> {
        let now = self.now();
        self.query(|live, _| {
            let set = live.setting(Setting::ResourcesRoot)?.0;
            let mut held = live.held_resources()?;
            // Keeps a lease of another agent a little longer, because the clock of that agent's host may be slow.
            let over = live.leases_over_by(now);
            let by = |holder: &String| if holder == agent { now } else { over };
            held.retain(|held| held.leased_until > by(&held.holder));
            Ok((held, set.text().to_owned()))
        })
    }

    /// Returns the settings and leases with which a guard on another machine decides for `agent`.
    pub fn guard_view(&mut self, agent: &str) -> Result<GuardView> {
        names::check_known("agent", agent)?;
        let is_stale = self.is_stale()?;
        let rules = self.guard_rules()?;
        let (held, root) = self.leases(agent)?;
        Ok(GuardView {
            rules,
            root,
            is_stale,
            held,
        })
    }
}

/// The settings and leases of a team at one moment, for a guard on another machine. That guard compares paths of its own disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardView {
    /// The settings of the guard.
    pub rules: GuardRules,
    /// The setting `resources.root`; empty if not set.
    pub root: String,
    /// True if leases may be outdated, as for [`Team::is_stale`].
    pub is_stale: bool,
    held: Vec<HeldResources>,
}

impl GuardView {
    /// Tells for each path if the agent may write the path. The verdicts have the order of the
    /// paths.
    pub fn can_write_all(&self, asked: &CanWriteAll) -> Vec<WriteVerdict> {
        if self.is_stale {
            return stale(&asked.paths);
        }
        verdicts(
            asked.root.as_deref().unwrap_or(&self.root),
            &self.held,
            asked,
        )
    }

    /// Returns a task of another agent that holds paths; `None` if there is none. Ignores tasks of
    /// the agents in `own`.
    pub fn held_by_others(&self, own: &[&str]) -> Option<&HeldResources> {
        let mut others = self.held.iter();
        others.find(|held| !own.contains(&&*held.holder) && !held.resources.is_empty())
    }
}

fn stale(paths: &[String]) -> Vec<WriteVerdict> {
    let stale = |path: &String| denied(path, WriteReason::Stale);
    paths.iter().map(stale).collect()
}

fn verdicts(root: &str, held: &[HeldResources], asked: &CanWriteAll) -> Vec<WriteVerdict> {
    let tree = Tree::at(root);
    let verdict = |path: &String| verdict(&tree, held, &asked.agent, path);
    asked.paths.iter().map(verdict).collect()
}

fn verdict(tree: &Tree, held: &[HeldResources], agent: &str, path: &str) -> WriteVerdict {
    let normal = match tree.normal(path) {
        Ok(normal) => normal,
        Err(reason) => return denied(path, reason),
    };
    let covering = |held: &HeldResources| {
        let covers = |text: &&String| Pattern::parse(text).is_ok_and(|one| one.covers(&normal));
        held.resources.iter().find(covers).cloned()
    };
    let find = |own: bool| {
        let of = held.iter().filter(|held| (held.holder == agent) == own);
        of.filter_map(|held| Some((held, covering(held)?))).next()
    };
    let (reason, found) = match (find(true), find(false)) {
        (Some(own), _) => (WriteReason::LeaseActiveForResource, Some(own)),
        (None, Some(other)) => (WriteReason::ResourceHeldByOther, Some(other)),
        (None, None) => (WriteReason::NoActiveLeaseForPath, None),
    };
    let mut verdict = denied(&normal, reason);
    verdict.allow = reason == WriteReason::LeaseActiveForResource;
    if let Some((held, resource)) = found {
        verdict.task_id = Some(held.task_id.clone());
        verdict.holder = Some(held.holder.clone());
        verdict.resource = Some(resource);
        verdict.until = Some(held.leased_until.to_string());
    }
    verdict
}

fn denied(path: &str, reason: WriteReason) -> WriteVerdict {
    WriteVerdict {
        allow: false,
        reason,
        path: path.to_owned(),
        task_id: None,
        holder: None,
        resource: None,
        until: None,
    }
}
