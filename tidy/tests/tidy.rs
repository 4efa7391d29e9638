//! Checks that the tree follows the rules of ARCHITECTURE.md. A failing test names every place that breaks a rule.

use std::collections::BTreeSet;
use teamlog_tidy::{File, circle, english, files, imports, root};

/// Crates that each crate may use.
const USES: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("journal-postgres", &["engine"]),
    ("projections", &["engine"]),
    ("script", &[]),
    ("team", &["engine", "projections", "script"]),
    ("guard", &[]),
    ("mcp", &["team"]),
    ("server", &["team"]),
    ("sqlite", &["team"]),
    (
        "cli",
        &["guard", "mcp", "server", "team", "journal-postgres"],
    ),
];

/// Crates without circular imports between modules.
const WITHOUT_CIRCLES: &[&str] = &[
    "engine",
    "team",
    "journal-postgres",
    "projections",
    "script",
    "guard",
    "mcp",
    "server",
    "sqlite",
    "cli",
];

/// The modules of `team` that build on the core: no noun of the core imports them.
const ABOVE_CORE: &[&str] = &["mode", "bootstrap", "lifecycle", "doctor", "api"];

/// Core nouns of `team`, and the log.
const CORE: &[&str] = &[
    "task", "message", "thread", "worker", "usage", "artifact", "log",
];

/// Files that may name operations, although the records of the operations are elsewhere.
const NAME_OPERATIONS: &[&str] = &[
    // A subcommand may have the name of an operation.
    "cli/src/command/mod.rs",
    "cli/src/team_argument.rs",
    // The names of tools of an earlier protocol cannot change.
    "mcp/src/legacy.rs",
];

/// The one place where hints name commands.
const HINTS: &str = "cli/src/hint";

/// The one file with `unsafe`.
const UNSAFE: &str = "engine/src/storage/map.rs";

/// Largest number of lines of a source file. A longer file should be split.
const LONGEST: usize = 600;

/// Crates, folders and files in which all comments are plain English.
const PLAIN_ENGLISH: &[&str] = &[
    "benches",
    "cli/src",
    "engine",
    "fuzz",
    "guard",
    "journal-postgres",
    "mcp",
    "projections",
    "script",
    "server",
    "sqlite",
    "team",
    "tidy",
    "cli",
];

/// Places within `PLAIN_ENGLISH` whose comments are not plain yet.
const NOT_YET_PLAIN: &[&str] = &[];

/// Names of earlier versions for things that have a plain name now.
const GIVEN_UP: &[&str] = &[
    "berth",
    "berths",
    "door",
    "guest",
    "keeper",
    "patience",
    "pier",
    "piers",
    "pulse",
    "ruling",
    "scene",
    "seat",
    "surroundings",
    "tend",
    "vault",
];

#[track_caller]
fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn sources() -> Vec<File> {
    files(&[".rs"])
}

#[test]
fn crates_import_in_one_direction() {
    let mut faults = Vec::new();
    for (name, uses) in USES {
        let text = std::fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let dependencies = text.split("[dev-dependencies]").next().unwrap();
        for line in dependencies
            .lines()
            .filter(|line| !line.starts_with("name"))
        {
            let used = line
                .strip_prefix("teamlog-")
                .and_then(|rest| rest.split(['.', ' ']).next());
            if let Some(used) = used.filter(|used| !uses.contains(used)) {
                faults.push(format!("{name} must not use {used}"));
            }
        }
    }
    none(faults);
}

#[test]
fn modules_import_in_one_direction() {
    let sources = sources();
    for name in WITHOUT_CIRCLES {
        let circle = circle(&imports(&sources, name));
        assert_eq!(circle, None, "{name} has a circle of imports");
    }
}

#[test]
fn the_core_of_team_imports_no_mode_and_no_bootstrap() {
    let imports = imports(&sources(), "team");
    let faults = CORE.iter().flat_map(|noun| {
        let known = imports.get(*noun).expect("a noun of the core");
        let above = ABOVE_CORE.iter().filter(|above| known.contains(**above));
        above.map(move |above| format!("{noun} must not import {above}"))
    });
    none(faults.collect());
}

#[test]
fn no_table_describes_operations_a_second_time() {
    let mut sources = sources();
    sources.retain(|file| file.source_of().is_some() && !file.is_test());
    let records = sources.iter().flat_map(|file| file.lines());
    let names: BTreeSet<String> = records
        .filter_map(|line| record(line.text).map(|name| format!("\"{name}\"")))
        .collect();
    assert!(names.len() > 50, "{names:?}");
    sources.retain(|file| {
        !NAME_OPERATIONS
            .iter()
            .any(|place| file.path.starts_with(place))
    });
    let mut faults = Vec::new();
    for file in &sources {
        for line in file
            .lines()
            .iter()
            .filter(|line| record(line.text).is_none())
        {
            let said = line.text.split("//").next().unwrap_or_default();
            // The row of a subcommand may have the name of its operation.
            if said.contains("operation::<") {
                continue;
            }
            if let Some(name) = names.iter().find(|name| said.contains(name.as_str())) {
                faults.push(format!("{}:{}: {name}", file.path, line.number));
            }
        }
    }
    none(faults);
}

