//! Expansions of variables, which may evaluate commands and indices.

use super::history::AssignedValue;
use super::*;
use brush_parser::word::{Parameter, ParameterExpr, ParameterTransformOp};

impl Walker {
    /// Evaluates the indices in an expansion. Adds an unknown write if the expansion may run commands.
    pub fn expansion(&self, expression: &ParameterExpr) {
        use ParameterExpr::*;
        let (parameter, indirect) = match expression {
            Parameter {
                parameter,
                indirect,
            }
            | UseDefaultValues {
                parameter,
                indirect,
                ..
            }
            | AssignDefaultValues {
                parameter,
                indirect,
                ..
            }
            | IndicateErrorIfNullOrUnset {
                parameter,
                indirect,
                ..
            }
            | UseAlternativeValue {
                parameter,
                indirect,
                ..
            }
            | ParameterLength {
                parameter,
                indirect,
            }
            | RemoveSmallestSuffixPattern {
                parameter,
                indirect,
                ..
            }
            | RemoveLargestSuffixPattern {
                parameter,
                indirect,
                ..
            }
            | RemoveSmallestPrefixPattern {
                parameter,
                indirect,
                ..
            }
            | RemoveLargestPrefixPattern {
                parameter,
                indirect,
                ..
            }
            | Substring {
                parameter,
                indirect,
                ..
            }
            | Transform {
                parameter,
                indirect,
                ..
            }
            | UppercaseFirstChar {
                parameter,
                indirect,
                ..
            }
            | UppercasePattern {
                parameter,
                indirect,
                ..
            }
            | LowercaseFirstChar {
                parameter,
                indirect,
                ..
            }
            | LowercasePattern {
                parameter,
                indirect,
                ..
            }
            | ReplaceSubstring {
                parameter,
                indirect,
                ..
            } => (parameter, *indirect),
            VariableNames { .. } | MemberKeys { .. } => return,
        };
        self.parameter(parameter, indirect);
        self.nested(expression);
        match expression {
            Substring { offset, length, .. } => {
                self.arithmetic(&offset.value);
                if let Some(length) = length {
                    self.arithmetic(&length.value);
                }
            }
            Transform {
                op: ParameterTransformOp::PromptExpand,
                ..
            } => self.add_unknown("an expansion may run commands"),
            AssignDefaultValues {
                parameter: self::Parameter::Named(name),
                default_value,
                ..
            } => {
                if variables::changes(name, default_value.as_deref()) {
                    self.add_unknown(format!("the variable {name} changes what programs do"));
                }
                self.remember().add_value(name, AssignedValue::unknown());
            }
            _ => {}
        }
    }

    fn parameter(&self, parameter: &Parameter, indirect: bool) {
        if let Parameter::NamedWithIndex { index, .. } = parameter {
            self.arithmetic(index);
        }
        if indirect && !self.names_variables(parameter) {
            self.add_unknown("an indirect expansion may run a command in an array index");
        }
    }

    /// Returns true if all values of a variable are known and each value is a name without an index.
    fn names_variables(&self, parameter: &Parameter) -> bool {
        let Parameter::Named(name) = parameter else {
            return false;
        };
        let history = self.history();
        let mut values = history.values().filter(|(known, _)| *known == name);
        values.next().is_some_and(|(_, values)| {
            values
                .iter()
                .all(|value| value.plain().is_some_and(|text| !text.contains('[')))
        })
    }

    /// Adds an unknown write if a text inside of an expansion may run commands. Such texts are not parsed.
    fn nested(&self, expression: &ParameterExpr) {
        let text = format!("{expression:?}");
        if word::runs_commands(&text) || text.contains("$[") {
            self.add_unknown("an expansion may run commands");
        }
        // Find nested expansions with an index, and indirect expansions.
        let behind = text.split("${").skip(1);
        if behind
            .into_iter()
            .map(|inner| inner.split('}').next().unwrap_or_default())
            .any(|inner| inner.starts_with('!') || inner.contains(['[', ':']))
        {
            self.add_unknown("a nested expansion may run commands");
        }
    }
}
