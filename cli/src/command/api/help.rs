//! Prints the list of operations and the schemas of an operation, for people and programs.

use crate::command::api::words;
use crate::command::prelude::*;
use crate::link::Called;
use schemars::Schema;
use teamlog_team::api::shape::{Field, Kind, Shape};
use teamlog_team::api::{self, OPERATIONS, Operation};

/// Maximum length in bytes of a list of words in the column of types.
const CHOICE_MAX: usize = 80;

/// List of all operations: `{operations[]}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing {
    /// All operations, in the order of the documentation.
    operations: Vec<Listed>,
}

/// An operation in the list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Operation")]
struct Listed {
    /// Name of the operation.
    name: &'static str,
    /// Description of the operation.
    doc: &'static str,
    /// True if the operation records events.
    mutates: bool,
}

/// Schemas of one operation: `{operation, input, data}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Schemas {
    /// Name of the operation.
    operation: &'static str,
    /// JSON Schema of the operation's input.
    input: Schema,
    /// JSON Schema of `data` in the operation's answer.
    data: Schema,
}

/// Returns the text that follows the help of `api`: examples, then the list of operations.
pub fn behind() -> String {
    let mut text = "\
Examples:
  teamlog api --list
  teamlog api claim-task --help
  teamlog api read-task --schema
  teamlog api list-tasks --input '{\"team_name\":\"demo\"}' --json
  echo '{\"team_name\":\"demo\"}' | teamlog api get-summary --input - --json

Operations:"
        .to_owned();
    for line in lines() {
        text.push_str("\n  ");
        text.push_str(&line);
    }
    text
}

fn lines() -> Vec<String> {
    let widest = OPERATIONS.iter().map(|operation| operation.name.len());
    let width = widest.max().unwrap_or_default();
    let line = |operation: &Operation| format!("{:<width$}  {}", operation.name, operation.doc);
    OPERATIONS.iter().map(line).collect()
}

pub fn of_all(context: &mut Context) -> Outcome {
    match context.called() {
        // For `teamlog api`, usage errors look like the usage errors of every other command.
        Called::Teamlog => {
            let text = context.help_of("api");
            context.out.text(&text)?;
        }
        called @ Called::Rcs => {
            let usage = words::usage(called, "Carry out an operation of the team API");
            context.out.line(usage)?;
        }
    }
    Ok(Exit::Done)
}

pub fn list(context: &mut Context) -> Outcome {
    let operations = OPERATIONS.iter().map(|operation| Listed {
        name: operation.name,
        doc: operation.doc,
        mutates: operation.mutates(),
    });
    let listing = Listing {
        operations: operations.collect(),
    };
    context.end(Exit::Done, &listing, |_, _| lines())
}

/// Prints the JSON Schemas of an operation's input and answer.
pub fn schemas(context: &mut Context, operation: &'static Operation) -> Outcome {
    let schemas = Schemas {
        operation: operation.name,
        input: operation.input_schema(),
        data: operation.data_schema(),
    };
    context.document(&schemas)
}

/// Describes an operation's input and answer as text.
pub fn of_one(context: &mut Context, operation: &'static Operation) -> Outcome {
    let program = context.called().words("api");
    let shape = operation.shape();
    let (required, optional): (Vec<&Field>, Vec<&Field>) =
        shape.fields.iter().partition(|field| field.required);
    let mut text = format!(
        "{}\n\nUsage: {program} {} --input <json> [--json]\n",
        operation.doc, operation.name
    );
    text.push_str(&section("Required input fields", &required));
    text.push_str(&section("Optional input fields", &optional));
    let data = Shape::from_schema(&operation.data_schema());
    let data: Vec<&Field> = data.fields.iter().collect();
    text.push_str(&section("Data", &data));
    text.push_str("\nRefusals, with those of every operation:\n");
    for code in api::refusals(operation.mutates(), operation.refusals) {
        text.push_str(&format!("  {:<24}  {}\n", code.as_str(), code.meaning()));
    }
    text.push_str(&format!(
        "\nSchemas: {program} {} --schema\n",
        operation.name
    ));
    context.out.text(&text)?;
    Ok(Exit::Done)
}

fn section(title: &str, fields: &[&Field]) -> String {
    let width = |text: &dyn Fn(&Field) -> String| {
        let widths = fields.iter().map(|field| text(field).chars().count());
        widths.max().unwrap_or_default()
    };
    let names = width(&|field| field.name.clone());
    let kinds = width(&|field| kind(&field.kind));
    let mut text = format!("\n{title}:\n");
    if fields.is_empty() {
        text.push_str("  none\n");
    }
    for field in fields {
        let (name, kind) = (&field.name, kind(&field.kind));
        let line = format!("  {name:<names$}  {kind:<kinds$}  {}", field.doc);
        text.push_str(line.trim_end());
        text.push('\n');
        if let Some(words) = long_choice(&field.kind) {
            text.push_str(&format!("  {:<names$}  {}\n", "", words.join(", ")));
        }
    }
    text
}

/// Returns the words of a choice if they do not fit into the column of types.
fn long_choice(kind: &Kind) -> Option<&[String]> {
    match kind {
        Kind::Choice(words) if words.join("|").len() > CHOICE_MAX => Some(words),
        _ => None,
    }
}

/// Returns a short name for a field's type.
fn kind(kind: &Kind) -> String {
    let rule = match kind {
        Kind::Choice(_) if long_choice(kind).is_some() => return "one of:".to_owned(),
        Kind::Choice(words) => return words.join("|"),
        Kind::Any => return "any".to_owned(),
        kind => kind.rule(),
    };
    let bare = rule.strip_prefix("an ").or_else(|| rule.strip_prefix("a "));
    bare.unwrap_or(&rule).to_owned()
}
