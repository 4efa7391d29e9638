//! `schema`: prints JSON Schemas of the answers, for programs that read the answers.

use super::PRINTED;
use super::printed::{Printed, Prints, error};
use crate::command::prelude::*;
use crate::context::Note;
use crate::exit::ErrorLine;
use crate::hint::Cause;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print the JSON Schema of a command's --json answer\n\nWithout a command, list all schemas; `error` \
        and `note` are the lines on standard error. Later versions may add fields; they keep every required field.",
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

/// List of all schemas: `{schemas[]}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing {
    /// Schemas of all commands, and the schema of the lines on standard error.
    schemas: Vec<Listed>,
}

/// A schema in the list.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    /// Name of the answer: the argument of `schema`.
    name: String,
    /// Form of the output that the schema describes.
    prints: Prints,
    /// True if the command records events in a team; for `api`, true because some operations record events. A command that
    /// only reads also works on a read-only file system.
    records: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        if self.command.is_empty() {
            let schemas = all().map(Listed::from_row).collect();
            return context.end(Exit::Done, &Listing { schemas }, |listing, _| {
                listing.schemas.iter().map(Listed::line).collect()
            });
        }
        let name = self.command.join(" ");
        let (_, printed) = all()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| refused(&name, "must be an existing command", context))?;
        let schema = printed
            .schema(&name)
            .ok_or_else(|| refused(&name, "must be one that prints JSON", context))?;
        context.document(&schema)
    }
}

/// Returns every printed answer with the words of its command. The last item describes the lines on standard error.
fn all() -> impl Iterator<Item = (String, Printed)> {
    let of_command = |(name, printed): &(&'static str, fn() -> Vec<Printed>)| {
        let name = *name;
        printed().into_iter().map(move |printed| {
            let words = format!("{name} {}", printed.action);
            (words.trim_end().to_owned(), printed)
        })
    };
    let beside = [
        ("error".to_owned(), error::<ErrorLine<'static>>()),
        ("note".to_owned(), error::<Note<'static>>()),
    ];
    PRINTED.iter().flat_map(of_command).chain(beside)
}

impl Listed {
    fn from_row((name, printed): (String, Printed)) -> Listed {
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
