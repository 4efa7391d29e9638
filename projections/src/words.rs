//! Enumerations in JSON and in text.

/// Writes an enumeration to JSON and to text by its names, and reads any of its names from JSON.
macro_rules! named_in_json {
    ($($type:ident: $unknown:literal),*) => {
        $(
            impl std::fmt::Display for $type {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.pad(self.name())
                }
            }
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
