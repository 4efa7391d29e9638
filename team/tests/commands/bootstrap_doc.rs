//! Checks that the tables in `docs/bootstrap.md` agree with the tables of the rules.
//!
//! `TEAMLOG_BLESS=1 cargo test -p teamlog-team --test commands bootstrap_doc` writes the tables.

use crate::prelude::*;
use teamlog_team::bootstrap::breach::BREACHES;
use teamlog_team::bootstrap::events::EventRow;

fn events() -> String {
    let mut lines = vec![
        "| event | legal in | leads to | data | guard, and its code |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(EVENTS.iter().map(|row| {
        let from: Vec<&str> = row.from.iter().map(|state| state.name()).collect();
        let from = match from.len() == State::ALL.len() {
            true => "everywhere".to_owned(),
            false => from.join(", "),
        };
        format!(
            "| `{}` | {from} | {} | {} | {} |",
            row.name,
            row.to,
            data(row),
            row.guard
        )
    }));
    lines.join("\n")
}

/// Returns the fields of an event as text, such as `domain` (`d`), `round?`.
fn data(row: &EventRow) -> String {
    let field = |field: &teamlog_team::bootstrap::events::Field| {
        let mark = if field.required { "" } else { "?" };
        let aliases: Vec<String> = field
            .aliases
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        match aliases.is_empty() {
            true => format!("`{}{mark}`", field.name),
            false => format!("`{}{mark}` ({})", field.name, aliases.join(", ")),
        }
    };
    row.fields.iter().map(field).collect::<Vec<_>>().join("; ")
}

fn codes() -> String {
    let mut lines = vec![
        "| code | when | falls back to |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    lines.extend(
        BREACHES
            .iter()
            .map(|row| format!("| `{}` | {} | {} |", row.code, row.when, row.back_to)),
    );
    lines.join("\n")
}

fn signals() -> String {
    let mut lines = vec![
        "| signal | event | settles |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    lines.extend(SIGNALS.iter().map(|(signal, event, settled)| {
        let settled = settled.map(|(field, value)| format!("`{field}` is `{value}`"));
        format!(
            "| `{signal}` | `{}` | {} |",
            event.name(),
            settled.unwrap_or_default()
        )
    }));
    lines.extend(
        OTHER_SIGNALS
            .iter()
            .map(|signal| format!("| `{signal}` | none: the signal is stored | |")),
    );
    lines.join("\n")
}

#[test]
fn the_tables_in_docs_are_those_of_the_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/bootstrap.md");
    let found = std::fs::read_to_string(&path).unwrap();
    let mut made = found.clone();
    for (name, table) in [
        ("events", events()),
        ("codes", codes()),
        ("signals", signals()),
    ] {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let (before, rest) = made.split_once(&begin).unwrap();
        let (_, behind) = rest.split_once(&end).unwrap();
        made = format!("{before}{begin}{table}\n{end}{behind}");
    }
    if std::env::var_os("TEAMLOG_BLESS").is_some() {
        std::fs::write(&path, made).unwrap();
        return;
    }
    assert!(
        found == made,
        "docs/bootstrap.md is out of date; TEAMLOG_BLESS=1 cargo test -p teamlog-team --test commands bootstrap_doc writes it anew"
    );
}
