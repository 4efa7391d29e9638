//! Values with only the fields that matter to a test.

use std::borrow::Cow;
use std::sync::Arc;
use teamlog_engine::Clock;
use teamlog_engine::IdSource;
use teamlog_engine::{ManualClock, SeededIds};

/// Conversion for a field of type `T`: a text for a string, a value for an `Option` of that value.
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

impl<'a> Given<Cow<'a, str>> for &'a str {
    fn given(self) -> Cow<'a, str> {
        Cow::Borrowed(self)
    }
}

impl<'a> Given<Cow<'a, str>> for String {
    fn given(self) -> Cow<'a, str> {
        Cow::Owned(self)
    }
}

impl Given<Arc<dyn Clock>> for Arc<ManualClock> {
    fn given(self) -> Arc<dyn Clock> {
        self
    }
}

impl Given<Arc<dyn IdSource>> for Arc<SeededIds> {
    fn given(self) -> Arc<dyn IdSource> {
        self
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

/// Builds a struct from the fields that matter: `given!(Type, field: value, field)`. The other fields come from `..base` at the
/// end, or have default values. After `Type;` all fields are given.
macro_rules! given {
    (@of $field:ident) => { $crate::given::Given::given($field) };
    (@of $field:ident $value:expr) => { $crate::given::Given::given($value) };
    ($($type:ident)::+; $($field:ident $(: $value:expr)?),+) => {
        $($type)::+ { $($field: given!(@of $field $($value)?)),+ }
    };
    ($($type:ident)::+ $(, $field:ident $(: $value:expr)?)*) => {
        given!($($type)::+ $(, $field $(: $value)?)*, ..Default::default())
    };
    ($($type:ident)::+ $(, $field:ident $(: $value:expr)?)*, ..$base:expr) => {{
        #[allow(clippy::needless_update, reason = "whether other fields are left is not the test's concern")]
        let given = $($type)::+ { $($field: given!(@of $field $($value)?),)* ..$base };
        given
    }};
}
