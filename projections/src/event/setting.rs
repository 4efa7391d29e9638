//! The settings of a team: every key with its type, bounds and default, in one table.
//!
//! A setting is changed by `config_changed` alone. One that nobody set has its default, and a default never becomes
//! part of the log. Keys that this version does not know move nothing.

use super::message::MessageType;
use super::*;
use crate::spelling::distance;

/// The longest time a setting may name: thirty days.
pub const SECONDS_MAX: u64 = 30 * 24 * 60 * 60;
/// The most often a delivery may be tried again.
pub const RETRIES_MAX: u64 = 100;

/// Declares the settings that have one key each: key, what it can be, its default if it has one, what it is for.
macro_rules! settings {
    ($($name:ident: $key:literal, $form:expr, $default:expr, $doc:literal;)*) => {
        /// One setting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Setting {
            /// `delivery.<type>.ack_timeout_seconds`; without a type `delivery.default.…`.
            AckTimeout(Option<MessageType>),
            /// `delivery.<type>.max_retries`; without a type `delivery.default.…`.
            MaxRetries(Option<MessageType>),
            $(#[doc = concat!("`", $key, "`.")] $name,)*
        }

        /// Every setting with a key of its own, in the order in which they are listed.
        const PLAIN: [Plain; [$($key),*].len()] = [$(Plain {
            setting: Setting::$name,
            key: $key,
            form: $form,
            default: $default,
            doc: $doc,
        }),*];
    };
}

settings! {
    NudgeCooldown: "nudge.cooldown_seconds", Form::Number(0, SECONDS_MAX), Some("900"),
        "least seconds between two nudges of one agent";
    NudgeIdle: "nudge.idle_seconds", Form::Number(0, SECONDS_MAX), Some("300"),
        "seconds without an event of its own after which an agent is idle";
    MembersOpen: "members.open", Form::Switch, None,
        "whether agents join by acting";
    Views: "views", Form::Switch, None,
        "whether view files are kept";
    ViewsWhen: "views.when", Form::Choice(&[AFTER_ANSWER, BEFORE_ANSWER]), Some(AFTER_ANSWER),
        "whether a daemon writes view files before it answers, or at most 250 ms after it";
    CleanupGate: "governance.cleanup_requires_all_workers_inactive", Form::Switch, Some("true"),
        "whether work that is left over keeps a team from being closed";
    ResourcesRoot: "resources.root", Form::Path, Some(""),
        "the repository that the resources of tasks lie in";
    ResourcesPolicy: "resources.policy", Form::Choice(&[EXCLUSIVE, ADVISORY]), Some(EXCLUSIVE),
        "whether overlapping resources of two agents are refused, or taken with a warning";
    TasksCreateByUpdate: "tasks.create_by_update", Form::Switch, Some("true"),
        "whether a `task_update` creates a task that does not exist";
    ModesTrigger: "modes.trigger", Form::Choice(&[OFF, TOKENS, PHRASES]), Some(TOKENS),
        "prompts start nothing, or modes by `$name` at their head, or by phrases as well";
    SessionStale: "modes.session_stale_seconds", Form::Number(60, SECONDS_MAX), Some("86400"),
        "seconds without a sign of life after which a session holds up nobody";
    GuardRecord: "guard.record", Form::Switch, Some("true"),
        "whether `guard` records what it refused to let an agent write";
    GuardStale: "guard.stale_seconds", Form::Number(0, SECONDS_MAX), Some("5"),
        "seconds without the journal after which nothing may be written, where other hosts record too";
    GuardUnknown: "guard.unknown", Form::Choice(&[ASK, DENY, ALLOW_WHEN_FREE]), Some(ASK),
        "how `guard` answers if it cannot tell which files a command writes";
    GuardKnown: "guard.known", Form::Programs, Some(""),
        "programs that `guard` trusts to write in the repository only where they may";
}

/// A setting with a key of its own.
struct Plain {
    setting: Setting,
    key: &'static str,
    form: Form,
    default: Option<&'static str>,
    doc: &'static str,
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "SettingValue")]
pub enum Value {
    /// A count or a time in seconds.
    Number(u64),
    /// Yes or no.
    Switch(bool),
    /// A name or a path; empty where there is none.
    Text(String),
}

/// What a setting can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A whole number, at least and at most that.
    Number(u64, u64),
    /// True or false.
    Switch,
    /// One of those names.
    Choice(&'static [&'static str]),
    /// An absolute path.
    Path,
    /// Programs, parted by commas.
    Programs,
}

