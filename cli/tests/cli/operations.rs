//! The document of the operations is generated from the table of operations. A test checks that the document is current.

use crate::reference::document;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use teamlog_team::Code;
use teamlog_team::api::{self, OPERATIONS, Operation};

/// Text before the table.
const BEFORE: &str = "\
# The team API

For programs that call `teamlog api`, and for those who write them: every operation with its input, answer and refusals. A test
makes this page from the table of operations (`TEAMLOG_BLESS=1 cargo test -p teamlog` writes it). Words are explained in
[glossary.md](../glossary.md); [migrating.md](../migrating.md) leads here from other tools.

```sh
teamlog api <operation> --input '<json-object>' --json
teamlog api <operation> --input @FILE --json      # or --input - for standard input
teamlog api <operation> --help                    # or --schema, for programs
teamlog api --list
```

Without `--input` the input is `{}`; of several the last counts. Names of operations are also taken in upper case, with
`_` for `-` and with `team_` before them (`TEAM_CLAIM_TASK`). Through a link to the program named `rcs`,
`rcs team api …` is the same, and `command` says so.

## The answer

One line on standard output, and exit 0 or 1:

```json
{\"schema_version\":\"1.0\",\"timestamp\":\"2026-11-21T12:00:00.000Z\",\"command\":\"teamlog api read-task\",\"ok\":true,\"operation\":\"read-task\",\"data\":{}}
{\"schema_version\":\"1.0\",\"timestamp\":\"2026-11-21T12:00:00.000Z\",\"command\":\"teamlog api read-task\",\"ok\":false,\"operation\":\"read-task\",\"error\":{\"code\":\"task_not_found\",\"message\":\"…\"}}
```

`\"replayed\":true` stands before `data` where the answer is that of an earlier request under the same key, and nothing was
done now; a claim that is over is not answered again (see [commands.md](../protocol/commands.md)).

Without `--json` people read `ok operation=…` and the data, or `error operation=… code=…: …` on standard error.

| `error.code` | when |
|---|---|
| `invalid_input` | a field is unknown, missing, of another type or none of its words; or the call itself cannot be read: `operation` is then `unknown`, and `command` leaves it out |
| `operation_failed` | a name breaks its rule, a filter is of another type, a gate of `cleanup` holds, or the storage failed: `details.code` is more precise. `outcome_unknown` is that of a call that the daemon left unanswered: ask again with the same key |
| any other | the rule that refused: see [Refusals](#refusals) |

`error.details` may have `code`, `field`, `hint` (what to do next) and more, by name. A refusal records nothing, except
that a lease that was found expired, or a claim found blocked, is recorded as such.

Faults are looked for in this order: fields that are not known (the nearest known one is named); names (`worker`,
`from_worker`, `to_worker`, `task_id`, `team_name`); fields that are missing; values of another type; then the rules, on
the state as it is. Where a text is required, a number stands for its digits, and `null`, `false`, `0` and blank text
count as missing. A field that is `null` elsewhere counts as not given.

A `?` marks what may be left out; a field of the data that has it is left out where it holds nothing.

## What every operation takes

";

#[test]
fn the_document_of_the_operations_is_what_the_table_says() {
    let mut text = String::from(BEFORE);
    let (all, changing) = common();
    text.push_str(&fields("field", &all));
    text.push_str("\nAnd every one that records something:\n\n");
    text.push_str(&fields("field", &changing));
    text.push_str("\n## Operations\n\n| operation | what it does | records |\n|---|---|---|\n");
    for operation in OPERATIONS {
        let (name, doc) = (operation.name, cell(operation.doc));
        let records = if operation.mutates() { "yes" } else { "" };
        text.push_str(&format!("| [`{name}`](#{name}) | {doc} | {records} |\n"));
    }
    let mut shapes = BTreeMap::new();
    for operation in OPERATIONS {
        text.push_str(&section(operation, &mut shapes));
    }
    text.push_str(&refusals());
    text.push_str("\n## Shapes\n\nWhat fields of the data hold.\n");
    for (name, shape) in &shapes {
        text.push_str(&format!("\n### {name}\n\n{}", described(shape)));
    }
    document("reference/api.md", &text);
}

/// Returns the section that explains every refusal code.
fn refusals() -> String {
    let codes = |records| codes(api::refusals(records, &[]));
    let mut text = format!(
        "\n## Refusals\n\nEvery operation may refuse with {}; every one that records something with {}.\n\n\
        | code | meaning |\n|---|---|\n",
        codes(false),
        codes(true)
    );
    let own = OPERATIONS.iter().flat_map(|operation| operation.refusals);
    let own: BTreeSet<Code> = api::refusals(true, &[]).chain(own.copied()).collect();
    for code in own {
        let meaning = cell(code.meaning().trim_end_matches('.'));
        text.push_str(&format!("| `{code}` | {meaning} |\n"));
    }
    text
}

fn codes(codes: impl Iterator<Item = Code>) -> String {
    let codes: Vec<String> = codes.map(|code| format!("`{code}`")).collect();
    codes.join(", ")
}

/// A row of a table of fields.
struct Row {
    name: String,
    holds: String,
    required: bool,
    doc: String,
}

fn section(operation: &Operation, shapes: &mut BTreeMap<String, Value>) -> String {
    let input = operation.input_schema().to_value();
    let data = operation.data_schema().to_value();
    for schema in [&input, &data] {
        for (name, shape) in object(&schema["$defs"]) {
            let known = shapes.entry(name.clone()).or_insert_with(|| shape.clone());
            assert_eq!(known, shape, "two shapes are named {name}");
        }
    }
    let (all, changing) = common();
    let shared: BTreeSet<&str> = all.iter().chain(&changing).map(|row| &*row.name).collect();
    // A field `expected_version` with its own description belongs to the operation.
    let is_own = |row: &Row| {
        !shared.contains(&*row.name)
            || changing
                .iter()
                .any(|one| one.name == row.name && one.doc != row.doc)
    };
    let own: Vec<Row> = rows(&input).into_iter().filter(is_own).collect();
    let mut text = format!("\n### {}\n\n{}.\n", operation.name, operation.doc);
    if !own.is_empty() {
        text.push_str(&format!("\n{}", fields("input", &own)));
    }
    if input["additionalProperties"] != Value::Bool(false) {
        text.push_str("\nFields that are not known are kept.\n");
    }
    let answered = rows(&data);
    match answered.is_empty() {
        true => text.push_str("\nThe data is an empty object.\n"),
        false => text.push_str(&format!("\n{}", fields("data", &answered))),
    }
    if !operation.refusals.is_empty() {
        let own = codes(operation.refusals.iter().copied());
        text.push_str(&format!("\nRefusals of its own: {own}.\n"));
    }
    text
}

/// Returns the input fields of all operations, and the additional input fields of all recording operations.
fn common() -> (Vec<Row>, Vec<Row>) {
    let of = |name: &str| {
        let operation = OPERATIONS.iter().find(|operation| operation.name == name);
        rows(&operation.unwrap().input_schema().to_value())
    };
    let all = of("read-config");
    let is_new = |row: &Row| all.iter().all(|known| known.name != row.name);
    let changing = of("orphan-cleanup").into_iter().filter(is_new).collect();
    (all, changing)
}

fn rows(schema: &Value) -> Vec<Row> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let row = |(name, property): (&String, &Value)| Row {
        name: name.clone(),
        holds: holds(property),
        required: required.contains(&&**name),
        doc: doc(property),
    };
    let mut rows: Vec<Row> = object(&schema["properties"]).map(row).collect();
    // Required fields come first in their order, then the other fields by name.
    rows.sort_by_key(|row| {
        required
            .iter()
            .position(|name| *name == row.name)
            .unwrap_or(usize::MAX)
    });
    rows
}

