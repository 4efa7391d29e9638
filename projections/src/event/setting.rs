//! The settings of a team: key, type, bounds and default of each, in one table.
//!
//! Only `config_changed` changes a setting. An unset setting has its default, and defaults are never written to the
//! log. Keys that this version does not know are ignored.

use super::message::MessageType;
use super::*;
use crate::spelling::distance;

/// Longest time that a setting can have: thirty days.
pub const SECONDS_MAX: u64 = 30 * 24 * 60 * 60;
/// Largest number of retries of a delivery.
pub const RETRIES_MAX: u64 = 100;

/// Declares the settings that have a key of their own: key, form, default (if any), description.
macro_rules! settings {
    ($($name:ident: $key:literal, $form:expr, $default:expr, $doc:literal;)*) => {
        /// A setting.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Setting {
            /// `delivery.<type>.ack_timeout_seconds`; `delivery.default.…` for all types.
            AckTimeout(Option<MessageType>),
            /// `delivery.<type>.max_retries`; `delivery.default.…` for all types.
            MaxRetries(Option<MessageType>),
            $(#[doc = concat!("`", $key, "`.")] $name,)*
        }

        /// Every setting with a key of its own, in listing order.
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
        "minimum seconds between two nudges of an agent";
    NudgeIdle: "nudge.idle_seconds", Form::Number(0, SECONDS_MAX), Some("300"),
        "seconds without an event by an agent after which it counts as idle";
    MembersOpen: "members.open", Form::Switch, None,
        "if true, an agent becomes a member by its first action";
    Views: "views", Form::Switch, None,
        "if true, view files (`tasks/`, `inboxes/`, …) are kept up to date";
    ViewsWhen: "views.when", Form::Choice(&[AFTER_ANSWER, BEFORE_ANSWER]), Some(AFTER_ANSWER),
        "time at which a daemon writes view files: before its answer, or up to 250 ms after it";
    CleanupGate: "governance.cleanup_requires_all_workers_inactive", Form::Switch, Some("true"),
        "if true, a team with unfinished tasks cannot be closed";
    ResourcesRoot: "resources.root", Form::Path, Some(""),
        "repository to which the resources of tasks are relative";
    ResourcesPolicy: "resources.policy", Form::Choice(&[EXCLUSIVE, ADVISORY]), Some(EXCLUSIVE),
        "effect of a claim whose resources overlap those of another agent: refused, or accepted with a warning";
    TasksCreateByUpdate: "tasks.create_by_update", Form::Switch, Some("true"),
        "if true, a `task_update` for an unknown task creates it";
    ClaimsRenewBelow: "claims.renew_below_percent", Form::Number(0, 100), Some("50"),
        "remaining percent of a lease below which a recording command of its holder's session renews it; 0: never";
    ModesTrigger: "modes.trigger", Form::Choice(&[OFF, TOKENS, PHRASES]), Some(TOKENS),
        "triggers in prompts that start modes: none, `$name` at the head, or `$name` and listed phrases";
    SessionStale: "modes.session_stale_seconds", Form::Number(60, SECONDS_MAX), Some("86400"),
        "seconds without a sign of life after which a session blocks no other session";
    GuardRecord: "guard.record", Form::Switch, Some("true"),
        "if true, `guard` records refused writes";
    GuardStale: "guard.stale_seconds", Form::Number(0, SECONDS_MAX), Some("5"),
        "seconds without contact to the journal after which `guard` refuses writes (teams on several hosts)";
    GuardUnknown: "guard.unknown", Form::Choice(&[ASK, DENY, ALLOW_WHEN_FREE]), Some(ASK),
        "answer of `guard` if it cannot tell which files a command writes";
    GuardKnown: "guard.known", Form::Programs, Some(""),
        "programs that `guard` trusts to write only permitted files of the repository";
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
    /// Number, or time in seconds.
    Number(u64),
    /// True or false.
    Switch(bool),
    /// Name or path; empty if there is none.
    Text(String),
}

/// Values that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Whole number, with minimum and maximum.
    Number(u64, u64),
    /// True or false.
    Switch,
    /// A choice between these names.
    Choice(&'static [&'static str]),
    /// An absolute path.
    Path,
    /// List of programs, separated by commas.
    Programs,
}

