//! Check `modes`: modes that were left active, and files whose list of modes differs from the state. In the order of the
//! checks:
//!
//! | checked | fault | command that repairs it |
//! |---|---|---|
//! | states of sessions | active, but the session is silent for longer than the stale time | clear the mode |
//! | states of the root | active, but the state of a session ended later; or active and silent for longer than the stale time | clear the mode |
//! | files of active skills | the file lists other modes than `mode list` shows for the scope | rewrite the files |
//! | auto-completed states | the file still lists the mode as active | rewrite the files |
//!
//! The first two faults are warnings. The last two are unhealthy: the file was changed from outside, and hooks and displays
//! read it.

use super::*;
use crate::mode::rules::denial::session_option;
use crate::projections::Result;
use crate::projections::mode::{Mode, ModeEntry, ModeScope, Scope, follows_root};

const CLEARED: &str = "cleared";
/// Maximum number of sessions that one query returns.
const SESSIONS: usize = 1_000;

/// Names of the table's rows.
const KINDS: [&str; 4] = [
    "session_state",
    "root_state",
    "skill_active",
    "auto_completed",
];

struct Fault {
    /// Name of the table's row.
    kind: &'static str,
    scope: Scope,
    mode: Mode,
    what: String,
}

#[derive(Default)]
struct ModeFaults {
    states: u64,
    active: u64,
    /// Seconds without activity after which a mode counts as left active.
    stale_seconds: u64,
    faults: Vec<Fault>,
}

pub(super) fn check(seen: &Observations<'_>) -> Observation<Check> {
    let live = borrowed(&seen.fresh)?;
    // The check `views` reports files that a crash left out of date.
    let current = seen.views_are_current(live) && keeps_views(live);
    let files = seen.log.as_ref().ok().filter(|_| current);
    let files = files.map(ViewsSource::new);
    let found = look(live, files.as_ref(), seen.root.options().clock.now());
    Ok(judged(&found.map_err(error_text)?, seen))
}

fn judged(found: &ModeFaults, seen: &Observations<'_>) -> Check {
    let mut check = match found.faults.first() {
        None => {
            let (active, states) = (found.active, found.states);
            let summary = format!("{active} of {states} modes are active, none is stale");
            Check::healthy(summary)
        }
        Some(first) => {
            let health = match found.faults.iter().any(Fault::is_of_a_file) {
                true => Health::Unhealthy,
                false => Health::Warn,
            };
            let summary = format!(
                "{} of {} modes have a fault: {} {}",
                found.faults.len(),
                found.states,
                first.place(),
                first.what
            );
            Check::new(health, summary)
        }
    };
    let commands = &mut check.recommendations;
    for fault in &found.faults {
        let command = fault.command(seen);
        if !commands.contains(&command) && commands.len() < LISTED_MAX {
            commands.push(command);
        }
    }
    let listed = found.faults.iter().take(LISTED_MAX);
    let listed: Vec<Value> = listed.map(Fault::json).collect();
    let wrong = found.faults.len();
    check.details(
        json!({"states": found.states, "active": found.active, "wrong": wrong, "faults": listed}),
    )
}

impl Fault {
    fn is_of_a_file(&self) -> bool {
        matches!(self.kind, "skill_active" | "auto_completed")
    }
    /// Returns the mode and its scope, such as `forge in session s-1`.
    fn place(&self) -> String {
        match &self.scope {
            Scope::Root => format!("{} at the root", self.mode),
            Scope::Session(session) => format!("{} in session {session}", self.mode),
        }
    }
    fn command(&self, seen: &Observations<'_>) -> String {
        match (&self.scope, self.is_of_a_file()) {
            (_, true) => seen.rehydrate(),
            (Scope::Root, _) => seen.command("mode clear", &format!("{} --root", self.mode)),
            (Scope::Session(session), _) => {
                let session = session_option(session);
                seen.command("mode clear", &format!("{}{session}", self.mode))
            }
        }
    }
    fn json(&self) -> Value {
        json!({
            "kind": self.kind,
            "mode": self.mode,
            "session_id": self.scope.session(),
            "what": self.what,
        })
    }
}

