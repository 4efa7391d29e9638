//! Counts the servers that have an acknowledged commit, and checks that the server is the deciding server.

use crate::call_error::{CallError, column};
use crate::probe::{Probe, timeline};
use crate::schema;
use teamlog_engine::JournalFault::{NotDurable, Unreachable};
use teamlog_engine::journal::{Durability, JournalInfo, Term};
use tokio_postgres::Row;

/// State of a server, as the server reports it.
pub struct ServerState {
    pub copies: JournalInfo,
    is_standby: bool,
    /// The probes that were answered.
    pub answering: Vec<Probe>,
}

/// Checks that a server is the deciding server, and keeps as many copies as the journal promises.
pub fn check(shown: &ServerState, last_term: impl Fn(Term) -> Term) -> Result<(), CallError> {
    let copies = &shown.copies;
    if shown.is_standby {
        return Err(CallError::Unfit(
            Unreachable,
            "the server is a standby".into(),
        ));
    }
    let last = last_term(copies.term);
    if copies.term.is_before(last) {
        let why = format!(
            "the server is a former primary: its timeline is {}, and {} was seen",
            copies.term.number, last.number
        );
        return Err(CallError::Unfit(Unreachable, why));
    }
    match copies.wrong.is_empty() {
        true => Ok(()),
        false => Err(CallError::Unfit(NotDurable, copies.wrong.join("; "))),
    }
}

/// Reads a row of [`schema::LOOK`] or [`schema::LOOK_EXTERNAL`]. Returns an inner error if the tables have another version.
pub fn shown(row: &Row, durability: Durability) -> Result<Result<ServerState, String>, CallError> {
    if let Some(why) = other_tables(column(row, 0)?, column(row, 1)?) {
        return Ok(Err(why));
    }
    let number = |at: usize| Ok(u32::try_from(column::<i32>(row, at)?).unwrap_or(0));
    let mut copies = JournalInfo {
        journal: column(row, 2)?,
        durability,
        min_copies: number(3)?,
        copies: 1,
        names: column(row, 7)?,
        term: Term {
            system: column::<Option<i64>>(row, 11)?.map_or(0, i64::cast_unsigned),
            number: column::<Option<String>>(row, 9)?.map_or(0, |digits| timeline(&digits)),
        },
        version: column(row, 10)?,
        wrong: Vec::new(),
        unverified: Vec::new(),
    };
    check_settings(row, &mut copies)?;
    match durability {
        Durability::Standbys => count(number(8)?, &mut copies),
        Durability::External => count_none(&mut copies),
    }
    Ok(Ok(ServerState {
        copies,
        is_standby: column(row, schema::LOOK_STANDBY)?,
        answering: Vec::new(),
    }))
}

/// Returns the reason why tables of this version cannot be used; `None` if they can be used.
fn other_tables(tables: i32, min_reader: i32) -> Option<String> {
    if min_reader > schema::SCHEMA {
        return Some(format!(
            "it needs a newer teamlog: its tables have version {min_reader}, this one knows {}",
            schema::SCHEMA
        ));
    }
    let why = || {
        format!(
            "its tables have version {tables}, and this teamlog needs {}: run teamlog journal migrate NAME",
            schema::SCHEMA
        )
    };
    (tables < schema::SCHEMA).then(why)
}

/// Checks the settings that a server needs to write a commit to its own disk.
fn check_settings(row: &Row, copies: &mut JournalInfo) -> Result<(), CallError> {
    for (at, name) in [
        (4, "synchronous_commit"),
        (5, "fsync"),
        (6, "full_page_writes"),
    ] {
        let is: String = column(row, at)?;
        // A stronger setting is accepted, too.
        if is == "on" || is == "remote_apply" {
            continue;
        }
        match copies.durability == Durability::External && name == "full_page_writes" {
            true => copies.unverified.push(format!(
                "{name} is {is}: the storage must write whole pages, like Aurora's"
            )),
            false => copies.wrong.push(format!("{name} must be on, but is {is}")),
        }
    }
    Ok(())
}

/// Counts the standbys that a commit waits for.
fn count(standbys: u32, copies: &mut JournalInfo) {
    let waits_for = commit_waits_for(&copies.names);
    let wanted = copies.min_copies.saturating_sub(1);
    if copies.names.is_empty() && wanted > 0 {
        let why = "synchronous_standby_names must name standbys, but is empty";
        copies.wrong.push(why.into());
    } else if waits_for < wanted {
        copies.wrong.push(format!(
            "synchronous_standby_names must make a commit wait for {wanted} standbys, but '{}' waits for {waits_for}",
            copies.names
        ));
    }
    let wanted = wanted.max(waits_for);
    if standbys < wanted {
        copies.wrong.push(format!(
            "{wanted} standbys must stream and be synchronous, but {standbys} do, as a role with pg_monitor sees them"
        ));
    }
    copies.copies = waits_for.min(standbys) + 1;
}

/// Notes that the copies cannot be counted, because they are made below the server. Reports a fault if the journal promises a
/// counted number of copies.
fn count_none(copies: &mut JournalInfo) {
    copies.unverified.push(
        "number of copies: they are made below PostgreSQL, and only the service shows them".into(),
    );
    if copies.min_copies > 1 {
        copies.wrong.push(format!(
            "durability is \"external\", but the journal was made to count {} copies (min_copies in teamlog_meta, which must be 1)",
            copies.min_copies
        ));
    }
}

/// Returns the number of standbys that a commit waits for with a value of `synchronous_standby_names`. The setting has the
/// forms `FIRST n (…)`, `ANY n (…)`, `n (…)`, and a plain list, of which the commit waits for one standby. The server refuses
/// any other form.
fn commit_waits_for(names: &str) -> u32 {
    let names = names.trim_start();
    if names.is_empty() {
        return 0;
    }
    let keyword = ["first", "any"].into_iter().find(|keyword| {
        names
            .get(..keyword.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(keyword))
    });
    let count = names.get(keyword.map_or(0, str::len)..).unwrap_or_default();
    let count = count.trim_start();
    let digits = count.len()
        - count
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let (digits, list) = count.split_at(digits);
    // A plain list can begin with letters of a keyword, too, if the name of a standby begins with those letters: `any_one, 2`.
    match (digits.parse(), list.trim_start().starts_with('(')) {
        (Ok(count), true) => count,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_waits_for_what_synchronous_standby_names_says() {
        for (names, count) in [
            ("", 0),
            ("  ", 0),
            ("*", 1),
            ("one", 1),
            ("one, two, three", 1),
            ("ANY 1 (n0,n1,n2)", 1),
            ("any 2 (n0,n1,n2)", 2),
            ("Any\t3(*)", 3),
            ("FIRST 2 (one, two, three)", 2),
            ("first 1 (*)", 1),
            ("2 (one, two, three)", 2),
            ("2(one, two)", 2),
            ("2, three", 1),
            ("any_one, two", 1),
            ("first", 1),
            ("\"ANY 2 (x)\", two", 1),
            ("\"any\"", 1),
            ("ANY 2 (\"a \"\"b\"\"\", c)", 2),
            ("änderung, b", 1),
        ] {
            assert_eq!(commit_waits_for(names), count, "{names}");
        }
    }
}
