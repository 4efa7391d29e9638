//! Macros for expectations in tests: fields of JSON, rows of a table, lists of names.

#![allow(
    dead_code,
    unused_macros,
    reason = "a program of tests need not use each of them"
)]

use serde::Serialize;
use serde_json::{Map, Value};

/// Compares fields of a JSON value with one literal: `has!(event, {"actor": "dev", "/payload/epoch": 1})`. A key that begins with
/// `/` is the path of a deeper field. A missing field is `null`.
macro_rules! has {
    ($found:expr, $fields:tt $(, $($said:tt)+)?) => {{
        let wanted = serde_json::json!($fields);
        let found = $crate::cases::fields(&$found, &wanted);
        assert_eq!(found, wanted $(, $($said)+)?);
    }};
}

/// Creates the rows of a table, with JSON objects written as literals: `cases![("send", {"to": "dev"}, 3), ...]`. Instead of a
/// comma, `=>` may separate input and expectation.
macro_rules! cases {
    (@row ($($done:expr,)*)) => { ($($done,)*) };
    (@row ($($done:expr,)*) {$($json:tt)*} $(, $($rest:tt)*)?) => {
        cases!(@row ($($done,)* serde_json::json!({$($json)*}),) $($($rest)*)?)
    };
    (@row ($($done:expr,)*) $cell:expr $(, $($rest:tt)*)?) => {
        cases!(@row ($($done,)* $cell,) $($($rest)*)?)
    };
    (@row ($($done:expr,)*) $given:expr => $($then:tt)+) => {
        cases!(@row ($($done,)* $given,) $($then)+)
    };
    ($(($($cell:tt)*)),+ $(,)?) => { [$(cases!(@row () $($cell)*)),+] };
}

/// Compares texts with names: `names!(kinds(&mut team)[3..] => task_updated task_blocked)`.
macro_rules! names {
    ($found:expr => $($name:ident)+) => { assert_eq!($found, [$(stringify!($name)),+]) };
}

/// Checks parts of a text: `shows!(cli.ok("head demo") => starts "demo: ", has "events", lacks "torn")`.
macro_rules! shows {
    (@$how:ident $shown:ident.$test:ident($text:expr), $wanted:literal) => {
        assert_eq!($shown.$test($text), $wanted, "{} {:?} in {}", stringify!($how), $text, $shown)
    };
    (@has $shown:ident $text:expr) => { shows!(@has $shown.contains($text), true) };
    (@lacks $shown:ident $text:expr) => { shows!(@lacks $shown.contains($text), false) };
    (@starts $shown:ident $text:expr) => { shows!(@starts $shown.starts_with($text), true) };
    (@ends $shown:ident $text:expr) => { shows!(@ends $shown.ends_with($text), true) };
    (@is $shown:ident $text:expr) => { assert_eq!(*$shown, $text) };
    ($shown:expr => $($how:ident $text:expr),+) => {{
        let shown = &$shown;
        $(shows!(@$how shown $text);)+
    }};
}

/// Returns the named fields of a value.
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
