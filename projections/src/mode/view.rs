//! `modes/…`: the states of workflow modes, of the root and of each session.
//!
//! | file | content |
//! |---|---|
//! | `<mode>-state.json` | the state of a mode |
//! | `skill-active-state.json` | the list of active skills, for hooks and displays; never an input |
//! | `run-state.json` | a summary of the state that changed last |
//! | `sessions/<session>/…` | the files of a session |

use crate::files::{Home, ViewUpdate, Walk, failed, pretty};
use crate::mode::shown::followed_since;
use crate::mode::{self, Scope};
use crate::prelude::*;

pub(crate) const DIR: &str = "modes";
/// Directory of the sessions' directories.
const SESSIONS: &str = "modes/sessions";
/// Name of the directory [`SESSIONS`] within [`DIR`].
const SESSIONS_NAME: &str = "sessions";
/// Name of the list of active skills.
pub(crate) const SKILLS: &str = "skill-active-state.json";
const RUN: &str = "run-state.json";
/// Largest size of a list of skills; a larger file was not written by teamlog.
const LIST_BYTES_MAX: u64 = 1 << 20;

/// Returns a scope's directory, relative to the team's directory; session ids were checked when their event was decoded.
pub(crate) fn dir(scope: &Scope) -> String {
    match scope {
        Scope::Root => DIR.to_owned(),
        Scope::Session(session) => format!("{SESSIONS}/{session}"),
    }
}

/// Returns every file of a scope, by name.
fn files(live: &TeamState, scope: &Scope) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let Some(own) = live.mode_scope(scope)? else {
        return Ok(files);
    };
    for entry in &own.entries {
        if let Some(state) = live.mode_state(scope, entry.mode)? {
            files.insert(format!("{}-state.json", entry.mode), pretty(&state.shown()));
        }
    }
    if let Some(skills) = mode::skills_state(live, scope)? {
        files.insert(SKILLS.to_owned(), pretty(&skills));
    }
    if let Some(run) = mode::run_state(live, scope)? {
        files.insert(RUN.to_owned(), pretty(&run));
    }
    Ok(files)
}

/// Updates the files of the scopes that events changed. A session's list of skills also shows modes inherited from the
/// root.
pub(crate) fn write(
    live: &TeamState,
    home: &Home,
    touched: &BTreeSet<Scope>,
) -> Result<ViewUpdate> {
    if !home.exists(DIR)? {
        return Walk::mend(home, |to| walk(live, to));
    }
    let mut mended = ViewUpdate::default();
    let concerned = match touched.contains(&Scope::Root) {
        true => sessions_of_root(live, home)?,
        false => BTreeSet::new(),
    };
    for scope in touched {
        mended.add(mend_scope(live, home, scope)?);
    }
    for scope in concerned.difference(touched) {
        mended.add(inherit(live, home, scope)?);
    }
    Ok(mended)
}

/// Returns the sessions whose list of skills shows the root's modes, or showed them when the root's list was last written. Reads
/// the lives of all sessions, and no files.
fn sessions_of_root(live: &TeamState, home: &Home) -> Result<BTreeSet<Scope>> {
    let written = written_at(home);
    let now = live.mode_scope(&Scope::Root)?.map(|root| root.at);
    let mut sessions = live.active_sessions()?;
    if let Some(earliest) = written.into_iter().chain(now).min() {
        sessions.extend(live.sessions_since(followed_since(earliest))?);
    }
    Ok(sessions.into_iter().map(Scope::Session).collect())
}

/// Returns the time in the root's list of skills; `None` if there is no readable list.
fn written_at(home: &Home) -> Option<Timestamp> {
    #[derive(serde::Deserialize)]
    struct Written {
        updated_at: String,
    }
    let path = home.path(DIR).join(SKILLS);
    let text = home.storage.read(&path, LIST_BYTES_MAX).ok()?;
    let written: Written = serde_json::from_slice(&text).ok()?;
    Timestamp::parse(&written.updated_at).ok()
}

/// Updates a session's list of skills after a change of the root.
fn inherit(live: &TeamState, home: &Home, scope: &Scope) -> Result<ViewUpdate> {
    let Some(skills) = mode::skills_state(live, scope)? else {
        return Ok(ViewUpdate::default());
    };
    let dir = dir(scope);
    if !home.exists(&dir)? {
        return mend_scope(live, home, scope);
    }
    let path = home.path(&dir).join(SKILLS);
    home.put(&path, &pretty(&skills)).map(ViewUpdate::one)
}

pub(crate) fn walk(live: &TeamState, to: &mut Walk<'_>) -> Result<()> {
    // The root is visited even if it has no states, so that old files of the root are removed.
    walk_scope(to, &Scope::Root, &files(live, &Scope::Root)?)?;
    for session in live.mode_sessions(None, usize::MAX)? {
        to.keep(SESSIONS, &session);
        let scope = Scope::Session(session);
        walk_scope(to, &scope, &files(live, &scope)?)?;
    }
    to.end(SESSIONS)
}

fn walk_scope(to: &mut Walk<'_>, scope: &Scope, files: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    let dir = dir(scope);
    for (name, text) in files {
        to.file(&dir, name, text)?;
    }
    if *scope == Scope::Root {
        to.keep(&dir, SESSIONS_NAME);
    }
    to.end(&dir)
}

/// Updates the files of a scope: writes files that differ, and removes files without a state.
fn mend_scope(live: &TeamState, home: &Home, scope: &Scope) -> Result<ViewUpdate> {
    let files = files(live, scope)?;
    match files.is_empty() && *scope != Scope::Root {
        true => forget(home, scope),
        false => Walk::mend(home, |to| walk_scope(to, scope, &files)),
    }
}

/// Removes the directory of a session without states.
fn forget(home: &Home, scope: &Scope) -> Result<ViewUpdate> {
    let dir = dir(scope);
    let mut mended = ViewUpdate::default();
    if home.exists(&dir)? {
        let path = home.path(&dir);
        let files = home.storage.list(&path).map_err(failed("list", &path))?;
        mended.removed = files.len() as u64;
        home.remove_dir(&path)?;
    }
    Ok(mended)
}
