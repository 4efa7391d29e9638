//! The positional argument TEAM. If TEAM is left out, `-t/--team` names the team, else `TEAMLOG_TEAM`, else TEAM is
//! the only open team of the data root.
//!
//! clap's definition of the command tells how many positional arguments there are. If all positional arguments are
//! typed, the first is TEAM. If one of them is missing, TEAM is missing. If the last argument is optional, the first
//! word is TEAM if it names a team.

use clap::{Arg, Command};
use std::ffi::OsString;

/// Id of the argument in the definitions of all commands.
const ID: &str = "team";

/// Id of the option `-t/--team`.
const OPTION_ID: &str = "team_option";

/// Commands that require TEAM on the command line, because they create or delete a team or disconnect its clients.
const TYPED: [&str; 6] = ["init", "join", "restore", "close", "purge", "rotate"];

/// Commands with an optional positional argument after TEAM. clap accepts that argument in the place of TEAM.
const AMBIGUOUS: [&str; 17] = [
    "ack",
    "can-write",
    "explain",
    "prompt",
    "write",
    "search",
    "show",
    "accept",
    "done",
    "approve",
    "assign",
    "comment",
    "review",
    "say",
    "ask",
    "reply",
    "undo",
];

/// Returns true if clap's reading of the command line may be wrong about TEAM, so that [`Words`] must read the
/// command line too.
pub fn may_differ(argv: &[OsString]) -> bool {
    let mut words = argv.iter().skip(1).filter_map(|word| word.to_str());
    words.any(|word| AMBIGUOUS.contains(&word) || is_option(word))
}

/// Returns true if a word may be the option `-t/--team`. `-t` may be combined with other short options.
fn is_option(word: &str) -> bool {
    let is_short = word.starts_with('-') && !word.starts_with("--") && word.contains('t');
    is_short || word == "--team" || word.starts_with("--team=")
}

/// The words of a command whose first positional argument is TEAM.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// All words without `-t/--team`.
    argv: Vec<OsString>,
    /// Value of `-t/--team`.
    pub named: Option<OsString>,
    /// True if `-t/--team` was typed more than once.
    pub is_named_twice: bool,
    /// Index in `argv` of the first positional argument. If no argument is typed, the index where it would be.
    place: usize,
    /// Number of typed positional arguments.
    typed: usize,
    /// Minimum and maximum number of positional arguments, including TEAM.
    bounds: (usize, usize),
    /// True if the command requires TEAM.
    is_required: bool,
    /// Name of the command.
    command: String,
    /// True if the last positional argument is one text.
    ends_with_text: bool,
}

/// Names of positional arguments that are one text.
const TEXTS: [&str; 4] = ["RESULT", "SUBJECT", "TEXT", "WHY"];

/// Moves `-t/--team` to the place after the command, if it comes before a command that defines this option itself. Returns
/// `None` if there is nothing to move.
pub fn moved(argv: &[OsString], definition: impl FnOnce() -> Command) -> Option<Vec<OsString>> {
    let mut options = argv.iter().skip(1).filter_map(|word| word.to_str());
    if !options.any(is_option) {
        return None;
    }
    let mut definition = definition();
    definition.build();
    let mut reader = Reader::new(argv, &definition);
    reader.read(argv)?;
    let Words {
        mut argv,
        named,
        is_named_twice: false,
        place,
        ..
    } = reader.words
    else {
        return None;
    };
    let named = named.filter(|_| has_own_option(reader.command))?;
    argv.splice(place..place, [OsString::from("--team"), named]);
    Some(argv)
}

/// Says if TEAM was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum TeamTyped {
    Yes,
    No,
    /// The first positional argument is TEAM if a team with this name exists.
    IfItExists,
}

