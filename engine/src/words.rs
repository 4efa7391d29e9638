//! Enums whose variants are stored, shown and read by name, and values that JSON holds as text.

/// Declares an enum whose variants each have a name, and perhaps aliases for reading. With `in json`, JSON holds these
/// names.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$attribute:meta])* pub enum $type:ident in json {
        $($(#[$each:meta])* $variant:ident = $name:literal,)*
    }) => {
        $crate::words! {
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
            #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
            $(#[$attribute])*
            pub enum $type {
                $($(#[$each])* #[serde(rename = $name)] $variant = $name,)*
            }
        }
    };
    ($(#[$attribute:meta])* pub enum $type:ident {
        $($(#[$each:meta])* $variant:ident = $name:literal $(| $other:literal)*,)*
    }) => {
        $(#[$attribute])*
        pub enum $type {
            $($(#[$each])* $variant,)*
        }

        impl $type {
            /// All variants, in order.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];
            /// Returns the name.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
            /// Returns the variant with exactly this name or alias.
            pub fn from_name(name: &str) -> Option<$type> {
                match name {
                    $($name $(| $other)* => Some($type::$variant),)*
                    _ => None,
                }
            }
            /// Returns the rule for an input, as `must be …`.
            pub fn rule() -> String {
                format!("must be one of {}", $type::ALL.map($type::name).join(", "))
            }
            /// Returns the variant with this name, in any case.
            pub fn from_any_case(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

/// Implements serde for a type: the type is written as the text of `Display`, and read by a function on bytes.
macro_rules! as_text {
    ($type:ty, $read:expr, $rule:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                let text: std::borrow::Cow<'_, str> = serde::Deserialize::deserialize(from)?;
                ($read)(text.as_bytes()).ok_or_else(|| serde::de::Error::custom($rule))
            }
        }
    };
}
pub(crate) use as_text;