/// A held path is refused to other agents.
pub const EXCLUSIVE: &str = "exclusive";
/// A path that an agent holds is given to other agents too, with a warning.
pub const ADVISORY: &str = "advisory";
/// The guard asks the user.
pub const ASK: &str = "ask";
/// The guard refuses the call.
pub const DENY: &str = "deny";
/// The guard allows the call if no other agent holds a path.
pub const ALLOW_WHEN_FREE: &str = "allow_when_free";
/// Prompts start no mode.
pub const OFF: &str = "off";
/// Prompts start modes by `$name` at their head.
pub const TOKENS: &str = "tokens";
/// Prompts start modes by `$name` at their head, and by listed phrases.
pub const PHRASES: &str = "phrases";
/// A daemon writes view files after it answers.
pub const AFTER_ANSWER: &str = "after_answer";
/// A daemon writes view files before it answers.
pub const BEFORE_ANSWER: &str = "before_answer";
/// Longest path, in bytes.
const PATH_BYTES_MAX: usize = 4096;
/// Longest list of programs, in bytes.
const PROGRAMS_BYTES_MAX: usize = 4096;

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// Delivery policy of a message that requires an ack.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Ack timeout of each attempt; at least one second.
    pub ack_timeout_seconds: u64,
    /// Number of retries.
    pub max_retries: u32,
}

impl Value {
    /// Returns the value as a number: a switch is 0 or 1, a text is 0.
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
    /// Returns the value as a switch: true if its number is not 0.
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
    /// Returns all settings, in listing order.
    pub fn all() -> impl Iterator<Item = Setting> {
        let types = || std::iter::once(None).chain(MessageType::ALL.map(Some));
        types()
            .flat_map(|kind| [Setting::AckTimeout(kind), Setting::MaxRetries(kind)])
            .chain(PLAIN.iter().map(|plain| plain.setting))
    }

    /// Returns the table row of a setting that has a key of its own.
    fn plain(self) -> Option<&'static Plain> {
        PLAIN.iter().find(|plain| plain.setting == self)
    }

    /// Returns the key, as users type it.
    pub fn key(self) -> String {
        let (kind, what) = match self {
            Setting::AckTimeout(kind) => (kind, "ack_timeout_seconds"),
            Setting::MaxRetries(kind) => (kind, "max_retries"),
            setting => return setting.plain().map_or("", |plain| plain.key).to_owned(),
        };
        let kind = kind.map_or("default", MessageType::name);
        format!("delivery.{kind}.{what}")
    }

    /// Returns the setting of a key.
    pub fn find(key: &str) -> Option<Setting> {
        Setting::all().find(|setting| setting.key() == key)
    }

    /// Returns the known key that is most similar to `key`.
    pub fn nearest(key: &str) -> Option<String> {
        Setting::all()
            .map(Setting::key)
            .min_by_key(|known| (!known.contains(key), distance(known, key)))
    }

    /// Returns the description.
    pub fn doc(self) -> &'static str {
        match self {
            Setting::AckTimeout(None) => "seconds until an unacknowledged delivery is retried",
            Setting::MaxRetries(None) => "retries of a delivery before it becomes a dead letter",
            setting => setting.plain().map_or(
                "overrides `delivery.default` for messages of this type",
                |plain| plain.doc,
            ),
        }
    }

    /// Returns the form of the setting's values.
    pub fn form(self) -> Form {
        match self {
            Setting::MaxRetries(_) => Form::Number(0, RETRIES_MAX),
            setting => setting
                .plain()
                .map_or(Form::Number(1, SECONDS_MAX), |plain| plain.form),
        }
    }

    /// Returns minimum and maximum, if the setting is a number.
    pub fn bounds(self) -> Option<(u64, u64)> {
        match self.form() {
            Form::Number(least, most) => Some((least, most)),
            Form::Switch | Form::Choice(_) | Form::Path | Form::Programs => None,
        }
    }

    /// Parses a value.
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

    /// Returns the setting's own default; `None` if it has no default, or if another setting decides (`general`).
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

    /// Returns the setting whose value is used if this setting is unset and has no default of its own.
    pub(crate) fn general(self) -> Setting {
        match self {
            Setting::AckTimeout(_) => Setting::AckTimeout(None),
            Setting::MaxRetries(_) => Setting::MaxRetries(None),
            other => other,
        }
    }
}

/// Normalizes an absolute path: removes `.`, `//` and a slash at the end.
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

/// Normalizes a list of programs that are separated by commas. A program may have required first words. Several blanks become one
/// blank.
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
        assert_eq!((keys.len(), all), (46, 46));
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
