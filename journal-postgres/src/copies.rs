//! Number of servers that have an acknowledged commit, and the check that the server decides.

use crate::raw::{Lost, Raw, column};
use crate::schema;
use teamlog_engine::JournalFault::{NotDurable, OfAnother, Unreachable};
use teamlog_engine::journal::{Copies, Term};
use teamlog_engine::{Error, Result};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

/// Checks what a server shows of itself: that it decides, and keeps as many copies as the journal promises.
pub fn check(found: &Copies, last_term: impl Fn(Term) -> Term) -> Result<(), Lost> {
    if found.term.number == 0 {
        return Err(Lost::Unfit(Unreachable, "the server is a standby".into()));
    }
    let last = last_term(found.term);
    if found.term.is_before(last) {
        let why = format!(
            "the server is a former primary: its timeline is {}, and {} was seen",
            found.term.number, last.number
        );
        return Err(Lost::Unfit(Unreachable, why));
    }
    match found.wrong.is_empty() {
        true => Ok(()),
        false => Err(Lost::Unfit(NotDurable, found.wrong.join("; "))),
    }
}

/// Reads how a server shows itself.
pub fn look(raw: &Raw) -> Result<Copies> {
    let row = match raw.row(schema::LOOK, &[]) {
        Ok(Some(row)) => row,
        Ok(None) | Err(Lost::Refused(SqlState::UNDEFINED_TABLE, _)) => {
            return Err(Error::journal(OfAnother, "no journal was made there"));
        }
        Err(lost) => return Err(lost.into()),
    };
    let found = found(&row).unwrap_or_else(|lost| Err(lost.why()));
    found.map_err(|why| Error::journal(OfAnother, why))
}

/// Reads a row of [`schema::LOOK`]; an inner error if the tables are of another version.
pub fn found(row: &Row) -> Result<Result<Copies, String>, Lost> {
    let min_reader: i32 = column(row, 1)?;
    if min_reader > schema::SCHEMA {
        return Ok(Err(format!(
            "it needs a newer teamlog: its tables have version {min_reader}, this one knows {}",
            schema::SCHEMA
        )));
    }
    let tables: i32 = column(row, 0)?;
    if tables < schema::SCHEMA {
        return Ok(Err(format!(
            "its tables have version {tables}, and this teamlog needs {}: teamlog journal migrate NAME brings them there",
            schema::SCHEMA
        )));
    }
    let number = |at: usize| Ok(u32::try_from(column::<i32>(row, at)?).unwrap_or(0));
    let (min_copies, standbys) = (number(3)?, number(8)?);
    let names: String = column(row, 7)?;
    let waits_for = commit_waits_for(&names);
    let mut wrong = Vec::new();
    for (at, name, wanted) in [
        (4, "synchronous_commit", "on"),
        (5, "fsync", "on"),
        (6, "full_page_writes", "on"),
    ] {
        let is: String = column(row, at)?;
        // More than asked for is as good.
        if is != wanted && is != "remote_apply" {
            wrong.push(format!("{name} must be {wanted}, but is {is}"));
        }
    }
    let wanted = min_copies.saturating_sub(1);
    if names.is_empty() && wanted > 0 {
        wrong.push("synchronous_standby_names must name standbys, but is empty".into());
    } else if waits_for < wanted {
        wrong.push(format!(
            "synchronous_standby_names must have a commit wait for {wanted} standbys, but '{names}' waits for {waits_for}"
        ));
    }
    let wanted = wanted.max(waits_for);
    if standbys < wanted {
        wrong.push(format!(
            "{wanted} standbys must stream and be synchronous, but {standbys} do, as a role with pg_monitor sees them"
        ));
    }
    let timeline: Option<String> = column(row, 9)?;
    Ok(Ok(Copies {
        journal: column(row, 2)?,
        min_copies,
        copies: waits_for.min(standbys) + 1,
        names,
        term: Term {
            system: column::<i64>(row, 11)?.cast_unsigned(),
            number: timeline
                .and_then(|digits| u32::from_str_radix(&digits, 16).ok())
                .unwrap_or(0),
        },
        version: column(row, 10)?,
        wrong,
    }))
}

/// The number of standbys that a commit waits for by a value of `synchronous_standby_names`: `FIRST n (…)`, `ANY n (…)`,
/// `n (…)`, or a plain list, of which it waits for one. The server refuses any other form.
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
    // A standby may have such a name: `any_one, 2`.
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
