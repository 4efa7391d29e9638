//! The gate: a plan before execution. If a prompt names an executing mode but does not describe the work, `blueprint`
//! replaces that mode.
//!
//! Explicit decisions of the user pass the gate: a prompt with `force:` or `!` in front, a concrete prompt, and a short
//! go-ahead for a complete plan. Prompts with `$skill` tokens never reach the gate.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::keyword::{is_forced, plain};
use crate::mode::rules::prompt::{is_word, typed};
use crate::mode::rules::table::rules;
/// Maximum number of words in a prompt that counts as underspecified.
const WORDS_MAX: usize = 15;
/// Prompts that count as a go-ahead for a complete plan.
pub const GO_AHEADS: [&str; 4] = ["team", "team please", "forge", "forge please"];

/// State of the plan, on which the gate decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Planned {
    /// True if a complete plan exists.
    pub complete: bool,
    /// The primary active mode.
    pub prior: Option<Mode>,
}

impl Planned {
    /// Returns true if a go-ahead can refer to the plan.
    fn is_ready(self) -> bool {
        self.complete && self.prior.is_none_or(|prior| prior == Mode::Blueprint)
    }
}

/// Returns the mode that a short go-ahead names, if a complete plan exists.
pub fn go_ahead(prompt: &str, planned: Planned) -> Option<KeywordMatch> {
    let said = plain(prompt);
    if !planned.is_ready() || !GO_AHEADS.contains(&&*said) {
        return None;
    }
    let keyword = said.split(' ').next()?;
    Some(KeywordMatch::new(keyword, Skill::from_name(keyword)?))
}

words! {
    /// Reason of the gate's decision.
    pub enum Why in json {
        /// The prompt does not describe the work.
        Underspecified = "underspecified",
        /// The prompt describes the work.
        WellSpecified = "well_specified",
        /// The prompt begins with `force:` or `!`.
        Forced = "forced",
        /// The prompt is a go-ahead for a complete plan.
        Approved = "approved",
        /// The prompt itself asks for a plan.
        Blueprint = "blueprint",
        /// The prompt cancels a mode.
        Cancel = "cancel",
    }
}

impl Why {
    /// Returns true if the user passed the gate on purpose.
    pub fn is_bypass(self) -> bool {
        matches!(self, Why::Forced | Why::Approved)
    }
}

/// The gate's decision on a prompt that names modes which need a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// True if the gate deferred the modes
    pub applied: bool,
    /// Reason of the decision
    pub reason: Why,
    /// The modes that need a plan
    pub modes: Vec<Mode>,
}

/// Returns the skills to start, and the gate's decision. The decision is `None` if no skill needs a plan. If the gate
/// applies, blueprint replaces the skills that need a plan.
pub fn gated(prompt: &str, found: &[KeywordMatch], planned: Planned) -> (Vec<Skill>, Option<Gate>) {
    let skills: Vec<Skill> = found.iter().map(|found| found.skill).collect();
    let waits = |skill: &Skill| skill.mode().is_some_and(|mode| rules(mode).gated);
    let (waiting, mut rest): (Vec<Skill>, Vec<Skill>) =
        skills.iter().partition(|skill| waits(skill));
    if waiting.is_empty() {
        return (skills, None);
    }
    let reason = reason(prompt, &rest, planned);
    let applied = reason == Why::Underspecified;
    let gate = Gate {
        applied,
        reason,
        modes: waiting.iter().filter_map(|skill| skill.mode()).collect(),
    };
    if !applied {
        return (skills, Some(gate));
    }
    rest.push(Skill::Mode(Mode::Blueprint));
    (rest, Some(gate))
}

fn reason(prompt: &str, rest: &[Skill], planned: Planned) -> Why {
    if rest.contains(&CANCEL) {
        return Why::Cancel;
    }
    if rest.contains(&Skill::Mode(Mode::Blueprint)) {
        return Why::Blueprint;
    }
    if is_forced(prompt) {
        return Why::Forced;
    }
    let prompt = typed(prompt);
    if go_ahead(&prompt, planned).is_some() {
        return Why::Approved;
    }
    match is_underspecified(&prompt) {
        true => Why::Underspecified,
        false => Why::WellSpecified,
    }
}

