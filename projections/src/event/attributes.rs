//! The attributes of a task: settings that its creation and its edits can change, besides texts and dependencies. The
//! payloads, the row, the inputs and the answers share this type.

use super::*;
use crate::tx::Stored;
use serde::Serializer;
use serde_json::{Map, Value};

/// The attributes of a task; `None` for an attribute that was never set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attributes {
    /// True if the task cannot be done without changing code
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_code_change: Option<bool>,
    /// True if the task can be completed only after a reviewer approved it (`write-task-approval`)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
}

/// The form of [`Attributes`] in a row.
pub type StoredAttributes = Option<u8>;

impl Attributes {
    /// Overwrites the attributes that an edit sets. The other attributes keep their values.
    pub fn change(&mut self, edit: &Attributes) {
        let Attributes {
            requires_code_change,
            requires_approval,
        } = edit.clone();
        self.requires_code_change = requires_code_change.or(self.requires_code_change);
        self.requires_approval = requires_approval.or(self.requires_approval);
    }

    /// Returns the attributes that are set, by name.
    pub fn to_map(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }

    /// Bits of the stored number: the value of each attribute, and which attributes are set. A row without approval bits equals a
    /// row of a version that had no approvals.
    const CODE_CHANGE: u8 = 1;
    const APPROVAL: u8 = 2;
    const APPROVAL_SAID: u8 = 4;
    const CODE_CHANGE_UNSAID: u8 = 8;
}

/// Attributes that an edit's input serializes as `null` if they are absent. The log stores the digest of that input with each
/// idempotency key, so the two oldest attributes must stay `null`; later attributes are left out.
const NULL_IN_EDITS: [&str; 2] = ["requires_code_change", "requires_approval"];

/// Serializes the attributes of an edit's input.
pub fn in_edit<S: Serializer>(attributes: &Attributes, to: S) -> Result<S::Ok, S::Error> {
    let mut fields = Map::new();
    for name in NULL_IN_EDITS {
        fields.insert(name.to_owned(), Value::Null);
    }
    fields.extend(attributes.to_map());
    fields.serialize(to)
}

impl Stored<StoredAttributes> for Attributes {
    fn stored(&self) -> StoredAttributes {
        if *self == Attributes::default() {
            return None;
        }
        let bits = [
            (Self::CODE_CHANGE, self.requires_code_change == Some(true)),
            (Self::APPROVAL, self.requires_approval == Some(true)),
            (Self::APPROVAL_SAID, self.requires_approval.is_some()),
            (
                Self::CODE_CHANGE_UNSAID,
                self.requires_code_change.is_none(),
            ),
        ];
        let set = bits.iter().filter(|(_, set)| *set);
        Some(set.map(|(bit, _)| bit).sum())
    }
    fn found(stored: StoredAttributes) -> Attributes {
        let Some(bits) = stored else {
            return Attributes::default();
        };
        let has = |bit: u8| bits & bit != 0;
        Attributes {
            requires_code_change: (!has(Self::CODE_CHANGE_UNSAID)).then(|| has(Self::CODE_CHANGE)),
            requires_approval: has(Self::APPROVAL_SAID).then(|| has(Self::APPROVAL)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_back_and_old_ones_keep_their_bytes() {
        let said = [None, Some(false), Some(true)];
        for (code, approval) in said.iter().flat_map(|code| said.map(|one| (*code, one))) {
            let attributes = Attributes {
                requires_code_change: code,
                requires_approval: approval,
            };
            let stored = attributes.stored();
            if approval.is_none() {
                assert_eq!(stored, code.map(u8::from));
            }
            assert_eq!(Attributes::found(stored), attributes);
        }
    }

    #[test]
    fn an_edit_changes_the_attributes_that_it_sets() {
        let attributes = |code, approval| Attributes {
            requires_code_change: code,
            requires_approval: approval,
        };
        let mut task = attributes(Some(true), None);
        task.change(&attributes(None, Some(true)));
        assert_eq!(task, attributes(Some(true), Some(true)));
        task.change(&attributes(Some(false), None));
        assert_eq!(task, attributes(Some(false), Some(true)));
    }

    #[test]
    fn the_input_of_an_edit_keeps_its_bytes() {
        let text = |approval| {
            let attributes = Attributes {
                requires_approval: approval,
                ..Attributes::default()
            };
            let mut out = Vec::new();
            in_edit(&attributes, &mut serde_json::Serializer::new(&mut out)).unwrap();
            String::from_utf8(out).unwrap()
        };
        let unset = r#"{"requires_approval":null,"requires_code_change":null}"#;
        assert_eq!(text(None), unset);
        let set = r#"{"requires_approval":true,"requires_code_change":null}"#;
        assert_eq!(text(Some(true)), set);
    }
}
