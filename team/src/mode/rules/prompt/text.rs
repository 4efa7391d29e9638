//! The answer to a prompt as one paragraph for the agent.

use crate::mode::prelude::*;
use crate::mode::rules::denial::{MCP_SERVER, joined, tool_call};
use crate::mode::rules::prompt::answer::{PromptAnswer, Started};

const WHO: &str = "RCS native UserPromptSubmit";
const CLOSING: &str =
    "Follow AGENTS.md routing and preserve workflow transition and planning-safety rules.";

/// Returns the paragraph about a prompt's answer. The paragraph is empty if the prompt requests
/// nothing.
pub fn paragraph(team: &str, answer: &PromptAnswer) -> String {
    let mut parts = opening(answer);
    if parts.is_empty() {
        return String::new();
    }
    if let Some(error) = &answer.transition_error {
        parts.push(error.clone());
    } else {
        parts.extend(outcome(team, answer));
    }
    parts.push(CLOSING.to_owned());
    parts.join(" ")
}

fn opening(answer: &PromptAnswer) -> Vec<String> {
    if let Some(word) = &answer.blocked_input {
        let lock = answer.input_lock.as_ref();
        let message = lock.and_then(|lock| lock.get("message")?.as_str());
        let mut said = format!("{WHO} did not take {word:?} for an answer.");
        if let Some(message) = message {
            said.push(' ');
            said.push_str(&sentence(message));
        }
        return vec![said];
    }
    if let Some(mode) = answer.continued {
        return vec![format!("{WHO} continues workflow skill {mode}.")];
    }
    let keywords: Vec<String> = answer
        .keywords
        .iter()
        .map(|one| format!("\"{}\" -> {}", one.keyword, one.skill))
        .collect();
    let did = match answer.transition_error {
        Some(_) => "denied",
        None => "detected",
    };
    match &*keywords {
        [] => Vec::new(),
        [one] => vec![format!("{WHO} {did} workflow keyword {one}.")],
        all => vec![format!("{WHO} {did} workflow keywords {}.", all.join(", "))],
    }
}

fn outcome(team: &str, answer: &PromptAnswer) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(gate(answer));
    if let Some(mode) = answer.canceled {
        parts.push(format!(
            "{mode} was canceled, and its input lock was released."
        ));
    }
    parts.extend(transitions(answer));
    if answer.active_skills.len() > 1 {
        let active = joined(&answer.active_skills, ", ");
        parts.push(format!("active skills: {active}."));
    }
    if !answer.deferred_skills.is_empty() {
        parts.push(format!(
            "planning preserved over simultaneous execution follow-up; deferred skills: {}.",
            joined(&answer.deferred_skills, ", ")
        ));
    }
    parts.extend(answer.started.iter().map(|one| activated(team, one)));
    if answer.active_skills.contains(&Mode::Team) {
        parts.push(format!(
            "Team runtime: `teamlog status {team}` shows the team's status, `teamlog prime {team} --agent NAME` what an agent should know."
        ));
    }
    parts
}

/// Describes a started mode and the tool call that changes its state. The call names the scope, because the MCP server possibly
/// uses another session.
fn activated(team: &str, started: &Started) -> String {
    let scope = Scope::for_session(started.session_id.as_deref());
    let call = tool_call("state_write", started.mode, Some(team), &scope);
    format!(
        "skill: {} activated and initial state initialized at {}; write subsequent updates with the MCP server {MCP_SERVER}. \
         Put the fields to write into `{call}`.",
        started.mode, started.path
    )
}

fn gate(answer: &PromptAnswer) -> Option<String> {
    let gate = answer.gate.as_ref()?;
    let modes = joined(&gate.modes, ", ");
    if gate.applied {
        return Some(format!(
            "blueprint first: the prompt does not describe the work, so {modes} waits for a plan; describe the work, or begin \
             with \"force:\" to start without a plan."
        ));
    }
    let reason = gate.reason.name();
    gate.reason
        .is_bypass()
        .then(|| format!("blueprint-first gate bypassed for {modes} ({reason})."))
}

/// Describes the hand-offs. A hand-off to several modes becomes one sentence.
fn transitions(answer: &PromptAnswer) -> Vec<String> {
    let several = answer.keywords.len() > 1 && answer.started.len() > 1;
    match answer.auto_completed.first() {
        Some(source) if several => {
            let started: Vec<Mode> = answer.started.iter().map(|started| started.mode).collect();
            let started = joined(&started, " + ");
            vec![format!("mode transiting: {source} -> {started}.")]
        }
        _ => {
            let messages = answer.transition_messages.iter();
            messages.map(|message| format!("{message}.")).collect()
        }
    }
}

