//! Stored settings of a team, and queries of settings.

pub use crate::event::setting::*;

use crate::event::message::MessageType;
use crate::event::team::ConfigChanged;
use crate::prelude::*;

/// Namespace of settings; key: setting key.
const SETTING: u8 = 0x13;

/// Folds settings that are stored by key. The caller folds the settings that are fields of the team.
pub(crate) fn change(tx: &mut Tx<'_>, changed: &ConfigChanged) {
    for (setting, value) in &changed.changes {
        let key = key_of(SETTING, setting.key().as_bytes());
        match value {
            Some(Value::Text(text)) => tx.put(&key, text),
            Some(value) => tx.put(&key, &value.number()),
            None => tx.delete(&key),
        }
    }
}

/// Returns the recorded value of a setting; `None` if the setting is not set.
pub(crate) fn recorded(rows: Rows<'_>, setting: Setting) -> Result<Option<Value>> {
    let key = key_of(SETTING, setting.key().as_bytes());
    let number = || rows.get::<u64>(&key);
    Ok(match setting.form() {
        Form::Number(..) => number()?.map(Value::Number),
        Form::Switch => number()?.map(|number| Value::Switch(number != 0)),
        Form::Choice(_) | Form::Path | Form::Programs => rows.get(&key)?.map(Value::Text),
    })
}

impl TeamState {
    /// Returns the effective value of a setting, and true if the setting is set.
    pub fn setting(&self, setting: Setting) -> Result<(Value, bool)> {
        match recorded(self.rows(), setting)? {
            Some(value) => Ok((value, true)),
            None => Ok((self.default_of(setting)?, false)),
        }
    }
    /// Returns every set setting, by key.
    pub fn settings(&self) -> Result<BTreeMap<String, Value>> {
        let mut settings = BTreeMap::new();
        for entry in self.rows().prefix(&[SETTING], false) {
            let key = entry?.name(1);
            if let Some(setting) = Setting::find(&key)
                && let Some(value) = recorded(self.rows(), setting)?
            {
                settings.insert(key, value);
            }
        }
        Ok(settings)
    }
    /// Returns the value that a setting has while it is not set.
    pub fn default_of(&self, setting: Setting) -> Result<Value> {
        if let Some(value) = setting.own_default() {
            return Ok(value);
        }
        match setting {
            Setting::MembersOpen => {
                let open = self.team()?.is_some_and(|team| team.born_open);
                Ok(Value::Switch(open))
            }
            Setting::Views => {
                let views = self.team()?.is_some_and(|team| team.born_views);
                Ok(Value::Switch(views))
            }
            setting => Ok(self.setting(setting.general())?.0),
        }
    }
    /// Returns the delivery policy of a message type, for messages without a policy of their own.
    pub fn policy(&self, kind: MessageType) -> Result<Policy> {
        let (timeout, _) = self.setting(Setting::AckTimeout(Some(kind)))?;
        let (retries, _) = self.setting(Setting::MaxRetries(Some(kind)))?;
        Ok(Policy {
            ack_timeout_seconds: timeout.number(),
            max_retries: u32::try_from(retries.number()).unwrap_or(u32::MAX),
        })
    }
}