/// Returns true if a prompt names nothing concrete and has few words besides the names of modes.
pub fn is_underspecified(prompt: &str) -> bool {
    let words: Vec<&str> = prompt
        .split_whitespace()
        .filter(|word| !is_name(word))
        .collect();
    if words.is_empty() {
        return true;
    }
    words.len() <= WORDS_MAX && !is_concrete(prompt)
}

fn is_name(word: &str) -> bool {
    let bare = word.trim_matches(|letter: char| !is_word(letter));
    Skill::from_name(bare).is_some()
}

/// Returns true if a prompt names something concrete. Concrete things are a file, a symbol, an issue number, steps, an expected
/// result, an error, code, a commit and tests.
pub fn is_concrete(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    let words = || prompt.split_whitespace().map(bare);
    words().any(|word| is_path(word) || is_symbol(word) || is_error(word) || is_number(word))
        || has_steps(prompt)
        || has_code(prompt)
        || says(&lower, &PHRASES)
        || has_expectation(&lower)
        || has_commit(&lower)
}

/// Strips punctuation around a word.
fn bare(word: &str) -> &str {
    let word = word.trim_end_matches(|letter: char| !is_word(letter) && !"()/".contains(letter));
    word.trim_start_matches(|letter: char| !is_word(letter) && !"#./~".contains(letter))
}

/// Extensions of file names.
const ENDINGS: [&str; 44] = [
    "rs", "ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "go", "rb", "java", "kt", "swift", "c",
    "h", "cc", "cpp", "hpp", "cs", "php", "sh", "bash", "sql", "html", "css", "scss", "vue",
    "svelte", "lua", "luau", "md", "txt", "json", "jsonl", "yaml", "yml", "toml", "xml", "ini",
    "cfg", "env", "lock", "proto", "log",
];
/// First directories of paths that count as concrete without a file extension.
const DIRECTORIES: [&str; 12] = [
    "src", "lib", "test", "tests", "docs", "app", "cmd", "pkg", "crates", "scripts", "packages",
    "benches",
];

fn is_path(word: &str) -> bool {
    let word = word.trim_end_matches(['/', '(', ')']);
    let plain = |letter: char| is_word(letter) || "-.".contains(letter);
    let mut parts = word.split('/');
    let last = parts.next_back().unwrap_or_default();
    if !word
        .chars()
        .all(|letter| plain(letter) || "/~".contains(letter))
    {
        return false;
    }
    let named = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        let ending = ending.to_ascii_lowercase();
        stem.chars().any(is_word) && ENDINGS.contains(&&*ending)
    });
    let first = word.split('/').next().unwrap_or_default();
    let slashes = word.matches('/').count();
    let rooted = matches!(first, "" | "." | ".." | "~") || DIRECTORIES.contains(&first);
    named || slashes >= 2 || (slashes == 1 && rooted && last.chars().any(is_word))
}

/// Returns true for a symbol, such as `snake_case`, `camelCase`, `PascalCase`, `a::b` or `call()`.
fn is_symbol(word: &str) -> bool {
    let letters: Vec<char> = word.trim_end_matches("()").chars().collect();
    let called = word.ends_with("()") && letters.last().is_some_and(|last| is_word(*last));
    let parted = word.contains("::");
    let mut pairs = letters.windows(2);
    let humped = letters.iter().all(|letter| is_word(*letter))
        && pairs.any(|pair| matches!(pair, [a, b] if a.is_lowercase() && b.is_uppercase()));
    let mut triples = letters.windows(3);
    let joined = triples
        .any(|three| matches!(three, [a, '_', b] if a.is_alphanumeric() && b.is_alphanumeric()));
    called || parted || humped || joined
}

/// Returns true for `#12`.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('#').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for the name of an error, such as `TypeError`, `IoException`, `E0382` or `ECONNREFUSED`.
fn is_error(word: &str) -> bool {
    let kind = |ending: &str| {
        let before = word.strip_suffix(ending).unwrap_or_default();
        before.starts_with(char::is_uppercase) && before.chars().all(is_word)
    };
    let coded = word.strip_prefix('E').is_some_and(|rest| {
        let digits = rest.len() == 4 && rest.bytes().all(|byte| byte.is_ascii_digit());
        digits || (rest.len() >= 5 && rest.bytes().all(|byte| byte.is_ascii_uppercase()))
    });
    kind("Error") || kind("Exception") || coded
}

