//! Variables with known values. The walk visits a command that uses such variables once for each combination of their
//! values.

use super::history::AssignedValue;
use super::*;
use brush_parser::ast::Word;

/// Maximum number of combinations. If there are more, the variables count as unknown.
const CASES_MAX: usize = 32;

/// One combination: a value for each variable.
pub(super) type Case = BTreeMap<String, Value>;

impl Walker {
    /// Returns the combinations of values of the variables in a text. Without known variables, returns one empty combination.
    fn cases(&self, text: &str) -> Vec<Case> {
        let mut cases = vec![Case::new()];
        if !text.contains('$') {
            return cases;
        }
        let history = self.history();
        for (name, values) in history.values() {
            let used = text.contains(&format!("${name}")) || text.contains(&format!("${{{name}"));
            if !used || !self.assigned.contains(name) {
                continue;
            }
            if cases.len() * values.len() > CASES_MAX {
                continue;
            }
            let with = |case: &Case, value: &Value| {
                let mut case = case.clone();
                case.insert(name.clone(), value.clone());
                case
            };
            cases = cases
                .iter()
                .flat_map(|case| values.iter().map(|value| with(case, value)))
                .collect();
        }
        cases
    }

    /// Walks through a command once for each combination of values. If the combinations end in different directories, the
    /// working directory becomes unknown.
    pub(super) fn in_each_case(&mut self, text: &str, mut walk: impl FnMut(&mut Walker)) {
        let begun = self.clone();
        let mut places = Vec::new();
        for case in self.cases(text) {
            self.place = begun.place.clone();
            self.case = case;
            walk(self);
            places.push(self.place.clone());
        }
        self.case = begun.case;
        if places.iter().any(|place| *place != self.place) {
            self.place = begun.place.nowhere();
        }
    }

    /// Returns the values of a word, one for each combination of values of its variables.
    pub(super) fn words(&mut self, word: &Word) -> Vec<Value> {
        let mut values = Vec::new();
        self.in_each_case(&word.value, |walker| values.push(walker.word(word)));
        values
    }

    /// Sets a variable to a value. `given` is the known part of the value.
    pub fn set(&mut self, name: &str, value: Option<&str>, given: AssignedValue) {
        self.variable(name, value);
        if self.history().is_integer(name) && !given.number {
            match value {
                Some(text) => self.arithmetic(text),
                None => self.add_unknown(format!(
                    "{name} is evaluated as arithmetic, and its value is unknown"
                )),
            }
        }
        self.case.remove(name);
        self.assigned.insert(name.to_owned());
        self.remember().add_value(name, given);
    }

    /// Records that a builtin command sets a variable or an element of an array to an unknown value.
    pub fn fill(&mut self, name: &str) {
        self.index(name);
        let name = name.split('[').next().unwrap_or_default();
        self.set(name, None, AssignedValue::unknown());
    }
}
