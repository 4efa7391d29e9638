//! The answer to a prompt, for programs; `text` says the same to agents.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::gate::Gate;

/// A word of a prompt that stands for a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keyword {
    /// The word
    pub keyword: String,
    /// The skill
    pub skill: String,
}

/// A mode that a prompt started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// The mode
    pub mode: Mode,
    /// The session, where its state lies in one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The file of its state, relative to the data root
    pub path: String,
}

/// What became of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptAnswer {
    /// The words that stand for skills, in their order
    pub keywords: Vec<Keyword>,
    /// What is asked for, once the gate had its say
    pub requested_skills: Vec<String>,
    /// The modes that are put off, since planning comes first
    pub deferred_skills: Vec<Mode>,
    /// The modes that are active now, in the order in which they became so
    pub active_skills: Vec<Mode>,
    /// The modes that became active
    pub started: Vec<Started>,
    /// The modes that were completed for them
    pub auto_completed: Vec<Mode>,
    /// What each hand-off says
    pub transition_messages: Vec<String>,
    /// What the gate did; `null` where nothing called for it
    pub gate: Option<Gate>,
    /// The mode that is to go on, where the prompt only asks for that
    pub continued: Option<Mode>,
    /// The mode that was called off
    pub canceled: Option<Mode>,
    /// The word that an interview does not take for an answer, where the prompt is one
    pub blocked_input: Option<String>,
    /// The lock on input that holds now
    pub input_lock: Option<Fields>,
    /// Why nothing was done; `null` unless it was denied
    pub denial: Option<Denial>,
    /// The same in sentences, with how to clear what is in the way
    pub transition_error: Option<String>,
    /// All of that for the agent, in a paragraph
    pub additional_context: String,
}

impl From<&Found> for Keyword {
    fn from(found: &Found) -> Keyword {
        Keyword {
            keyword: found.keyword.clone(),
            skill: found.skill.name().to_owned(),
        }
    }
}