/// A path that somebody holds is nobody else's.
pub const EXCLUSIVE: &str = "exclusive";
/// It may be, and whoever takes it is warned.
pub const ADVISORY: &str = "advisory";
/// The guard has a person asked.
pub const ASK: &str = "ask";
/// The guard refuses the call.
pub const DENY: &str = "deny";
/// The guard allows the call while no other agent holds a path.
pub const ALLOW_WHEN_FREE: &str = "allow_when_free";
/// Prompts start and change nothing.
pub const OFF: &str = "off";
/// Prompts start modes by `$name` at their head.
pub const TOKENS: &str = "tokens";
/// Prompts start modes by `$name` at their head, and by the phrases that are listed.
pub const PHRASES: &str = "phrases";
/// View files follow the answers of a daemon.
pub const AFTER_ANSWER: &str = "after_answer";
/// They are written before it answers.
pub const BEFORE_ANSWER: &str = "before_answer";
/// Most bytes of a path.
const PATH_BYTES_MAX: usize = 4096;
/// Most bytes of a list of programs.
const PROGRAMS_BYTES_MAX: usize = 4096;

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// How a delivery is to go on without an ack.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// How long each attempt waits; at least one second.
    pub ack_timeout_seconds: u64,
    /// How often it is tried again.
    pub max_retries: u32,
}

impl Value {
    /// As a number; a switch is 0 or 1, and a text is 0.
    pub fn number(&self) -> u64 {
        match self {
            Value::Number(number) => *number,
            Value::Switch(on) => u64::from(*on),
            Value::Text(_) => 0,
        }
    }
    /// Returns the text, or an empty one if the value is no text.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            Value::Number(_) | Value::Switch(_) => "",
        }
    }
    /// As a switch.
    pub fn switch(&self) -> bool {
        self.number() != 0
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Switch(on) => on.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

impl Setting {
    /// All of them, in the order in which they are listed.
    pub fn all() -> impl Iterator<Item = Setting> {
        let types = || std::iter::once(None).chain(MessageType::ALL.map(Some));
        types()
            .flat_map(|kind| [Setting::AckTimeout(kind), Setting::MaxRetries(kind)])
            .chain(PLAIN.iter().map(|plain| plain.setting))
    }

    /// Its row, where it has a key of its own.
    fn plain(self) -> Option<&'static Plain> {
        PLAIN.iter().find(|plain| plain.setting == self)
    }

    /// Its key, as users type it.
    pub fn key(self) -> String {
        let (kind, what) = match self {
            Setting::AckTimeout(kind) => (kind, "ack_timeout_seconds"),
            Setting::MaxRetries(kind) => (kind, "max_retries"),
            setting => return setting.plain().map_or("", |plain| plain.key).to_owned(),
        };
        let kind = kind.map_or("default", MessageType::name);
        format!("delivery.{kind}.{what}")
    }

    /// The setting of that key.
    pub fn find(key: &str) -> Option<Setting> {
        Setting::all().find(|setting| setting.key() == key)
    }

    /// The known key that looks most like `key`.
    pub fn nearest(key: &str) -> Option<String> {
        Setting::all()
            .map(Setting::key)
            .min_by_key(|known| (!known.contains(key), distance(known, key)))
    }

    /// What it is for.
    pub fn doc(self) -> &'static str {
        match self {
            Setting::AckTimeout(None) => {
                "seconds that each attempt of a delivery waits for its ack"
            }
            Setting::MaxRetries(None) => {
                "how often a delivery is tried again before it is a dead letter"
            }
            setting => setting
                .plain()
                .map_or("the same for messages of that type", |plain| plain.doc),
        }
    }

    /// What it can be.
    pub fn form(self) -> Form {
        match self {
            Setting::MaxRetries(_) => Form::Number(0, RETRIES_MAX),
            setting => setting
                .plain()
                .map_or(Form::Number(1, SECONDS_MAX), |plain| plain.form),
        }
    }

    /// The least and the greatest number it may be, if it is one.
    pub fn bounds(self) -> Option<(u64, u64)> {
        match self.form() {
            Form::Number(least, most) => Some((least, most)),
            Form::Switch | Form::Choice(_) | Form::Path | Form::Programs => None,
        }
    }

    /// The value that a text names.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        match self.form() {
            Form::Number(least, most) => match text.parse() {
                Ok(number) if (least..=most).contains(&number) => Ok(Value::Number(number)),
                _ => Err(format!("must be a whole number from {least} to {most}")),
            },
            Form::Switch => match text {
                "true" => Ok(Value::Switch(true)),
                "false" => Ok(Value::Switch(false)),
                _ => Err("must be true or false".into()),
            },
            Form::Choice(names) if names.contains(&text) => Ok(Value::Text(text.to_owned())),
            Form::Choice(names) => Err(format!("must be one of {}", names.join(", "))),
            Form::Path => path(text).map(Value::Text),
            Form::Programs => programs(text).map(Value::Text),
        }
    }

    /// The default of this very key, where it has one that no other setting decides.
    pub(crate) fn own_default(self) -> Option<Value> {
        use MessageType::{DecisionRequired, ShutdownRequest};
        let number = match self {
            Setting::AckTimeout(None) => 60,
            Setting::AckTimeout(Some(DecisionRequired | ShutdownRequest)) => 180,
            Setting::MaxRetries(None | Some(ShutdownRequest)) => 2,
            Setting::MaxRetries(Some(DecisionRequired)) => 3,
            setting => {
                let text = setting.plain()?.default?;
                return Some(match setting.form() {
                    Form::Number(..) => Value::Number(text.parse().ok()?),
                    Form::Switch => Value::Switch(text == "true"),
                    Form::Choice(_) | Form::Path | Form::Programs => Value::Text(text.to_owned()),
                });
            }
        };
        Some(Value::Number(number))
    }

    /// The setting that decides where this one was not set and has no default of its own.
    pub(crate) fn general(self) -> Setting {
        match self {
            Setting::AckTimeout(_) => Setting::AckTimeout(None),
            Setting::MaxRetries(_) => Setting::MaxRetries(None),
            other => other,
        }
    }
}

