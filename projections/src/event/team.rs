//! Events of the team itself, and the JSON of their payloads.

use super::setting::{Form, Setting, Value};
use super::*;
use serde::Serializer;

events! {
    /// Events of the team itself.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum TeamFact {
        /// The team was created.
        "team_created" by "teamlog init TEAM" => Created: TeamCreated [name members] {
            /// Names of the first members.
            pub members: Vec<String>,
            /// True if agents join by acting.
            pub open: bool,
            /// True if view files are kept.
            pub views: bool,
            /// The agent that created the team and leads it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub leader: Option<String>,
        },
        /// Agents became members.
        "members_added" by "teamlog init TEAM --members" => MembersAdded: MembersAdded [name members] {
            /// Names of the new members.
            pub members: Vec<String>,
        },
        /// An agent left the team for good: the agent can no longer act, and no message reaches the agent.
        "agent_retired" by "teamlog retire-agent AGENT" => Retired: AgentRetired [name agent] {
            /// The agent.
            pub agent: String,
            /// The agent that gets the later messages to this agent, if this agent was renamed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub successor: Option<String>,
        },
        /// Settings of the team changed.
        "config_changed" by "teamlog config set TEAM" => ConfigChanged(ConfigChanged),
        /// The team was closed: reads still work, mutations are refused.
        "team_closed" by "teamlog api cleanup" => Closed: TeamClosed {
            /// Reason: `shutdown`, `orphan_cleanup`.
            pub reason: String,
        },
    }
}

/// `config_changed`: new values; `None` resets a setting to its default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigChanged {
    /// Each setting at most once. Keys that this version does not know are left out.
    #[serde(serialize_with = "by_key")]
    pub changes: Vec<(Setting, Option<Value>)>,
}

fn by_key<S: Serializer>(changes: &[(Setting, Option<Value>)], to: S) -> Result<S::Ok, S::Error> {
    let changes = changes
        .iter()
        .map(|(setting, value)| (setting.key(), value));
    to.collect_map(changes.collect::<BTreeMap<_, _>>())
}

impl Decode for ConfigChanged {
    fn decode(text: &str) -> Decoded<ConfigChanged> {
        #[derive(Deserialize)]
        struct Stored {
            changes: BTreeMap<String, Option<serde_json::Value>>,
        }
        let mut changes = Vec::new();
        for (key, value) in read::<Stored>(text)?.changes {
            if let Some(setting) = Setting::find(&key) {
                let value = value.map(|value| value_of(setting, &key, value));
                changes.push((setting, value.transpose()?));
            }
        }
        Ok(ConfigChanged { changes })
    }
}

/// Returns the stored value. Bounds and names are not checked here: values that an older or newer version allowed still
/// count.
fn value_of(setting: Setting, key: &str, value: serde_json::Value) -> Decoded<Value> {
    use serde_json::Value::{Bool, Number, String};
    let wanted = match (value, setting.form()) {
        (Bool(on), Form::Switch) => return Ok(Value::Switch(on)),
        (Number(number), Form::Number(..)) => {
            let whole = number.as_u64().map(Value::Number);
            return whole.ok_or_else(|| format!("changes.{key} is not a whole number"));
        }
        (String(text), Form::Choice(_) | Form::Path | Form::Programs) => {
            return Ok(Value::Text(text));
        }
        (_, Form::Switch) => "true, false",
        (_, Form::Number(..)) => "a number",
        (_, Form::Choice(_) | Form::Path | Form::Programs) => "a text",
    };
    Err(format!("changes.{key} is not {wanted} or null"))
}

impl TeamFact {
    /// Builds the event.
    pub fn event(&self, actor: &str) -> NewEvent {
        event(self.kind(), actor, write(self), [])
    }
}

impl TeamCreated {
    /// Builds the event; `at` is for imported history only.
    pub fn event(self, actor: &str, at: Option<Timestamp>) -> NewEvent {
        let mut event = TeamFact::Created(self).event(actor);
        event.created_at = at;
        event
    }
}
