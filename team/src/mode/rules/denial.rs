//! The text of a denial. It names the requested mode, the active modes, and the commands that clear the blocking modes.
//!
//! | denial | sentences |
//! |---|---|
//! | generic | `Cannot start team: …` `Unsupported workflow overlap: a + team.` `Current state is unchanged.` and how to clear |
//! | rollback | `Cannot start blueprint: …` `Execution-to-planning rollback auto-complete is not allowed.` `First clear current state first and retry if this action is intended.` and how to clear |
//!
//! Commands between backticks can be run unchanged.

use crate::mode::prelude::*;

/// Name under which `setup` installs the MCP server. For agents, the tools of this server have names such as `mcp__teamlog__…`.
pub const MCP_SERVER: &str = "teamlog";

/// An active mode and its scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActiveMode {
    /// The mode.
    pub mode: Mode,
    /// Scope of the active state.
    pub scope: Scope,
}

/// Writes the sentences of a denial into the message of a transition. Leaves other transitions unchanged.
///
/// `places` lists the active modes of the team with their scopes. Without a team, treats all modes as active at the root.
pub fn word(
    transition: &mut Transition,
    source: Source,
    team: Option<&str>,
    places: &[ActiveMode],
) {
    let Some(denial) = transition.denial else {
        return;
    };
    let (current, requested) = (&transition.current, transition.requested);
    let standing = standing(current, team, places);
    let opening = format!("Cannot {} {requested}: {standing}.", source.verb());
    let middle = match denial {
        Denial::Generic => {
            let modes = joined(&[current, &[requested][..]].concat(), " + ");
            format!("Unsupported workflow overlap: {modes}. Current state is unchanged.")
        }
        Denial::Rollback => "Execution-to-planning rollback auto-complete is not allowed. \
                             First clear current state first and retry if this action is intended."
            .to_owned(),
    };
    let clearing = clearing(&transition.blocking, team, places);
    transition.message = Some(format!("{opening} {middle} {clearing}"));
}

/// Describes the active modes, and modes that are not active but requested by the prompt.
fn standing(modes: &[Mode], team: Option<&str>, places: &[ActiveMode]) -> String {
    let is_active = |mode: &Mode| team.is_none() || places.iter().any(|place| place.mode == *mode);
    let (there, asked): (Vec<Mode>, Vec<Mode>) = modes.iter().partition(|mode| is_active(mode));
    let also = format!("the same prompt asks for {}", joined(&asked, " and "));
    match (there.is_empty(), asked.is_empty()) {
        (_, true) => active(&there),
        (true, false) => also,
        (false, false) => format!("{}, and {also}", active(&there)),
    }
}

/// Returns `no tracked workflows`, `X is already active`, `X and Y are …` or `X, Y, and Z are …`.
fn active(modes: &[Mode]) -> String {
    match modes {
        [] => "no tracked workflows".to_owned(),
        [one] => format!("{one} is already active"),
        [one, other] => format!("{one} and {other} are already active"),
        [most @ .., last] => {
            let most = joined(most, ", ");
            format!("{most}, and {last} are already active")
        }
    }
}

/// Joins the names of modes to one text.
pub(super) fn joined(modes: &[Mode], between: &str) -> String {
    let names: Vec<&str> = modes.iter().map(|mode| mode.name()).collect();
    names.join(between)
}

/// Describes how to clear the blocking modes: the commands, and the equivalent tool calls.
fn clearing(blocking: &[Mode], team: Option<&str>, places: &[ActiveMode]) -> String {
    let mut commands = Vec::new();
    let mut calls = Vec::new();
    for mode in blocking {
        let there = places.iter().filter(|place| place.mode == *mode);
        let scopes: Vec<&Scope> = match team {
            Some(_) => there.map(|place| &place.scope).collect(),
            None => vec![&Scope::Root],
        };
        for scope in scopes {
            let call = tool_call("state_clear", *mode, team, scope);
            commands.push(format!("`{}`", command(*mode, team, scope)));
            calls.push(format!("`{call}`"));
        }
    }
    if commands.is_empty() {
        // The prompt requested all blocking modes together with this mode.
        return format!(
            "They do not go together: name only one of them, then retry. There is nothing to clear \
             with `rcs state clear` or `mcp__{MCP_SERVER}__state_clear`."
        );
    }
    let (commands, calls) = (commands.join(" and "), calls.join(" and "));
    format!(
        "Clear incompatible state yourself with {commands}, or with the MCP tool call {calls}, then retry."
    )
}

/// Returns the command that clears a mode in its scope. If a team is given, the command names the root explicitly; otherwise
/// the session of the environment would be used.
pub fn command(mode: Mode, team: Option<&str>, scope: &Scope) -> String {
    let place = match (scope, team) {
        (Scope::Session(session), _) => session_option(session),
        (Scope::Root, Some(_)) => " --root".to_owned(),
        (Scope::Root, None) => String::new(),
    };
    let team = team.map(|team| format!(" --team {team}"));
    let team = team.unwrap_or_default();
    format!("rcs state clear --mode {mode}{team}{place}")
}