/// An absolute path without what means nothing: `.`, `//`, a slash at the end.
fn path(text: &str) -> Result<String, String> {
    if !text.starts_with('/') || text.len() > PATH_BYTES_MAX || text.chars().any(char::is_control) {
        return Err(format!(
            "must be an absolute path of at most {PATH_BYTES_MAX} bytes without control characters"
        ));
    }
    let names: Vec<&str> = text
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .collect();
    match names.contains(&"..") {
        true => Err("must be a path without ..".to_owned()),
        false => Ok(format!("/{}", names.join("/"))),
    }
}

/// Programs, each with the words that have to follow it, parted by commas; blanks are one blank.
fn programs(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(String::new());
    }
    let entries: Vec<String> = text
        .split(',')
        .map(|entry| entry.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let plain = |letter: char| letter.is_alphanumeric() || "_-./+@: ".contains(letter);
    let is_entry =
        |entry: &String| !entry.is_empty() && !entry.starts_with('-') && entry.chars().all(plain);
    match text.len() <= PROGRAMS_BYTES_MAX && entries.iter().all(is_entry) {
        true => Ok(entries.join(", ")),
        false => Err(format!(
            "must be programs as they are typed, such as `make, cargo test, ./ci/check`, in at most {PROGRAMS_BYTES_MAX} \
             bytes: letters, digits and _-./+@:"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_again_and_has_a_default_that_keeps_its_bounds() {
        let mut keys: Vec<String> = Setting::all().map(Setting::key).collect();
        for setting in Setting::all() {
            assert_eq!(Setting::find(&setting.key()), Some(setting));
            if let (Some(value), Some((least, most))) = (setting.own_default(), setting.bounds()) {
                assert!(
                    (least..=most).contains(&value.number()),
                    "{}",
                    setting.key()
                );
                assert_eq!(setting.parse(&value.to_string()), Ok(value));
            }
        }
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!((keys.len(), all), (45, 45));
        assert_eq!(Setting::find("delivery.default"), None);
    }

    #[test]
    fn a_value_of_the_wrong_sort_or_size_is_told_the_rule() {
        let retries = Setting::MaxRetries(None);
        for text in ["", "-1", "101", "1.5", "true", "18446744073709551616"] {
            assert_eq!(
                retries.parse(text),
                Err("must be a whole number from 0 to 100".into()),
                "{text:?}"
            );
        }
        assert!(Setting::AckTimeout(None).parse("0").is_err());
        assert!(Setting::Views.parse("1").is_err());
        assert_eq!(Setting::Views.parse("false"), Ok(Value::Switch(false)));
        let policy = Setting::ResourcesPolicy;
        assert_eq!(policy.parse(ADVISORY), Ok(Value::Text(ADVISORY.into())));
        let rule = "must be one of exclusive, advisory".to_owned();
        assert_eq!(policy.parse("loose"), Err(rule));
        let root = Setting::ResourcesRoot;
        for path in ["/repo/app", "//repo/./app/"] {
            assert_eq!(root.parse(path), Ok(Value::Text("/repo/app".into())));
        }
        for path in [
            "",
            "repo",
            "/repo/../x",
            "/a\nb",
            &format!("/{}", "x".repeat(5000)),
        ] {
            assert!(root.parse(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn programs_to_trust_are_words_parted_by_commas() {
        let known = Setting::GuardKnown;
        let text = |text: &str| Ok(Value::Text(text.into()));
        assert_eq!(known.parse("make"), text("make"));
        assert_eq!(
            known.parse(" make ,cargo   test,./ci/check"),
            text("make, cargo test, ./ci/check")
        );
        assert_eq!(known.parse(""), text(""));
        for list in [",", "make,", "-x", "make; rm", "a\nb|c", "$X", "a*"] {
            assert!(known.parse(list).is_err(), "{list:?}");
        }
    }

    #[test]
    fn a_mistyped_key_finds_its_neighbour() {
        for (typed, meant) in [
            (
                "delivery.default.max_retrys",
                "delivery.default.max_retries",
            ),
            (
                "delivery.decision_require.max_retries",
                "delivery.decision_required.max_retries",
            ),
            ("nudge.cooldown", "nudge.cooldown_seconds"),
            ("view", "views"),
            ("member.open", "members.open"),
        ] {
            assert_eq!(Setting::nearest(typed).as_deref(), Some(meant), "{typed}");
        }
        Setting::nearest(&"x".repeat(1 << 20)).unwrap();
    }
}
