//! Content of `team.json`.

use crate::event::usage::Budget;
use crate::event::worker::UNREGISTERED_ROLE;
use crate::files::record;
use crate::prelude::*;
use crate::team::TeamInfo;
use crate::team::settings::Value;

#[derive(Serialize)]
struct TeamView<'a> {
    team: &'a str,
    #[serde(rename = "teamId")]
    team_id: &'a str,
    created_at: String,
    members: Vec<String>,
    /// Members with their details.
    agents: Vec<Agent>,
    open: bool,
    /// Set settings, by key.
    settings: BTreeMap<String, Value>,
    /// Token budget, if one is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetView>,
    seq: u64,
}

#[derive(Serialize)]
struct Agent {
    id: String,
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

/// A budget under the names of the log and under the names of the HTTP protocol.
#[derive(Serialize)]
struct BudgetView {
    #[serde(flatten)]
    budget: Budget,
    #[serde(rename = "maxTokens", skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(rename = "hardLimit")]
    hard_limit: bool,
}

/// Returns the content of the file.
pub(crate) fn text(name: &str, info: &TeamInfo, live: &TeamState) -> Result<Vec<u8>> {
    let members = live.members()?;
    let (mut agents, mut seq) = (Vec::new(), info.seq);
    for id in &members {
        let known = live.identity(id)?;
        seq = known.as_ref().map_or(seq, |noted| seq.max(noted.seq));
        let (role, model) = match known {
            Some(noted) => (noted.what.role, noted.what.model),
            None => (UNREGISTERED_ROLE.to_owned(), None),
        };
        let id = id.clone();
        agents.push(Agent { id, role, model });
    }
    let budget = live.budget()?;
    seq = budget.as_ref().map_or(seq, |info| seq.max(info.seq));
    Ok(record(TeamView {
        team: name,
        team_id: name,
        created_at: info.created_at.to_string(),
        members,
        agents,
        open: info.open,
        settings: live.settings()?,
        budget: budget.map(|info| BudgetView {
            max_tokens: info.budget.max_tokens,
            hard_limit: info.budget.hard_limit,
            budget: info.budget,
        }),
        seq,
    }))
}