impl Words {
    /// Parses the words with a definition that is not built yet. Returns `None` if the command has no TEAM, or if TEAM must
    /// be typed.
    pub fn read(argv: &[OsString], mut definition: Command) -> Option<Words> {
        definition.build();
        let mut reader = Reader::new(argv, &definition);
        reader.read(argv)?;
        let Reader {
            command, mut words, ..
        } = reader;
        let team = command.get_positionals().next()?;
        if team.get_id() != ID || TYPED.contains(&command.get_name()) {
            return None;
        }
        let counted = command.get_positionals().filter(|arg| !arg.is_last_set());
        for arg in counted {
            let most = arg.get_num_args().map_or(1, |range| range.max_values());
            words.bounds.0 += usize::from(arg.is_required_set());
            words.bounds.1 = words.bounds.1.saturating_add(most);
        }
        words.is_required = team.is_required_set();
        words.command = command.get_name().to_owned();
        let last = command.get_positionals().last();
        words.ends_with_text = last.is_some_and(is_text);
        Some(words)
    }

    /// Returns whether TEAM was typed. `is_refused` is true if clap refused the words. If a command never requires TEAM, the
    /// command finds the team itself. If clap requires TEAM unless another option is set, clap refuses words without both.
    pub fn given(&self, is_refused: bool) -> TeamTyped {
        let (least, most) = self.bounds;
        match self.is_required {
            false if self.named.is_none() && !is_refused => TeamTyped::Yes,
            false if self.typed >= most => TeamTyped::Yes,
            false if self.typed == 0 || self.named.is_some() => TeamTyped::No,
            false => TeamTyped::IfItExists,
            true if self.typed < least => TeamTyped::No,
            true if self.typed >= most || most == least => TeamTyped::Yes,
            true => TeamTyped::IfItExists,
        }
    }

    /// Returns the first positional argument.
    pub fn first(&self) -> Option<&OsString> {
        self.argv.get(self.place).filter(|_| self.typed > 0)
    }

    /// Returns true if two teams are named: by two options `-t/--team`, or by the option and the first positional argument.
    pub fn names_another(&self) -> bool {
        let is_first = |named: &OsString| self.first() == Some(named);
        self.is_named_twice || self.named.as_ref().is_some_and(|named| !is_first(named))
    }

    /// Returns the error text for two named teams.
    pub fn given_twice(&self) -> String {
        let shown = |word: Option<&OsString>| word.map(|word| word.to_string_lossy().into_owned());
        match (
            self.is_named_twice,
            shown(self.first()),
            shown(self.named.as_ref()),
        ) {
            (false, Some(first), Some(named)) => {
                format!("the team is given twice, as {first:?} and by --team as {named:?}")
            }
            _ => "the option --team is given twice".to_owned(),
        }
    }

    /// Returns the words without `-t/--team`.
    pub fn without_option(&self) -> Vec<OsString> {
        self.argv.clone()
    }

    /// Returns the name of the command.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns the positional arguments if no option is between them.
    pub fn together(&self) -> Option<&[OsString]> {
        let words = self.argv.get(self.place..)?.get(..self.typed)?;
        let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
        (!words.iter().any(is_option)).then_some(words)
    }

    /// Returns the number of positional arguments between TEAM and the text, if the last argument is one text.
    pub fn before_text(&self) -> Option<usize> {
        self.bounds.1.checked_sub(2).filter(|_| self.ends_with_text)
    }

    /// Returns the words with other positional arguments, and with `-t/--team` if it was typed.
    pub fn replacing(&self, positionals: &[OsString]) -> Vec<OsString> {
        let named = self.named.iter();
        let option = named.flat_map(|team| [OsString::from("--team"), team.clone()]);
        let words: Vec<OsString> = positionals.iter().cloned().chain(option).collect();
        let mut argv = self.argv.clone();
        let end = self.place.saturating_add(self.typed).min(argv.len());
        argv.splice(self.place.min(end)..end, words);
        argv
    }

    /// Returns the words with `team` inserted in the place of TEAM.
    pub fn with(&self, team: &str) -> Vec<OsString> {
        let mut argv = self.argv.clone();
        argv.insert(self.place, team.into());
        argv
    }
}

