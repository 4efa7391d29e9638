//! Determines the name under which a subagent acts.
//!
//! Hooks that run inside a subagent get `agent_id` and `agent_type`. If `TEAMLOG_AGENT` is set, it names all agents
//! of the session. Otherwise, the name of a subagent consists of its type and its id, if the team lets this name act.
//! In a team with a list of members, a subagent acts as its parent.

use crate::context::Context;
use crate::exit::CommandError;
use crate::given;
use serde_json::{Map, Value};
use teamlog_team::{Failure, Team};

/// Maximum number of letters that a subagent's name takes from its type.
const TYPE_MAX: usize = 40;
/// Number of letters that a subagent's name takes from the end of its id. The letters come from the end, because an
/// id may begin with a time.
const ID_LETTERS: usize = 8;

/// A subagent, as a hook's input describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    kind: String,
    id: String,
}

/// The agent on whose behalf a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acting {
    /// Name of the agent.
    pub agent: String,
    /// The agent that started this agent. The leases of the parent also cover the writes of this agent.
    pub parent: Option<String>,
    /// Name of the subagent, if the subagent acts under the name of another agent.
    pub subagent: Option<String>,
}

impl Subagent {
    /// Reads the subagent from the fields of a hook's input. Returns `None` if no subagent triggered the hook.
    pub fn from_fields(fields: &Map<String, Value>) -> Result<Option<Subagent>, CommandError> {
        let text = |field: &str| given::text(fields, field);
        let kind = text("agent_type")?.unwrap_or_default();
        let id = text("agent_id")?.filter(|id| !id.is_empty());
        Ok(id.map(|id| Subagent { kind, id }))
    }

    /// Returns the type of the subagent.
    pub fn role(&self) -> &str {
        match self.kind.trim() {
            "" => "subagent",
            kind => kind,
        }
    }

    /// Returns the name of the subagent, such as `my-plugin-reviewer-eb8a4d1a`.
    pub fn name(&self) -> String {
        let mut name = plain(self.role());
        name.truncate(TYPE_MAX);
        let id = plain(&self.id).replace('-', "");
        let behind = id.len().saturating_sub(ID_LETTERS);
        let id = id.get(behind..).unwrap_or_default();
        let parts = [name.trim_matches('-'), id].into_iter();
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        match parts.is_empty() {
            true => "subagent".to_owned(),
            false => parts.join("-"),
        }
    }
}

/// Keeps lower-case letters and digits of the text, separated by single hyphens.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter.is_ascii_alphanumeric() {
            true => plain.push(letter.to_ascii_lowercase()),
            false if plain.ends_with('-') || plain.is_empty() => {}
            false => plain.push('-'),
        }
    }
    plain
}

impl Acting {
    /// Returns the acting agent. `named` is the agent for which the hook was installed.
    ///
    /// # Errors No agent is named, and the subagent has no right to act under its own name.
    pub fn for_team(
        context: &Context,
        team: &mut Team,
        named: Option<String>,
        subagent: Option<&Subagent>,
    ) -> Result<Acting, CommandError> {
        let own = subagent.map(Subagent::name);
        let is_told = context.env().var_set("TEAMLOG_AGENT").is_some();
        if let Some(own) = own.as_ref().filter(|_| !is_told)
            && may_act(team, own)?
        {
            return Ok(Acting {
                agent: own.clone(),
                parent: named.or_else(|| context.actor()),
                subagent: None,
            });
        }
        Ok(Acting {
            agent: context.agent("--agent", named)?,
            parent: None,
            subagent: own,
        })
    }

    /// Returns the names whose leases the agent may use: its own name, and the name of its parent.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [Some(&self.agent), self.parent.as_ref()]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// Returns true if the subagent acts under its own name.
    pub fn is_own(&self, subagent: Option<&Subagent>) -> bool {
        self.subagent.is_none() && subagent.is_some()
    }
}

/// Returns true if the team has no list of members, or if the list contains `name`.
fn may_act(team: &mut Team, name: &str) -> Result<bool, CommandError> {
    match team.knows("agent", name) {
        Ok(()) => Ok(true),
        Err(Failure::Refused(_)) => Ok(false),
        Err(failure) => Err(failure.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn named(kind: Value, id: Value) -> Option<String> {
        let event = json!({"agent_type": kind, "agent_id": id});
        let read = Subagent::from_fields(event.as_object().unwrap()).unwrap();
        read.map(|subagent| subagent.name())
    }

    #[test]
    fn a_subagent_is_named_after_its_type_and_the_end_of_its_id() {
        for (kind, id, name) in [
            ("Explore", "a7784052ceb8a4d1a", "explore-eb8a4d1a"),
            (
                "my-plugin:reviewer",
                "agent-42",
                "my-plugin-reviewer-agent42",
            ),
            (
                "default",
                "019ac2f0-5b1e-7c3a-9d10-5f6e7a8b9c0d",
                "default-7a8b9c0d",
            ),
            ("", "b1", "subagent-b1"),
            (" ../Ü! ", "ü", "subagent"),
        ] {
            assert_eq!(named(json!(kind), json!(id)).as_deref(), Some(name));
        }
        let long = named(json!("x".repeat(200)), json!("0".repeat(200))).unwrap();
        assert_eq!(long.len(), TYPE_MAX + 1 + ID_LETTERS);
    }

    #[test]
    fn without_an_id_there_is_no_subagent() {
        // An agent that was started directly with a type has no id, so it is not a subagent.
        assert_eq!(named(json!("reviewer"), Value::Null), None);
        assert_eq!(named(json!("reviewer"), json!("")), None);
        let wrong = json!({"agent_id": 7});
        assert!(Subagent::from_fields(wrong.as_object().unwrap()).is_err());
    }
}
