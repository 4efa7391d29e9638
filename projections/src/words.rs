//! Words in JSON.

/// Writes words to JSON by their names, and reads any of their names.
macro_rules! named_in_json {
    ($($type:ident: $unknown:literal),*) => {
        $(
            impl serde::Serialize for $type {
                fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                    to.serialize_str(self.name())
                }
            }
            impl<'de> serde::Deserialize<'de> for $type {
                fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                    let name = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                    $type::from_name(&name).ok_or_else(|| serde::de::Error::custom($unknown))
                }
            }
        )*
    };
}
pub(crate) use named_in_json;
