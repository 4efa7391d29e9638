//! What a command has done so far that changes what its later parts mean, in whichever subshell it was.

use super::links::Links;
use super::*;
use std::collections::BTreeSet;

/// Most values that are remembered of one variable.
const VALUES_MAX: usize = 16;

#[derive(Debug, Default)]
pub(super) struct History {
    pub links: Links,
    /// Scripts that run at some later moment, wherever that is.
    pub traps: Vec<String>,
    /// Something runs beside what follows it, or after it.
    pub concurrent: bool,
    /// What is known of all values that a variable was given.
    variables: BTreeMap<String, Variable>,
    /// Variables whose values the shell evaluates as arithmetic.
    integers: BTreeSet<String>,
    /// Descriptors that were opened, and whether a path to each may be opened for writing.
    descriptors: BTreeMap<u32, bool>,
    /// How often something of this changed.
    changes: usize,
}

/// All values that a variable was given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    known: Known,
    /// `None` if one of them is not known, or if there are too many.
    values: Option<BTreeSet<Value>>,
    number: bool,
}

/// A value that a variable is given, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub known: Known,
    /// The value itself: a text, or names below a directory.
    pub value: Option<Value>,
    /// Arithmetic takes it for a number and evaluates nothing else.
    pub number: bool,
}

impl Given {
    /// A value of which nothing is known.
    pub fn unknown() -> Given {
        Given {
            known: Known::Nothing,
            value: None,
            number: false,
        }
    }

    /// Some number.
    pub fn number() -> Given {
        Given {
            number: true,
            ..Given::unknown()
        }
    }

    pub fn from_value(value: &Value) -> Given {
        let number = match value {
            Value::Plain(text) => is_number(text),
            value => *value == Value::Number,
        };
        Given {
            known: word::known(value),
            value: matches!(value, Value::Plain(_) | Value::Below(_)).then(|| value.clone()),
            number,
        }
    }
}

/// Returns if arithmetic takes a text for a number, or for nothing.
fn is_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('-');
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl History {
    /// Gives a variable a value of which this is known.
    pub fn gives(&mut self, name: &str, given: Given) {
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

    /// What is known of a variable; nothing where it comes from elsewhere.
    pub fn variable(&self, name: &str) -> Known {
        let known = self.variables.get(name).map(|variable| variable.known);
        let known = known.unwrap_or(Known::Nothing);
        match self.parts_differently() {
            true => known.min(Known::Quoted),
            false => known,
        }
    }

    /// Returns if the command gave a variable a value before.
    pub fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// Returns if words may be parted at other signs than blanks.
    pub fn parts_differently(&self) -> bool {
        self.variables.contains_key("IFS")
    }

    /// The values of all variables of which each is known, with the variables' names.
    pub fn values(&self) -> impl Iterator<Item = (&String, &BTreeSet<Value>)> {
        let known = self.variables.iter();
        known
            .filter_map(|(name, variable)| Some((name, variable.values.as_ref()?)))
            .filter(|(name, _)| !lists("@variable-filled", name))
    }

    /// Returns if arithmetic takes a variable for a number. One that the command gives no value is one too: it has none, or
    /// one of the environment.
    pub fn is_number(&self, name: &str) -> bool {
        match self.variables.get(name) {
            _ if lists("@variable-number", name) => true,
            _ if lists("@variable-filled", name) => false,
            Some(variable) => variable.number,
            None => true,
        }
    }

    /// Returns if a variable holds a number that the command gave it, or the shell.
    pub fn holds_number(&self, name: &str) -> bool {
        let given = self.variables.contains_key(name) || lists("@variable-number", name);
        given && self.is_number(name)
    }

    /// From here on the shell evaluates what the variable is given.
    pub fn add_integer(&mut self, name: &str) {
        if self.integers.insert(name.to_owned()) {
            self.changes += 1;
        }
    }

    pub fn is_integer(&self, name: &str) -> bool {
        self.integers.contains(name) || lists("@variable-number", name)
    }

    /// A descriptor is opened: for a file that counts as written, for a pipe, or (`false`) for what must not be written.
    pub fn opens(&mut self, descriptor: u32, writable: bool) {
        let before = self.may_reopen(descriptor);
        let known = self.descriptors.contains_key(&descriptor);
        let after = writable && (before || !known);
        if !known || before != after {
            self.changes += 1;
            self.descriptors.insert(descriptor, after);
        }
    }

    /// Returns if opening the path of a descriptor for writing writes nothing that does not count yet. Both outputs of a
    /// tool call are the agent's own.
    pub fn may_reopen(&self, descriptor: u32) -> bool {
        let known = self.descriptors.get(&descriptor).copied();
        known.unwrap_or(matches!(descriptor, 1 | 2))
    }

    /// A count that grows with everything that is remembered.
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
