//! Lists of words that are stored, shown and read by their names, and values that JSON has as text.

/// Declares an enum whose variants each have a name, perhaps with other names that are read as well. One that is
/// `in json` stands there by these names.
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
            /// All of them, in order.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];
            /// The name.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
            /// The one of exactly that name, or of another one that is read as well.
            pub fn from_name(name: &str) -> Option<$type> {
                match name {
                    $($name $(| $other)* => Some($type::$variant),)*
                    _ => None,
                }
            }
            /// What an input has to be that names one of them.
            pub fn rule() -> String {
                format!("must be one of {}", $type::ALL.map($type::name).join(", "))
            }
            /// The one of that name, in any case.
            pub fn from_any_case(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

/// Has JSON hold a value as the text that it shows, and reads that back by a function on bytes.
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