/// Returns true if a line begins with a number or a bullet.
fn has_steps(prompt: &str) -> bool {
    prompt.lines().any(|line| {
        let line = line.trim_start();
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let mark = match digits {
            0 => line.strip_prefix(['-', '*', '•']),
            _ => line
                .get(digits..)
                .and_then(|rest| rest.strip_prefix(['.', ')'])),
        };
        mark.is_some_and(|rest| rest.starts_with(' ') && !rest.trim().is_empty())
    })
}

/// Minimum number of characters in a code block that counts as concrete.
const CODE_MIN: usize = 20;

fn has_code(prompt: &str) -> bool {
    let blocks = prompt.split("```").skip(1).step_by(2);
    let mut closed = blocks.take(prompt.matches("```").count() / 2);
    closed.any(|block| block.trim().chars().count() >= CODE_MIN)
}

/// Phrases about tests, errors or expected results.
const PHRASES: [&str; 27] = [
    "acceptance criteria",
    "acceptance test",
    "acceptance tests",
    "definition of done",
    "test spec",
    "test plan",
    "test case",
    "test cases",
    "stack trace",
    "traceback",
    "cargo test",
    "go test",
    "npm test",
    "npm run test",
    "pnpm test",
    "yarn test",
    "bun test",
    "make test",
    "mvn test",
    "gradle test",
    "dotnet test",
    "pytest",
    "jest",
    "vitest",
    "rspec",
    "mocha",
    "error:",
];
/// First words of an expectation, such as "should".
const EXPECTING: [&str; 3] = ["should", "must", "shall"];
/// Second words of an expectation, such as "return".
const EXPECTED: [&str; 19] = [
    "return", "throw", "render", "display", "create", "delete", "update", "reject", "accept",
    "print", "fail", "pass", "be", "not", "exit", "show", "respond", "equal", "contain",
];
/// Words that may precede a number, such as "issue 12".
const NUMBERED: [&str; 5] = ["pr", "issue", "commit", "mr", "ticket"];
/// Minimum and maximum length of a commit hash.
const COMMIT: std::ops::RangeInclusive<usize> = 7..=40;

/// Returns true if a text contains one of the phrases as whole words.
fn says(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        lower.match_indices(phrase).any(|(at, _)| {
            let before = lower.get(..at).and_then(|text| text.chars().next_back());
            let behind = lower
                .get(at + phrase.len()..)
                .and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && (phrase.ends_with(':') || !behind.is_some_and(is_word))
        })
    })
}

fn pairs(lower: &str) -> impl Iterator<Item = (&str, &str)> {
    let words = || lower.split_whitespace().map(bare);
    words().zip(words().skip(1))
}

fn has_expectation(lower: &str) -> bool {
    pairs(lower).any(|(first, second)| EXPECTING.contains(&first) && EXPECTED.contains(&second))
}