/// Returns true if an argument is one text, which needs quotes if it has several words.
fn is_text(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    let is_single = arg
        .get_num_args()
        .is_none_or(|range| range.max_values() == 1);
    is_single && names.iter().any(|name| TEXTS.contains(&name.as_str()))
}

/// Reads words from left to right until the command is known.
struct Reader<'a> {
    command: &'a Command,
    words: Words,
    /// True unless the command defines its own option `--team`.
    is_team_option: bool,
}

impl<'a> Reader<'a> {
    fn new(argv: &[OsString], definition: &'a Command) -> Reader<'a> {
        Reader {
            command: definition,
            words: Words {
                argv: argv.iter().take(1).cloned().collect(),
                named: None,
                is_named_twice: false,
                place: 1,
                typed: 0,
                bounds: (0, 0),
                is_required: false,
                command: String::new(),
                ends_with_text: false,
            },
            is_team_option: true,
        }
    }

    /// Reads the words. Returns `None` if an option has no value.
    fn read(&mut self, argv: &[OsString]) -> Option<()> {
        let mut rest = argv.iter().skip(1);
        let mut only_positionals = false;
        while let Some(word) = rest.next() {
            let text = word.to_str().unwrap_or_default();
            if only_positionals || !text.starts_with('-') || text == "-" {
                self.positional(word, only_positionals);
                continue;
            }
            if text == "--" {
                only_positionals = true;
                if self.command.get_positionals().any(Arg::is_last_set) {
                    self.words.argv.push(word.clone());
                    self.words.argv.extend(rest.cloned());
                    return Some(());
                }
                self.words.argv.push(word.clone());
                continue;
            }
            if self.is_team_option {
                let (before, value) = match text.strip_prefix("--team") {
                    Some("") => ("", Some("")),
                    Some(value) => ("", value.strip_prefix('=')),
                    None => self.short_option(text),
                };
                if let Some(value) = value {
                    if !before.is_empty() {
                        self.words.argv.push(format!("-{before}").into());
                    }
                    let attached = (!value.is_empty()).then(|| OsString::from(value));
                    let named = attached.or_else(|| rest.next().cloned())?;
                    self.words.is_named_twice |= self.words.named.is_some();
                    self.words.named = Some(named);
                    continue;
                }
            }
            self.words.argv.push(word.clone());
            for _ in 0..self.values_after(text) {
                self.words.argv.extend(rest.next().cloned());
            }
        }
        Some(())
    }

    /// Finds `t` among combined short options such as `-ft`. Returns the options before `t` and the value after `t`:
    /// an empty value means that the next word is the value. Returns `None` if there is no `t`.
    fn short_option<'w>(&self, word: &'w str) -> (&'w str, Option<&'w str>) {
        let letters = match word.strip_prefix('-') {
            Some(letters) if !letters.starts_with('-') => letters,
            _ => return ("", None),
        };
        for (at, letter) in letters.char_indices() {
            if letter == 't' {
                let value = letters.get(at + 1..).unwrap_or_default();
                let before = letters.get(..at).unwrap_or_default();
                return (before, Some(value.strip_prefix('=').unwrap_or(value)));
            }
            let mut arguments = self.command.get_arguments();
            let found = arguments.find(|arg| arg.get_short() == Some(letter));
            if found.is_none_or(|arg| arg.get_action().takes_values()) {
                break;
            }
        }
        ("", None)
    }

    fn positional(&mut self, word: &OsString, only_positionals: bool) {
        let below = self.command.find_subcommand(word);
        self.words.argv.push(word.clone());
        match below.filter(|_| self.words.typed == 0 && !only_positionals) {
            Some(below) => {
                self.command = below;
                self.words.place = self.words.argv.len();
                self.is_team_option = !has_own_option(below);
            }
            None => {
                if self.words.typed == 0 {
                    self.words.place = self.words.argv.len() - 1;
                }
                self.words.typed += 1;
            }
        }
    }