/// Returns the operation whose record begins on a line. Leaves out names of one word, because they have other meanings, too.
fn record(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("    \"")?.split_once("\": ")?;
    let effects = ["Reads(", "Records(", "Waits("];
    let is_one = name.contains('-') && effects.iter().any(|effect| rest.starts_with(effect));
    is_one.then_some(name)
}

#[test]
fn libraries_print_nothing_and_read_no_environment() {
    let refused = [
        "println!",
        "print!",
        "eprintln!",
        "eprint!",
        "dbg!",
        "env::var",
        "env::args",
    ];
    let mut faults = Vec::new();
    for file in sources() {
        let is_library = |name| USES.iter().any(|(own, _)| *own == name && name != "cli");
        if !file.source_of().is_some_and(is_library) || file.is_test() {
            continue;
        }
        for line in file.lines() {
            if let Some(word) = refused.iter().find(|word| line.code.contains(*word)) {
                faults.push(format!("{}:{}: {word}", file.path, line.number));
            }
        }
    }
    none(faults);
}

#[test]
fn unsafe_stands_in_one_file() {
    let mut faults = Vec::new();
    for file in sources().iter().filter(|file| file.path != UNSAFE) {
        for line in file.lines() {
            let begins = ["fn", "impl", "trait", "{", "extern"];
            let mut words = line.code.split_whitespace();
            if words.any(|word| word == "unsafe")
                && words.next().is_some_and(|next| begins.contains(&next))
            {
                faults.push(format!("{}:{}", file.path, line.number));
            }
        }
    }
    none(faults);
}

#[test]
fn every_file_says_what_it_is() {
    let mut faults = Vec::new();
    for file in sources() {
        let mut lines = file.text.lines();
        if !lines.any(|line| line.starts_with("//!")) {
            faults.push(format!("{} has no `//!`", file.path));
        }
    }
    none(faults);
}

