//! `schema`: what an answer may look like, for programs that read it.

use super::PRINTED;
use super::printed::{Printed, Prints, error};
use crate::command::prelude::*;
use crate::context::Note;
use crate::exit::ErrorLine;
use crate::hint::Cause;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print the JSON Schema of a command's --json answer\n\nWithout a command it lists what there is a \
        schema of: `error` and `note` are the lines on standard error. Fields may be added in later versions; none \
        that is required goes away.",
    after_help = "\
Examples:
  teamlog schema
  teamlog schema status
  teamlog schema task show --json
  teamlog schema error"
)]
pub struct Args {
    /// The command, as it is typed: `status`, `task show` …
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// `{schemas[]}`: what there is a schema of.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing {
    /// One for each command, and the lines on standard error.
    schemas: Vec<Listed>,
}

/// Something that is printed.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    /// What to ask for.
    name: String,
    /// What its schema describes.
    prints: Prints,
    /// Whether it records something in a team; of `api`, whether some operations do. What does not only reads, and answers also
    /// where nothing can be written.
    records: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        if self.command.is_empty() {
            let schemas = all().map(Listed::of).collect();
            return context.end(Exit::Done, &Listing { schemas }, |listing, _| {
                listing.schemas.iter().map(Listed::line).collect()
            });
        }
        let name = self.command.join(" ");
        let (_, printed) = all()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| refused(&name, "must be one that there is", context))?;
        let schema = printed
            .schema(&name)
            .ok_or_else(|| refused(&name, "must be one that prints JSON", context))?;
        context.document(&schema)
    }
}

/// All that is printed, by the words of its command; last the lines on standard error.
fn all() -> impl Iterator<Item = (String, Printed)> {
    let of_command = |(name, printed): &(&str, &'static [Printed])| {
        let name = (*name).to_owned();
        printed.iter().map(move |printed| {
            let words = format!("{name} {}", printed.action);
            (words.trim_end().to_owned(), *printed)
        })
    };
    let beside = [
        ("error".to_owned(), error::<ErrorLine<'static>>()),
        ("note".to_owned(), error::<Note<'static>>()),
    ];
    PRINTED.iter().flat_map(of_command).chain(beside)
}

impl Listed {
    fn of((name, printed): (String, Printed)) -> Listed {
        Listed {
            name,
            prints: printed.prints,
            records: printed.records,
        }
    }

    fn line(&self) -> String {
        let what = match self.prints {
            Prints::Answer => "one line",
            Prints::Lines => "a line for each item",
            Prints::Text => "text, no schema",
            Prints::Error => "a line on standard error",
        };
        format!("{:<14} {what}", self.name)
    }
}

fn refused(name: &str, rule: &str, context: &Context) -> CommandError {
    CommandError::usage(format!("command {rule}, but is {name:?}"))
        .about("command")
        .beside(context.hint(&Cause::ListedBy("schema")))
}
