//! docs/export.md has a row for each column of each table, in order, and its queries can be run.

use crate::comparison::rows;
use crate::world::World;
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use teamlog_sqlite::{APPLICATION_ID, SCHEMA_VERSION};

#[test]
fn the_document_has_every_column() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/export.md");
    let document = std::fs::read_to_string(path).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (world, file) = (World::new(), dir.path().join("a.db"));
    world.export(&file).unwrap();
    let database = Connection::open(&file).unwrap();
    let tables = rows(
        &database,
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid",
    );
    let mut expected = Vec::new();
    for table in tables {
        let table = table[0].as_str().unwrap().to_owned();
        let query = format!(
            "SELECT name, lower(type) || iif(\"notnull\" OR pk, '', ' or null') FROM pragma_table_info('{table}')"
        );
        for column in rows(&database, &query) {
            expected.push(json!([table, column[0], column[1]]));
        }
    }
    let mut found = Vec::new();
    for part in document.split("\n### ").skip(1) {
        let (table, text) = part.split_once('\n').unwrap();
        for line in text.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = line.split(" | ").collect();
            if let [column, kind, _] = cells.as_slice() {
                found.push(json!([table, column.trim_matches(['|', ' ', '`']), kind]));
            }
        }
    }
    assert_eq!(found, expected);
    let views = rows(
        &database,
        "SELECT name FROM sqlite_schema WHERE type = 'view'",
    );
    for view in views {
        assert!(document.contains(&format!("| `{}` |", view[0].as_str().unwrap())));
    }
    for query in document.split("```sql\n").skip(1) {
        let query = query.split("```").next().unwrap();
        database.execute_batch(query).unwrap();
    }
    assert!(document.contains(&format!("(`{APPLICATION_ID:#x}`)")));
    assert!(document.contains(&format!("tables is {SCHEMA_VERSION},")));
}
