//! `config`: the settings of a team. A setting is changed by an event; one that nobody set has its default.

use crate::Recorded;
use crate::prelude::*;
use crate::projections::team::event::{ConfigChanged, TeamFact};
use crate::projections::team::settings::{Setting, Value};

/// What `config list` is asked.
#[derive(Debug, Clone, Default)]
pub struct ConfigList {
    /// Most settings on the page; `None` is 50, 0 is all.
    pub limit: Option<usize>,
    /// Go on behind that key.
    pub cursor: Option<String>,
}

/// What `config set` and `config unset` are asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ConfigChange {
    /// The setting.
    pub key: String,
    /// Its value as text; `None` gives it back to its default.
    pub value: Option<String>,
    /// Who does it; default `teamlog`.
    pub actor: Option<String>,
}

/// A setting: `{key, value, default, set, about}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SettingShown {
    /// Its key.
    pub key: String,
    /// The value that counts.
    pub value: Value,
    /// The value where nobody sets it.
    pub default: Value,
    /// Whether somebody set it.
    pub set: bool,
    /// What it is for.
    pub about: &'static str,
}

/// `{team, setting}`, the setting's fields in line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigGetAnswer {
    /// The team.
    pub team: String,
    /// The setting.
    #[serde(flatten)]
    pub setting: SettingShown,
}

/// `{team, settings, count, next_cursor}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigListAnswer {
    /// The team.
    pub team: String,
    /// The page.
    pub settings: Vec<SettingShown>,
    /// Settings on the page.
    pub count: usize,
    /// The last key of the page while more follow.
    pub next_cursor: Option<String>,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfigStatus {
    /// It is recorded.
    Changed,
    /// The setting was like that already; nothing was recorded.
    Unchanged,
}

/// `{status, team, key, value, previous, set, event?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigChangeAnswer {
    /// How it ended.
    pub status: ConfigStatus,
    /// The team.
    pub team: String,
    /// The setting.
    pub key: String,
    /// The value that counts now.
    pub value: Value,
    /// The value that counted before.
    pub previous: Value,
    /// Whether it is set, and not its default.
    pub set: bool,
    /// The event that records the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Recorded>,
}

/// A change that was decided.
#[derive(Debug, Clone)]
pub(crate) struct Changed {
    changed: bool,
    value: Value,
    previous: Value,
}

impl Team {
    /// One setting.
    ///
    /// # Errors
    /// `setting_unknown`; the log's.
    pub fn config_get(&mut self, key: &str) -> Result<ConfigGetAnswer> {
        let setting = find(key)?;
        let team = self.name().to_owned();
        self.query(|live, _| {
            Ok(ConfigGetAnswer {
                team: team.clone(),
                setting: shown(live, setting)?,
            })
        })
    }

    /// The settings, in the order of their table.
    pub fn config_list(&mut self, list: ConfigList) -> Result<ConfigListAnswer> {
        let mut rest: Vec<Setting> = Setting::all().collect();
        if let Some(cursor) = &list.cursor {
            let at = rest.iter().position(|setting| setting.key() == *cursor);
            let at = at.ok_or_else(|| page::unknown_cursor(cursor, "the key of a setting"))?;
            rest.drain(..=at);
        }
        let limit = page::limit(list.limit, page::PAGE);
        let more = rest.len() > limit;
        rest.truncate(limit);
        let team = self.name().to_owned();
        self.query(|live, _| {
            let settings: Vec<SettingShown> = rest
                .iter()
                .map(|setting| shown(live, *setting))
                .collect::<Result<_>>()?;
            Ok(ConfigListAnswer {
                team: team.clone(),
                count: settings.len(),
                next_cursor: settings
                    .last()
                    .filter(|_| more)
                    .map(|last| last.key.clone()),
                settings,
            })
        })
    }

    /// Sets a setting, or gives it back to its default.
    ///
    /// # Errors
    /// `setting_unknown`, `invalid_input`; the log's.
    pub fn config_change(&mut self, change: ConfigChange) -> Result<ConfigChangeAnswer> {
        let (key, set) = (change.key.clone(), change.value.is_some());
        let (change, event) = self.execute_unkeyed(change)?;
        Ok(ConfigChangeAnswer {
            status: match change.changed {
                true => ConfigStatus::Changed,
                false => ConfigStatus::Unchanged,
            },
            team: self.name().to_owned(),
            key,
            value: change.value,
            previous: change.previous,
            set,
            event,
        })
    }
}

impl Command for ConfigChange {
    type Decided = Changed;
    type Answer = (Changed, Option<Recorded>);

    fn decide(&self, live: &Live, _: Timestamp) -> Result<Decision<Changed>> {
        let setting = find(&self.key)?;
        let wanted = match &self.value {
            None => None,
            Some(text) => Some(
                setting
                    .parse(text)
                    .map_err(|rule| Refusal::invalid(setting.key(), text, &rule))?,
            ),
        };
        let actor = self.actor.as_deref().unwrap_or(DEFAULT_ACTOR);
        names::check_free("actor", actor)?;
        let (previous, set) = live.setting(setting)?;
        let value = match &wanted {
            Some(value) => value.clone(),
            None => live.default_of(setting)?,
        };
        let changed = set.then(|| previous.clone()) != wanted;
        let changes = vec![(setting, wanted)];
        let event =
            changed.then(|| TeamFact::ConfigChanged(ConfigChanged { changes }).event(actor));
        let decided = Changed {
            changed,
            value,
            previous,
        };
        Ok(Decision::Granted(decided, event.into_iter().collect()))
    }

    fn answer(&self, changed: &Changed, after: &After<'_>) -> Result<(Changed, Option<Recorded>)> {
        let event = after.events.last().cloned();
        Ok((changed.clone(), event.map(Recorded::plain)))
    }
}

fn find(key: &str) -> Result<Setting, Refusal> {
    Setting::find(key).ok_or_else(|| {
        let message = format!(
            "key must be that of a setting, but is {}",
            crate::refusal::shown(key)
        );
        let near = Setting::nearest(key).unwrap_or_default();
        Refusal::new(Code::SettingUnknown, message)
            .field("key")
            .hint(format!("did you mean {near}?"))
            .detail("nearest", near)
    })
}

fn shown(live: &Live, setting: Setting) -> Result<SettingShown> {
    let (value, set) = live.setting(setting)?;
    Ok(SettingShown {
        key: setting.key(),
        value,
        default: live.default_of(setting)?,
        set,
        about: setting.doc(),
    })
}