#[test]
fn comments_are_plain_english() {
    let lies_in = |path: &str, places: &[&str]| {
        places.iter().any(|place| {
            let rest = path.strip_prefix(place);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let mut faults = Vec::new();
    for file in sources() {
        if !lies_in(&file.path, PLAIN_ENGLISH) || lies_in(&file.path, NOT_YET_PLAIN) {
            continue;
        }
        let found = english::faults(&file.text).into_iter();
        faults.extend(found.map(|fault| format!("{}:{fault}", file.path)));
    }
    none(faults);
}

#[test]
fn oblique_comments_are_found() {
    let found = |source: &str| -> Vec<String> {
        let faults = english::faults(source).into_iter();
        faults
            .map(|fault| format!("{} {:?} {}", fault.line, fault.rule, fault.found))
            .collect()
    };
    let none: [&str; 0] = [];
    for (source, expected) in [
        ("/// What it does.", "1 Opening what"),
        ("    /// Whether it is open", "1 Opening whether"),
        ("//! Whose lease it is.", "1 Opening whose"),
        ("x();\n// it failed", "2 Opening it"),
        ("/// The same with\n/// a limit.", "1 Opening the same"),
        ("/// That a message\n/// got it.", "1 Opening that"),
        ("/// As many as before will do.", "1 Opening as many"),
        ("/// Tells whoever asks.", "1 Person whoever"),
        (
            "/// Returns the rows.\n/// Then nobody\n/// reads.",
            "2 Person nobody",
        ),
        // The second construction begins on one line and ends on the next line.
        (
            "/// Reads the file and what\n/// is in it.",
            "1 Clause what is",
        ),
        (
            "/// Returns a lease, or that\n/// of the task.",
            "1 Reference that of",
        ),
        (
            "/// Waits as\n/// far\n/// as possible.",
            "1 Preposition as far as",
        ),
        (
            "/// Returns `None` where there is no task.",
            "1 Preposition where there",
        ),
        ("/// The process goes on.", "1 Metaphor goes on"),
        (
            "/// Returns it.\n///\n/// # Errors\n/// If somebody\n/// locks.",
            "4 Person somebody",
        ),
    ] {
        assert_eq!(found(source), [expected], "{source}");
    }
    for plain in [
        "/// Returns the lease; `None` if there is none.",
        "/// `what` is a name of the code.",
        "/// Returns `whoever`, `nobody` and `that of`.",
        "/// Lists the tasks.\n///\n/// ```\n/// // What it prints.\n/// ```\n/// Then returns.",
        "let text = \"What it does.\"; // Who",
        "/// Checks none; is called once.",
        "/// The itch of a whole that.",
    ] {
        assert_eq!(found(plain), none, "{plain}");
    }
    // Comments with different markers are two comments, and each has its own opening.
    assert_eq!(
        found("//! The module.\n\n/// Item.\n// What follows."),
        ["4 Opening what"]
    );
}

#[test]
fn every_namespace_of_rows_belongs_to_one_projection() {
    let mut owners = std::collections::BTreeMap::new();
    let mut faults = Vec::new();
    for file in &sources() {
        let rows = file.path.starts_with("projections/src/");
        for line in file.text.lines().filter(|_| rows) {
            let Some((name, byte)) = namespace(line) else {
                continue;
            };
            let owner = format!("{name} of {}", file.path);
            if let Some(other) = owners.insert(byte, owner.clone()) {
                faults.push(format!("0x{byte:02X}: {other} and {owner}"));
            }
        }
    }
    assert!(owners.len() > 60, "{owners:?}");
    none(faults);
}

/// Returns the name and the value of a constant such as `const TASK: u8 = 0x30;`, or of a row such as `INBOX = 0x53: …`.
fn namespace(line: &str) -> Option<(&str, u8)> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub(super) ").unwrap_or(line);
    let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
    let (name, value) = line.split_once(" = 0x")?;
    let name = match name.strip_prefix("const ") {
        Some(name) => name.strip_suffix(": u8")?,
        None => name,
    };
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let (digits, end) = value.split_at_checked(2)?;
    let is_row = is_name && end.starts_with([';', ':']);
    u8::from_str_radix(digits, 16)
        .ok()
        .filter(|_| is_row)
        .map(|byte| (name, byte))
}

#[test]
fn no_source_file_is_too_long() {
    let mut faults = Vec::new();
    for file in &sources() {
        let lines = file.text.lines().count();
        if lines > LONGEST {
            faults.push(format!(
                "{} has {lines} lines, at most {LONGEST}",
                file.path
            ));
        }
    }
    none(faults);
}

#[test]
fn no_word_that_was_given_up_is_used() {
    let words: BTreeSet<&str> = GIVEN_UP.iter().copied().collect();
    let mut faults = Vec::new();
    for file in sources()
        .iter()
        .filter(|file| !file.path.starts_with("tidy/"))
    {
        for (at, line) in file.text.lines().enumerate() {
            let lower = line.to_lowercase();
            let mut parts = lower.split(|c: char| !c.is_alphanumeric());
            if let Some(word) = parts.find(|part| words.contains(part)) {
                faults.push(format!("{}:{}: {word}", file.path, at + 1));
            }
        }
    }
    none(faults);
}

#[test]
fn hints_name_commands_in_one_place_only() {
    let mut faults = Vec::new();
    for file in sources().iter().filter(|file| {
        file.source_of().is_some() && !file.is_test() && !file.path.starts_with(HINTS)
    }) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let gives = ["hint(", "hinting(", "let hint"]
                .iter()
                .any(|word| line.contains(word));
            // A long text is on its own line, so look at the next lines, too.
            let texts = lines.iter().skip(at).take(3);
            let opens = [": teamlog ", "\"teamlog ", "`teamlog "];
            let names = |text: &&&str| opens.iter().any(|open| text.contains(open));
            if gives && texts.clone().any(|text| names(&text)) {
                faults.push(format!("{}:{}: a hint names a command", file.path, at + 1));
            }
        }
    }
    none(faults);
}

#[test]
fn architecture_is_short() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('|')).count();
    assert!(lines <= 125, "{lines} lines beside the code map");
}

#[test]
fn every_path_that_architecture_names_exists() {
    let read = |page| std::fs::read_to_string(root().join(page)).unwrap();
    // The space separates the backticks of the two pages.
    let text = read("ARCHITECTURE.md") + " " + &read("docs/contributing/changing.md");
    let known: BTreeSet<String> = files(&[""]).into_iter().map(|file| file.path).collect();
    let mut faults = Vec::new();
    for named in text.split('`').skip(1).step_by(2) {
        for path in expanded(named).iter().filter(|path| is_path(path)) {
            let path = path.trim_end_matches('/');
            let exists = known.iter().any(|file| {
                let file = format!("/{file}/");
                file.contains(&format!("/{path}/"))
            });
            if !exists {
                faults.push(format!("ARCHITECTURE.md or changing.md names {path}"));
            }
        }
    }
    none(faults);
}

fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let end = [".rs", ".md", "/"].iter().any(|end| text.ends_with(end));
    end && text.chars().all(plain)
}

/// Expands `a/{b,c}.rs` to `a/b.rs` and `a/c.rs`.
fn expanded(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else {
        return vec![text.to_owned()];
    };
    let Some((inner, after)) = rest.split_once('}') else {
        return vec![text.to_owned()];
    };
    let each = inner
        .split(',')
        .map(|part| format!("{before}{part}{after}"));
    each.collect()
}
