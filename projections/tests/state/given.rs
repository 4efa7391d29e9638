//! Values of which a test says only what matters to it, and JSON of which it looks at only that.

use serde::Serialize;
use serde_json::{Map, Value};

/// What a test writes for a field of type `T`: plain text for a string, a value for an `Option` that holds it.
pub trait Given<T> {
    fn given(self) -> T;
}

impl<T> Given<T> for T {
    fn given(self) -> T {
        self
    }
}

impl<T> Given<Option<T>> for T {
    fn given(self) -> Option<T> {
        Some(self)
    }
}

impl Given<String> for &str {
    fn given(self) -> String {
        self.to_owned()
    }
}

impl Given<Option<String>> for &str {
    fn given(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl Given<Option<String>> for Option<&str> {
    fn given(self) -> Option<String> {
        self.map(str::to_owned)
    }
}

impl<const N: usize> Given<Vec<String>> for [&str; N] {
    fn given(self) -> Vec<String> {
        self.map(str::to_owned).to_vec()
    }
}

impl Given<Vec<String>> for &[&str] {
    fn given(self) -> Vec<String> {
        self.iter().map(|&text| text.to_owned()).collect()
    }
}

impl Given<Option<Vec<String>>> for &[&str] {
    fn given(self) -> Option<Vec<String>> {
        Some(self.given())
    }
}

impl<const N: usize> Given<Option<Vec<String>>> for [&str; N] {
    fn given(self) -> Option<Vec<String>> {
        Some(self.given())
    }
}

/// A struct by the fields that matter: `given!(Type, field: value, field)`. The others are those of `..base` at the
/// end, or the default ones.
macro_rules! given {
    (@of $field:ident) => { $crate::given::Given::given($field) };
    (@of $field:ident $value:expr) => { $crate::given::Given::given($value) };
    ($($type:ident)::+ $(, $field:ident $(: $value:expr)?)*) => {
        given!($($type)::+ $(, $field $(: $value)?)*, ..Default::default())
    };
    ($($type:ident)::+ $(, $field:ident $(: $value:expr)?)*, ..$base:expr) => {{
        #[allow(clippy::needless_update, reason = "whether other fields are left is not the test's concern")]
        let given = $($type)::+ { $($field: given!(@of $field $($value)?),)* ..$base };
        given
    }};
}

/// Holds fields of a JSON value against one literal: `has!(event, {"actor": "dev", "/payload/epoch": 1})`. A key that
/// begins with `/` is the way to a field further down; what is not there is `null`.
macro_rules! has {
    ($found:expr, $fields:tt $(, $($said:tt)+)?) => {{
        let wanted = serde_json::json!($fields);
        let found = $crate::given::fields(&$found, &wanted);
        assert_eq!(found, wanted $(, $($said)+)?);
    }};
}

/// Those fields of a value that are named.
pub fn fields(found: &impl Serialize, named: &Value) -> Value {
    let found = serde_json::to_value(found).unwrap();
    let field = |key: &String| match key.starts_with('/') {
        true => found.pointer(key).cloned().unwrap_or_default(),
        false => found[key].clone(),
    };
    let named = named.as_object().unwrap().keys();
    Value::Object(
        named
            .map(|key| (key.clone(), field(key)))
            .collect::<Map<_, _>>(),
    )
}
