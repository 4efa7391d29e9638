//! Names of skills in prompts: the modes, their aliases, and skills that are not modes.

use crate::mode::prelude::*;
use crate::mode::rules::table;

/// A skill that a prompt can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skill {
    Mode(Mode),
    /// A skill that is not a mode and starts nothing.
    Other(&'static str),
}

/// The skill that cancels an interview.
pub const CANCEL: Skill = Skill::Other("cancel");

/// Skills that are not modes.
const OTHERS: [Skill; 2] = [Skill::Other("analyze"), CANCEL];

/// Maximum number of characters of a name in a message.
const SHOWN_MAX: usize = 80;

impl Skill {
    /// Returns the skill with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<Skill> {
        let name = name.to_ascii_lowercase();
        let of = |list: table::NamesOf| table::named(&name, list);
        let mode = of(|rules| rules.coined).or_else(|| of(|rules| rules.ordinary));
        if let Some(mode) = mode {
            return Some(Skill::Mode(mode));
        }
        OTHERS.into_iter().find(|other| other.name() == name)
    }
    pub fn mode(self) -> Option<Mode> {
        match self {
            Skill::Mode(mode) => Some(mode),
            Skill::Other(_) => None,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Skill::Mode(mode) => mode.name(),
            Skill::Other(name) => name,
        }
    }
}

/// Returns the mode with exactly this name. Refuses other names; if the name is an alias of a mode, the refusal has a hint.
pub fn mode(name: &str) -> Result<Mode, Refusal> {
    if let Some(mode) = Mode::from_name(name) {
        return Ok(mode);
    }
    let shown: String = name.chars().take(SHOWN_MAX).collect();
    let message = format!("Unsupported workflow mode: {}", shown.escape_debug());
    let refusal = Refusal::new(Code::UnsupportedMode, message).field("mode");
    let retired = table::named(name, |rules| rules.retired);
    Err(match retired.or_else(|| Skill::from_name(name)?.mode()) {
        Some(mode) => refusal.hint(format!("use {mode}")),
        None => refusal.hint(format!("one of {}", Mode::ALL.map(Mode::name).join(", "))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_calls_for_something() {
        for mode in Mode::ALL {
            assert_eq!(Skill::from_name(mode.name()), Some(Skill::Mode(mode)));
        }
        let mut names = Vec::new();
        for mode in Mode::ALL {
            let rules = table::rules(mode);
            for name in rules.coined.iter().chain(rules.ordinary) {
                let skill = Some(Skill::Mode(mode));
                assert_eq!(Skill::from_name(&name.to_uppercase()), skill);
                assert!(!names.contains(name), "{name} names two modes");
                names.push(name);
            }
        }
        for other in OTHERS {
            assert_eq!(Skill::from_name(other.name()), Some(other));
        }
        assert_eq!(Skill::from_name("path"), None);
        assert_eq!(Skill::from_name("ultrapilot"), None);
        assert_eq!(CANCEL.name(), "cancel");
        assert_eq!(Skill::from_name("crew").map(Skill::name), Some("team"));
    }

    #[test]
    fn a_mode_goes_by_its_own_name_only_and_others_hint_at_it() {
        assert_eq!(mode("team").unwrap(), Mode::Team);
        for (name, hint) in cases![
            ("crew" => "use team"),
            ("Forge" => "use forge"),
            ("ultrapilot" => "use team"),
            ("ecomode" => "use ultrawork"),
            ("nothing" =>
                "one of autopilot, autoresearch, team, forge, ultrawork, ultraqa, blueprint, deep-interview"),
        ] {
            let refusal = mode(name).unwrap_err();
            assert_eq!(refusal.code, Code::UnsupportedMode);
            assert_eq!(
                refusal.message,
                format!("Unsupported workflow mode: {name}")
            );
            assert_eq!(refusal.hint.as_deref(), Some(hint), "{name}");
        }
    }
}