/// Returns the option that names a session, with a leading space. If the name looks like an option, an equals sign precedes the
/// name.
pub fn session_option(session: &str) -> String {
    match session.starts_with('-') {
        true => format!(" --session={session}"),
        false => format!(" --session {session}"),
    }
}

/// Arguments of a state tool.
#[derive(Serialize)]
struct Arguments<'a> {
    mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<&'a str>,
    /// The session; `Some(None)` means the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<Option<&'a str>>,
}

/// Returns the call of a state tool for a mode in its scope. If a team is given, the call names the root explicitly, as in
/// [`command`].
pub fn tool_call(tool: &str, mode: Mode, team: Option<&str>, scope: &Scope) -> String {
    let arguments = Arguments {
        mode,
        team,
        session_id: team.map(|_| scope.session()),
    };
    let arguments = serde_json::to_string(&arguments).unwrap_or_default();
    format!("mcp__{MCP_SERVER}__{tool} {arguments}")
}

/// Returns the refusal for a denied transition. The details of the refusal contain the transition.
pub fn refusal(transition: &Transition) -> Refusal {
    let message = transition.message.clone().unwrap_or_default();
    let details = serde_json::to_value(transition).unwrap_or_default();
    let refusal = Refusal::new(Code::ModeDenied, message).field("mode");
    refusal.details(details)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::rules::transition::{Review, decide};
    use serde_json::json;

    fn told(current: &[Mode], requested: Mode) -> Transition {
        decide(current, requested, Review::Unknown)
    }

    fn place(mode: Mode, session: Option<&str>) -> ActiveMode {
        ActiveMode {
            mode,
            scope: Scope::for_session(session),
        }
    }

    #[test]
    fn a_generic_denial_says_this() {
        let told = told(&[Mode::Team, Mode::Forge, Mode::Ultrawork], Mode::Autopilot);
        assert_eq!(
            told.message.unwrap(),
            "Cannot start autopilot: team, forge, and ultrawork are already active. \
             Unsupported workflow overlap: team + forge + ultrawork + autopilot. Current state is unchanged. \
             Clear incompatible state yourself with `rcs state clear --mode team` and `rcs state clear --mode forge`, \
             or with the MCP tool call `mcp__teamlog__state_clear {\"mode\":\"team\"}` and \
             `mcp__teamlog__state_clear {\"mode\":\"forge\"}`, then retry."
        );
    }

    #[test]
    fn a_rollback_says_this_with_each_scope_that_is_in_the_way() {
        let mut told = told(&[Mode::Team, Mode::Ultrawork], Mode::Blueprint);
        let places = [
            place(Mode::Team, Some("s-1")),
            place(Mode::Team, None),
            place(Mode::Ultrawork, None),
        ];
        word(&mut told, Source::Prompt, Some("alpha"), &places);
        assert_eq!(
            told.message.unwrap(),
            "Cannot activate blueprint: team and ultrawork are already active. \
             Execution-to-planning rollback auto-complete is not allowed. \
             First clear current state first and retry if this action is intended. \
             Clear incompatible state yourself with `rcs state clear --mode team --team alpha --session s-1` and \
             `rcs state clear --mode team --team alpha --root`, or with the MCP tool call \
             `mcp__teamlog__state_clear {\"mode\":\"team\",\"team\":\"alpha\",\"session_id\":\"s-1\"}` and \
             `mcp__teamlog__state_clear {\"mode\":\"team\",\"team\":\"alpha\",\"session_id\":null}`, then retry."
        );
    }

    #[test]
    fn what_is_active_nowhere_needs_no_clearing() {
        let mut told = told(&[Mode::Autopilot], Mode::Team);
        word(&mut told, Source::Prompt, Some("alpha"), &[]);
        let message = told.message.unwrap();
        assert!(
            message.ends_with(
                "There is nothing to clear with `rcs state clear` or `mcp__teamlog__state_clear`."
            ),
            "{message}"
        );
    }

    #[test]
    fn what_is_active_is_counted_like_this() {
        assert_eq!(active(&[]), "no tracked workflows");
        assert_eq!(active(&[Mode::Forge]), "forge is already active");
    }

    #[test]
    fn what_is_not_denied_keeps_its_message() {
        let mut handed = told(&[Mode::Blueprint], Mode::Team);
        let before = handed.clone();
        word(&mut handed, Source::Write, Some("alpha"), &[]);
        assert_eq!(handed, before);
    }

    #[test]
    fn the_refusal_holds_the_whole_decision() {
        let told = told(&[Mode::Forge], Mode::Blueprint);
        let refusal = refusal(&told);
        assert_eq!(refusal.code.as_str(), "mode_denied");
        assert_eq!(Some(&refusal.message), told.message.as_ref());
        assert_eq!(refusal.details["kind"], "deny");
        assert_eq!(refusal.details["denial"], "rollback");
        assert_eq!(refusal.details["resulting"], json!(["forge"]));
        assert_eq!(refusal.details["message"], *refusal.message);
    }
}
