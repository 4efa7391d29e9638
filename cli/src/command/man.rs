//! `man`: generates manual pages from the definition of the command line.

use crate::command::help;
use crate::command::prelude::*;
use crate::hint::Cause;
use crate::team_argument;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;

#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print a manual page, or write all pages into a directory",
    after_help = "\
Examples:
  teamlog man > teamlog.1
  teamlog man task show > teamlog-task-show.1
  teamlog man --out man1"
)]
pub struct Args {
    /// The command, as it is typed [default: teamlog itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write a page per command into this directory, which is created if missing
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// List of the written manual pages: `{dir, pages[]}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// Directory of the pages.
    dir: String,
    /// The pages, `teamlog` itself first.
    pages: Vec<Page>,
}

/// A manual page.
#[derive(Debug, Serialize, JsonSchema)]
struct Page {
    /// Words of the command after `teamlog`. Empty for the page of `teamlog` itself.
    command: String,
    /// Name of the page's file.
    file: String,
    /// True if the command only groups other commands.
    group: bool,
}

impl Args {
    pub fn run(self, context: &mut Context) -> Outcome {
        let teamlog = team_argument::shown_optional(context.definition());
        match self.out {
            Some(dir) => {
                let answer = write_all(&teamlog, &dir)?;
                context.answer(&answer, |answer, _| {
                    let pages = time::plural(answer.pages.len() as u64, "page");
                    let shown = crate::render::escape::visible(&answer.dir);
                    vec![format!("{pages} in {shown}")]
                })?;
            }
            None => {
                let page = page(find(&teamlog, &self.command, context)?)
                    .map_err(|error| CommandError::io("write", "standard output", &error))?;
                context.out.text(&String::from_utf8_lossy(&page))?;
            }
        }
        Ok(Exit::Done)
    }
}

fn find<'a>(
    teamlog: &'a clap::Command,
    words: &[String],
    context: &Context,
) -> Result<&'a clap::Command, CommandError> {
    let mut command = teamlog;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let message = format!("unknown command {:?}", words.join(" "));
            CommandError::usage(message)
                .about("command")
                .beside(context.hint(&Cause::ListedBy("help")))
        })?;
    }
    Ok(command)
}

fn write_all(teamlog: &clap::Command, dir: &Path) -> Result<Answer, CommandError> {
    let failed = |path: &Path| {
        let shown = path.display().to_string();
        move |error: io::Error| CommandError::io("write", &shown, &error)
    };
    std::fs::create_dir_all(dir).map_err(failed(dir))?;
    let mut pages = Vec::new();
    for (words, command) in tree(teamlog) {
        let file = format!("{}.1", title(command));
        let path = dir.join(&file);
        let page = page(command).map_err(failed(&path))?;
        std::fs::write(&path, page).map_err(failed(&path))?;
        pages.push(Page {
            command: words,
            file,
            group: command.is_subcommand_required_set(),
        });
    }
    let dir = dir.display().to_string();
    Ok(Answer { dir, pages })
}

/// Returns all commands with their words. A group comes before its members.
fn tree(teamlog: &clap::Command) -> Vec<(String, &clap::Command)> {
    let mut found = vec![(String::new(), teamlog)];
    let mut next = 0;
    while let Some((words, command)) = found.get(next).cloned() {
        next += 1;
        let below = command.get_subcommands().filter(|one| !one.is_hide_set());
        found.extend(below.map(|one| {
            let words = format!("{words} {}", one.get_name());
            (words.trim_start().to_owned(), one)
        }));
    }
    found
}

/// Returns the title of a manual page, such as `teamlog-task-show`.
fn title(command: &clap::Command) -> String {
    let name = command.get_display_name();
    name.unwrap_or_else(|| command.get_name()).to_owned()
}

/// Renders a manual page: the generated part, then one section for each heading in the text that follows the help.
fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone())
        .title(title(command).to_uppercase())
        .source(format!("teamlog {version}"))
        .manual("teamlog");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    // The page of `teamlog` itself lists the subcommands in groups.
    let is_root = title(command) == "teamlog";
    if command.has_subcommands() && !is_root {
        man.render_subcommands_section(&mut page)?;
    }
    let text = match is_root {
        true => help::sections(),
        false => command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default(),
    };
    behind(&text).to_writer(&mut page)?;
    Ok(page)
}

fn behind(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut open = false;
    for line in text.lines() {
        match line.strip_suffix(':').filter(|head| !head.starts_with(' ')) {
            Some(heading) => {
                if open {
                    roff.control("EE", []);
                }
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("EX", []);
                open = true;
            }
            None => {
                roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
            }
        }
    }
    if open {
        roff.control("EE", []);
    }
    roff
}