fn look(live: &Live, files: Option<&ViewsSource>, now: Timestamp) -> Result<ModeFaults> {
    let mut found = ModeFaults {
        stale_seconds: live.setting(Setting::SessionStale)?.0.number(),
        ..ModeFaults::default()
    };
    let root = live.mode_scope(&Scope::Root)?;
    let mut sessions = Vec::new();
    while let page = live.mode_sessions(sessions.last().map(String::as_str), SESSIONS)?
        && !page.is_empty()
    {
        sessions.extend(page);
    }
    let mut ended: Vec<(Mode, u64, String)> = Vec::new();
    for session in &sessions {
        let Some(own) = live.mode_scope(&Scope::Session(session.clone()))? else {
            continue;
        };
        for entry in &own.entries {
            // A tombstone (`cleared`) only hides the root's state from its session, and does not mean that the mode ended.
            if !entry.active && entry.phase.as_deref() != Some(CLEARED) {
                ended.push((entry.mode, entry.seq, session.clone()));
            }
        }
        // The root's states are not compared here: a session's state may be active although the root's state has ended.
        let life = live.session_life(session)?;
        let seen = life.map(|life| life.seen_at);
        found.states_of(&own, "session_state", (now, seen), |_| None);
        found.list_of(live, files, &own)?;
    }
    if let Some(root) = &root {
        found.states_of(root, "root_state", (now, None), |entry| {
            let later = ended
                .iter()
                .find(|(mode, seq, _)| *mode == entry.mode && *seq > entry.seq);
            later.map(|(_, _, session)| {
                format!("is active, although it ended later in session {session}")
            })
        });
        found.list_of(live, files, root)?;
    }
    let row = |fault: &Fault| KINDS.iter().position(|kind| *kind == fault.kind);
    found.faults.sort_by_key(row);
    Ok(found)
}

impl ModeFaults {
    fn fault(&mut self, kind: &'static str, scope: &Scope, mode: Mode, what: String) {
        let scope = scope.clone();
        let fault = Fault {
            kind,
            scope,
            mode,
            what,
        };
        self.faults.push(fault);
    }

    fn states_of(
        &mut self,
        scope: &ModeScope,
        kind: &'static str,
        (now, seen): (Timestamp, Option<Timestamp>),
        contradicted: impl Fn(&ModeEntry) -> Option<String>,
    ) {
        for entry in &scope.entries {
            self.states += 1;
            if !entry.active {
                continue;
            }
            self.active += 1;
            let since = seen.unwrap_or(entry.at);
            let silent = now.micros().saturating_sub(since.micros());
            let most = self.stale_seconds.saturating_mul(1_000_000);
            let stale = u64::try_from(silent).is_ok_and(|silent| silent > most);
            let stale = stale.then(|| format!("is active, but silent since {since}"));
            if let Some(what) = contradicted(entry).or(stale) {
                self.fault(kind, &scope.scope, entry.mode, what);
            }
        }
    }

    /// Compares a scope's file of active skills with the result of `mode list` for that scope. The result has the scope's states.
    /// For a session that follows the root, the result also has the root's states that no state of the session hides. This function
    /// computes the result without the code that writes the file, so that it also finds faults of that code.
    fn list_of(
        &mut self,
        live: &Live,
        files: Option<&ViewsSource>,
        scope: &ModeScope,
    ) -> Result<()> {
        let listed = match files {
            Some(files) => files.listed_skills(&scope.scope)?,
            None => None,
        };
        let Some(listed) = listed else {
            return Ok(());
        };
        let root = live.mode_scope(&Scope::Root)?;
        let follows = match &root {
            Some(root) => follows_root(live, scope, root)?,
            None => false,
        };
        for mode in Mode::ALL {
            let state = live.mode_state(&scope.scope, mode)?;
            let visible = match (&state, follows) {
                (None, true) => live.mode_state(&Scope::Root, mode)?,
                _ => state.clone(),
            };
            let active = visible.is_some_and(|visible| visible.is_active());
            let handed =
                state.is_some_and(|state| state.fields.contains_key("auto_completed_reason"));
            let (kind, what) = match (listed.contains(&mode), active) {
                (true, false) if handed => {
                    let what = "was completed by another mode, but its file lists it as active";
                    ("auto_completed", what)
                }
                (true, false) => {
                    let what = "is listed as active by its file, but is not";
                    ("skill_active", what)
                }
                (false, true) => ("skill_active", "is active, but its file does not list it"),
                _ => continue,
            };
            self.fault(kind, &scope.scope, mode, what.to_owned());
        }
        Ok(())
    }
}