fn fields(title: &str, rows: &[Row]) -> String {
    let mut text = format!("| {title} | holds | |\n|---|---|---|\n");
    for row in rows {
        // An optional field without a value is left out, so do not print `or null`.
        let (optional, holds) = match row.required {
            true => ("", &*row.holds),
            false => ("?", row.holds.trim_end_matches(" or null")),
        };
        text.push_str(&format!(
            "| `{}`{optional} | {} | {} |\n",
            row.name,
            cell(holds),
            cell(&row.doc)
        ));
    }
    text
}

fn described(shape: &Value) -> String {
    let rows = rows(shape);
    let doc = doc(shape);
    let mut text = String::new();
    if !doc.is_empty() {
        text.push_str(&format!("{}.\n\n", doc.trim_end_matches('.')));
    }
    match rows.is_empty() {
        true => text.push_str(&format!("Holds {}.\n", holds(shape))),
        false => text.push_str(&fields("field", &rows)),
    }
    text
}

/// Describes in a few words the values that a schema allows.
fn holds(schema: &Value) -> String {
    if let Some(place) = schema["$ref"].as_str() {
        let name = place.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(only) = schema.get("const") {
        return format!("`{only}`");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return words.join(" ").replace('"', "");
    }
    for of in ["anyOf", "oneOf", "allOf"] {
        if let Some(kinds) = schema[of].as_array() {
            let kinds: Vec<String> = kinds.iter().map(holds).collect();
            return kinds.join(" or ").replace("` or `", "` `").replace('"', "");
        }
    }
    let of_type = |name: &str| match name {
        "array" => match schema.get("items") {
            Some(items) => format!("array of {}", holds(items)),
            None => "array".to_owned(),
        },
        "integer" | "number" => match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
            (Some(min), Some(max)) => format!("{name}, {min} to {max}"),
            (Some(min), None) if min != 0 => format!("{name}, from {min}"),
            _ => name.to_owned(),
        },
        name => name.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => of_type(name),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).map(of_type);
            names.collect::<Vec<String>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

fn doc(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.replace("[`", "`")
        .replace("`]", "`")
        .replace('\n', " ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

#[test]
fn whoever_comes_from_the_legacy_tools_finds_every_operation() {
    let page = include_str!("../../../docs/migrating.md");
    // The old name of each tool resolves to its operation.
    let mut tools = 0;
    for row in page.lines().filter(|line| line.starts_with("| `team_")) {
        let words: Vec<&str> = row.split('`').collect();
        let found = teamlog_team::api::find(words[1]).unwrap();
        assert_eq!(found.name, words[3]);
        tools += 1;
    }
    assert_eq!(tools, 29);
    // Every operation exists that the page names as the replacement of a file written by hand.
    let by_hand = page.split("were written by hand:\n\n").nth(1).unwrap();
    let rows = by_hand.split("\n\n").next().unwrap().lines().skip(2);
    let named: Vec<&str> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(named.len(), 11);
    for name in named {
        assert!(teamlog_team::api::find(name).is_some(), "{name}");
    }
}
