//! How tests write what they expect: fields of JSON, rows of a table, lists of names.

#![allow(unused_macros, reason = "a program of tests need not use each of them")]

use serde::Serialize;
use serde_json::{Map, Value};

/// Holds fields of a JSON value against one literal: `has!(event, {"actor": "dev", "/payload/epoch": 1})`. A key that
/// begins with `/` is the way to a field further down; what is not there is `null`.
macro_rules! has {
    ($found:expr, $fields:tt $(, $($said:tt)+)?) => {{
        let wanted = serde_json::json!($fields);
        let found = $crate::cases::fields(&$found, &wanted);
        assert_eq!(found, wanted $(, $($said)+)?);
    }};
}

/// The rows of a table; JSON objects stand in them as they are: `cases![("send", {"to": "dev"}, 3), ...]`.
macro_rules! cases {
    (@row ($($done:expr,)*)) => { ($($done,)*) };
    (@row ($($done:expr,)*) {$($json:tt)*} $(, $($rest:tt)*)?) => {
        cases!(@row ($($done,)* serde_json::json!({$($json)*}),) $($($rest)*)?)
    };
    (@row ($($done:expr,)*) $cell:expr $(, $($rest:tt)*)?) => {
        cases!(@row ($($done,)* $cell,) $($($rest)*)?)
    };
    ($(($($cell:tt)*)),+ $(,)?) => { [$(cases!(@row () $($cell)*)),+] };
}

/// Holds texts against names: `names!(kinds(&mut team)[3..] => task_updated task_blocked)`.
macro_rules! names {
    ($found:expr => $($name:ident)+) => { assert_eq!($found, [$(stringify!($name)),+]) };
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
