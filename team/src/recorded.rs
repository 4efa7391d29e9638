//! An event as answers show it: the public JSON line, whichever format stores it.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use teamlog_engine::{Event, codec};

/// An event of the log with what the team's state says about it. Serialises to the event's public JSON, with each
/// mark that is true as one more field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The event.
    pub event: Event<'static>,
    /// What is known of it beside.
    pub marks: Marks,
}

/// What the team's state says about an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// A task message that came too late and changed nothing.
    pub superseded: bool,
    /// A repetition of something known, which changed nothing.
    pub duplicate: bool,
    /// A fact about something refused.
    pub refused: bool,
    /// A message that its recipient has acknowledged by now.
    pub acked: bool,
}

impl Recorded {
    /// An event without marks.
    pub fn plain(event: Event<'static>) -> Recorded {
        Recorded {
            event,
            marks: Marks::default(),
        }
    }
    /// The JSON text.
    pub fn json(&self) -> String {
        let mut line = Vec::with_capacity(256);
        codec::public_json(&self.event, &mut line);
        let marks = [
            ("superseded", self.marks.superseded),
            ("duplicate", self.marks.duplicate),
            ("refused", self.marks.refused),
            ("acked", self.marks.acked),
        ];
        for (name, _) in marks.iter().filter(|(_, set)| *set) {
            line.pop();
            line.extend_from_slice(format!(",\"{name}\":true}}").as_bytes());
        }
        String::from_utf8(line).unwrap_or_default()
    }
}

impl Serialize for Recorded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.json())
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}
