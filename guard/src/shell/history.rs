//! Effects of a command so far that change the meaning of its later parts, in any of its subshells.

use super::links::Links;
use super::*;
use std::collections::BTreeSet;

/// Maximum number of known values of a variable.
const VALUES_MAX: usize = 16;

#[derive(Debug, Default)]
pub(super) struct History {
    pub links: Links,
    /// Scripts that run later (`trap`), at an unknown position.
    pub traps: Vec<String>,
    /// True if a part runs at the same time as later parts, or after them.
    pub concurrent: bool,
    /// The values that each variable was set to.
    variables: BTreeMap<String, Variable>,
    /// Variables whose values the shell evaluates as arithmetic.
    integers: BTreeSet<String>,
    /// Opened descriptors; true if the path of the descriptor may be opened for writing.
    descriptors: BTreeMap<u32, bool>,
    /// Number of changes.
    changes: usize,
}

/// All values that a variable was set to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    known: Known,
    /// `None` if a value is unknown, or if there are too many values.
    values: Option<BTreeSet<Value>>,
    number: bool,
}

/// The known part of a value that a variable is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AssignedValue {
    pub known: Known,
    /// The value: a text, or names below a directory.
    pub value: Option<Value>,
    /// True if arithmetic reads the value as a number and evaluates nothing else.
    pub number: bool,
}

impl AssignedValue {
    /// An unknown value.
    pub fn unknown() -> AssignedValue {
        AssignedValue {
            known: Known::Nothing,
            value: None,
            number: false,
        }
    }

    /// A number.
    pub fn number() -> AssignedValue {
        AssignedValue {
            number: true,
            ..AssignedValue::unknown()
        }
    }

    pub fn from_value(value: &Value) -> AssignedValue {
        let number = match value {
            Value::Plain(text) => is_number(text),
            value => *value == Value::Number,
        };
        AssignedValue {
            known: word::known(value),
            value: matches!(value, Value::Plain(_) | Value::Below(_)).then(|| value.clone()),
            number,
        }
    }
}

/// Returns true if arithmetic reads a text as a number, or as empty.
fn is_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('-');
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl History {
    /// Adds a value to those of a variable.
    pub fn add_value(&mut self, name: &str, given: AssignedValue) {
        let values = given.value.map(|value| BTreeSet::from([value]));
        let new = Variable {
            known: given.known,
            values,
            number: given.number,
        };
        let joined = match self.variables.get(name) {
            None => new,
            Some(held) => held.joined(new),
        };
        if self.variables.get(name) != Some(&joined) {
            self.changes += 1;
            self.variables.insert(name.to_owned(), joined);
        }
    }

    /// Returns the known part of a variable's value; nothing if the command did not set it.
    pub fn variable(&self, name: &str) -> Known {
        let known = self.variables.get(name).map(|variable| variable.known);
        let known = known.unwrap_or(Known::Nothing);
        match self.changes_splitting() {
            true => known.min(Known::Quoted),
            false => known,
        }
    }

    /// Returns true if the command has set a variable.
    pub fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// Returns true if words may be split at other characters than blanks.
    pub fn changes_splitting(&self) -> bool {
        self.variables.contains_key("IFS")
    }

    /// Returns the variables whose values are all known, with their values.
    pub fn values(&self) -> impl Iterator<Item = (&String, &BTreeSet<Value>)> {
        let known = self.variables.iter();
        known
            .filter_map(|(name, variable)| Some((name, variable.values.as_ref()?)))
            .filter(|(name, _)| !lists("@variable-filled", name))
    }

    /// Returns true if arithmetic reads a variable as a number. That includes a variable that the command does not set:
    /// it is empty, or comes from the environment.
    pub fn is_number(&self, name: &str) -> bool {
        match self.variables.get(name) {
            _ if lists("@variable-number", name) => true,
            _ if lists("@variable-filled", name) => false,
            Some(variable) => variable.number,
            None => true,
        }
    }

    /// Returns true if a variable holds a number that the command or the shell has set.
    pub fn holds_number(&self, name: &str) -> bool {
        let given = self.variables.contains_key(name) || lists("@variable-number", name);
        given && self.is_number(name)
    }

    /// Notes that the shell evaluates the values of a variable from now on.
    pub fn add_integer(&mut self, name: &str) {
        if self.integers.insert(name.to_owned()) {
            self.changes += 1;
        }
    }

    pub fn is_integer(&self, name: &str) -> bool {
        self.integers.contains(name) || lists("@variable-number", name)
    }

    /// Notes that a descriptor is opened. `writable` is true for a pipe or a file that is a target already, false for
    /// other files.
    pub fn open_descriptor(&mut self, descriptor: u32, writable: bool) {
        let before = self.may_reopen(descriptor);
        let known = self.descriptors.contains_key(&descriptor);
        let after = writable && (before || !known);
        if !known || before != after {
            self.changes += 1;
            self.descriptors.insert(descriptor, after);
        }
    }

    /// Returns true if opening the path of a descriptor for writing adds no write. Both outputs of a tool call belong
    /// to the agent.
    pub fn may_reopen(&self, descriptor: u32) -> bool {
        let known = self.descriptors.get(&descriptor).copied();
        known.unwrap_or(matches!(descriptor, 1 | 2))
    }

    /// Returns a number that grows with every change.
    pub fn revision(&self) -> usize {
        self.changes + self.links.len() + self.traps.len()
    }
}

impl Variable {
    fn joined(&self, new: Variable) -> Variable {
        let values = match (&self.values, new.values) {
            (Some(held), Some(new)) => Some(held.union(&new).cloned().collect()),
            _ => None,
        };
        Variable {
            known: self.known.min(new.known),
            values: values.filter(|values: &BTreeSet<Value>| values.len() <= VALUES_MAX),
            number: self.number && new.number,
        }
    }
}