    /// Returns the number of words after the option that are its values.
    fn values_after(&self, option: &str) -> usize {
        let is_it = |arg: &&Arg| match option.strip_prefix("--") {
            Some(long) => {
                let aliases = arg.get_all_aliases().unwrap_or_default();
                arg.get_long() == Some(long) || aliases.contains(&long)
            }
            None => arg.get_short().map(String::from).as_deref() == option.strip_prefix('-'),
        };
        let found = self.command.get_arguments().find(is_it);
        let found =
            found.filter(|arg| arg.get_action().takes_values() && !arg.is_require_equals_set());
        let values = |arg: &Arg| arg.get_num_args().map_or(1, |range| range.min_values());
        found.map_or(0, |arg| values(arg).max(1))
    }
}

/// Returns true if the command defines its own option `--team`.
fn has_own_option(command: &Command) -> bool {
    let mut arguments = command.get_arguments();
    arguments.any(|arg| arg.get_long() == Some(ID) && arg.get_id() != OPTION_ID)
}

/// Adds `-t/--team` to the help of every command whose first positional argument is TEAM.
pub fn documented(command: Command) -> Command {
    let first = command.get_positionals().next();
    let is_first = first.is_some_and(|arg| arg.get_id() == ID);
    let has_own = has_own_option(&command);
    let must_be_typed = TYPED.contains(&command.get_name());
    if !is_first || has_own || must_be_typed {
        return command.mut_subcommands(documented);
    }
    let is_required = first.is_some_and(Arg::is_required_set);
    let is_optional = |arg: &Arg| arg.get_id() != ID && !arg.is_required_set();
    let has_optional = command.get_positionals().any(is_optional);
    let meaning = match has_optional && AMBIGUOUS.contains(&command.get_name()) {
        true => "The team, if it exists",
        false => "The team",
    };
    let help = format!("{meaning} [default: --team, $TEAMLOG_TEAM, else the only open one]");
    let command = command.arg(
        Arg::new(OPTION_ID)
            .short('t')
            .long("team")
            .value_name("TEAM")
            .help("The team, in place of the first argument"),
    );
    // `mut_arg` would move TEAM after the other positional arguments.
    command.mut_args(|arg| match is_required && arg.get_id() == ID {
        true => arg.help(help.clone()),
        false => arg,
    })
}

/// Builds a definition whose usage lines show `[TEAM]` if TEAM may be left out. The definition is for help only.
pub fn shown_optional(mut definition: Command) -> Command {
    definition.build();
    optional_below(definition)
}