/// Adds a full stop to a text if it has none.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    match text.ends_with(['.', '!', '?']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::rules::prompt::answer::Keyword;
    use crate::mode::rules::prompt::gate::{Gate, Why};

    fn keyword(keyword: &str, skill: &str) -> Keyword {
        Keyword {
            keyword: keyword.to_owned(),
            skill: skill.to_owned(),
        }
    }

    fn started(mode: Mode) -> Started {
        Started {
            mode,
            session_id: None,
            path: format!("teams/demo/modes/{mode}-state.json"),
        }
    }

    #[test]
    fn a_plan_that_puts_off_its_execution_is_told_like_this() {
        let answer = PromptAnswer {
            keywords: vec![
                keyword("$blueprint", "blueprint"),
                keyword("$team", "team"),
                keyword("$forge", "forge"),
            ],
            deferred_skills: vec![Mode::Team, Mode::Forge],
            active_skills: vec![Mode::Blueprint],
            started: vec![started(Mode::Blueprint)],
            ..PromptAnswer::default()
        };
        assert_eq!(
            paragraph("demo", &answer),
            "RCS native UserPromptSubmit detected workflow keywords \"$blueprint\" -> blueprint, \"$team\" -> team, \
             \"$forge\" -> forge. planning preserved over simultaneous execution follow-up; deferred skills: team, forge. \
             skill: blueprint activated and initial state initialized at teams/demo/modes/blueprint-state.json; write \
             subsequent updates with the MCP server teamlog. \
             Put the fields to write into `mcp__teamlog__state_write {\"mode\":\"blueprint\",\"team\":\"demo\",\"session_id\":null}`. \
             Follow AGENTS.md routing and preserve workflow transition and planning-safety rules."
        );
    }

    #[test]
    fn a_hand_off_to_two_is_told_as_one_and_the_team_only_where_it_is_active() {
        let mut answer = PromptAnswer {
            keywords: vec![keyword("$team", "team"), keyword("$forge", "forge")],
            active_skills: vec![Mode::Team, Mode::Forge],
            started: vec![started(Mode::Team), started(Mode::Forge)],
            auto_completed: vec![Mode::Blueprint],
            transition_messages: vec!["mode transiting: blueprint -> team".to_owned()],
            ..PromptAnswer::default()
        };
        let told = paragraph("demo", &answer);
        assert!(told.contains(" mode transiting: blueprint -> team + forge. active skills: team, forge. skill: team"), "{told}");
        assert!(told.contains("`teamlog status demo`"), "{told}");
        answer.active_skills = vec![Mode::Forge];
        answer.started = vec![started(Mode::Forge)];
        let told = paragraph("demo", &answer);
        assert!(
            told.contains(" mode transiting: blueprint -> team. skill: forge"),
            "{told}"
        );
        assert!(!told.contains("Team runtime"), "{told}");
    }

    #[test]
    fn a_denial_is_told_with_its_sentences_and_nothing_else() {
        let answer = PromptAnswer {
            keywords: vec![keyword("$blueprint", "blueprint")],
            active_skills: vec![Mode::Team, Mode::Forge],
            transition_error: Some("Cannot activate blueprint: so.".to_owned()),
            ..PromptAnswer::default()
        };
        assert_eq!(
            paragraph("demo", &answer),
            "RCS native UserPromptSubmit denied workflow keyword \"$blueprint\" -> blueprint. \
             Cannot activate blueprint: so. \
             Follow AGENTS.md routing and preserve workflow transition and planning-safety rules."
        );
    }

    #[test]
    fn the_gate_says_what_waits_or_that_it_was_passed_by() {
        let mut answer = PromptAnswer {
            keywords: vec![keyword("forge", "forge")],
            gate: Some(Gate {
                applied: true,
                reason: Why::Underspecified,
                modes: vec![Mode::Forge],
            }),
            ..PromptAnswer::default()
        };
        assert!(paragraph("demo", &answer).contains("so forge waits for a plan"));
        let mut passed = |reason| {
            answer.gate = Some(Gate {
                applied: false,
                reason,
                modes: vec![Mode::Forge],
            });
            paragraph("demo", &answer)
        };
        assert!(passed(Why::Forced).contains("bypassed for forge (forced)."));
        assert!(!passed(Why::WellSpecified).contains("gate"));
    }

    #[test]
    fn a_prompt_that_asks_for_nothing_is_told_nothing() {
        let answer = PromptAnswer {
            active_skills: vec![Mode::Team],
            ..PromptAnswer::default()
        };
        assert_eq!(paragraph("demo", &answer), "");
    }
}
