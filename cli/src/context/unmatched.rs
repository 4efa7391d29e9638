//! The note under a list of events that is empty: the options that no event matches, and the name that was probably meant.

use super::Context;
use crate::render::escape::visible;
use teamlog_team::log::replay::Replay;
use teamlog_team::projections::{spelling, vocabulary};
use teamlog_team::task::show::TaskShow;
use teamlog_team::worker::who::Who;

/// Maximum number of agents that a note names.
const NAMED_MAX: usize = 10;

impl Context {
    /// Prints a note if no event matched the filter. With `--json`, prints a note only for a task or an agent that the team does not
    /// know, because a program often reads an empty list again and again.
    pub(super) fn note_unmatched(&mut self, team: &str, filter: &Replay) {
        let named = names(filter);
        let shown = match named.is_empty() {
            true => range(filter),
            false => named.join(" "),
        };
        let note = match shown.is_empty() {
            true => "no event matches".to_owned(),
            false => format!("no event matches {shown}"),
        };
        let reasons = self.unknown_names(team, filter);
        if self.out.is_json() && reasons.is_empty() {
            return;
        }
        self.note(&[vec![note], reasons].concat().join("; "));
    }

    /// Returns a text for each name in the filter that the team does not know.
    fn unknown_names(&mut self, team: &str, filter: &Replay) -> Vec<String> {
        let kinds = filter.kind.iter().flat_map(|kinds| kinds.split(','));
        let is_json = self.out.is_json();
        let kinds = kinds.filter(|_| !is_json);
        let mut reasons: Vec<String> = kinds.filter_map(kind_meant).collect();
        if let Some(task_id) = filter.task_id.clone() {
            let show = TaskShow {
                task_id,
                ..TaskShow::default()
            };
            let error = self.read(team, show).err();
            let unknown = error.filter(|error| error.code() == "task_not_found");
            reasons.extend(unknown.map(|error| error.message().to_owned()));
        }
        let agents = [&filter.agent, &filter.actor];
        for agent in agents.into_iter().flatten() {
            reasons.extend(self.unknown_agent(team, agent));
        }
        reasons
    }

    /// Returns a text with the agents of the team if `agent` is not one of them.
    fn unknown_agent(&mut self, team: &str, agent: &str) -> Option<String> {
        let crew = self.read(team, Who::default()).ok()?;
        let names: Vec<&str> = crew.agents.iter().map(|one| &*one.agent).collect();
        if names.contains(&agent) {
            return None;
        }
        let listed = names.iter().take(NAMED_MAX).copied();
        let listed = listed.collect::<Vec<_>>().join(", ");
        Some(format!(
            "no agent {agent} in team {team} (agents: {listed})"
        ))
    }
}

/// Suggests a reserved kind for a kind that is not reserved.
fn kind_meant(kind: &str) -> Option<String> {
    if vocabulary::find(kind).is_some() {
        return None;
    }
    let known = vocabulary::kinds().map(|kind| kind.name);
    let meant = spelling::meant(kind, known)?;
    Some(format!("the nearest known kind is {meant}"))
}

/// Returns the options of the filter that name something.
fn names(filter: &Replay) -> Vec<String> {
    let text = filter.text.as_ref().map(|text| text.wanted().to_owned());
    let options = [
        ("--kind", filter.kind.clone()),
        ("--type", filter.message_type.clone()),
        ("by", filter.actor.clone()),
        ("--agent", filter.agent.clone()),
        ("--task", filter.task_id.clone()),
        ("--trace-id", filter.trace_id.clone()),
        ("--text", text),
    ];
    let excluded = filter
        .not
        .iter()
        .map(|value| ("--not", Some(value.clone())));
    let tags = filter.tags.iter().map(|tag| ("--tag", Some(tag.clone())));
    options
        .into_iter()
        .chain(tags)
        .chain(excluded)
        .filter_map(|(option, value)| Some(format!("{option} {}", visible(&value?))))
        .collect()
}

/// Describes the range of the filter.
fn range(filter: &Replay) -> String {
    let seq = |word: &str, seq: Option<u64>| seq.map(|seq| format!("{word} event {seq}"));
    let parts = [
        seq("from", filter.from_seq),
        seq("up to", filter.to_seq),
        filter.since.map(|since| format!("since {since}")),
        filter.until.map(|until| format!("until {until}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
