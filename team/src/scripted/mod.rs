//! Scripted projections: folds in a script language, declared by events.
//!
//! The log holds the scripts. Readers fold them into runs of their own below the log's directory (`fold.rs`), so a slow script slows no
//! writer, and no script changes the state digest. A script that fails stops its own projection at that event: the state of the key stays
//! as before, and the failure is a row.

pub mod check;
pub mod declare;
pub mod fold;
pub mod read;

pub use fold::{ProjectionFailure, ScriptFold};

use crate::operation::prelude::*;
use crate::projections::script::ScriptedProjection;

/// Maximum number of scripted projections of a team.
pub const SCRIPTED_MAX: usize = 50;
/// Longest name of a scripted projection, in bytes.
pub const NAME_BYTES_MAX: usize = 48;

/// Names that are words of the command line.
const WORDS: [&str; 6] = ["show", "test", "list", "remove", "declare", "help"];

/// Checks the name of a new projection. The name is also the name of a directory.
fn check_name(name: &str) -> Result<(), Refusal> {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    let begins = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphanumeric());
    if name.len() > NAME_BYTES_MAX || !begins || !name.bytes().all(plain) {
        let rule =
            format!("must match ^[a-z0-9][a-z0-9_-]*$ and have at most {NAME_BYTES_MAX} bytes");
        return Err(Refusal::invalid("name", name, rule));
    }
    if WORDS.contains(&name) {
        let words = WORDS.join(", ");
        return Err(Refusal::invalid(
            "name",
            name,
            format!("must not be a word of the command line ({words})"),
        ));
    }
    Ok(())
}

/// Returns the declared projection with this name.
fn declared(live: &Live, name: &str) -> Result<ScriptedProjection> {
    names::check_known("name", name)?;
    if let Some(found) = live.scripted_projection(name)? {
        return Ok(found);
    }
    let names: Vec<String> = live
        .scripted_projections()?
        .into_iter()
        .map(|found| found.declared.name)
        .collect();
    Err(unknown(name, &names).into())
}

fn unknown(name: &str, names: &[String]) -> Refusal {
    let known = match names.is_empty() {
        true => "the team has none".to_owned(),
        false => format!("projections: {}", names.join(", ")),
    };
    let message = format!("no projection {} in this team ({known})", shown(name));
    let refusal = Refusal::new(Code::ProjectionNotFound, message).field("name");
    match spelling::meant(name, names.iter().map(String::as_str)) {
        Some(meant) => refusal.detail("nearest", meant),
        None => refusal,
    }
}
