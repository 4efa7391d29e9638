//! The answer to a prompt, for programs. The module `text` writes its content as a paragraph for agents.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::gate::Gate;

/// A word of a prompt, and the skill that it names.
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
    /// The session of the state; absent at the root
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// File of the state, relative to the data root
    pub path: String,
}

/// Result of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptAnswer {
    /// The words that name skills, in the order of the prompt
    pub keywords: Vec<Keyword>,
    /// Requested skills after the gate
    pub requested_skills: Vec<String>,
    /// Modes that are deferred because planning comes first
    pub deferred_skills: Vec<Mode>,
    /// Modes that are active now, in the order of their starts
    pub active_skills: Vec<Mode>,
    /// Modes that became active
    pub started: Vec<Started>,
    /// Modes that were completed because other modes started
    pub auto_completed: Vec<Mode>,
    /// Messages about the hand-offs
    pub transition_messages: Vec<String>,
    /// Decision of the gate; `null` if the prompt requests no mode that needs a plan
    pub gate: Option<Gate>,
    /// The mode to continue, if the prompt only asks to continue
    pub continued: Option<Mode>,
    /// The mode that was canceled
    pub canceled: Option<Mode>,
    /// The prompt, if an interview does not accept it as an answer
    pub blocked_input: Option<String>,
    /// The input lock that is active now
    pub input_lock: Option<Fields>,
    /// Reason of the denial; `null` if not denied
    pub denial: Option<Denial>,
    /// Text of the denial, with the commands that clear the blocking modes
    pub transition_error: Option<String>,
    /// The whole answer as a paragraph for the agent
    pub additional_context: String,
}

impl From<&KeywordMatch> for Keyword {
    fn from(found: &KeywordMatch) -> Keyword {
        Keyword {
            keyword: found.keyword.clone(),
            skill: found.skill.name().to_owned(),
        }
    }
}
