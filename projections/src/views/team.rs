//! `team.json`.

use crate::fact::usage::Budget;
use crate::settings::Value;
use crate::team::TeamInfo;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct TeamView<'a> {
    schema_version: u32,
    #[serde(rename = "schemaVersion")]
    schema_version_text: &'a str,
    team: &'a str,
    #[serde(rename = "teamId")]
    team_id: &'a str,
    created_at: String,
    members: &'a [String],
    open: bool,
    /// What somebody set, by key.
    settings: BTreeMap<String, Value>,
    /// How many tokens may be used, once somebody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<&'a Budget>,
    seq: u64,
}

/// The file's content.
pub(super) fn text(
    name: &str,
    info: &TeamInfo,
    members: &[String],
    settings: BTreeMap<String, Value>,
    budget: Option<&Budget>,
) -> Vec<u8> {
    let view = TeamView {
        schema_version: 1,
        schema_version_text: "1.0.0",
        team: name,
        team_id: name,
        created_at: info.created_at.to_string(),
        members,
        open: info.open,
        settings,
        budget,
        seq: info.seq,
    };
    let mut text = serde_json::to_vec_pretty(&view).unwrap_or_default();
    text.push(b'\n');
    text
}
