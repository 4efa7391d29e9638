//! The plan of a task in payloads: labels, times and the parent.

use super::*;
use crate::event::stored::id;
use serde::Deserializer;

/// The parts of a task's plan that an event sets. A part that is absent keeps its value; `null` clears the part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    /// All labels of the task from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Time by which the task is to be completed.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub due_at: Option<Option<Timestamp>>,
    /// Time before which the task is not offered.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub defer_until: Option<Option<Timestamp>>,
    /// Parent of the task.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub parent: Option<Option<String>>,
}

impl Payload for PlanChange {
    fn check(&self) -> Decoded<()> {
        id("labels", &self.labels.clone().unwrap_or_default())?;
        stored::name("parent", &self.parent.clone().flatten())
    }
}

/// Reads a field that is present; `null` is a value of its own.
fn given<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_part_differs_from_a_cleared_one() {
        let parent = |parent| PlanChange {
            parent,
            ..PlanChange::default()
        };
        for (change, json) in [
            (parent(None), "{}"),
            (parent(Some(None)), r#"{"parent":null}"#),
            (parent(Some(Some("7".to_owned()))), r#"{"parent":"7"}"#),
        ] {
            assert_eq!(serde_json::to_string(&change).unwrap(), json);
            assert_eq!(read::<PlanChange>(json), Ok(change));
        }
    }
}