fn has_commit(lower: &str) -> bool {
    let named = pairs(lower).any(|(what, number)| {
        let digits = number.trim_start_matches('#');
        NUMBERED.contains(&what)
            && !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let hex = |word: &str| {
        COMMIT.contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    named || lower.split_whitespace().map(bare).any(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the skills that a prompt names, without duplicates.
    fn named(prompt: &str) -> Vec<KeywordMatch> {
        let mut all: Vec<KeywordMatch> = Vec::new();
        for word in prompt.split_whitespace() {
            let keyword = word.trim_matches(|letter: char| !is_word(letter));
            if let Some(skill) = Skill::from_name(keyword)
                && all.iter().all(|found| found.skill != skill)
            {
                let keyword = keyword.to_owned();
                all.push(KeywordMatch { keyword, skill });
            }
        }
        all
    }

    fn told(prompt: &str, planned: Planned) -> (String, &'static str) {
        let (skills, gate) = gated(prompt, &named(prompt), planned);
        let names: Vec<&str> = skills.iter().map(|skill| skill.name()).collect();
        (names.join(","), gate.map_or("", |gate| gate.reason.name()))
    }

    #[test]
    fn what_says_too_little_gets_a_plan_first() {
        for (prompt, skills, reason) in cases![
            ("forge it" => "blueprint", "underspecified"),
            ("forge" => "blueprint", "underspecified"),
            ("make it nice with ultrawork" => "blueprint", "underspecified"),
            ("autopilot and ultrawork, please" => "blueprint", "underspecified"),
            ("ultraqa the thing with ulw" => "ultraqa,blueprint", "underspecified"),
            ("deep-interview, then autopilot" => "deep-interview,blueprint", "underspecified"),
            ("force: forge it" => "forge", "forced"),
            ("!forge it" => "forge", "forced"),
            ("forge src/main.rs" => "forge", "well_specified"),
            ("blueprint it, then autopilot" => "blueprint,autopilot", "blueprint"),
            ("ultraqa the thing" => "ultraqa", ""),
            ("autoresearch the thing" => "autoresearch", ""),
            ("nothing of the kind" => "", ""),
        ] {
            assert_eq!(
                told(prompt, Planned::default()),
                (skills.to_owned(), reason),
                "{prompt}"
            );
        }
    }

    #[test]
    fn ultrawork_passes_no_sooner_than_the_others() {
        for mode in ["forge", "autopilot", "team", "ultrawork"] {
            for also in ["", " with ultrawork", " and ulw"] {
                let prompt = format!("{mode} it{also}");
                assert_eq!(told(&prompt, Planned::default()).0, "blueprint", "{prompt}");
            }
        }
    }

    #[test]
    fn a_go_ahead_passes_only_behind_a_complete_plan() {
        let planned = |complete, prior| Planned { complete, prior };
        for (prompt, planned, reason) in cases![
            ("team" => planned(true, None), "approved"),
            ("Forge, please!" => planned(true, None), "underspecified"),
            ("Forge please!" => planned(true, None), "approved"),
            ("team please" => planned(true, Some(Mode::Blueprint)), "approved"),
            ("team please" => planned(true, Some(Mode::Ultraqa)), "underspecified"),
            ("team" => planned(false, Some(Mode::Blueprint)), "underspecified"),
            ("team it up" => planned(true, None), "underspecified"),
        ] {
            assert_eq!(told(prompt, planned).1, reason, "{prompt}");
            assert_eq!(go_ahead(prompt, planned).is_some(), reason == "approved");
        }
    }

    #[test]
    fn many_words_say_enough_and_names_of_modes_are_none() {
        let fifteen = "word ".repeat(15);
        assert!(is_underspecified(&fifteen));
        assert!(!is_underspecified(&format!("{fifteen}more")));
        assert!(is_underspecified(&format!(
            "{fifteen}autopilot ULW, forge!"
        )));
        assert!(is_underspecified(&"forge ".repeat(30)));
        assert!(is_underspecified(""));
    }

    #[test]
    fn each_concrete_thing_is_seen_and_its_neighbour_is_not() {
        for (thing, other) in [
            ("fix engine/src/log.rs", "fix the log"),
            ("fix main.rs.", "fix it.now"),
            ("look at ./build", "look at the build"),
            ("look at tests/cli", "red and/or blue"),
            ("a/b/c", "24/7"),
            ("rename read_back", "rename read _ back"),
            ("rename readBack", "rename Readback"),
            ("rename ReadBack", "rename READBACK"),
            ("why does load() hang", "why does it (load) hang"),
            ("std::fs is slow", "std: fs is slow"),
            ("close #12", "close # 12"),
            ("so:\n1. one\n2. two", "so 1. one"),
            ("so:\n- one", "so - one"),
            ("the acceptance criteria are", "the criteria are"),
            ("it should return 7", "it should work"),
            ("TypeError on save", "an error on save"),
            ("E0382 again", "E12 again"),
            ("ECONNREFUSED again", "EU again"),
            ("error: no such file", "an error, no file"),
            ("```\nlet a = 1; let b = 2;\n```", "```\na\n```"),
            ("```\nlet a = 1;\n``` a", "```\nlet a = 1; let b = 2;\n"),
            ("PR 12 broke it", "PR twelve broke it"),
            ("since 1a2b3c4 it fails", "since 1234567 it fails"),
            ("run cargo test", "run the tests"),
            ("pytest is red", "pytester is red"),
        ] {
            if thing.starts_with("```\nlet a = 1;\n```") {
                assert!(!is_concrete(thing), "too short: {thing}");
            } else {
                assert!(is_concrete(thing), "{thing}");
            }
            assert!(!is_concrete(other), "{other}");
        }
    }
}
