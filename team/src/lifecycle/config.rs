//! `config`: the settings of a team. A setting has its default until an event changes it.

use crate::Recorded;
use crate::operation::prelude::*;
use crate::projections::team::event::ConfigChanged;
use crate::projections::team::settings::Value;

operation! {
    /// List the settings of a team with their values, in the order of the settings table
    "config-list": Reads(ConfigList {
        /// Largest number of settings; 50 if absent. On the command line, 0 means all
        #[schemars(range(min = 1, max = 1000))]
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "KEY")]
        cursor: Option<String>,
    }) -> ConfigListAnswer = Team::config_list,
    refuses = [CursorUnknown]
}

operation! {
    /// Read one setting of a team
    "config-get": Reads(ConfigGet {
        /// Name of the setting, for example `nudge.idle_seconds`
        // The field is not called `key`, because `key` is the idempotency key of the request.
        #[schemars(with = "Setting")]
        #[arg(value_name = "KEY")]
        setting: String,
    }) -> ConfigGetAnswer = |team, asked| team.config_get(&asked.setting),
    refuses = [SettingUnknown]
}

operation! {
    /// Change a setting of the team
    "config-set": Records(ConfigSet {
        /// Name of the setting, for example `nudge.idle_seconds`
        #[schemars(with = "Setting")]
        #[arg(value_name = "KEY")]
        setting: String,
        /// Value as text: a whole number, true or false, a name or a path
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    }) -> ConfigChangeAnswer = |team, set| team.config_change(ConfigChange {
        key: set.setting,
        value: Some(set.value),
    }),
    refuses = [SettingUnknown, WorkerNotFound],
    scope = Operate
}

operation! {
    /// Restore the default of a setting
    "config-unset": Records(ConfigUnset {
        /// Name of the setting, for example `nudge.idle_seconds`
        #[schemars(with = "Setting")]
        #[arg(value_name = "KEY")]
        setting: String,
    }) -> ConfigChangeAnswer = |team, unset| team.config_change(ConfigChange {
        key: unset.setting,
        value: None,
    }),
    refuses = [SettingUnknown, WorkerNotFound],
    scope = Operate
}

/// A change of a setting.
#[derive(Debug, Clone, Default)]
pub struct ConfigChange {
    /// The setting.
    pub key: String,
    /// New value as text; `None` restores the default.
    pub value: Option<String>,
}

/// A setting: `{key, value, default, set, about}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingShown {
    /// Key of the setting.
    pub key: String,
    /// Current value.
    pub value: Value,
    /// Default value.
    pub default: Value,
    /// True if the value was set; false if the value is the default.
    pub set: bool,
    /// Description of the setting.
    pub about: Cow<'static, str>,
}

/// The answer `{team, setting}`, the setting's fields inline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigGetAnswer {
    /// The team.
    pub team: String,
    /// The setting.
    #[serde(flatten)]
    pub setting: SettingShown,
}

/// The answer `{team, settings, count, next_cursor}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigListAnswer {
    /// The team.
    pub team: String,
    /// Settings on the page.
    pub settings: Vec<SettingShown>,
    /// Number of settings on the page.
    pub count: usize,
    /// Cursor of the next page: the last key of this page; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// Result of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConfigStatus {
    /// The change is recorded.
    Changed,
    /// The setting has the value already; nothing was recorded.
    Unchanged,
}

/// The answer `{status, team, key, value, previous, set, event?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigChangeAnswer {
    /// The result.
    pub status: ConfigStatus,
    /// The team.
    pub team: String,
    /// The setting.
    pub key: String,
    /// New value.
    pub value: Value,
    /// Previous value.
    pub previous: Value,
    /// True if the value was set; false if the value is the default.
    pub set: bool,
    /// Event that records the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Recorded>,
}

impl Team {
    /// Returns a setting.
    pub fn config_get(&mut self, key: &str) -> Result<ConfigGetAnswer> {
        let setting = find(key)?;
        self.query(|live, _| {
            Ok(ConfigGetAnswer {
                team: live.team_name().to_owned(),
                setting: shown(live, setting)?,
            })
        })
    }

    /// Returns the settings in the order of the settings table.
    pub fn config_list(&mut self, list: ConfigList) -> Result<ConfigListAnswer> {
        let mut rest: Vec<Setting> = Setting::all().collect();
        if let Some(cursor) = &list.cursor {
            let at = rest.iter().position(|setting| setting.key() == *cursor);
            let at = at.ok_or_else(|| page::unknown_cursor(cursor, "the key of a setting"))?;
            rest.drain(..=at);
        }
        let more = page::cut(&mut rest, page::limit(list.limit, page::PAGE));
        self.query(|live, _| {
            let settings = rest.iter().map(|setting| shown(live, *setting));
            let settings = settings.collect::<Result<Vec<SettingShown>>>()?;
            let last = settings.last().filter(|_| more);
            Ok(ConfigListAnswer {
                team: live.team_name().to_owned(),
                count: settings.len(),
                next_cursor: last.map(|last| last.key.clone()),
                settings,
            })
        })
    }

    /// Sets a setting, or restores its default.
    pub fn config_change(&mut self, change: ConfigChange) -> Result<ConfigChangeAnswer> {
        self.execute(change)
    }
}

impl Command for ConfigChange {
    /// New and previous value.
    type Decided = (Value, Value);
    type Answer = ConfigChangeAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<(Value, Value)>> {
        let setting = find(&self.key)?;
        let parse = |text: &String| {
            let value = setting.parse(text);
            value.map_err(|rule| Refusal::invalid(setting.key(), text, &rule))
        };
        let wanted = self.value.as_ref().map(parse).transpose()?;
        let (previous, set) = live.setting(setting)?;
        let value = match &wanted {
            Some(value) => value.clone(),
            None => live.default_of(setting)?,
        };
        let mut events = Vec::new();
        if set.then(|| previous.clone()) != wanted {
            let changes = vec![(setting, wanted)];
            events.push(TeamFact::ConfigChanged(ConfigChanged { changes }).event(DEFAULT_ACTOR));
        }
        Ok(Decision::Granted((value, previous), events))
    }

    fn answer(
        &self,
        (value, previous): &(Value, Value),
        after: &After<'_>,
    ) -> Result<Self::Answer> {
        let event = after.events.last().cloned().map(Recorded::plain);
        Ok(ConfigChangeAnswer {
            status: match event {
                Some(_) => ConfigStatus::Changed,
                None => ConfigStatus::Unchanged,
            },
            team: after.team.to_owned(),
            key: self.key.clone(),
            value: value.clone(),
            previous: previous.clone(),
            set: self.value.is_some(),
            event,
        })
    }
}

fn find(key: &str) -> Result<Setting, Refusal> {
    Setting::find(key).ok_or_else(|| {
        let shown = crate::refusal::shown(key);
        let message = format!("no setting {shown}");
        let near = Setting::nearest(key).unwrap_or_default();
        Refusal::new(Code::SettingUnknown, message)
            .field("setting")
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
        about: setting.doc().into(),
    })
}
