//! What a command has done so far that changes what its later parts mean, in whichever subshell it was.

use super::links::Links;
use super::*;

#[derive(Debug, Default)]
pub(super) struct History {
    pub links: Links,
    /// Scripts that run at some later moment, wherever that is.
    pub traps: Vec<String>,
    /// Something runs beside what follows it, or after it.
    pub concurrent: bool,
    /// What is known of all values that a variable was given.
    variables: BTreeMap<String, Known>,
}

impl History {
    /// A variable is given a value of which this is known.
    pub fn gives(&mut self, name: &str, known: Known) {
        let held = self.variables.entry(name.to_owned()).or_insert(known);
        *held = known.min(*held);
    }

    /// What is known of a variable; nothing where it comes from elsewhere.
    pub fn variable(&self, name: &str) -> Known {
        let known = self.variables.get(name).copied();
        let known = known.unwrap_or(Known::Nothing);
        // Words may be parted at other signs than blanks.
        match self.variables.contains_key("IFS") {
            true => known.min(Known::Quoted),
            false => known,
        }
    }

    /// Whether a variable was given something that is not known.
    pub fn has_doubts(&self) -> bool {
        self.variables.values().any(|known| *known != Known::Bare)
    }
}