fn optional_below(command: Command) -> Command {
    let command = command.mut_subcommands(optional_below);
    let may_lack_team = command.get_arguments().any(|arg| arg.get_id() == OPTION_ID);
    command.mut_args(|arg| match may_lack_team && arg.get_id() == ID {
        true => arg.required(false),
        false => arg,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    fn read(line: &str) -> Option<Words> {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Words::read(&argv, args::definition_of(&argv))
    }

    fn with_team(line: &str) -> Option<String> {
        let words = read(line)?;
        if words.names_another() && words.given(false) == TeamTyped::Yes {
            return Some(words.given_twice());
        }
        let argv = match words.given(false) {
            TeamTyped::Yes => words.without_option(),
            TeamTyped::No => words.with("T"),
            TeamTyped::IfItExists => return Some("?".to_owned()),
        };
        Some(
            argv.join(OsString::from(" ").as_os_str())
                .into_string()
                .unwrap(),
        )
    }

    #[test]
    fn team_is_left_out_if_one_word_is_missing() {
        for (line, expected) in [
            ("teamlog status", "teamlog status T"),
            ("teamlog status demo", "teamlog status demo"),
            ("teamlog task show 1", "teamlog task show T 1"),
            ("teamlog task show demo 1", "teamlog task show demo 1"),
            (
                "teamlog task show --history 1",
                "teamlog task show --history T 1",
            ),
            ("teamlog task show -t demo 1", "teamlog task show T 1"),
            (
                "teamlog --team demo task show 1 --json",
                "teamlog task show T 1 --json",
            ),
            (
                "teamlog --actor dev send --to task --type t",
                "teamlog --actor dev send T --to task --type t",
            ),
            (
                "teamlog task create --title x --deps task --as dev",
                "teamlog task create T --title x --deps task --as dev",
            ),
            (
                "teamlog config set views true",
                "teamlog config set T views true",
            ),
            (
                "teamlog append --kind k -- -x",
                "teamlog append --kind k -- -x",
            ),
            (
                "teamlog export --to sqlite a.db",
                "teamlog export T --to sqlite a.db",
            ),
            (
                "teamlog export demo --to sqlite a.db",
                "teamlog export demo --to sqlite a.db",
            ),
            ("teamlog can-write", "teamlog can-write T"),
            ("teamlog can-write src/a", "?"),
            (
                "teamlog can-write demo src/a",
                "teamlog can-write demo src/a",
            ),
            ("teamlog tick", "teamlog tick"),
            ("teamlog tick -t demo", "teamlog tick T"),
            ("teamlog task show -tdemo 1", "teamlog task show T 1"),
            ("teamlog status -t=demo", "teamlog status T"),
            ("teamlog tail -ft demo", "teamlog tail T -f"),
            ("teamlog tail -n3 -tdemo", "teamlog tail T -n3"),
            (
                "teamlog status a -t b",
                "the team is given twice, as \"a\" and by --team as \"b\"",
            ),
            (
                "teamlog guard exec -- cargo test",
                "teamlog guard exec -- cargo test",
            ),
        ] {
            assert_eq!(with_team(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "teamlog init",
            "teamlog purge --yes",
            "teamlog keygen",
            "teamlog demo",
            "teamlog hooks install claude",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn an_own_option_of_the_command_stays() {
        assert_eq!(read("teamlog serve --team a --team b"), None);
        assert_eq!(read("teamlog state read --team a"), None);
    }

    #[test]
    fn an_own_option_may_be_before_the_command() {
        for (line, expected) in [
            (
                "teamlog -t demo setup claude --check",
                Some("teamlog setup --team demo claude --check"),
            ),
            (
                "teamlog --json --team=demo backup ../b",
                Some("teamlog --json backup --team demo ../b"),
            ),
            (
                "teamlog -t demo hooks install claude",
                Some("teamlog hooks install --team demo claude"),
            ),
            ("teamlog -t demo mcp", Some("teamlog mcp --team demo")),
            ("teamlog -t a -t b mcp", None),
            ("teamlog setup claude -t demo", None),
            ("teamlog -t demo tasks", None),
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let moved = moved(&argv, || args::definition_of(&argv));
            let moved = moved.map(|argv| argv.join(OsString::from(" ").as_os_str()));
            assert_eq!(
                moved.as_deref(),
                expected.map(OsString::from).as_deref(),
                "{line}"
            );
        }
    }

    #[test]
    fn ambiguous_commands_are_those_with_an_optional_argument() {
        use clap::CommandFactory;
        fn collect(command: &Command, found: &mut Vec<String>) {
            let positionals: Vec<&Arg> = command.get_positionals().collect();
            if let [team, rest @ ..] = positionals.as_slice()
                && team.get_id() == ID
                && team.is_required_set()
                && !TYPED.contains(&command.get_name())
                && rest
                    .iter()
                    .any(|arg| !arg.is_required_set() && !arg.is_last_set())
            {
                found.push(command.get_name().to_owned());
            }
            command
                .get_subcommands()
                .for_each(|below| collect(below, found));
        }
        let mut teamlog = args::Args::command();
        teamlog.build();
        let mut found = Vec::new();
        collect(&teamlog, &mut found);
        found.sort();
        let mut expected = AMBIGUOUS.map(String::from).to_vec();
        expected.sort();
        assert_eq!(found, expected);
    }
}
