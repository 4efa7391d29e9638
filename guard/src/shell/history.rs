//! Effects of earlier parts of a command on the meaning of later parts, including effects inside subshells.

use super::links::Links;
use super::*;
use std::collections::BTreeSet;

/// Maximum number of known values per variable.
const VALUES_MAX: usize = 16;

#[derive(Debug, Default)]
pub(super) struct History {
    pub links: Links,
    /// Scripts that `trap` runs later, at an unknown time.
    pub traps: Vec<String>,
    /// True if a part of the command may run at the same time as later parts.
    pub concurrent: bool,
    /// The values that were assigned to each variable.
    variables: BTreeMap<String, Variable>,
    /// Variables whose values the shell evaluates as arithmetic.
    integers: BTreeSet<String>,
    /// Opened descriptors. The flag is true if writing to the descriptor's path adds no further write.
    descriptors: BTreeMap<u32, bool>,
    /// Number of changes so far.
    changes: usize,
}

/// All values that were assigned to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    known: ValueKnowledge,
    /// The assigned values. `None` if a value is unknown or if there are too many values.
    values: Option<BTreeSet<Value>>,
    number: bool,
}

/// The known part of a value that is assigned to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AssignedValue {
    pub known: ValueKnowledge,
    /// The value: a text, or a name below a known directory.
    pub value: Option<Value>,
    /// True if arithmetic reads the value as a number. Such a value runs nothing.
    pub number: bool,
}

impl AssignedValue {
    /// Returns a value about which nothing is known.
    pub fn unknown() -> AssignedValue {
        AssignedValue {
            known: ValueKnowledge::Nothing,
            value: None,
            number: false,
        }
    }

    /// Returns a value that is known to be a number.
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

/// Returns true if arithmetic reads a text as a number or as empty.
fn is_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('-');
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl History {
    /// Adds a value to the values of a variable.
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

    /// Returns the known part of a variable's value. Returns `Nothing` if the command did not set the variable.
    pub fn variable(&self, name: &str) -> ValueKnowledge {
        let known = self.variables.get(name).map(|variable| variable.known);
        let known = known.unwrap_or(ValueKnowledge::Nothing);
        match self.changes_splitting() {
            true => known.min(ValueKnowledge::Quoted),
            false => known,
        }
    }

    /// Returns true if the command assigned a value to the variable.
    pub fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// Returns true if the command changes the characters at which the shell splits words.
    pub fn changes_splitting(&self) -> bool {
        self.variables.contains_key("IFS")
    }

    /// Returns the variables whose values are all known.
    pub fn values(&self) -> impl Iterator<Item = (&String, &BTreeSet<Value>)> {
        let known = self.variables.iter();
        known
            .filter_map(|(name, variable)| Some((name, variable.values.as_ref()?)))
            .filter(|(name, _)| !lists("@variable-filled", name))
    }

    /// Returns true if arithmetic reads the variable as a number. Also returns true for a variable that the command
    /// does not set, because such a variable is empty or comes from the environment.
    pub fn is_number(&self, name: &str) -> bool {
        match self.variables.get(name) {
            _ if lists("@variable-number", name) => true,
            _ if lists("@variable-filled", name) => false,
            Some(variable) => variable.number,
            None => true,
        }
    }

    /// Returns true if the variable certainly has a number that the command or the shell assigned.
    pub fn holds_number(&self, name: &str) -> bool {
        let given = self.variables.contains_key(name) || lists("@variable-number", name);
        given && self.is_number(name)
    }

    /// Records that the shell evaluates later values of a variable as arithmetic.
    pub fn add_integer(&mut self, name: &str) {
        if self.integers.insert(name.to_owned()) {
            self.changes += 1;
        }
    }

    pub fn is_integer(&self, name: &str) -> bool {
        self.integers.contains(name) || lists("@variable-number", name)
    }

    /// Records that a descriptor is opened. `writable` is true if the descriptor is a pipe, or a file that is already
    /// a target.
    pub fn open_descriptor(&mut self, descriptor: u32, writable: bool) {
        let before = self.may_reopen(descriptor);
        let known = self.descriptors.contains_key(&descriptor);
        let after = writable && (before || !known);
        if !known || before != after {
            self.changes += 1;
            self.descriptors.insert(descriptor, after);
        }
    }

    /// Returns true if writing to the path of a descriptor adds no further write. Standard output and standard error of a tool
    /// call belong to the agent.
    pub fn may_reopen(&self, descriptor: u32) -> bool {
        let known = self.descriptors.get(&descriptor).copied();
        known.unwrap_or(matches!(descriptor, 1 | 2))
    }

    /// Returns a number that increases with every change.
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
