//! `modes/…`: the states of workflow modes, at the root and of each session.
//!
//! | file | content |
//! |---|---|
//! | `<mode>-state.json` | the state of a mode |
//! | `skill-active-state.json` | the list of active skills, for hooks and displays; never an input |
//! | `run-state.json` | the state that changed last, in short |
//! | `sessions/<session>/…` | the same of a session |

use crate::mode::event::Fields;
use crate::mode::{self, Scope};
use crate::prelude::*;
use crate::views::mend::{put, remove_others};
use crate::views::{Home, Mended, failed};
use std::io::ErrorKind;

pub(crate) const DIR: &str = "modes";
/// Where the directories of the sessions lie.
pub(crate) const SESSIONS: &str = "modes/sessions";
/// The name of that directory in [`DIR`].
const SESSIONS_NAME: &str = "sessions";
/// The list of active skills.
pub(crate) const SKILLS: &str = "skill-active-state.json";
const RUN: &str = "run-state.json";

/// A scope's directory, relative to the team's; sessions were checked when their event was decoded.
pub(crate) fn dir(scope: &Scope) -> String {
    match scope {
        Scope::Root => DIR.to_owned(),
        Scope::Session(session) => format!("{SESSIONS}/{session}"),
    }
}

/// Every file of a scope, by name.
pub(crate) fn files(live: &Live, scope: &Scope) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let Some(own) = live.mode_scope(scope)? else {
        return Ok(files);
    };
    for entry in &own.entries {
        if let Some(state) = live.mode_state(scope, entry.mode)? {
            files.insert(format!("{}-state.json", entry.mode), text(&state.shown()));
        }
    }
    if let Some(skills) = mode::skills_state(live, scope)? {
        files.insert(SKILLS.to_owned(), text(&skills));
    }
    if let Some(run) = mode::run_state(live, scope)? {
        files.insert(RUN.to_owned(), text(&run));
    }
    Ok(files)
}

/// Every scope of which anything is known.
pub(crate) fn scopes(live: &Live) -> Result<Vec<Scope>> {
    let mut scopes = Vec::new();
    if live.mode_scope(&Scope::Root)?.is_some() {
        scopes.push(Scope::Root);
    }
    let sessions = live.mode_sessions(None, usize::MAX)?;
    scopes.extend(sessions.into_iter().map(Scope::Session));
    Ok(scopes)
}

/// What else stands in the directory of a scope that is as it should be.
pub(crate) fn names(scope: &Scope, files: &BTreeMap<String, Vec<u8>>) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = files.keys().cloned().collect();
    if *scope == Scope::Root {
        names.insert(SESSIONS_NAME.to_owned());
    }
    names
}

fn text(fields: &Fields) -> Vec<u8> {
    // Into memory nothing fails.
    let mut text = serde_json::to_vec_pretty(fields).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Brings the scopes in line that some events touched. A list of skills also shows what is inherited from the root.
pub(crate) fn write(live: &Live, home: &Home, touched: &BTreeSet<Scope>) -> Result<Mended> {
    if !home.exists(DIR)? {
        return mend(live, home);
    }
    let mut mended = Mended::default();
    for scope in touched {
        mended.add(mend_scope(live, home, scope)?);
    }
    if touched.contains(&Scope::Root) {
        for session in live.active_sessions()? {
            let scope = Scope::Session(session);
            if !touched.contains(&scope) {
                mended.add(inherit(live, home, &scope)?);
            }
        }
    }
    Ok(mended)
}

/// Brings the list of skills of a session in line that itself did not change.
fn inherit(live: &Live, home: &Home, scope: &Scope) -> Result<Mended> {
    let dir = dir(scope);
    if !home.exists(&dir)? {
        return mend_scope(live, home, scope);
    }
    match mode::skills_state(live, scope)? {
        None => Ok(Mended::default()),
        Some(skills) => put(home, &home.path(&dir).join(SKILLS), &text(&skills)).map(Mended::one),
    }
}

/// Brings `modes/` in line with the state.
pub(crate) fn mend(live: &Live, home: &Home) -> Result<Mended> {
    let mut mended = Mended::default();
    let scopes = scopes(live)?;
    if scopes.is_empty() && !home.exists(DIR)? {
        return Ok(mended);
    }
    // Also where nothing of it is known any more.
    mended.add(mend_scope(live, home, &Scope::Root)?);
    let mut sessions = BTreeSet::new();
    for scope in &scopes {
        if let Some(session) = scope.session() {
            sessions.insert(session.to_owned());
            mended.add(mend_scope(live, home, scope)?);
        }
    }
    if home.exists(SESSIONS)? {
        mended.removed += remove_others(home, SESSIONS, &sessions)?;
    }
    Ok(mended)
}

/// Brings the files of a scope in line: those that differ are written, those of nothing removed.
fn mend_scope(live: &Live, home: &Home, scope: &Scope) -> Result<Mended> {
    let mut mended = Mended::default();
    let files = files(live, scope)?;
    let place = home.path(&dir(scope));
    if files.is_empty() && *scope != Scope::Root {
        return forget(home, scope);
    }
    home.storage
        .create_dir(&place)
        .map_err(failed("create", &place))?;
    for (name, text) in &files {
        mended.add(Mended::one(put(home, &place.join(name), text)?));
    }
    mended.removed += remove_others(home, &dir(scope), &names(scope, &files))?;
    Ok(mended)
}

/// Removes the directory of a session of which nothing is known any more.
fn forget(home: &Home, scope: &Scope) -> Result<Mended> {
    let dir = dir(scope);
    let mut mended = Mended::default();
    if home.exists(&dir)? {
        let path = home.path(&dir);
        let files = home.storage.list(&path).map_err(failed("list", &path))?;
        mended.removed = files.len() as u64;
        match home.storage.remove_dir_all(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failed("remove", &path)(error));
            }
            _ => {}
        }
    }
    Ok(mended)
}
