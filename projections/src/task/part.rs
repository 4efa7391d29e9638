//! The types of a task's fields: the test for a value, and the JSON in a dialect.

use super::dialect::{ShowWhen, Times};
use super::{Children, Claim, ClaimState, Status};
use crate::event::message::Priority;
use crate::prelude::*;
use crate::worker::ApprovalShown;
use schemars::{Schema, SchemaGenerator};
use serde::Serializer;
use serde::de::Error as _;
use serde_json::Value;
use std::borrow::Cow;

/// A field's type: the test for a value, and the JSON.
pub(super) trait Part: Sized {
    fn is_set(&self) -> bool;
    fn write<S: Serializer>(&self, shown: ShowWhen, times: Times, to: S)
    -> Result<S::Ok, S::Error>;
    fn read(&mut self, json: &str) -> serde_json::Result<()>;
    fn schema(&self, shown: ShowWhen, generator: &mut SchemaGenerator) -> Schema;
}

/// A field in a map that is serialised.
pub(super) struct Entry<'a, P> {
    pub part: &'a P,
    pub shown: ShowWhen,
    pub times: Times,
}

impl<P: Part> Serialize for Entry<'_, P> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.part.write(self.shown, self.times, to)
    }
}

/// Implements [`Part`] for types whose JSON serde knows. `null` is read as the default value.
macro_rules! plain {
    ($($type:ty: |$part:ident| $is_set:expr;)*) => {$(
        impl Part for $type {
            fn is_set(&self) -> bool {
                let $part = self;
                $is_set
            }
            fn write<S: Serializer>(&self, _: ShowWhen, _: Times, to: S) -> Result<S::Ok, S::Error> {
                self.serialize(to)
            }
            fn read(&mut self, json: &str) -> serde_json::Result<()> {
                *self = serde_json::from_str::<Option<$type>>(json)?.unwrap_or_default();
                Ok(())
            }
            fn schema(&self, _: ShowWhen, generator: &mut SchemaGenerator) -> Schema {
                generator.subschema_for::<$type>()
            }
        }
    )*};
}

plain! {
    String: |text| !text.is_empty();
    bool: |flag| *flag;
    u64: |count| *count > 0;
    Vec<String>: |items| !items.is_empty();
    Status: |_status| true;
    Priority: |priority| *priority != Priority::Normal;
    Children: |children| children.total > 0;
    Option<bool>: |flag| flag.is_some();
    Option<u64>: |count| count.is_some();
    Option<Status>: |status| status.is_some();
    Option<ApprovalShown>: |approval| approval.is_some();
}

impl Part for Option<String> {
    fn is_set(&self) -> bool {
        self.is_some()
    }
    fn write<S: Serializer>(&self, shown: ShowWhen, _: Times, to: S) -> Result<S::Ok, S::Error> {
        match (self, shown) {
            (None, ShowWhen::OrEmpty) => to.serialize_str(""),
            _ => self.serialize(to),
        }
    }
    fn read(&mut self, json: &str) -> serde_json::Result<()> {
        *self = serde_json::from_str(json)?;
        Ok(())
    }
    fn schema(&self, shown: ShowWhen, generator: &mut SchemaGenerator) -> Schema {
        match shown {
            ShowWhen::OrEmpty => generator.subschema_for::<String>(),
            _ => generator.subschema_for::<Option<String>>(),
        }
    }
}

impl Part for Timestamp {
    fn is_set(&self) -> bool {
        self.micros() != 0
    }
    fn write<S: Serializer>(&self, _: ShowWhen, times: Times, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&times(*self))
    }
    fn read(&mut self, json: &str) -> serde_json::Result<()> {
        *self = serde_json::from_str::<Option<Timestamp>>(json)?.unwrap_or_default();
        Ok(())
    }
    fn schema(&self, _: ShowWhen, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Timestamp>()
    }
}

impl Part for Option<Timestamp> {
    fn is_set(&self) -> bool {
        self.is_some()
    }
    fn write<S: Serializer>(&self, _: ShowWhen, times: Times, to: S) -> Result<S::Ok, S::Error> {
        self.map(times).serialize(to)
    }
    fn read(&mut self, json: &str) -> serde_json::Result<()> {
        *self = serde_json::from_str(json)?;
        Ok(())
    }
    fn schema(&self, _: ShowWhen, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<Timestamp>>()
    }
}

impl Part for Option<Json> {
    fn is_set(&self) -> bool {
        self.is_some()
    }
    fn write<S: Serializer>(&self, _: ShowWhen, _: Times, to: S) -> Result<S::Ok, S::Error> {
        let raw: Option<&RawValue> = self
            .as_ref()
            .and_then(|json| serde_json::from_str(json.as_str()).ok());
        raw.serialize(to)
    }
    fn read(&mut self, json: &str) -> serde_json::Result<()> {
        *self = match json {
            "null" => None,
            _ => Some(Json::parse(json).map_err(serde_json::Error::custom)?),
        };
        Ok(())
    }
    fn schema(&self, _: ShowWhen, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<Value>>()
    }
}

/// The live claim of a task.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ClaimRecord")]
struct ClaimShown<'a> {
    /// Holder
    owner: Cow<'a, str>,
    /// Token that the holder presents; left out if it is hidden from the reader
    #[serde(default, skip_serializing_if = "str::is_empty")]
    token: Cow<'a, str>,
    /// End of the lease
    leased_until: Timestamp,
}

impl Part for Option<Claim> {
    fn is_set(&self) -> bool {
        self.as_ref()
            .is_some_and(|claim| claim.state == ClaimState::Live)
    }
    fn write<S: Serializer>(&self, _: ShowWhen, _: Times, to: S) -> Result<S::Ok, S::Error> {
        let shown = self
            .as_ref()
            .filter(|_| self.is_set())
            .map(|claim| ClaimShown {
                owner: (&*claim.owner).into(),
                token: (&*claim.token).into(),
                leased_until: claim.leased_until,
            });
        shown.serialize(to)
    }
    fn read(&mut self, json: &str) -> serde_json::Result<()> {
        let shown: Option<ClaimShown<'_>> = serde_json::from_str(json)?;
        *self = shown.map(|claim| Claim {
            owner: claim.owner.into_owned(),
            token: claim.token.into_owned(),
            leased_until: claim.leased_until,
            state: ClaimState::Live,
            leased_at: Timestamp::default(),
            session: None,
        });
        Ok(())
    }
    fn schema(&self, _: ShowWhen, generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<ClaimShown<'static>>>()
    }
}
